"""A plain call of each operator in any types, by which an adapter finds which of them are taken."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays import ELEMENT_TYPES, INTEGERS, Array, bit_width

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
    name: f"{_WORDS[name[0]]}{bit_width(name)}" for name in ("f64", "f32", "f16", *INTEGERS)
}


def types_taken(
    operator: str, attempt: Attempt, same: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """Return what a declaration says of types: those of which `attempt` raises nothing.

    The inputs in each list of `same` share one type; the others are tried one by one. A type that
    is taken need not be right: that is for the cases to find.
    """
    if operator == DML_SPLIT:
        return {"types": [name for name in DML_TYPES if _taken(attempt, operator, name, {})]}
    found: dict[str, Any] = {
        "types": [name for name in ELEMENT_TYPES if _taken(attempt, operator, name, {})]
    }
    grouped = {name for group in same for name in group}
    alone = [[name] for name in INDICES[operator] if name not in grouped]
    by_input: dict[str, list[str]] = {}
    for group in (*same, *alone):
        taken = [
            of for of in INTEGERS if _taken(attempt, operator, "f32", dict.fromkeys(group, of))
        ]
        by_input |= dict.fromkeys(group, taken)
    first = next(iter(by_input.values()))
    if all(taken == first for taken in by_input.values()):
        found["index_types"] = first
    else:
        every = list(INTEGERS)
        found["input_types"] = {name: of for name, of in by_input.items() if of != every}
    return found | ({"same_types": [list(group) for group in same]} if same else {})


def _taken(attempt: Attempt, operator: str, name: str, indices: Mapping[str, str]) -> bool:
    try:
        attempt(operator, *_plain_call(operator, name, indices))
    except Exception:
        return False
    return True


def _plain_call(
    operator: str, name: str, indices: Mapping[str, str]
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return a call with data of a type; inputs that pick are i64 but for those in `indices`."""
    data = np.zeros(2, ELEMENT_TYPES[name])
    if operator == DML_SPLIT:
        described = [{"Sizes": [2], "DataType": DML_TYPES[name]}]
        return {"InputTensor": data}, {"OutputCount": 1, "OutputTensors": described, "Axis": 0}
    lists = {
        key: np.array(of, ELEMENT_TYPES[indices.get(key, "i64")])
        for key, of in INDICES[operator].items()
    }
    return {"data": data, **lists}, {}
