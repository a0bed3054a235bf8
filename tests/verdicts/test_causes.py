"""The causes of failures: what explains them, in what order, and which case shows each."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest

from opcert import certify, read_certificate
from opcert.cases.case import short_digest
from opcert.run.wrong_elements import WrongElements
from opcert.suite.format import IndexedCase
from opcert.suite.suite import Suite
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.dependence import Relation
from opcert.verdicts.reproduction import Reproduction
from opcert.verdicts.verdict import FAILURE_STATUSES, Evidence, Verdict
from tests import samples
from tests.command_line import WRONG, opcert
from tests.faults.fault import BROADCAST, GATHER, SLICE
from tests.wrong_backends import NarrowsIntegers, SpoilsTheTail

# Returns a kind of failure, "crash", "hang" or None.
Fails = Callable[[IndexedCase], Any]


@cache
def core() -> tuple[Suite, Diagnosis]:
    """Return the core suite with its diagnosis, which reads the levels of an operator once."""
    suite = Suite()
    return suite, Diagnosis(suite)


def verdicts(operator: str, fails: Fails) -> list[Verdict]:
    """Return a verdict of each decisive case; `fails` returns the kind of a failure, or None."""
    found = []
    for case in core()[0].operators[operator].cases.values():
        kind = fails(case)
        if case.ambiguity is None and kind in ("crash", "hang"):
            found.append(Verdict(case.id, operator, kind, None, kind, case.rules, "ended"))
        elif case.ambiguity is None:
            verdict = Verdict(case.id, operator, "pass", kind, "outputs", case.rules, "")
            found.append(replace(verdict, status="fail", detail="wrong") if kind else verdict)
    return found


def causes(operator: str, fails: Fails) -> Sequence[Cause]:
    """Return the causes where the cases of an operator fail as `fails` says."""
    return core()[1].causes(verdicts(operator, fails))


def is_valid(case: IndexedCase) -> bool:
    return case.expects == "outputs"


def moves_f16(case: IndexedCase) -> bool:
    return is_valid(case) and case.type == "f16"


def is_of_rank_7(case: IndexedCase) -> bool:
    return is_valid(case) and case.rank >= 7


def test_a_cause_names_the_levels_of_all_failures() -> None:
    (cause,) = causes(BROADCAST, lambda case: "shape" if is_of_rank_7(case) else None)
    assert [(term.factor, term.levels) for term in cause.condition] == [("data rank", ("7", "8"))]
    assert (cause.failing, cause.passing, cause.unmatched) == (len(cause.cases), 0, ())


def test_a_cause_reads_as_a_sentence_with_its_evidence() -> None:
    (cause,) = causes(BROADCAST, lambda case: "shape" if moves_f16(case) else None)
    assert cause.sentence == (
        f"Broadcast-1 gives a wrong shape whenever a call has data of f16 ({len(cause.cases)} of "
        f"{len(cause.cases)} such cases fail, 0 of {cause.others_passing:,} others)"
    )


def test_one_condition_that_explains_two_kinds_is_one_cause() -> None:
    def fails(case: IndexedCase) -> str | None:
        elements = max((max(output.shape, default=1) for output in case.outputs), default=0)
        return ("value" if elements < 100 else "shape") if is_of_rank_7(case) else None

    (cause,) = causes(BROADCAST, fails)
    assert set(cause.kinds) == {"value", "shape"}


def test_kinds_that_show_in_different_calls_are_one_cause() -> None:
    def fails(case: IndexedCase) -> str | None:
        if not is_of_rank_7(case):
            return None
        # A few of the outputs that have the shape of data are right.
        shape = case.inputs["data"].shape
        is_right = None if shape[-1] % 4 == 0 else "value"
        return is_right if case.outputs[0].shape == shape else "shape"

    (cause,) = causes(BROADCAST, fails)
    assert [(term.factor, term.levels) for term in cause.condition] == [("data rank", ("7", "8"))]
    assert {*cause.kinds} == {"shape", "value"}


def test_small_and_large_errors_of_few_calls_are_one_cause() -> None:
    cases = [
        case.id for case in core()[0].operators[BROADCAST].cases.values() if is_of_rank_7(case)
    ]
    kinds = dict(zip(cases[::20], ["value", "accuracy"] * 3, strict=False))
    (cause,) = causes(BROADCAST, lambda case: kinds.get(case.id))
    assert {*cause.kinds} == {"value", "accuracy"}
    assert {*cause.cases} == {*kinds}
    assert "all of which have data of rank 7 or 8" in cause.sentence


def test_failures_in_outputs_that_are_all_alike_are_explained_with_the_others() -> None:
    # A wrong index gives other elements than zeros.
    (cause,) = causes(GATHER, lambda c: "value" if "gather-8/index-below" in c.rules else None)
    assert (cause.passing, cause.unmatched) == (0, ())


def test_two_faults_are_two_causes() -> None:
    found = causes(
        SLICE,
        lambda case: "rejected" if is_of_rank_7(case) else "shape" if moves_f16(case) else None,
    )
    assert [cause.condition[0].factor for cause in found] == ["data rank", "data type"]


def test_an_unchecked_rule_is_named() -> None:
    (cause,) = causes(
        SLICE, lambda case: "accepted" if case.violated_rule == "slice-8/step-nonzero" else None
    )
    assert cause.condition[0].levels == ("slice-8/step-nonzero",)
    assert cause.sentence.startswith("Slice-8 accepts calls that violate step-nonzero (")


def test_failures_that_no_condition_explains_are_listed_apart() -> None:
    valid = filter(is_valid, core()[0].operators[SLICE].cases.values())
    # The digests of ids have no meaning.
    low = [case for case in valid if case.rank < 7]
    odd = {case.id for case in sorted(low, key=lambda case: short_digest(case.id))[:3]}
    (cause,) = causes(SLICE, lambda case: "shape" if is_of_rank_7(case) or case.id in odd else None)
    assert [term.factor for term in cause.condition] == ["data rank"]
    assert {*cause.unmatched} == odd <= {*cause.cases}
    assert cause.figures.endswith(f" such cases fail, 3 of {3 + cause.others_passing:,} others")


@pytest.mark.parametrize(
    ("count", "words"), [(1, "in 1 case, which has"), (3, "in 3 cases, all of which have")]
)
def test_a_few_invalid_calls_that_are_accepted_have_their_rule_in_common(
    count: int, words: str
) -> None:
    violations = [
        case.id
        for case in core()[0].operators[SLICE].cases.values()
        if case.violated_rule == "slice-8/step-nonzero" and case.ambiguity is None
    ]
    accepted = sorted(violations, key=short_digest)[:count]
    (cause,) = causes(SLICE, lambda case: "accepted" if case.id in accepted else None)
    assert cause.statement.endswith(f"{words} a violation of step-nonzero")


def test_what_a_backend_keeps_from_call_to_call_is_one_cause() -> None:
    (cause,) = causes(
        SLICE,
        lambda case: (
            "state" if is_of_rank_7(case) or case.violated_rule == "slice-8/step-nonzero" else None
        ),
    )
    assert cause.kinds == ("state",)
    assert cause.unmatched


@pytest.mark.parametrize(
    ("same", "reproduced", "kinds"),
    [
        (("shape of data",), "never", ("value", "state")),
        (("shape of data",), "alone", ("state",)),
        ((), "never", ("state",)),
    ],
    ids=["after-few-calls", "although-one-fails-alone", "after-nearly-every-call"],
)
def test_failures_of_another_kind_follow_related_calls_if_passing_cases_seldom_do(
    same: tuple[str, ...], reproduced: Literal["alone", "never"], kinds: tuple[str, ...]
) -> None:
    diagnosis = core()[1]
    steps: dict[object, object] = {}
    failed: list[str] = []

    def fails(case: IndexedCase) -> str | None:
        """Return how a backend fails that keeps the first step for each shape of the data."""
        facts = diagnosis.known[case.id].facts
        step = facts.get("value of step")
        is_tried = is_valid(case) and case.ambiguity is None and case.type in types
        if not is_tried or steps.setdefault(facts["shape of data"], step) == step:
            return None
        failed.append(case.id)
        return "value" if len(failed) > 1 else "state"

    cases, types = core()[0].cases, ("f32", "i8")
    found = [v for v in verdicts(SLICE, fails) if cases[v.case][1].type in types]
    relation = Relation(outcome=None, same=same, other=("value of step",), counts=(2, 0, 0, 9))
    reproduction = Reproduction(
        reproduced="after-other-calls", calls=(), kind="value", reduced=(), relation=relation
    )
    other = Reproduction(reproduced=reproduced, calls=(), kind="value", reduced=())
    causes = diagnosis.causes(found, {failed[0]: reproduction, failed[-1]: other})
    assert kinds in [cause.kinds for cause in causes]
    assert sorted(case for cause in causes for case in cause.cases) == sorted(failed)


def test_narrowed_integers_are_one_cause_whatever_they_change() -> None:
    (cause,) = certify(
        NarrowsIntegers(), core()[0], operator=SLICE, case="slice-8/drawn-i8-*"
    ).causes
    assert [(term.factor, term.levels) for term in cause.condition] == [
        ("narrowed integers", ("integers out of the 32-bit range",))
    ]
    assert len(cause.kinds) > 1
    assert (cause.passing, cause.unmatched) == (0, ())


def test_a_bug_that_spoils_the_same_elements_in_many_sorts_of_calls_is_one_cause() -> None:
    certificate = certify(SpoilsTheTail(), core()[0], operator=SLICE)
    (cause,) = certificate.causes
    where = "after the last whole block of 4 along the last axis"
    assert cause.elements == f"only elements {where} are wrong, and are 0"
    assert cause.sentence.endswith(f"; {cause.elements}")
    assert "no condition" not in cause.sentence
    failed = [v.case for v in certificate.verdicts if v.kind == "value"]
    assert {*cause.cases} == {*failed}


def test_causes_that_spoil_other_elements_stay_apart() -> None:
    def spoiled(verdict: Verdict) -> Verdict:
        place = "first" if core()[0].cases[verdict.case][1].type == "f16" else "last"
        elements = WrongElements(only={f"at the {place} position in C order": 0})
        evidence = Evidence(kind="value", text="wrong", elements=elements)
        return replace(verdict, evidence=evidence) if verdict.kind else verdict

    failed = verdicts(BROADCAST, lambda c: "value" if moves_f16(c) or is_of_rank_7(c) else None)
    found = core()[1].causes(map(spoiled, failed))
    assert {cause.where.removesuffix(" are wrong") for cause in found} == {
        "at the first position in C order",
        "at the last position in C order",
    }
    assert len(found) == 2


def test_a_rule_whose_violations_pass_or_crash_is_one_cause() -> None:
    def fails(case: IndexedCase) -> str | None:
        is_violation = case.violated_rule == "slice-8/step-nonzero"
        return ("crash" if case.rank == 3 else "accepted") if is_violation else None

    (cause,) = causes(SLICE, fails)
    assert {*cause.kinds} == {"accepted", "crash"}


def test_what_reads_outside_of_memory_is_one_cause_without_a_condition() -> None:
    kinds = ["crash", "unstable"]
    (cause,) = causes(SLICE, lambda case: kinds.pop() if is_valid(case) and kinds else None)
    assert {*cause.kinds} == {"crash", "unstable"}
    assert cause.statement.endswith("in 2 cases that no condition explains")


def test_crashes_come_first_and_bits_last() -> None:
    found = causes(
        SLICE,
        lambda case: (
            "crash"
            if is_valid(case) and case.rank == 8
            else "bits"
            if moves_f16(case)
            else "shape"
            if is_valid(case) and case.type == "u8"
            else None
        ),
    )
    assert [cause.kinds for cause in found] == [("crash",), ("shape",), ("bits",)]


def test_conditions_that_match_the_same_cases_are_both_stated() -> None:
    cases = core()[0].operators[BROADCAST].cases

    def is_of_rank_1(case: IndexedCase) -> bool:
        return is_valid(case) and case.rank == 1

    def has_output_of_rank_8(case: IndexedCase) -> bool:
        return is_valid(case) and len(case.outputs[0].shape) == 8

    came = [
        verdict
        for verdict in verdicts(BROADCAST, lambda c: "rejected" if is_of_rank_1(c) else None)
        if is_of_rank_1(cases[verdict.case]) == has_output_of_rank_8(cases[verdict.case])
    ]
    (cause,) = core()[1].causes(came)
    assert cause.statement == (
        "Broadcast-1 rejects valid calls whenever a call has data of rank 1 "
        "(in the same cases, an output of rank 8 instead of data of rank 1)"
    )


def test_a_mistake_in_the_search_for_causes_leaves_the_verdicts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Diagnosis, "_searched", lambda *_: dict[str, str]()["it"])
    options = "--in-process", "--case", "slice-8/example-*", "--out", tmp_path / "results"
    result = opcert("certify", "--backend", f"{WRONG}:RejectsEverything", *options, exits=1)
    assert "Slice-8 fails; the search for causes ended in line " in result.output
    assert " of test_causes.py with KeyError: 'it', a mistake of opcert" in result.output
    certificate = read_certificate(tmp_path / "results" / "certificate.json")
    failures = [verdict.case for verdict in certificate.verdicts if verdict.status == "fail"]
    assert [case for cause in certificate.causes for case in cause.cases] == failures


def test_passing_verdicts_have_no_causes() -> None:
    assert not Diagnosis(samples.suite()).causes(samples.right().verdicts)


def test_types_and_ranks_explain_failures_where_the_spec_is_missing() -> None:
    came = verdicts(BROADCAST, lambda case: "shape" if moves_f16(case) else None)
    (cause,) = Diagnosis(core()[0], {}).causes(came)
    assert cause.condition[0].levels == ("f16",)
    assert "whenever a call has a first input of f16 (" in cause.sentence


def test_a_documented_example_represents_its_cause() -> None:
    (cause,) = causes(SLICE, lambda case: "shape" if is_valid(case) else None)
    assert core()[0].cases[cause.representative].record.example


def test_a_representative_has_elements_if_any_failure_has() -> None:
    (cause,) = causes(SLICE, lambda case: "shape" if is_of_rank_7(case) else None)
    record = core()[0].cases[cause.representative].record
    assert all(0 not in array.shape for array in (*record.inputs.values(), *record.outputs))


@pytest.mark.parametrize(
    ("seed", "share"),
    [
        pytest.param(seed, share, marks=() if (seed, share) == (0, 0.5) else pytest.mark.slow)
        for seed in range(3)
        for share in (0.02, 0.5, 0.9)
    ],
)
def test_failures_without_a_pattern_have_a_cause(seed: int, share: float) -> None:
    random = Random(seed)
    kinds = {"outputs": ["value", "shape", "rejected"], "rejection": ["accepted"]}
    came = verdicts(
        BROADCAST,
        lambda case: random.choice(kinds[case.expects]) if random.random() < share else None,
    )
    found = core()[1].causes(came)
    counted = Counter(case for cause in found for case in cause.cases)
    assert counted == Counter(v.case for v in came if v.status in FAILURE_STATUSES)


def test_an_uncredited_rejection_belongs_to_the_cause_of_its_baseline() -> None:
    came = verdicts(BROADCAST, lambda case: "shape" if moves_f16(case) else None)
    failed = {verdict.case for verdict in came if verdict.status == "fail"}
    cases = core()[0].cases
    came = [
        replace(v, status="fail", kind="uncredited", attributed_to=cases[v.case].baseline)
        if cases[v.case].violated_rule and cases[v.case].baseline in failed
        else v
        for v in came
    ]
    (cause,) = core()[1].causes(came)
    assert set(cause.attributed) == {v.case for v in came if v.kind == "uncredited"} != set()


def test_an_uncredited_rejection_without_its_baseline_is_a_failure_of_its_own() -> None:
    came = verdicts(BROADCAST, lambda _: None)
    first = next(v for v in came if core()[0].cases[v.case].violated_rule)
    lone = replace(first, status="fail", kind="uncredited", attributed_to="absent")
    (cause,) = core()[1].causes([lone if v is first else v for v in came])
    assert cause.cases == (lone.case,)
