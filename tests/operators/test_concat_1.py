"""Planted faults of Concat-1."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from tests.operators import joining
from tests.operators.planted import Attributes, Compute, Inputs, first_failure, right

OPERATOR = "openvino/Concat-1"


def _valid(fault: joining.Fault) -> Compute:
    """Return a backend that rejects invalid calls, and joins the tensors of valid ones."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        (expected,) = right(OPERATOR, inputs, attributes)
        return [np.array(fault(inputs["inputs"], attributes["axis"], expected), order="C")]

    return compute


def _unchecked(repair: Callable[[list[Array], int], list[Array]]) -> Compute:
    """Return a backend that makes tensors which can be joined of any tensors."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        axis = attributes["axis"]
        return right(OPERATOR, {"inputs": repair(inputs["inputs"], axis)}, {"axis": axis})

    return compute


def _squeezed(tensors: list[Array], _: int) -> list[Array]:
    rank = max(array.ndim for array in tensors)
    return [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in tensors]


def _padded(tensors: list[Array], _: int) -> list[Array]:
    first = tensors[0]
    if any(array.ndim != first.ndim for array in tensors):
        return tensors
    return [
        array if array.shape == first.shape else np.resize(array, first.shape) for array in tensors
    ]


ACCEPTING: dict[str, Compute] = {
    "types-converted": _unchecked(lambda ts, _: [array.astype(ts[0].dtype) for array in ts]),
    "ranks-extended": _unchecked(_squeezed),
    "shapes-of-first": _unchecked(_padded),
    "scalars-joined": _unchecked(lambda ts, _: [np.atleast_1d(array) for array in ts]),
    "nothing-joined": lambda inputs, attributes: (
        right(OPERATOR, inputs, attributes) if inputs.get("inputs") else [np.zeros(0, np.float32)]
    ),
    "axis-wraps": lambda inputs, attributes: right(
        OPERATOR, inputs, {"axis": attributes["axis"] % max(1, inputs["inputs"][0].ndim)}
    ),
    "axis-in-8-bits": lambda inputs, attributes: right(
        OPERATOR, inputs, {"axis": (attributes["axis"] + 128) % 256 - 128}
    ),
    "axis-defaults-to-0": lambda inputs, attributes: right(
        OPERATOR, inputs, {"axis": 0, **attributes}
    ),
}


def _negative_axis_rejected(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
    if attributes["axis"] < 0:
        raise ValueError("a negative axis")
    return right(OPERATOR, inputs, attributes)


def _empty_rejected(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
    if any(array.size == 0 for array in inputs["inputs"][1:]):
        raise ValueError("an empty tensor")
    return right(OPERATOR, inputs, attributes)


@pytest.mark.slow
@pytest.mark.parametrize("name", joining.WRONG)
def test_a_wrong_join_is_found(name: str) -> None:
    assert first_failure(OPERATOR, _valid(joining.WRONG[name]())) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCEPTING)
def test_an_accepted_call_is_found(name: str) -> None:
    assert first_failure(OPERATOR, ACCEPTING[name]) is not None


@pytest.mark.slow
@pytest.mark.parametrize("compute", [_negative_axis_rejected, _empty_rejected])
def test_a_rejected_call_is_found(compute: Compute) -> None:
    assert first_failure(OPERATOR, compute) is not None


@pytest.mark.slow
def test_the_reference_has_no_fault() -> None:
    assert first_failure(OPERATOR, lambda *call: right(OPERATOR, *call)) is None
