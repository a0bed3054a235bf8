"""Inputs reach the backend in the layout of the case, at every call and in reused buffers."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import LAYOUTS, Array
from opcert.backends.reference import Reference
from opcert.run.outcome import Outcome
from opcert.run.session import run_case
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from tests.at_length import at_length
from tests.faults.finding import core_suite
from tests.wrong_backends import Attributes, Inputs, Right

SUITE = core_suite()
each_operator = pytest.mark.parametrize("name", SUITE.manifest.operators)
each_layout = pytest.mark.parametrize("layout", LAYOUTS)
odd_layouts = pytest.mark.parametrize("layout", [each for each in LAYOUTS if each != "c"])


def layout_of(array: Array) -> str:
    """Return the layout that the strides have; c where several are possible."""
    if not array.size:
        return "c"
    long_axes = [axis for axis, extent in enumerate(array.shape) if extent > 1]
    extents = [array.shape[axis] for axis in long_axes]
    steps = [array.strides[axis] // array.itemsize for axis in long_axes]
    in_c = [prod(extents[i + 1 :]) for i in range(len(extents))]
    promised = {
        "c": in_c,
        "fortran": [prod(extents[:i]) for i in range(len(extents))],
        "reversed": [-step for step in in_c],
        "gapped": [2 * step for step in in_c],
    }
    promised["gapped"][-1:] = [2]
    if len(in_c) > 1:
        pitch = [*extents[:-1], extents[-1] + 1]
        promised["pitched"] = [*(prod(pitch[i + 1 :]) for i in range(len(pitch)))]
        promised["permuted"] = [*(prod(extents[i + 1 :]) for i in range(len(extents) - 2))]
        promised["permuted"] += [1, extents[-2]]
        promised["first_reversed"] = [-in_c[0], *in_c[1:]]
        promised["last_reversed"] = [*in_c[:-1], -in_c[-1]]
    return next(layout for layout, strides in promised.items() if steps == strides)


class RecordsLayouts(Reference):
    """Records the layout and the address of each input of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[dict[str, tuple[str, bool, int]]] = []

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> list[Array]:
        seen = {
            name: (layout_of(array), array.flags.writeable, array.__array_interface__["data"][0])
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
        expected = {name: (tensor.layout, True) for name, tensor in case.inputs.items()}
        for call in backend.calls:
            assert {name: seen[:2] for name, seen in call.items()} == expected, case.id
            if case.expects == "outputs":
                # The buffers are those of the first call.
                assert call == backend.calls[0], case.id


@each_operator
def test_every_layout_is_drawn_for_the_data_of_every_operator(name: str) -> None:
    cases = SUITE.operators[name].cases.values()
    assert {case.inputs[each].layout for case in cases for each in case.data_inputs} == set(LAYOUTS)


@each_operator
def test_an_index_has_a_layout_only_where_it_makes_a_difference(name: str) -> None:
    for case in SUITE.operators[name].cases.values():
        for tensor in case.inputs.values():
            long_axes = sum(extent > 1 for extent in tensor.shape) * (0 not in tensor.shape)
            assert tensor.layout == "c" or long_axes > (tensor.layout == "fortran")


def a_case(layout: str) -> tuple[OperatorSuite, IndexedCase]:
    """Return a case of several outputs whose data has a layout."""
    operator = SUITE.operators["directml/DML_OPERATOR_SPLIT"]
    return operator, next(
        case
        for case in operator.cases.values()
        if case.data_inputs
        and len(case.outputs) > 1
        and case.inputs["InputTensor"].layout == layout
        # Of elements that differ, along each axis.
        and "/drawn-" in case.id
        and min(case.inputs["InputTensor"].shape) > 1
    )


class Spoils(Right):
    """Changes its input after one of the calls."""

    def __init__(self, at: int, change: str) -> None:
        super().__init__()
        self.remaining, self.change = at, change

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        self.remaining -= 1
        if not self.remaining:
            getattr(self, self.change)(inputs["InputTensor"])
        return outputs

    def first_element(self, data: Array) -> None:
        bits = data.view(f"u{data.itemsize}")
        bits[(0,) * data.ndim] ^= 1

    def last_element(self, data: Array) -> None:
        bits = data.view(f"u{data.itemsize}")
        bits[(-1,) * data.ndim] ^= 1

    def gap(self, data: Array) -> None:
        elements = data.copy()
        assert data.base is not None
        data.base.view(f"u{data.itemsize}")[...] ^= 1
        data[...] = elements

    def writeable(self, data: Array) -> None:
        data.flags.writeable = False

    def order(self, data: Array) -> None:
        data[...] = data[(slice(None, None, -1),) * data.ndim].copy()


def kind(outcome: Outcome) -> str | None:
    return outcome.fault.kind if outcome.fault else None


@odd_layouts
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("change", ["first_element", "last_element", "writeable", "order"])
def test_a_changed_input_fails_in_every_layout(layout: str, at: int, change: str) -> None:
    outcome = run_case(Spoils(at, change), *a_case(layout))
    assert kind(outcome) == "mutated-input"


@pytest.mark.parametrize("layout", ["gapped", "pitched"])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_writing_between_the_elements_fails(layout: str, at: int) -> None:
    outcome = run_case(Spoils(at, "gap"), *a_case(layout))
    assert outcome.fault is not None
    assert outcome.fault.text == (
        "the call changed memory between the elements of its input 'InputTensor'"
    )


@odd_layouts
def test_a_rejection_that_changes_an_input_fails_in_every_layout(layout: str) -> None:
    class SpoilsAndRejects(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            data = inputs["InputTensor"]
            data.view(f"u{data.itemsize}")[...] ^= 1
            raise ValueError("no")

    operator = SUITE.operators["directml/DML_OPERATOR_SPLIT"]
    case = next(
        case
        for case in operator.cases.values()
        if case.expects == "rejection"
        and case.inputs.get("InputTensor")
        and case.inputs["InputTensor"].layout == layout
    )
    outcome = run_case(SpoilsAndRejects(), operator, case)
    assert (outcome.observed, kind(outcome)) == ("rejected", "mutated-input")


@each_layout
def test_a_view_of_the_input_fails_in_every_layout(layout: str) -> None:
    class Views(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Any) -> Sequence[Array]:
            axis, data = attributes["Axis"], inputs["InputTensor"]
            ends = np.cumsum([each["Sizes"][axis] for each in attributes["OutputTensors"]])
            return np.split(data, ends[:-1].tolist(), axis)

    assert kind(run_case(Views(), *a_case(layout))) == "aliased-output"


@odd_layouts
def test_reading_the_memory_in_c_order_fails(layout: str) -> None:
    class IgnoresStrides(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            data = inputs["InputTensor"]
            flat = data.base if data.base is not None else data.ravel(order="K")
            as_c = np.ascontiguousarray(flat).ravel(order="K")[: data.size].reshape(data.shape)
            return super().run(operator, {"InputTensor": as_c}, attributes)

    assert kind(run_case(IgnoresStrides(), *a_case(layout))) == "value"


@odd_layouts
def test_the_description_of_a_call_names_each_layout_but_c(layout: str) -> None:
    operator, case = a_case(layout)
    tensor = case.inputs["InputTensor"]
    expected = f"InputTensor={tensor.type}{list(tensor.shape)} {layout}, "
    assert operator.describe_call(case).startswith(expected)
    operator, case = a_case("c")
    assert " c" not in operator.describe_call(case)
