"""What a runtime supports: a simple call of each operator, tried with each element type."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, bit_width

DML_SPLIT = "directml/DML_OPERATOR_SPLIT"
_DML_PREFIXES = {"f": "FLOAT", "i": "INT", "u": "UINT"}
# DirectML's name of each element type that it has.
DML_TYPES = {
    name: f"{_DML_PREFIXES[name[0]]}{bit_width(name)}" for name in ("f64", "f32", "f16", *INTEGERS)
}


@dataclass(frozen=True)
class PlainCall:
    """A valid call, whose data inputs have `shape` and the probed type.

    A name in `data` that ends in `*` is a variadic input, which gets one array. A fill is a scalar
    of the same type. `index_types` are the types that the document allows for indices. `first` is
    the first input if that is not data.
    """

    indices: Mapping[str, list[int] | int]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    data: tuple[str, ...] = ("data",)
    fills: tuple[str, ...] = ()
    shape: tuple[int, ...] = (2,)
    index_types: tuple[str, ...] = INTEGERS
    first: str = ""


# Functions of elements, with their inputs in order.
ELEMENTWISE: Mapping[str, tuple[str, ...]] = {
    **{f"openvino/{f}-1": ("data",) for f in ("Exp", "Relu", "Sqrt", "Sigmoid", "Tanh")},
    **{f"openvino/{f}-1": ("a", "b") for f in ("Add", "Multiply", "Divide", "Maximum", "Less")},
    "openvino/Select-1": ("cond", "then", "else_"),
}
REDUCTIONS = ("openvino/ReduceSum-1", "openvino/ReduceMean-1")
_WINDOWS = {"strides": [1], "pads_begin": [0], "pads_end": [0]}
PLAIN_CALLS: Mapping[str, PlainCall] = {
    "openvino/VariadicSplit-1": PlainCall({"axis": 0, "split_lengths": [2]}),
    "openvino/Slice-8": PlainCall({"start": [0], "stop": [1], "step": [1], "axes": [0]}),
    "openvino/Broadcast-1": PlainCall({"target_shape": [2]}),
    "openvino/Gather-8": PlainCall({"indices": [0], "axis": 0}),
    "openvino/Split-1": PlainCall({"axis": 0}, {"num_splits": 1}),
    "openvino/Concat-1": PlainCall({}, {"axis": 0}, data=("inputs*",)),
    "openvino/Tile-1": PlainCall({"repeats": [1]}),
    "openvino/Pad-1": PlainCall(
        {"pads_begin": [0], "pads_end": [0]}, {"pad_mode": "constant"}, fills=("pad_value",)
    ),
    "openvino/Transpose-1": PlainCall({"input_order": [0]}, data=("arg",)),
    "openvino/Reshape-1": PlainCall({"shape": [2]}, {"special_zero": False}),
    "openvino/GatherElements-6": PlainCall(
        {"indices": [0]}, {"axis": 0}, index_types=("i32", "i64")
    ),
    "openvino/ScatterElementsUpdate-3": PlainCall(
        {"indices": [0, 1], "axis": 0}, data=("data", "updates")
    ),
    "openvino/StridedSlice-1": PlainCall(
        {"begin": [0], "end": [2], "stride": [1]}, {"begin_mask": [0], "end_mask": [0]}
    ),
    "openvino/ReverseSequence-1": PlainCall(
        {"seq_lengths": [1]},
        {"batch_axis": 0, "seq_axis": 1},
        shape=(1, 2),
        index_types=tuple(name for name in ELEMENT_TYPES if name != "boolean"),
    ),
    **{operator: PlainCall({}, data=inputs) for operator, inputs in ELEMENTWISE.items()},
    "openvino/Select-1": PlainCall(
        {"cond": [True, False]}, data=("then", "else_"), index_types=("boolean",), first="cond"
    ),
    "openvino/Convert-1": PlainCall({}, {"destination_type": "f32"}),
    "openvino/Clamp-1": PlainCall({}, {"min": 0.0, "max": 1.0}),
    **dict.fromkeys(REDUCTIONS, PlainCall({"axes": [0]})),
    "openvino/MatMul-1": PlainCall({}, data=("a", "b"), shape=(2, 2)),
    "openvino/Softmax-8": PlainCall({}, {"axis": 0}),
    "openvino/Convolution-1": PlainCall(
        {}, _WINDOWS | {"dilations": [1]}, data=("data", "filter"), shape=(1, 1, 2)
    ),
    "openvino/AvgPool-1": PlainCall(
        {}, _WINDOWS | {"kernel": [1], "exclude_pad": True}, shape=(1, 1, 2)
    ),
    "openvino/MaxPool-1": PlainCall({}, _WINDOWS | {"kernel": [1]}, shape=(1, 1, 2)),
    "openvino/MVN-6": PlainCall(
        {"axes": [0]},
        {"normalize_variance": True, "eps": 1.0, "eps_mode": "inside_sqrt"},
        index_types=("i32", "i64"),
    ),
}

# How the adapters with probed types implement each operator. `opcert backends` reads this without
# importing the runtimes.
DECLARED_SUPPORT: Mapping[str, Mapping[str, str]] = {
    "openvino": dict.fromkeys(PLAIN_CALLS, "native"),
    "onnxruntime": {
        "openvino/VariadicSplit-1": "composed: Split; the host replaces a length of -1",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "composed: Expand; the host rejects calls that stretch the target",
        "openvino/Gather-8": "composed: Gather, without batches and indices out of range",
        "openvino/Split-1": "composed: Split; the host rejects parts that differ in size",
        "openvino/Concat-1": "native",
        "openvino/Tile-1": "composed: Tile; the host aligns ranks",
        "openvino/Pad-1": "composed: Pad, without mode symmetric; the host rejects negative pads",
        "openvino/Transpose-1": "composed: Transpose, whose permutation is an attribute",
        "openvino/Reshape-1": "native",
        "openvino/GatherElements-6": "composed: GatherElements; the host compares extents",
        "openvino/ScatterElementsUpdate-3": "composed: ScatterElements; the host rejects negative "
        "indices, and more than data has",
        **dict.fromkeys(ELEMENTWISE, "native"),
        "openvino/Convert-1": "native",
        "openvino/Clamp-1": "composed: Clip; the host rounds bounds of integers",
        **dict.fromkeys(REDUCTIONS, "native"),
        "openvino/MatMul-1": "composed: MatMul; the host transposes",
        "openvino/Softmax-8": "native",
        "openvino/Convolution-1": "native",
        "openvino/AvgPool-1": "native",
        "openvino/MaxPool-1": "native",
        DML_SPLIT: "composed: Split, in a model of the described shapes",
    },
}

Attempt: TypeAlias = Callable[[str, dict[str, Any], dict[str, Any]], object]


def probe_types(
    operator: str, attempt: Attempt, same_types: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """Return the types of a declaration of support: those for which `attempt` raises nothing.

    The inputs of each group in `same_types` must share one type; other inputs are probed alone. A
    type that the runtime accepts is not necessarily computed correctly: that is for the cases.
    """

    def accepted(name: str, index_types: Mapping[str, str]) -> bool:
        try:
            attempt(operator, *_plain_call(operator, name, index_types))
        except Exception:
            return False
        return True

    if operator == DML_SPLIT:
        return {"types": [name for name in DML_TYPES if accepted(name, {})]}
    plain = PLAIN_CALLS[operator]
    data_types = [name for name in ELEMENT_TYPES if accepted(name, {})]
    if plain.first:
        return {"input_types": dict.fromkeys(plain.data, data_types)}
    support: dict[str, Any] = {"types": data_types}
    grouped = {name for group in same_types for name in group}
    groups = [*same_types, *([name] for name in plain.indices if name not in grouped)]
    types_by_input: dict[str, list[str]] = {}
    for group in groups:
        types = [name for name in plain.index_types if accepted("f32", dict.fromkeys(group, name))]
        types_by_input |= dict.fromkeys(group, types)
    distinct = {tuple(types) for types in types_by_input.values()}
    # Where other inputs than the first have the type of data, each input has types of its own.
    if len(distinct) == 1 and len(plain.data) + len(plain.fills) == 1:
        support["index_types"] = list(*distinct)
    else:
        narrower = {
            n: types for n, types in types_by_input.items() if types != [*plain.index_types]
        }
        support |= {"input_types": narrower} if narrower else {}
    if same_types:
        support["same_types"] = [list(group) for group in same_types]
    return support


def _plain_call(
    operator: str, name: str, index_types: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a valid call with data of type `name`; index inputs are i64 if they may be."""
    if operator == DML_SPLIT:
        descriptions = [{"Sizes": [2], "DataType": DML_TYPES[name]}]
        attributes = {"OutputCount": 1, "OutputTensors": descriptions, "Axis": 0}
        return {"InputTensor": np.zeros(2, ELEMENT_TYPES[name])}, attributes
    plain = PLAIN_CALLS[operator]
    inputs: dict[str, Any] = {}
    default = "i64" if "i64" in plain.index_types else plain.index_types[0]
    for key in plain.data:
        array = np.zeros(plain.shape, ELEMENT_TYPES[name])
        inputs[key.removesuffix("*")] = [array] if key.endswith("*") else array
    inputs |= {
        key: np.array(value, ELEMENT_TYPES[index_types.get(key, default)])
        for key, value in plain.indices.items()
    }
    inputs |= {key: np.zeros((), ELEMENT_TYPES[name]) for key in plain.fills}
    return inputs, dict(plain.attributes)
