"""What a runtime supports: a simple call of each operator, tried with each element type."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, bit_width
from opcert.backends.contract import Arguments

DML_SPLIT = "directml/DML_OPERATOR_SPLIT"
_DML_PREFIXES = {"f": "FLOAT", "i": "INT", "u": "UINT"}
# DirectML's name of each element type that it has.
DML_TYPES = {
    name: f"{_DML_PREFIXES[name[0]]}{bit_width(name)}" for name in ("f64", "f32", "f16", *INTEGERS)
}


class PlainCall(NamedTuple):
    """A valid call: inputs by name, in order, and attributes.

    Floats are data, whose type is probed, and integers are indices. A tuple is a variadic input.
    `index_types` are the types that the document allows for indices. The input `optional` may be
    omitted.
    """

    inputs: Arguments
    attributes: Arguments = MappingProxyType({})
    index_types: Sequence[str] = INTEGERS
    optional: str = ""

    def check(self, inputs: Collection[str]) -> None:
        """Check that no input is missing: a node would take a later one in its place.

        Raises:
            TypeError: one is missing.
        """
        if missing := [n for n in self.inputs if n not in inputs and n != self.optional]:
            raise TypeError(f"the call lacks {', '.join(missing)}")

    def names(self, kinds: str) -> list[str]:
        """Return the inputs of some of NumPy's kinds of types: f is data, i are indices."""
        return [key for key, value in self.inputs.items() if np.array(value).dtype.kind in kinds]


# Functions of elements, with their inputs in order.
ELEMENTWISE: Mapping[str, tuple[str, ...]] = {
    **{f"openvino/{f}-1": ("data",) for f in ("Exp", "Relu", "Sqrt", "Sigmoid", "Tanh")},
    **{f"openvino/{f}-1": ("a", "b") for f in ("Add", "Multiply", "Divide", "Maximum", "Less")},
    "openvino/Select-1": ("cond", "then", "else_"),
}
REDUCTIONS = ("openvino/ReduceSum-1", "openvino/ReduceMean-1")
_ROW, _ROWS, _IMAGE = [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]], [[[0.0, 0.0]]]
_WINDOWS = {"strides": [1], "pads_begin": [0], "pads_end": [0]}
PLAIN_CALLS: Mapping[str, PlainCall] = {
    DML_SPLIT: PlainCall({"InputTensor": _ROW}, {"OutputCount": 1, "Axis": 0}),
    "openvino/VariadicSplit-1": PlainCall({"data": _ROW, "axis": 0, "split_lengths": [2]}),
    "openvino/Slice-8": PlainCall(
        {"data": _ROW, "start": [0], "stop": [1], "step": [1], "axes": [0]}, optional="axes"
    ),
    "openvino/Broadcast-1": PlainCall({"data": _ROW, "target_shape": [2]}),
    "openvino/Gather-8": PlainCall({"data": _ROW, "indices": [0], "axis": 0}),
    "openvino/Split-1": PlainCall({"data": _ROW, "axis": 0}, {"num_splits": 1}),
    "openvino/Concat-1": PlainCall({"inputs": (_ROW,)}, {"axis": 0}),
    "openvino/Tile-1": PlainCall({"data": _ROW, "repeats": [1]}),
    "openvino/Pad-1": PlainCall(
        {"data": _ROW, "pads_begin": [0], "pads_end": [0], "pad_value": 0.0},
        {"pad_mode": "constant"},
        optional="pad_value",
    ),
    "openvino/Transpose-1": PlainCall({"arg": _ROW, "input_order": [0]}),
    "openvino/Reshape-1": PlainCall({"data": _ROW, "shape": [2]}, {"special_zero": False}),
    "openvino/GatherElements-6": PlainCall(
        {"data": _ROW, "indices": [0]}, {"axis": 0}, ("i32", "i64")
    ),
    "openvino/ScatterElementsUpdate-3": PlainCall(
        {"data": _ROW, "indices": [0, 1], "updates": _ROW, "axis": 0}
    ),
    "openvino/StridedSlice-1": PlainCall(
        {"data": _ROW, "begin": [0], "end": [2], "stride": [1]},
        {"begin_mask": [0], "end_mask": [0]},
        optional="stride",
    ),
    "openvino/ReverseSequence-1": PlainCall(
        {"data": [_ROW], "seq_lengths": [1]},
        {"batch_axis": 0, "seq_axis": 1},
        [name for name in ELEMENT_TYPES if name != "boolean"],
    ),
    **{operator: PlainCall(dict.fromkeys(names, _ROW)) for operator, names in ELEMENTWISE.items()},
    "openvino/Select-1": PlainCall({"cond": [True, False], "then": _ROW, "else_": _ROW}),
    "openvino/Convert-1": PlainCall({"data": _ROW}, {"destination_type": "f32"}),
    "openvino/Clamp-1": PlainCall({"data": _ROW}, {"min": 0.0, "max": 1.0}),
    **dict.fromkeys(REDUCTIONS, PlainCall({"data": _ROW, "axes": [0]})),
    "openvino/MatMul-1": PlainCall({"a": _ROWS, "b": _ROWS}),
    "openvino/Softmax-8": PlainCall({"data": _ROW}, {"axis": 0}),
    "openvino/Convolution-1": PlainCall(
        {"data": _IMAGE, "filter": _IMAGE}, _WINDOWS | {"dilations": [1]}
    ),
    "openvino/AvgPool-1": PlainCall(
        {"data": _IMAGE}, _WINDOWS | {"kernel": [1], "exclude_pad": True}
    ),
    "openvino/MaxPool-1": PlainCall({"data": _IMAGE}, _WINDOWS | {"kernel": [1]}),
    "openvino/MVN-6": PlainCall(
        {"data": _ROW, "axes": [0]},
        {"normalize_variance": True, "eps": 1.0, "eps_mode": "inside_sqrt"},
        ("i32", "i64"),
    ),
}

# How the adapters with probed types implement each operator. `opcert backends` reads this without
# importing the runtimes.
DECLARED_SUPPORT: Mapping[str, Mapping[str, str]] = {
    "openvino": {operator: "native" for operator in PLAIN_CALLS if operator != DML_SPLIT},
    "onnxruntime": {
        **{
            operator: "native"
            for operator in PLAIN_CALLS
            if operator.split("/")[1] not in ("StridedSlice-1", "ReverseSequence-1", "MVN-6")
        },
        "openvino/Slice-8": "native: ONNX clamps a start below the first element to it, also where "
        "the step is negative",
        "openvino/VariadicSplit-1": "composed: Split; the host replaces a length of -1",
        "openvino/Broadcast-1": "composed: Expand; the host rejects calls that stretch the target",
        "openvino/Gather-8": "composed: Gather, without batches and indices out of range",
        "openvino/Split-1": "composed: Split; the host rejects parts that differ in size",
        "openvino/Tile-1": "composed: Tile; the host aligns ranks",
        "openvino/Pad-1": "composed: Pad, without mode symmetric; the host rejects negative pads",
        "openvino/Transpose-1": "composed: Transpose, whose permutation is an attribute",
        "openvino/GatherElements-6": "composed: GatherElements; the host compares extents",
        "openvino/ScatterElementsUpdate-3": "composed: ScatterElements; the host rejects negative "
        "indices, and more than data has",
        "openvino/Clamp-1": "composed: Clip; the host rounds bounds of integers",
        "openvino/MatMul-1": "composed: MatMul; the host transposes",
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

    plain = PLAIN_CALLS[operator]
    data, indices = plain.names("f"), plain.names("i")
    data_types = [name for name in ELEMENT_TYPES if accepted(name, {})]
    if next(iter(plain.inputs)) not in data:
        return {"input_types": dict.fromkeys(data, data_types)}
    support: dict[str, Any] = {"types": data_types}
    grouped = {name for group in same_types for name in group}
    types_by_input: dict[str, list[str]] = {}
    for group in [*same_types, *([name] for name in indices if name not in grouped)]:
        types = [name for name in plain.index_types if accepted("f32", dict.fromkeys(group, name))]
        types_by_input |= dict.fromkeys(group, types)
    distinct = {tuple(types) for types in types_by_input.values()}
    # Where other inputs than the first have the type of data, each input has types of its own.
    if len(distinct) == 1 and len(data) == 1:
        support["index_types"] = list(*distinct)
    elif narrower := {n: t for n, t in types_by_input.items() if t != [*plain.index_types]}:
        support["input_types"] = narrower
    if same_types:
        support["same_types"] = [list(group) for group in same_types]
    return support


def _plain_call(
    operator: str, name: str, index_types: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a valid call with data of type `name`; indices are i64 if no other type is named."""
    plain = PLAIN_CALLS[operator]
    inputs: dict[str, Any] = {}
    attributes = dict(plain.attributes)
    if operator == DML_SPLIT:
        attributes["OutputTensors"] = [{"Sizes": [2], "DataType": DML_TYPES[name]}]
    for key, value in plain.inputs.items():
        array = np.array(value)
        types = {"f": name, "i": index_types.get(key, "i64"), "b": "boolean"}
        array = array.astype(ELEMENT_TYPES[types[array.dtype.kind]])
        inputs[key] = list(array) if isinstance(value, tuple) else array
    return inputs, attributes
