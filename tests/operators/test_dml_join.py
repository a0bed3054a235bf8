"""Planted faults of DML_OPERATOR_JOIN."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.reference.directml import data_type_of
from tests.operators import joining
from tests.operators.planted import Attributes, Compute, Inputs, first_failure, right

OPERATOR = "directml/DML_OPERATOR_JOIN"


def _valid(fault: joining.Fault) -> Compute:
    """Return a backend that rejects invalid calls, and joins the tensors of valid ones."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        (expected,) = right(OPERATOR, inputs, attributes)
        return [np.array(fault(inputs["InputTensors"], attributes["Axis"], expected), order="C")]

    return compute


def _repaired(**changes: Callable[[Inputs, Attributes], Any]) -> Compute:
    """Return a backend that computes other inputs or attributes than those it gets."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        change = changes.get("InputTensors")
        tensors = inputs["InputTensors"] if change is None else change(inputs, attributes)
        others = {key: changes[key](inputs, attributes) for key in changes.keys() & attributes}
        return right(OPERATOR, {"InputTensors": tensors}, {**attributes, **others})

    return compute


def _described(inputs: Inputs, attributes: Attributes) -> dict[str, Any]:
    """Return a description of the output that fits the tensors."""
    tensors, axis = inputs["InputTensors"], attributes["Axis"]
    sizes = [*tensors[0].shape]
    sizes[axis] = sum(array.shape[axis] for array in tensors[: attributes["InputCount"]])
    return {"Sizes": sizes, "DataType": data_type_of(tensors[0])}


def _only(key: str) -> Compute:
    """Return a backend that does not check one field of the description."""
    return _repaired(
        OutputTensor=lambda inputs, attributes: {
            **attributes["OutputTensor"],
            key: _described(inputs, attributes)[key],
        }
    )


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


ACCEPTING: dict[str, Compute] = {
    "sizes-unchecked": _only("Sizes"),
    "type-unchecked": _only("DataType"),
    "types-converted": _repaired(InputTensors=_like_first),
    "shapes-of-first": _repaired(InputTensors=_resized),
    "zero-sizes-joined": _zero_sizes_joined,
    "axis-wraps": _repaired(
        Axis=lambda inputs, attributes: attributes["Axis"] % inputs["InputTensors"][0].ndim
    ),
    "axis-in-8-bits": _repaired(Axis=lambda _, attributes: attributes["Axis"] % 256),
    "axis-in-32-bits": _repaired(Axis=lambda _, attributes: attributes["Axis"] % (1 << 32)),
    "count-in-8-bits": _repaired(InputCount=lambda _, attributes: attributes["InputCount"] % 256),
    "count-in-32-bits": _repaired(
        InputCount=lambda _, attributes: attributes["InputCount"] % (1 << 32)
    ),
    "count-ignored": _repaired(InputCount=lambda inputs, _: len(inputs["InputTensors"])),
    "count-cut": _repaired(
        InputCount=lambda inputs, attributes: min(
            attributes["InputCount"], len(inputs["InputTensors"])
        )
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", joining.WRONG)
def test_a_wrong_join_is_found(name: str) -> None:
    assert first_failure(OPERATOR, _valid(joining.WRONG[name]())) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCEPTING)
def test_an_accepted_call_is_found(name: str) -> None:
    assert first_failure(OPERATOR, ACCEPTING[name]) is not None


@pytest.mark.slow
def test_the_reference_has_no_fault() -> None:
    assert first_failure(OPERATOR, lambda *call: right(OPERATOR, *call)) is None
