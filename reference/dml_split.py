"""DirectML's split: the caller describes the complete shape of each part."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcert.reference.rules import Array, require
from opcert.reference.variadic_split import parts_along

# The greatest UINT.
MAX_UINT = 0xFFFF_FFFF
# The types in the document's newest table (DML_FEATURE_LEVEL_4_1), and further types that the
# document does not forbid.
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
    "bfloat16": "BFLOAT16",
    "bool": "BOOL",
    "float8_e4m3fn": "FLOAT8E4M3FN",
    "float8_e5m2": "FLOAT8E5M2",
    "int4": "INT4",
    "uint4": "UINT4",
}


def dml_split(
    InputTensor: Array,
    OutputCount: int,
    OutputTensors: Sequence[Mapping[str, Any]],
    Axis: int,
) -> list[Array]:
    """Split `InputTensor` along `Axis` into the first `OutputCount` tensors of `OutputTensors`.

    Shapes: InputTensor (rank 1 or more); output i has OutputTensors[i]["Sizes"].

    Source: DirectML DML_SPLIT_OPERATOR_DESC, the pseudocode, "Members" and "Tensor constraints".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    shape = InputTensor.shape
    data_type = DATA_TYPES[InputTensor.dtype.name]
    # In C, the array has OutputCount elements: descriptors beyond them are not part of the call.
    described = OutputTensors[:OutputCount]
    fields = [
        OutputCount,
        Axis,
        *(size for descriptor in described for size in descriptor["Sizes"]),
    ]
    require(
        min(fields) >= 0 and max(fields) <= MAX_UINT,
        "dml-split/uint-range",
        f"OutputCount, Axis and Sizes {fields}",
    )
    require(OutputCount > 0, "dml-split/output-count-positive", f"OutputCount {OutputCount}")
    require(
        len(OutputTensors) >= OutputCount,
        "dml-split/output-count-matches",
        f"OutputCount {OutputCount} for {len(OutputTensors)} output tensors",
    )
    require(Axis < len(shape), "dml-split/axis-range", f"Axis {Axis} for rank {len(shape)}")
    sizes = [tuple(descriptor["Sizes"]) for descriptor in described]
    types = [descriptor["DataType"] for descriptor in described]
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
        all(size[d] == shape[d] for size in sizes for d in range(len(shape)) if d != Axis),
        "dml-split/output-sizes-off-axis",
        f"output sizes {sizes} for an input of {shape} split on {Axis}",
    )
    lengths = [size[Axis] for size in sizes]
    require(
        sum(lengths) == shape[Axis],
        "dml-split/output-sizes-sum",
        f"outputs have {sum(lengths)} elements on the axis, the input has {shape[Axis]}",
    )
    return parts_along(InputTensor, Axis, lengths)
