"""Confirmation: what fails alone, what needs earlier calls, and the calls that reproduce it."""

import re
from contextlib import closing
from functools import cache
from math import prod
from pathlib import Path

import pytest

from opcert import Certificate, certify
from opcert.arrays.element_types import Array
from opcert.cases import drawn
from opcert.errors import OpcertError, listed
from opcert.isolation.supervised import SupervisedBackend, start_backend
from opcert.suite.spec_check import call_of_case
from opcert.verdicts import confirmation
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.condition_text import Term
from opcert.verdicts.confirmation import Confirmation
from opcert.verdicts.dependence import known_in_run
from opcert.verdicts.earlier_calls import EarlierCalls, FreshProcess
from opcert.verdicts.fresh_calls import FreshCalls
from opcert.verdicts.verdict import Verdict
from opcert.verification import verify_certificate
from tests.faults.finding import core_suite
from tests.verdicts.hosted import BreaksAfterRejections, RoundsThroughF16

pytestmark = pytest.mark.usefixtures("tried_at_length")

HOSTED = str(Path(__file__).with_name("hosted.py"))


@cache
def certificate(name: str, case: str) -> Certificate:
    return certify(f"{HOSTED}:{name}", core_suite(), case=case)


@pytest.mark.slow
def test_a_cache_key_without_the_axis_is_of_kind_state_and_names_the_baseline() -> None:
    found = certificate("PlansByShape", "variadic-split-1/axis-range.*")
    accepted = [v for v in found.verdicts if v.status == "fail"]
    assert accepted
    assert {v.kind for v in accepted} == {"state"}
    for case, reproduction in found.reproductions.items():
        assert reproduction.reproduced == "after-other-calls"
        assert [call.case for call in reproduction.calls] == [
            core_suite().cases[case][1].baseline,
            case,
        ]


def test_the_cause_says_which_earlier_calls_make_others_fail() -> None:
    found = certificate("PlansByShape", "variadic-split-1/axis-range.*")
    (cause,) = found.causes
    begin = "VariadicSplit-1 accepts invalid calls after a valid call with the same "
    assert cause.statement.startswith(begin)
    assert set(cause.cases) == {v.case for v in found.verdicts if v.status == "fail"}


@pytest.mark.slow
def test_earlier_calls_may_share_the_shapes_of_outputs_and_no_input() -> None:
    found = certificate("KeepsByOutputs", "slice-8/drawn-i*")
    (cause,) = found.causes
    assert cause.statement.endswith("with the same shapes of outputs and type of data")


@pytest.mark.slow
def test_a_cause_names_what_an_earlier_call_states_and_a_later_one_omits() -> None:
    found = certificate("KeepsTheMode", "broadcast-1/drawn-[fi]*-[12]-*")
    (cause,) = found.causes
    assert (
        "after another call with mode = explicit, in calls with mode = omitted" in cause.statement
    )


@pytest.mark.slow
def test_earlier_calls_are_found_although_another_fault_needs_none() -> None:
    found = certificate("PlansAndRounds", "variadic-split-1/drawn-[fi]*-[12]-*")
    (statement,) = [c.statement for c in found.causes if c.kinds == ("state",)]
    assert "another value of axis" in statement


def test_some_of_what_a_condition_does_not_explain_are_tried_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operator = "openvino/Slice-8"
    cases = core_suite().select(operator, "*/drawn-i8-*")[:40]
    explained, of_other_cause, needing_earlier_calls = cases[:10], cases[10:25], cases[25:]
    cause = Cause(
        operator=operator,
        kinds=("value",),
        condition=(Term(factor="a", levels=("b",), text="b"),),
        cases=tuple(cases),
        unmatched=(*of_other_cause, *needing_earlier_calls),
        failing=len(explained),
        representative=cases[0],
    )
    verdicts = {c: Verdict(c, operator, "fail", "value", "outputs", (), "wrong") for c in cases}

    def passes_alone(*arguments: object) -> bool:
        return arguments[2] in needing_earlier_calls

    monkeypatch.setattr(FreshProcess, "passes_alone", passes_alone)
    monkeypatch.setattr(Confirmation, "_settle", lambda *_: [cause])
    monkeypatch.setattr(Confirmation, "_relate", lambda *_: None)
    monkeypatch.setattr(confirmation, "try_conditions", lambda *_: None)
    backend = start_backend(f"{HOSTED}:RoundsThroughF16", {})
    assert isinstance(backend, SupervisedBackend)
    with closing(backend):
        found = Confirmation(backend, Diagnosis(core_suite()), verdicts, ()).confirm()
    assert {v.case for v in found.verdicts.values() if v.kind == "state"} == {
        *needing_earlier_calls
    }


@pytest.mark.slow
def test_a_relation_explains_failures_of_a_cause_although_those_of_another_one_occur_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confirmation, "_DEPENDENT", (0, 0.0))
    case = "variadic-split-1/drawn-[fi]*-[123]-*"
    found = certify(f"{HOSTED}:PlansByRankAndRounds", core_suite(), case=case)
    (cause,) = [cause for cause in found.causes if cause.kinds == ("state",)]
    cases = core_suite().cases
    others = {v.case for v in found.verdicts if v.failure and cases[v.case][1].type != "f32"}
    assert others <= {*cause.cases}


def test_a_failure_that_needs_no_earlier_call_is_reproduced_alone() -> None:
    found = certificate("RoundsThroughF16", "dml-split/drawn-f32-[12]-*")
    assert found.reproductions
    for case, reproduction in found.reproductions.items():
        assert (reproduction.reproduced, reproduction.kind) == ("alone", "value")
        assert {call.case for call in reproduction.calls} == {case}


def test_a_failure_after_a_rejection_is_not_confirmed_by_what_its_valid_call_does_alone() -> None:
    found = certify(BreaksAfterRejections(), core_suite(), case="dml-split/*")
    by_case, operator = found.by_case, core_suite().operators["directml/DML_OPERATOR_SPLIT"]
    # The valid call has other bits of a NaN alone.
    case = next(
        name
        for name, verdict in by_case.items()
        if verdict.kind == "state" and by_case[str(operator.cases[name].baseline)].kind == "bits"
    )
    alone = certify(f"{HOSTED}:BreaksAfterRejections", core_suite(), case=case)
    (verdict,) = alone.verdicts
    assert verdict.kind == "state"
    (reproduction,) = alone.reproductions.values()
    assert reproduction.reproduced == "after-other-calls"
    assert [call.case for call in reproduction.calls] == [case, operator.cases[case].baseline]
    # Nor do its other bits count after other calls.
    known = known_in_run(Diagnosis(core_suite()).known, operator.index.operator, by_case.values())
    backend = start_backend(f"{HOSTED}:BreaksAfterRejections", {})
    assert isinstance(backend, SupervisedBackend)
    with closing(backend):
        process = FreshProcess(backend, 600, 600.0)
        earlier = EarlierCalls(process, operator, None, known, reproduction.kind)
        relation = earlier.related(reproduction).relation
    assert relation is not None
    assert relation.text == "a rejected call"


def test_a_search_starts_so_many_processes_whatever_its_parts_may_start() -> None:
    backend = start_backend(f"{HOSTED}:RoundsThroughF16", {})
    assert isinstance(backend, SupervisedBackend)
    started = []
    with closing(backend):
        process = FreshProcess(backend, 3, 600.0)
        for _ in range(2):
            process.begin(2, 600.0)
            while not process.is_over:
                started.append(process.session())
    assert len(started) == 3


def test_a_condition_is_tried_on_fresh_calls() -> None:
    found = certificate("RoundsThroughF16", "dml-split/drawn-f*")
    (cause,) = found.causes
    assert re.search(r"(\d\d) of \1 such fresh calls fail, 0 of \d+ others", cause.figures)
    assert found.fresh
    assert not verify_certificate(found, core_suite())


def test_fresh_calls_are_failing_ones_with_one_choice_answered_anew() -> None:
    found = certificate("RoundsThroughF16", "dml-split/drawn-f*")
    ((operator, calls),) = found.fresh.items()
    replays = [call for call in calls if call.anew]
    failing = {v.case for v in found.verdicts if v.failure}
    numbers = {int(case.rpartition("-")[2]) for case in failing}
    assert {call.number for call in replays} <= numbers
    assert {call.failure for call in replays} == {"value", "bits", None}
    assert len({call.name for call in replays}) == len(replays)
    suite = core_suite()
    made = FreshCalls(suite.spec_files[operator], suite.manifest)
    for replay in replays:
        case = next(case for case in failing if case.endswith(f"-{replay.number:06}"))
        former = call_of_case(*suite.cases[case])
        assert made.call(replay) not in (None, former)


def test_a_cause_shows_a_change_with_which_a_failing_call_passes() -> None:
    found = certificate("RoundsThroughF16", "dml-split/drawn-f*")
    (cause,) = found.causes
    case, _, change = cause.contrast.partition(" passes with ")
    suite = core_suite()
    made = FreshCalls(suite.spec_files[cause.operator], suite.manifest)
    passing = [c for c in found.fresh[cause.operator] if c.anew and c.failure is None]
    changes = [listed(made.changes(c)) for c in passing if case.endswith(f"-{c.number:06}")]
    assert case in cause.cases
    assert change in changes
    # What is rounded is of a float type; the other differences follow from the type.
    assert re.match(r"InputTensor .* in place of f(32|64)\[.* and OutputTensors ", change)


def test_a_change_is_stated_of_calls_that_fail_alone() -> None:
    found = certificate("RoundsThroughF16", "dml-split/drawn-f*")
    passing = {name: [c for c in calls if not c.failure] for name, calls in found.fresh.items()}
    alone = found.reproductions
    later = {"reproduced": "after-other-calls"}
    after = {case: made.model_copy(update=later) for case, made in alone.items()}
    diagnosis = Diagnosis(core_suite())
    for reproductions, fresh, is_stated in (
        (alone, passing, True),
        (after, passing, False),
        # Replays that fail do so alone.
        (after, found.fresh, True),
    ):
        (cause,) = diagnosis.causes(found.verdicts, reproductions, fresh)
        assert bool(cause.contrast) == is_stated


def test_what_a_backend_declares_as_unsupported_is_not_tried() -> None:
    many = certificate("RoundsAndDeclares", "dml-split/drawn-f*")
    # For one failure, calls of all types are drawn.
    one = certificate("RoundsAndDeclares", next(v.case for v in many.verdicts if v.failure))
    ends = {call.failure for calls in one.fresh.values() for call in calls}
    # What is rounded has other bits, too; the types that are not declared would crash.
    assert ends - {"bits"} == {"value", None}


def test_a_reference_that_rejects_a_fresh_call_costs_this_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rejecting(*_: object) -> list[Array]:
        raise OpcertError("the reference rejects the call")

    monkeypatch.setattr(drawn, "golden_outputs", rejecting)
    found = certify(f"{HOSTED}:RoundsThroughF16", core_suite(), case="dml-split/drawn-f32-1-*")
    assert found.causes
    assert not any(found.fresh.values())


def test_one_failure_has_a_cause_because_many_fresh_calls_are_made() -> None:
    many = certificate("RoundsThroughF16", "dml-split/drawn-f*")
    one = certificate("RoundsThroughF16", next(v.case for v in many.verdicts if v.failure))
    factors = [term.factor for cause in one.causes for term in cause.condition]
    assert factors == ["InputTensor type"]


@pytest.mark.slow
def test_a_cached_result_is_of_kind_state() -> None:
    found = certificate("KeepsByShape", "dml-split/drawn-i32-[12]-*")
    assert {v.kind for v in found.verdicts if v.status == "fail"} == {"state"}


@pytest.mark.slow
def test_what_a_backend_keeps_changes_no_fresh_call() -> None:
    found = certificate("KeepsAndRounds", "dml-split/drawn-[if]*-[12]-*")
    assert {kind for cause in found.causes for kind in cause.kinds} == {"state", "value"}
    ((operator, calls),) = found.fresh.items()
    made = FreshCalls(core_suite().spec_files[operator], core_suite().manifest)
    ended = {
        (call.inputs["InputTensor"].type, fresh.failure)
        for fresh in calls
        if (call := made.call(fresh)) is not None
    }
    assert {element_type for element_type, failure in ended if failure} == {"f32"}
    assert ("i32", None) in ended


def test_a_constant_result_is_not_of_kind_state() -> None:
    found = certificate("LosesItsData", "dml-split/drawn-f32-[12]-*")
    assert {v.kind for v in found.verdicts if v.status == "fail"} == {"value"}


@pytest.mark.slow
def test_a_large_failing_call_is_made_smaller() -> None:
    large = next(
        case.id
        for case in core_suite().operators["directml/DML_OPERATOR_SPLIT"].cases.values()
        if "/drawn-f32-2-" in case.id and 100 < prod(case.inputs["InputTensor"].shape) < 1000
    )
    found = certificate("RoundsThroughF16", large)
    (reproduction,) = found.reproductions.values()
    (*_, step) = reproduction.reduced
    (data,) = step.inputs.values()
    assert data.array.size <= 20
    assert step.outputs is not None


def test_an_object_in_this_process_is_not_confirmed() -> None:
    found = certify(RoundsThroughF16(), core_suite(), case="dml-split/drawn-f32-[12]-*")
    assert found.counts["fail"] > 0
    assert not found.reproductions
