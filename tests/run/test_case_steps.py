"""The calls of a case: each must give its golden outputs, in reused buffers."""

import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import Array, bits_of
from opcert.arrays.layouts import C_ORDER
from opcert.run import outcome as outcome_module
from opcert.run.outcome import Outcome
from opcert.run.session import run_case, run_repeatedly
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from tests.faults.finding import core_suite
from tests.wrong_backends import Attributes, Inputs, Right


@pytest.fixture(scope="module")
def operator() -> OperatorSuite:
    return core_suite().operators["directml/DML_OPERATOR_SPLIT"]


def a_case(operator: OperatorSuite) -> IndexedCase:
    """Return a drawn case with several outputs of a few elements each."""
    return next(
        case
        for case in operator.cases.values()
        if "/drawn-" in case.id
        and len(case.outputs) > 1
        and case.type in ("i32", "i64", "i16", "i8")
        and case.inputs["InputTensor"].layout == C_ORDER
    )


class Recorder(Right):
    """Records its inputs, and changes the outputs of the calls in `at`."""

    def __init__(self, **at: Any) -> None:
        super().__init__()
        self.calls: list[dict[str, Array]] = []
        self.buffers: list[int] = []
        self.at = {int(key[1:]): value for key, value in at.items()}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        self.calls.append({name: array.copy() for name, array in inputs.items()})
        self.buffers.append(inputs["InputTensor"].__array_interface__["data"][0])
        outputs = list(super().run(operator, inputs, attributes))
        change = self.at.get(len(self.calls))
        changed: Sequence[Array] = change(outputs) if change else outputs
        return changed


class Spoils(Right):
    """Changes its input after one of its calls."""

    def __init__(self, at: int, change: Callable[[Array], object]) -> None:
        super().__init__()
        self.remaining, self.change = at, change

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        self.remaining -= 1
        if not self.remaining:
            self.change(inputs["InputTensor"])
        return outputs


def zeroed(outputs: list[Array]) -> list[Array]:
    return [np.zeros_like(each) for each in outputs]


def rejecting(_: list[Array]) -> list[Array]:
    raise ValueError("not this time")


def kind(outcome: Outcome) -> str | None:
    return None if outcome.fault is None else outcome.fault.kind


def test_a_valid_case_is_called_with_its_data_then_other_data_then_its_own(
    operator: OperatorSuite,
) -> None:
    case, backend = a_case(operator), Recorder()
    assert kind(run_case(backend, operator, case)) is None
    first, second, third = (call["InputTensor"] for call in backend.calls)
    assert np.array_equal(second, ~first)
    assert np.array_equal(third, first)


def test_the_calls_share_their_buffers(operator: OperatorSuite) -> None:
    backend = Recorder()
    run_case(backend, operator, a_case(operator))
    assert len(set(backend.buffers)) == 1


@pytest.mark.parametrize(
    ("wrong_at", "expected"),
    [
        ({"_1": zeroed}, "unstable"),
        ({"_2": zeroed}, "value"),
        ({"_3": zeroed}, "unstable"),
        ({"_2": rejecting}, "unstable"),
        ({"_3": rejecting}, "unstable"),
    ],
)
def test_each_of_the_three_calls_is_judged(
    operator: OperatorSuite, wrong_at: dict[str, Any], expected: str
) -> None:
    assert kind(run_case(Recorder(**wrong_at), operator, a_case(operator))) == expected


@pytest.fixture
def negative(operator: OperatorSuite) -> IndexedCase:
    return next(
        case
        for case in operator.cases.values()
        if case.violated_rule == "dml-split/axis-range" and not case.ambiguity
    )


def test_an_invalid_call_is_repeated_only_if_it_is_rejected(
    operator: OperatorSuite, negative: IndexedCase
) -> None:
    backend = Recorder()
    assert run_case(backend, operator, negative).observed == "rejected"
    assert len(backend.calls) == 2
    accepting = Accepts(1)
    assert run_case(accepting, operator, negative).observed == "outputs"
    assert accepting.calls == 1


def test_an_invalid_call_is_repeated_after_its_baseline(
    operator: OperatorSuite, negative: IndexedCase
) -> None:
    assert negative.baseline is not None
    backend = Recorder()
    outcome = run_case(backend, operator, negative, operator.cases[negative.baseline])
    assert (outcome.observed, outcome.fault) == ("rejected", None)
    assert len(backend.calls) == 4


def state_after_a_rejection(backend: Right, operator: OperatorSuite, case: IndexedCase) -> str:
    """Return the text of the failure of a backend that keeps something of a rejected call."""
    assert case.baseline is not None
    outcome = run_case(backend, operator, case, operator.cases[case.baseline])
    assert outcome.fault is not None
    assert outcome.fault.kind == "state"
    return outcome.fault.text


@pytest.mark.parametrize(
    ("accepts_in", "text"),
    [
        (2, "rejected at first; the same call, repeated, was accepted"),
        (4, "rejected at first; after the valid dml-split/"),
    ],
)
def test_a_rejection_that_becomes_an_acceptance_is_of_the_kind_state(
    operator: OperatorSuite, negative: IndexedCase, accepts_in: int, text: str
) -> None:
    assert state_after_a_rejection(Accepts(accepts_in), operator, negative).startswith(text)


def test_a_baseline_that_goes_wrong_after_a_rejection_is_of_the_kind_state(
    operator: OperatorSuite, negative: IndexedCase
) -> None:
    text = state_after_a_rejection(SpoiledByRejections(), operator, negative)
    assert f"after the rejection, the valid {negative.baseline} failed" in text


class SpoiledByRejections(Right):
    spoiled = False

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        try:
            outputs = super().run(operator, inputs, attributes)
        except Exception:
            self.spoiled = True
            raise
        return [each[:0] for each in outputs] if self.spoiled else outputs


class NeverWrites(Right):
    """Returns memory that it never writes to: zero unless opcert has dirtied it."""

    def __init__(self, golden: Array) -> None:
        super().__init__()
        self.golden = golden
        self.clear()

    def clear(self) -> None:
        """Free more zero blocks of this size than the allocator caches."""
        zeros = [np.zeros_like(self.golden) for _ in range(8)]
        del zeros

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        output = np.empty_like(self.golden)
        self.clear()
        return [output]


@pytest.mark.parametrize(("dirtied", "expected"), [(True, "unstable"), (False, None)])
def test_an_output_that_is_never_written_to_fails_where_it_must_be_zero(
    monkeypatch: pytest.MonkeyPatch, dirtied: bool, expected: str | None
) -> None:
    gather = core_suite().operators["openvino/Gather-8"]
    case = next(case for case in gather.cases.values() if all_zero(gather, case))
    if not dirtied:
        monkeypatch.setattr(outcome_module, "dirty_freed_memory", lambda _: None)
    outcome = run_case(NeverWrites(gather.outputs(case)[0]), gather, case)
    assert kind(outcome) == expected


# Other arrays of a run have few bytes.
_USUAL_SIZE = 64


def all_zero(operator: OperatorSuite, case: IndexedCase) -> bool:
    """Whether the output is zero for any data, of a size that NumPy caches and nothing else has."""
    if case.expects != "outputs" or not 0 < prod(case.outputs[0].shape) < 100:
        return False
    golden = [*operator.outputs(case), *operator.inverted_data_outputs(case)]
    sizes = [each.nbytes for each in operator.inputs(case).values()]
    return not any(bits_of(each).any() for each in golden) and (
        golden[0].nbytes not in sizes and golden[0].nbytes > _USUAL_SIZE
    )


class Accepts(Right):
    """Accepts the call of a number, whatever it is."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.calls, self.number = 0, number

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        self.calls += 1
        return [] if self.calls == self.number else super().run(operator, inputs, attributes)


@pytest.mark.parametrize(("name", "value"), [("dtype", np.dtype("u1")), ("shape", (-1, *[1] * 8))])
def test_any_change_to_the_form_of_an_input_is_a_failure(
    operator: OperatorSuite, name: str, value: object
) -> None:
    backend = Spoils(1, lambda data: setattr(data, name, value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        outcome = run_case(backend, operator, a_case(operator))
    assert kind(outcome) == "mutated-input"


def test_a_huge_virtual_output_fails_by_its_shape(operator: OperatorSuite) -> None:
    def vast(outputs: list[Array]) -> list[Array]:
        return [np.broadcast_to(np.zeros((), each.dtype), (1 << 40,)) for each in outputs]

    outcome = run_case(Recorder(_1=vast), operator, a_case(operator))
    assert kind(outcome) == "unstable"
    assert outcome.fault is not None
    assert "1099511627776" in outcome.fault.text


def test_a_subclass_cannot_change_its_comparison(operator: OperatorSuite) -> None:
    class Agreeable(np.ndarray):
        def tobytes(self, order: Any = "C") -> bytes:
            raise AssertionError

    def lying(outputs: list[Array]) -> list[Array]:
        return [np.zeros_like(each).view(Agreeable) for each in outputs]

    backend = Recorder(_1=lying, _2=lying, _3=lying)
    assert kind(run_case(backend, operator, a_case(operator))) == "value"


def test_golden_outputs_for_inverted_data_are_stored_where_they_are_not_the_inverted_ones() -> None:
    stored = [
        case
        for operator in core_suite().operators.values()
        for case in operator.cases.values()
        if case.inverted_data_outputs
    ]
    assert stored
    assert all("gather-8/" in case.id for case in stored)


def test_a_late_write_to_the_inputs_is_found_by_repeating_the_case(operator: OperatorSuite) -> None:
    case = a_case(operator)
    outcome = run_repeatedly(Spoils(150, lambda data: data.fill(0)), operator, case)
    assert outcome.fault is not None
    assert outcome.fault.kind == "mutated-input"
    assert outcome.fault.text.startswith(f"call 149 of {case.id} failed: ")
