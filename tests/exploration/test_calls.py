"""Calls as a strategy of Hypothesis: they are right, they shrink, and they follow from others."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.strategies import SearchStrategy

import opcert
from opcert.errors import OpcertError, SpecError
from opcert.exploration.calls import ExpectedCall, OperatorCalls, trials
from opcert.reference import RuleBroken
from opcert.run.session import Session, Step
from opcert.specification.files import read_spec, read_specs_in
from tests.at_length import at_length
from tests.faults.fault import BROADCAST, GATHER, OPERATORS, SLICE
from tests.small_spec import spec
from tests.wrong_backends import Right

SHORT = settings(
    max_examples=40,
    database=None,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[*HealthCheck],
)


def smallest(operator: str, condition: Any) -> ExpectedCall:
    with_shrinking = settings(SHORT, max_examples=3000, phases=[Phase.generate, Phase.shrink])
    return find(opcert.calls(operator), condition, settings=with_shrinking)


def drawn_steps(operator: str) -> list[list[Step]]:
    (file,) = read_specs_in(None, operator)
    drawn = []

    @SHORT
    @given(trials(OperatorCalls(file)))
    def collect(trial: Any) -> None:
        drawn.append(trial)

    collect()
    return drawn


@pytest.mark.parametrize("operator", at_length(OPERATORS, 5))
def test_the_reference_does_what_calls_expect(operator: str) -> None:
    backend, kinds = Right(), set()

    @SHORT
    @given(opcert.calls(operator))
    def agrees(call: ExpectedCall) -> None:
        kinds.add(call.rule is None)
        with nullcontext() if call.rule is None else pytest.raises(RuleBroken, match=call.rule):
            call.check(backend.run(call.operator, call.inputs, call.attributes))

    agrees()
    assert kinds == {True, False}


def test_a_call_shrinks_to_what_a_person_would_write() -> None:
    call = smallest(GATHER, lambda call: call.outputs and call.attributes.get("batch_dims", 0) < 0)
    assert call.attributes == {"batch_dims": -1}
    assert {array.dtype.name for array in call.inputs.values()} == {"bool", "int64"}
    assert all(array.size <= 2 for array in call.inputs.values())
    assert not call.inputs["indices"].any()


@pytest.mark.slow
def test_a_rejected_call_shrinks_too() -> None:
    call = smallest(SLICE, lambda call: call.rule == "slice-8/step-nonzero")
    assert call.outputs is None
    assert call.inputs["step"].tolist() == [0]
    # An extent of 7 takes fewer choices than one of 2; how far ranks shrink depends on the search.
    assert call.inputs["data"].size <= 16


def test_what_a_backend_returned_is_checked() -> None:
    call = smallest(BROADCAST, lambda call: call.outputs and call.outputs[0].size > 1)
    assert call.outputs is not None
    (right,) = call.outputs
    call.check([right.copy()])
    for wrong, text in (
        ([], "0 outputs; expected 1"),
        ([right[:1]], "output 0 is "),
        ([np.logical_not(right)], "output 0 differs in "),
    ):
        with pytest.raises(AssertionError, match=text):
            call.check(wrong)
    rejected = smallest(BROADCAST, lambda call: call.rule)
    with pytest.raises(AssertionError, match="accepted a call that violates broadcast-1/"):
        rejected.check([right])


def test_calls_of_a_spec_of_ones_own(tmp_path: Path) -> None:
    path = spec(tmp_path)
    strategy: SearchStrategy[ExpectedCall] = opcert.calls("example/Take-1", path.parent)
    assert find(strategy, lambda call: call.rule is None, settings=SHORT).outputs
    with pytest.raises(OpcertError, match="no operator matches 'example/Tak-1'; did you mean"):
        opcert.calls("example/Tak-1", path.parent)


@pytest.mark.parametrize("operator", at_length(OPERATORS, 5))
def test_the_reference_passes_every_trial(operator: str) -> None:
    session = Session(Right())
    for steps in drawn_steps(operator):
        assert session.first_fault(steps) is None, steps


def test_a_trial_repeats_its_call_and_changes_it() -> None:
    steps = [step for steps in drawn_steps(GATHER) for step in steps]
    relations = {step.relation for step in steps}
    assert {"", "with another pattern of the data", "repeated"} < relations
    rejected = [step for step in steps if step.rule]
    assert rejected
    assert all(step.golden is None for step in rejected)


def test_a_reference_that_rejects_a_drawn_call_is_a_mistake_of_the_spec(tmp_path: Path) -> None:
    path = spec(tmp_path, ("take.py:take", "take.py:rejecting"))
    calls = OperatorCalls(read_spec(path))
    with pytest.raises(SpecError, match="the reference rejects a valid call"):
        find(trials(calls), lambda _: True, settings=SHORT)
