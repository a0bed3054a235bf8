"""Wrong ways to join."""

from functools import partial
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference.directml import data_type_of
from tests.faults.fault import Call, Compute, Outputs, right
from tests.operators import joining
from tests.operators.planted import misreading

OPERATOR = "directml/DML_OPERATOR_JOIN"


_repaired = partial(misreading, OPERATOR)


def _described(call: Call) -> dict[str, Any]:
    """Return a description of the output that fits the tensors."""
    tensors, axis = call["InputTensors"], call["Axis"]
    sizes = [*tensors[0].shape]
    sizes[axis] = sum(array.shape[axis] for array in tensors[: call["InputCount"]])
    return {"Sizes": sizes, "DataType": data_type_of(tensors[0])}


def _only(key: str) -> Compute:
    """Return a backend that does not check one field of the description."""
    return _repaired("OutputTensor", lambda c: {**c["OutputTensor"], key: _described(c)[key]})


def _like_first(call: Call) -> list[Array]:
    return [array.astype(call["InputTensors"][0].dtype) for array in call["InputTensors"]]


def _resized(call: Call) -> list[Array]:
    first, *others = call["InputTensors"]
    return [first, *(np.resize(array, first.shape) for array in others)]


def _zero_sizes_joined(call: Call) -> Outputs:
    axis, tensors = call["Axis"], call["InputTensors"]
    if 0 <= axis < tensors[0].ndim:
        tensors = [array for array in tensors if 0 not in array.shape]
    count = call["InputCount"] - len(call["InputTensors"]) + len(tensors)
    return right(OPERATOR, call.given(InputTensors=tensors, InputCount=count))


FAULTS: dict[str, Compute] = {
    **joining.faults(OPERATOR, "InputTensors", "Axis"),
    "sizes-unchecked": _only("Sizes"),
    "type-unchecked": _only("DataType"),
    "types-converted": _repaired("InputTensors", _like_first),
    "shapes-accepted": _repaired("InputTensors", _resized),
    "zero-sizes-joined": _zero_sizes_joined,
    "axis-wraps": _repaired("Axis", lambda c: c["Axis"] % c["InputTensors"][0].ndim),
    "axis-in-8-bits": _repaired("Axis", lambda c: c["Axis"] % 256),
    "axis-in-32-bits": _repaired("Axis", lambda c: c["Axis"] % (1 << 32)),
    "count-in-8-bits": _repaired("InputCount", lambda c: c["InputCount"] % 256),
    "count-in-32-bits": _repaired("InputCount", lambda c: c["InputCount"] % (1 << 32)),
    "count-ignored": _repaired("InputCount", lambda c: len(c["InputTensors"])),
    "count-cut": _repaired("InputCount", lambda c: min(c["InputCount"], len(c["InputTensors"]))),
}  # fmt: skip
