"""Concat: tensors joined along one axis."""

from collections.abc import Sequence

import numpy as np

from opcert.reference.rules import Array, require, requires_arguments


@requires_arguments("concat-1/required-arguments")
def concat_1(inputs: Sequence[Array], axis: int) -> list[Array]:
    """Join `inputs` along `axis`, in their order; a negative axis counts from the end.

    Shapes: inputs (any, one rank of 1 or more, alike but on the axis); the output has the sum of
    their lengths on the axis.

    Source: OpenVINO Concat-1, "Attributes", "Inputs" and "Outputs".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    first = inputs[0]
    shapes = [array.shape for array in inputs]
    types = [array.dtype for array in inputs]
    require(all(name == first.dtype for name in types), "concat-1/same-type", f"types {types}")
    require(all(len(s) == first.ndim for s in shapes), "concat-1/same-rank", f"shapes {shapes}")
    require(first.ndim >= 1, "concat-1/positive-rank", "scalars")
    require(
        -first.ndim <= axis < first.ndim, "concat-1/axis-range", f"axis {axis}, rank {first.ndim}"
    )
    off_axis = [(*s[: axis % first.ndim], *s[axis % first.ndim + 1 :]) for s in shapes]
    require(
        all(extents == off_axis[0] for extents in off_axis),
        "concat-1/off-axis",
        f"shapes {shapes} on axis {axis}",
    )
    return [np.concatenate([*inputs], axis)]
