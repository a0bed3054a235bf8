"""Judging: the status and kind of each outcome."""

from dataclasses import replace
from typing import Any

import pytest

from opcert.run.comparison import Difference, FailureKind
from opcert.run.outcome import Observed, Outcome
from opcert.suite.format import IndexedCase
from opcert.verdicts.verdict import (
    BACKEND_CONTRACT,
    DECISIVE_BREACHES,
    Status,
    Verdict,
    judge,
    unverified_reasons,
)

VALID: dict[str, Any] = {
    "id": "example-1/valid",
    "expects": "outputs",
    "rules": ("example-1/rule",),
    "type": "f32",
    "rank": 1,
    "attributes": {},
    "inputs": {},
    "outputs": (),
}
REJECTED = {
    **VALID,
    "id": "example-1/rejected",
    "expects": "rejection",
    "violated_rule": "example-1/rule",
}


def judged(case: dict[str, Any], outcome: Outcome, baseline: Verdict | None = None) -> Verdict:
    return judge("example/Example-1", IndexedCase(**case), outcome, baseline)


def verdict_of_baseline(status: Status, kind: FailureKind | None = None) -> Verdict:
    return Verdict("example-1/valid", "example/Example-1", status, kind, "outputs", (), "")


def of(operator: str, status: Status, kind: FailureKind | None = None) -> Verdict:
    observed: Observed = "not-run" if status == "out-of-claim" else "outputs"
    return Verdict("a-case", operator, status, kind, observed, (), "")


@pytest.mark.parametrize(
    ("verdicts", "claimed", "messages"),
    [
        ([of("a/A", "pass"), of("a/B", "fail", "bits")], (), []),
        ([of("a/A", "unsupported")], (), ["nothing was verified"]),
        ([of("a/A", "fail", "value")], (), ["nothing was verified"]),
        (
            [of("a/A", "out-of-claim")],
            ("a/B",),
            ["nothing was verified: the claim has none of the calls"],
        ),
        ([of("a/A", "pass"), of("a/B", "unsupported")], (), ["nothing of a/B was verified"]),
        ([of("a/A", "pass"), of("a/B", "out-of-claim")], (), []),
        (
            [of("a/A", "pass"), of("a/B", "out-of-claim")],
            ("a/A", "a/B"),
            ["nothing of a/B was verified"],
        ),
    ],
)
def test_each_operator_that_was_tried_or_claimed_must_have_been_verified(
    verdicts: list[Verdict], claimed: tuple[str, ...], messages: list[str]
) -> None:
    assert unverified_reasons(verdicts, claimed) == messages


def gives(kind: FailureKind, text: str = "wrong") -> Outcome:
    return Outcome("outputs", fault=Difference(kind, text))


OPEN, OPEN_REJECTED = {**VALID, "ambiguity": "open"}, {**REJECTED, "ambiguity": "open"}
PASSED, DECLINED = verdict_of_baseline("pass"), verdict_of_baseline("unsupported")
REJECTS = Outcome("rejected", reason="ValueError: no")
WROTE, MALFORMED = Difference("mutated-input", "wrote"), Difference("protocol", "no line of JSON")
OF_RESULTS: tuple[FailureKind, ...] = ("value", "shape", "unstable")
CONTRACT = f"no line of JSON\n    contract: {BACKEND_CONTRACT['protocol']}"
# Each case with what came of it and its baseline, and its status, kind and a part of its detail.
JUDGED: list[tuple[dict[str, Any], Outcome, Verdict | None, str, str | None, str]] = [
    (VALID, REJECTS, None, "fail", "rejected", "rejected a valid call: ValueError: no"),
    (VALID, Outcome("unsupported"), None, "unsupported", None, ""),
    (VALID, Outcome("unsupported", fault=WROTE), None, "fail", "mutated-input", "wrote"),
    (VALID, gives("mutated-input", "wrote"), None, "fail", "mutated-input", "wrote"),
    (VALID, Outcome("rejected", fault=MALFORMED), None, "fail", "protocol", CONTRACT),
    (REJECTED, Outcome("outputs", []), PASSED, "fail", "accepted", "violates example-1/rule"),
    (REJECTED, Outcome("unsupported"), PASSED, "unsupported", None, ""),
    (REJECTED, Outcome("unsupported", fault=WROTE), PASSED, "fail", "mutated-input", "wrote"),
    (REJECTED, Outcome("rejected", fault=WROTE), PASSED, "fail", "mutated-input", "wrote"),
    (REJECTED, Outcome("rejected", fault=MALFORMED), PASSED, "fail", "protocol", CONTRACT),
    # A rejection is credited if its baseline passed.
    (REJECTED, REJECTS, PASSED, "pass", None, "rejected: ValueError: no"),
    (REJECTED, REJECTS, verdict_of_baseline("fail", "bits"), "pass", None, "rejected: "),
    (REJECTED, REJECTS, DECLINED, "unsupported", None, "does not support"),
    (REJECTED, REJECTS, verdict_of_baseline("fail", "value"), "fail", "uncredited", "did not pass"),
    (REJECTED, REJECTS, verdict_of_baseline("fail", "rejected"), "fail", "uncredited", "not pass"),
    # An ambiguous case keeps what was observed, and decides nothing but a breach of the contract.
    (OPEN, REJECTS, None, "implementation-defined", None, "the reference gives outputs; fail: rej"),
    (OPEN, Outcome("not-run", reason="given up"), None, "not-run", None, "given up"),
    *(
        (case, Outcome(end, reason="it ended"), None, end, None, "it ended")
        for case in (OPEN, OPEN_REJECTED)
        for end in ("crash", "hang")
    ),
    *(
        (OPEN, gives(kind), None, "fail", kind, BACKEND_CONTRACT[kind])
        for kind in sorted(DECISIVE_BREACHES)
    ),
    *((OPEN, gives(kind), None, "implementation-defined", None, "") for kind in OF_RESULTS),
]


@pytest.mark.parametrize(("case", "outcome", "baseline", "status", "kind", "detail"), JUDGED)
def test_an_outcome_has_a_status_a_kind_and_a_reason(
    case: dict[str, Any],
    outcome: Outcome,
    baseline: Verdict | None,
    status: str,
    kind: str | None,
    detail: str,
) -> None:
    verdict = judged(case, outcome, baseline)
    assert (verdict.status, verdict.kind, verdict.observed) == (status, kind, outcome.observed)
    assert detail in verdict.detail


@pytest.mark.parametrize("kind", [*BACKEND_CONTRACT, "uncredited"])
def test_a_violated_contract_and_an_uncredited_rejection_are_no_failure_of_a_rule(
    kind: FailureKind,
) -> None:
    verdict = Verdict("a/1", "a/A", "fail", kind, "outputs", ("a/violated_rule",), "")
    assert not verdict.counts_for_rules


def test_a_verdict_says_who_rejected_the_call() -> None:
    outcome = Outcome("rejected", reason="E: no", rejected_by="adapter")
    assert judged(REJECTED, outcome, verdict_of_baseline("pass")).rejected_by == "adapter"
    assert judged(VALID, outcome).rejected_by == "adapter"
    assert judged(VALID, Outcome("outputs", [])).rejected_by is None


@pytest.mark.parametrize(
    ("detail", "summary"),
    [
        ("", ""),
        ("output 0 differs\n    in data=i32[]", "output 0 differs"),
        (
            "rejected: at a.cpp:7\nat b.cpp:9\nno rank\n\n    in data=i32[]",
            "rejected: at a.cpp:7 ... no rank",
        ),
    ],
)
def test_the_summary_of_a_long_message_has_its_last_line(detail: str, summary: str) -> None:
    verdict = replace(verdict_of_baseline("fail", "rejected"), detail=detail)
    assert verdict.summary == summary


def test_an_uncredited_rejection_names_the_baseline_that_failed() -> None:
    outcome = Outcome("rejected", reason="E: no", rejected_by="runtime")
    verdict = judged(REJECTED, outcome, verdict_of_baseline("fail", "value"))
    assert (verdict.kind, verdict.attributed_to) == ("uncredited", "example-1/valid")
