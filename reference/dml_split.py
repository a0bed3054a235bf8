"""DirectML's split: parts whose shapes the caller describes in full."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcert.reference.rules import Array, require, requires_arguments
from opcert.reference.variadic_split import parts_along

# DML_FEATURE_LEVEL_4_1, the newest of the document's four tables.
DATA_TYPES = {
    "float64": "FLOAT64",
    "float32": "FLOAT32",
    "float16": "FLOAT16",
    "int64": "INT64",
    "int32": "INT32",
    "int16": "INT16",
    "int8": "INT8",
    "uint64": "UINT64",
    "uint32": "UINT32",
    "uint16": "UINT16",
    "uint8": "UINT8",
}


@requires_arguments("dml-split/required-members")
def dml_split(
    InputTensor: Array,
    OutputCount: int,
    OutputTensors: Sequence[Mapping[str, Any]],
    Axis: int,
) -> list[Array]:
    """Split `InputTensor` along `Axis` into the `OutputCount` tensors that `OutputTensors` lists.

    Shapes: InputTensor (rank 1 to 8); output i has OutputTensors[i]["Sizes"].

    Source: DirectML DML_SPLIT_OPERATOR_DESC, "Members", "Tensor constraints", "Tensor support".

    Raises:
        RuleBroken: the call breaks a rule of the document.
    """
    shape = InputTensor.shape
    data_type = DATA_TYPES.get(InputTensor.dtype.name)
    require(data_type is not None, "dml-split/input-type", f"input of {InputTensor.dtype}")
    require(1 <= len(shape) <= 8, "dml-split/input-rank", f"input of rank {len(shape)}")
    require(OutputCount > 0, "dml-split/output-count-positive", f"OutputCount {OutputCount}")
    require(
        len(OutputTensors) == OutputCount,
        "dml-split/output-count-matches",
        f"OutputCount {OutputCount} for {len(OutputTensors)} output tensors",
    )
    require(0 <= Axis < len(shape), "dml-split/axis-range", f"Axis {Axis} for rank {len(shape)}")
    sizes = [tuple(output["Sizes"]) for output in OutputTensors]
    types = [output["DataType"] for output in OutputTensors]
    require(
        all(len(size) == len(shape) for size in sizes),
        "dml-split/output-rank",
        f"outputs of ranks {[len(size) for size in sizes]} for an input of rank {len(shape)}",
    )
    require(
        all(name == data_type for name in types),
        "dml-split/output-type",
        f"outputs of {types} for an input of {data_type}",
    )
    require(
        all(min(size) >= 0 for size in sizes),
        "dml-split/output-sizes-not-negative",
        f"output sizes {sizes}",
    )
    require(
        all(
            size[:Axis] == shape[:Axis] and size[Axis + 1 :] == shape[Axis + 1 :] for size in sizes
        ),
        "dml-split/output-sizes-off-axis",
        f"output sizes {sizes} for an input of {shape} split on {Axis}",
    )
    lengths = [size[Axis] for size in sizes]
    require(
        sum(lengths) == shape[Axis],
        "dml-split/output-sizes-sum",
        f"outputs have {sum(lengths)} on the axis, the input has {shape[Axis]}",
    )
    return parts_along(InputTensor, Axis, lengths)
