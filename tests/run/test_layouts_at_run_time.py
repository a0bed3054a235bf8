"""Inputs reach the backend in the layout of the case, at every call and in reused buffers."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.arrays.layouts import C_ORDER, Layout, start_of
from opcert.backends.reference import Reference
from opcert.run.session import run_case
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from tests.at_length import at_length
from tests.faults.finding import core_suite
from tests.run.test_case_steps import Spoils, kind
from tests.wrong_backends import Attributes, Inputs, Right

SUITE = core_suite()
PARTS = [field.name for field in fields(Layout)]
each_operator = pytest.mark.parametrize("name", SUITE.manifest.operators)
odd_layouts = pytest.mark.parametrize("part", PARTS)
each_layout = pytest.mark.parametrize("part", [*PARTS, ""])


def placed(array: Array) -> tuple[object, ...]:
    """Return where the elements of an array lie in its buffer, if it has any."""
    return (array.strides, start_of(array)) if array.size else ()


class RecordsLayouts(Reference):
    """Records the layout and the address of each input of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[dict[str, tuple[tuple[object, ...], bool, int]]] = []

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> list[Array]:
        seen = {
            name: (placed(array), array.flags.writeable, array.__array_interface__["data"][0])
            for name, array in inputs.items()
        }
        self.calls.append(seen)
        return super().run(operator, inputs, attributes)


@pytest.mark.parametrize("name", at_length(SUITE.manifest.operators, 3))
def test_each_input_has_the_layout_of_the_index_at_every_call(name: str) -> None:
    operator, backend = SUITE.operators[name], RecordsLayouts()
    for case in operator.cases.values():
        backend.calls.clear()
        outcome = run_case(backend, operator, case)
        assert outcome.fault is None
        assert len(backend.calls) == (2 if case.expects == "rejection" else 3), case.id
        expected = {name: (placed(array), True) for name, array in operator.inputs(case).items()}
        for call in backend.calls:
            assert {name: seen[:2] for name, seen in call.items()} == expected, case.id
            if case.expects == "outputs":
                # The buffers are those of the first call.
                assert call == backend.calls[0], case.id


@each_operator
def test_every_part_of_a_layout_is_drawn_for_the_data_of_every_operator(name: str) -> None:
    cases = SUITE.operators[name].cases.values()
    layouts = [case.inputs[key].layout for case in cases for key in case.data_inputs]
    assert {part for layout in layouts for part in layout.parts} == {*PARTS}
    assert C_ORDER in layouts


@each_operator
def test_an_index_has_a_layout_only_where_it_makes_a_difference(name: str) -> None:
    operator = SUITE.operators[name]
    for case in operator.cases.values():
        for key, array in operator.elements(case).items():
            layout = case.inputs[key].layout
            assert layout.of(array) == layout


def a_case(part: str, expects: str = "outputs") -> tuple[OperatorSuite, IndexedCase]:
    """Return a case whose data has a layout with this part alone, or one in C order."""
    operator = SUITE.operators["directml/DML_OPERATOR_SPLIT"]
    return operator, next(
        case
        for case in operator.cases.values()
        if case.expects == expects
        and [*case.inputs["InputTensor"].layout.parts] == [part][: bool(part)]
        # Of several elements, along an axis that is not repeated.
        and (expects == "rejection" or ("/drawn-" in case.id and len(case.outputs) > 1))
        and sum(extent > 1 for extent in case.inputs["InputTensor"].shape) > 1
        and len(case.inputs["InputTensor"].layout.repeated) < 2
    )


def first_element(data: Array) -> None:
    data.view(f"u{data.itemsize}")[(0,) * data.ndim] ^= 1


def last_element(data: Array) -> None:
    data.view(f"u{data.itemsize}")[(-1,) * data.ndim] ^= 1


def gap(data: Array) -> None:
    elements = data.copy()
    assert data.base is not None
    data.base.view(f"u{data.itemsize}")[...] ^= 1
    data[...] = elements


def writeable(data: Array) -> None:
    data.flags.writeable = False


def order(data: Array) -> None:
    data[...] = data[(slice(None, None, -1),) * data.ndim].copy()


@each_layout
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("change", [first_element, last_element, writeable, order])
def test_a_changed_input_fails_in_every_layout(
    part: str, at: int, change: Callable[[Array], None]
) -> None:
    outcome = run_case(Spoils(at, change), *a_case(part))
    assert kind(outcome) == "mutated-input"


@pytest.mark.parametrize("part", ["gaps", "offset"])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_writing_between_the_elements_fails(part: str, at: int) -> None:
    outcome = run_case(Spoils(at, gap), *a_case(part))
    assert outcome.fault is not None
    assert outcome.fault.text == (
        "the call changed memory around the elements of its input 'InputTensor'"
    )


@odd_layouts
def test_a_rejection_that_changes_an_input_fails_in_every_layout(part: str) -> None:
    class SpoilsAndRejects(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            data = inputs["InputTensor"]
            data.view(f"u{data.itemsize}")[...] ^= 1
            raise ValueError("no")

    outcome = run_case(SpoilsAndRejects(), *a_case(part, "rejection"))
    assert (outcome.observed, kind(outcome)) == ("rejected", "mutated-input")


@each_layout
def test_a_view_of_the_input_fails_in_every_layout(part: str) -> None:
    class Views(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Any) -> Sequence[Array]:
            axis, data = attributes["Axis"], inputs["InputTensor"]
            ends = np.cumsum([each["Sizes"][axis] for each in attributes["OutputTensors"]])
            return np.split(data, ends[:-1].tolist(), axis)

    assert kind(run_case(Views(), *a_case(part))) == "aliased-output"


@odd_layouts
def test_reading_the_memory_in_c_order_fails(part: str) -> None:
    class IgnoresStrides(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            data = inputs["InputTensor"]
            flat = data.base if data.base is not None else data.ravel(order="K")
            flat = np.ascontiguousarray(flat).ravel(order="K").view(data.dtype)
            as_c = flat[: data.size].reshape(data.shape)
            return super().run(operator, {"InputTensor": as_c}, attributes)

    assert kind(run_case(IgnoresStrides(), *a_case(part))) == "value"


@odd_layouts
def test_the_description_of_a_call_names_each_layout_but_c(part: str) -> None:
    operator, case = a_case(part)
    tensor = case.inputs["InputTensor"]
    expected = f"InputTensor={tensor.type}{list(tensor.shape)} {part} "
    assert operator.describe_call(case).startswith(expected)
    operator, case = a_case("")
    tensor = case.inputs["InputTensor"]
    assert f"{list(tensor.shape)}, OutputCount" in operator.describe_call(case)
