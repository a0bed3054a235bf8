"""The declared support of adapters: types are probed, the rest is known without the runtime."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays import ELEMENT_TYPES, INTEGERS, Array, bit_width

# How the adapters with probed types implement each operator. `opcert backends` reads this without
# importing the runtimes.
DECLARED_SUPPORT: Mapping[str, Mapping[str, str]] = {
    "openvino": {
        "openvino/VariadicSplit-1": "native",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "native",
        "openvino/Gather-8": "native",
    },
    "onnxruntime": {
        "openvino/VariadicSplit-1": "composed: Split; the host replaces a length of -1",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "composed: Expand; the host rejects calls that stretch the target",
        "openvino/Gather-8": "composed: Gather, without batches and indices out of range",
        "directml/DML_OPERATOR_SPLIT": "composed: Split, in a model of the described shapes",
    },
}

DML_SPLIT = "directml/DML_OPERATOR_SPLIT"
_DML_PREFIXES = {"f": "FLOAT", "i": "INT", "u": "UINT"}
# DirectML's name of each element type that it has.
DML_TYPES = {
    name: f"{_DML_PREFIXES[name[0]]}{bit_width(name)}" for name in ("f64", "f32", "f16", *INTEGERS)
}
# The index inputs of a valid call with two elements of data, by operator.
INDEX_INPUTS: Mapping[str, Mapping[str, list[int] | int]] = {
    "openvino/VariadicSplit-1": {"axis": 0, "split_lengths": [2]},
    "openvino/Slice-8": {"start": [0], "stop": [1], "step": [1], "axes": [0]},
    "openvino/Broadcast-1": {"target_shape": [2]},
    "openvino/Gather-8": {"indices": [0], "axis": 0},
}

Attempt: TypeAlias = Callable[[str, dict[str, Array], dict[str, Any]], object]


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
    support: dict[str, Any] = {"types": [name for name in ELEMENT_TYPES if accepted(name, {})]}
    grouped = {name for group in same_types for name in group}
    groups = [*same_types, *([name] for name in INDEX_INPUTS[operator] if name not in grouped)]
    types_by_input: dict[str, list[str]] = {}
    for group in groups:
        types = [name for name in INTEGERS if accepted("f32", dict.fromkeys(group, name))]
        types_by_input |= dict.fromkeys(group, types)
    first, *others = types_by_input.values()
    if all(types == first for types in others):
        support["index_types"] = first
    else:
        support["input_types"] = {
            name: types for name, types in types_by_input.items() if types != list(INTEGERS)
        }
    if same_types:
        support["same_types"] = [list(group) for group in same_types]
    return support


def _plain_call(
    operator: str, name: str, index_types: Mapping[str, str]
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return a valid call with data of type `name`; index inputs are i64 by default."""
    data = np.zeros(2, ELEMENT_TYPES[name])
    if operator == DML_SPLIT:
        descriptions = [{"Sizes": [2], "DataType": DML_TYPES[name]}]
        attributes = {"OutputCount": 1, "OutputTensors": descriptions, "Axis": 0}
        return {"InputTensor": data}, attributes
    index_inputs = {
        key: np.array(value, ELEMENT_TYPES[index_types.get(key, "i64")])
        for key, value in INDEX_INPUTS[operator].items()
    }
    return {"data": data, **index_inputs}, {}
