"""DirectML's join: the caller describes the joined tensor."""

from collections.abc import Sequence

import numpy as np

from opcert.reference.directml import Description, are_uints, data_type_of
from opcert.reference.rules import Array, require


def dml_join(
    InputTensors: Sequence[Array], InputCount: int, OutputTensor: Description, Axis: int
) -> list[Array]:
    """Join the first `InputCount` tensors along `Axis`; in C, there are no others.

    Source: DirectML DML_JOIN_OPERATOR_DESC, the pseudocode, "Struct fields", "Tensor constraints".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    shapes, sizes = [array.shape for array in InputTensors], OutputTensor["Sizes"]
    types = [data_type_of(array) for array in InputTensors]
    n, rank, count = len(shapes), len(shapes[0]), InputCount
    require(are_uints(count, Axis), "dml-join/uint-range", f"InputCount {count}, Axis {Axis}")
    require(count > 0, "dml-join/input-count-positive", f"InputCount {count}")
    require(n >= count, "dml-join/input-count-matches", f"InputCount {count} for {n} tensors")
    require(all(len(s) == rank for s in shapes), "dml-join/same-rank", f"sizes {shapes}")
    require(all(name == types[0] for name in types), "dml-join/same-type", f"types {types}")
    require(len(sizes) == rank, "dml-join/output-rank", f"Sizes {sizes} for rank {rank}")
    require(OutputTensor["DataType"] == types[0], "dml-join/output-type", f"not {types[0]}")
    require(Axis < rank, "dml-join/axis-range", f"Axis {Axis} for rank {rank}")
    off_axis = {(*s[:Axis], *s[Axis + 1 :]) for s in shapes}
    require(len(off_axis) == 1, "dml-join/off-axis", f"sizes {shapes} on axis {Axis}")
    lengths = [s[Axis] for s in shapes[:count]]
    require(all(lengths), "dml-join/axis-size-nonzero", f"sizes {lengths} on the axis")
    expected = [*shapes[0][:Axis], sum(lengths), *shapes[0][Axis + 1 :]]
    require([*sizes] == expected, "dml-join/output-sizes", f"Sizes {sizes}; expected {expected}")
    return [np.concatenate([*InputTensors[:count]], Axis)]
