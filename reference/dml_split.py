"""DirectML's split: the caller describes the complete shape of each part."""

from collections.abc import Sequence
from itertools import chain

from opcert.reference.directml import Description, are_uints, has_type_of
from opcert.reference.rules import Array, require
from opcert.reference.variadic_split import parts_along


def dml_split(
    InputTensor: Array,
    OutputCount: int,
    OutputTensors: Sequence[Description],
    Axis: int,
) -> list[Array]:
    """Split `InputTensor` along `Axis` into the first `OutputCount` tensors of `OutputTensors`.

    Shapes: InputTensor (rank 1 or more); output i has OutputTensors[i]["Sizes"].

    Source: DirectML DML_SPLIT_OPERATOR_DESC, the pseudocode, "Members" and "Tensor constraints".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    shape = InputTensor.shape
    # In C, the array has OutputCount elements: descriptors beyond them are not part of the call.
    described = OutputTensors[:OutputCount]
    sizes = [tuple(descriptor["Sizes"]) for descriptor in described]
    require(
        are_uints(OutputCount, Axis, *chain(*sizes)),
        "dml-split/uint-range",
        f"OutputCount {OutputCount}, Axis {Axis}, Sizes {sizes}",
    )
    require(OutputCount > 0, "dml-split/output-count-positive", f"OutputCount {OutputCount}")
    require(
        len(OutputTensors) >= OutputCount,
        "dml-split/output-count-matches",
        f"OutputCount {OutputCount} for {len(OutputTensors)} output tensors",
    )
    require(Axis < len(shape), "dml-split/axis-range", f"Axis {Axis} for rank {len(shape)}")
    require(
        all(len(size) == len(shape) for size in sizes),
        "dml-split/output-rank",
        f"outputs of ranks {[len(size) for size in sizes]} for an input of rank {len(shape)}",
    )
    require(
        all(has_type_of(InputTensor, descriptor) for descriptor in described),
        "dml-split/output-type",
        f"{described} for an input of {InputTensor.dtype}",
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
