"""A plain call of each operator in any types, by which an adapter finds which of them are taken."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from opcert.generator.arrays.element_types import ELEMENT_TYPES, INTEGERS, Array, width_of

Attempt: TypeAlias = Callable[[str, dict[str, Array], dict[str, Any]], object]

DML_SPLIT = "directml/DML_OPERATOR_SPLIT"
# Beside data of two elements: the inputs that pick, each a list or a number.
INDICES: Mapping[str, Mapping[str, list[int] | int]] = {
    "openvino/VariadicSplit-1": {"axis": 0, "split_lengths": [2]},
    "openvino/Slice-8": {"start": [0], "stop": [1], "step": [1], "axes": [0]},
    "openvino/Broadcast-1": {"target_shape": [2]},
    "openvino/Gather-8": {"indices": [0], "axis": 0},
}
# DirectML has a name for a type by what its letter stands for.
_WORDS = {"f": "FLOAT", "i": "INT", "u": "UINT"}
DML_TYPES = {
    name: f"{_WORDS[name[0]]}{width_of(name)}" for name in ("f64", "f32", "f16", *INTEGERS)
}


def types_taken(operator: str, attempt: Attempt) -> dict[str, list[str]]:
    """Return what a declaration says of types: those of which `attempt` raises nothing.

    A type that is taken need not be right: that is for the cases to find.
    """
    if operator == DML_SPLIT:
        return {"types": [name for name in DML_TYPES if _taken(attempt, operator, name, "i64")]}
    return {
        "types": [name for name in ELEMENT_TYPES if _taken(attempt, operator, name, "i64")],
        "index_types": [name for name in INTEGERS if _taken(attempt, operator, "f32", name)],
    }


def _taken(attempt: Attempt, operator: str, name: str, index: str) -> bool:
    try:
        attempt(operator, *_plain_call(operator, name, index))
    except Exception:
        return False
    return True


def _plain_call(operator: str, name: str, index: str) -> tuple[dict[str, Array], dict[str, Any]]:
    data = np.zeros(2, ELEMENT_TYPES[name])
    if operator == DML_SPLIT:
        described = [{"Sizes": [2], "DataType": DML_TYPES[name]}]
        return {"InputTensor": data}, {"OutputCount": 1, "OutputTensors": described, "Axis": 0}
    lists = {key: np.array(of, ELEMENT_TYPES[index]) for key, of in INDICES[operator].items()}
    return {"data": data, **lists}, {}
