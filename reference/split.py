"""Split: equal parts along one axis."""

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("split-1/required-arguments")
def split_1(data: Array, axis: Array, num_splits: int) -> list[Array]:
    """Split `data` along `axis` into `num_splits` equal parts.

    Shapes: data (any, rank 1 or more), axis (); each output is data's with a num_splits-th of the
    size of the axis.

    Source: OpenVINO Split-1, "Detailed Description", "Attributes" and "Inputs".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(is_integer(axis), "split-1/axis-type", f"axis of {axis.dtype}")
    require(axis.shape == (), "split-1/axis-scalar", f"axis of shape {axis.shape}")
    dimension = int(axis.item())
    text = f"axis {dimension} for data of rank {data.ndim}"
    require(-data.ndim <= dimension < data.ndim, "split-1/axis-range", text)
    require(num_splits >= 1, "split-1/splits-positive", f"{num_splits} parts")
    extent = data.shape[dimension]
    text = f"{num_splits} parts of an axis of {extent}"
    require(extent % num_splits == 0, "split-1/splits-divide", text)
    return [part.copy() for part in np.split(data, num_splits, dimension)]
