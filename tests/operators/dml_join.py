"""Wrong ways to join."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference.directml import data_type_of
from tests.operators import joining
from tests.operators.planted import Attributes, Compute, Inputs, right, taking

OPERATOR = "directml/DML_OPERATOR_JOIN"


def _repaired(**changes: Callable[[Inputs, Attributes], Any]) -> Compute:
    """Return a backend that computes other inputs or attributes than those it gets."""

    def change(inputs: Inputs, attributes: Attributes) -> tuple[Inputs, Attributes]:
        changed = {key: make(inputs, attributes) for key, make in changes.items()}
        tensors = changed.pop("InputTensors", inputs["InputTensors"])
        known = {key: value for key, value in changed.items() if key in attributes}
        return {"InputTensors": tensors}, {**attributes, **known}

    return taking(OPERATOR, change)


def _described(inputs: Inputs, attributes: Attributes) -> dict[str, Any]:
    """Return a description of the output that fits the tensors."""
    tensors, axis = inputs["InputTensors"], attributes["Axis"]
    sizes = [*tensors[0].shape]
    sizes[axis] = sum(array.shape[axis] for array in tensors[: attributes["InputCount"]])
    return {"Sizes": sizes, "DataType": data_type_of(tensors[0])}


def _only(key: str) -> Compute:
    """Return a backend that does not check one field of the description."""
    return _repaired(OutputTensor=lambda i, a: {**a["OutputTensor"], key: _described(i, a)[key]})


def _like_first(inputs: Inputs, _: Attributes) -> list[Array]:
    tensors: list[Array] = inputs["InputTensors"]
    return [array.astype(tensors[0].dtype) for array in tensors]


def _resized(inputs: Inputs, _: Attributes) -> list[Array]:
    first, *others = inputs["InputTensors"]
    return [first, *(np.resize(array, first.shape) for array in others)]


def _zero_sizes_joined(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
    axis, tensors = attributes["Axis"], inputs["InputTensors"]
    if 0 <= axis < tensors[0].ndim:
        tensors = [array for array in tensors if 0 not in array.shape]
    count = attributes["InputCount"] - len(inputs["InputTensors"]) + len(tensors)
    return right(OPERATOR, {"InputTensors": tensors}, {**attributes, "InputCount": count})


FAULTS: dict[str, Compute] = {
    **joining.faults(OPERATOR, "InputTensors", "Axis"),
    "sizes-unchecked": _only("Sizes"),
    "type-unchecked": _only("DataType"),
    "types-converted": _repaired(InputTensors=_like_first),
    "shapes-accepted": _repaired(InputTensors=_resized),
    "zero-sizes-joined": _zero_sizes_joined,
    "axis-wraps": _repaired(Axis=lambda i, a: a["Axis"] % i["InputTensors"][0].ndim),
    "axis-in-8-bits": _repaired(Axis=lambda _, a: a["Axis"] % 256),
    "axis-in-32-bits": _repaired(Axis=lambda _, a: a["Axis"] % (1 << 32)),
    "count-in-8-bits": _repaired(InputCount=lambda _, a: a["InputCount"] % 256),
    "count-in-32-bits": _repaired(InputCount=lambda _, a: a["InputCount"] % (1 << 32)),
    "count-ignored": _repaired(InputCount=lambda i, _: len(i["InputTensors"])),
    "count-cut": _repaired(InputCount=lambda i, a: min(a["InputCount"], len(i["InputTensors"]))),
}  # fmt: skip
