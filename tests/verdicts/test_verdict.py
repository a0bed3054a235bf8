"""Judging: the status and kind of each outcome."""

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


def of(
    operator: str, status: Status, observed: Observed, kind: FailureKind | None = None
) -> Verdict:
    return Verdict("a-case", operator, status, kind, observed, (), "")


@pytest.mark.parametrize(
    ("verdicts", "claimed", "messages"),
    [
        ([of("a/A", "pass", "outputs"), of("a/B", "fail", "outputs", "bits")], (), []),
        ([of("a/A", "unsupported", "unsupported")], (), ["nothing was verified"]),
        ([of("a/A", "fail", "outputs", "value")], (), ["nothing was verified"]),
        (
            [of("a/A", "pass", "outputs"), of("a/B", "unsupported", "unsupported")],
            (),
            ["nothing of a/B was verified"],
        ),
        ([of("a/A", "pass", "outputs"), of("a/B", "out-of-claim", "not-run")], (), []),
        (
            [of("a/A", "pass", "outputs"), of("a/B", "out-of-claim", "not-run")],
            ("a/A", "a/B"),
            ["nothing of a/B was verified"],
        ),
    ],
)
def test_each_operator_that_was_tried_or_claimed_must_have_been_verified(
    verdicts: list[Verdict], claimed: tuple[str, ...], messages: list[str]
) -> None:
    assert unverified_reasons(verdicts, claimed) == messages


def test_a_valid_call_that_is_rejected_fails_with_the_reason() -> None:
    verdict = judged(VALID, Outcome("rejected", reason="ValueError: no"))
    assert (verdict.status, verdict.kind) == ("fail", "rejected")
    assert "ValueError: no" in verdict.detail


def test_a_malformed_answer_is_no_rejection() -> None:
    fault = Difference("protocol", "b'done' is no line of JSON")
    for case, baseline in ((VALID, None), (REJECTED, verdict_of_baseline("pass"))):
        verdict = judged(case, Outcome("rejected", fault=fault), baseline)
        assert (verdict.status, verdict.kind) == ("fail", "protocol")
        assert verdict.detail == f"{fault.text}\n    contract: {BACKEND_CONTRACT['protocol']}"


def test_a_must_reject_call_that_gives_outputs_is_accepted() -> None:
    verdict = judged(REJECTED, Outcome("outputs", []), verdict_of_baseline("pass"))
    assert (verdict.status, verdict.kind) == ("fail", "accepted")


@pytest.mark.parametrize(
    ("baseline", "status", "kind"),
    [
        (verdict_of_baseline("pass"), "pass", None),
        (verdict_of_baseline("fail", "bits"), "pass", None),
        (verdict_of_baseline("unsupported"), "unsupported", None),
        (verdict_of_baseline("fail", "value"), "fail", "uncredited"),
        (verdict_of_baseline("fail", "rejected"), "fail", "uncredited"),
    ],
)
def test_a_rejection_is_credited_if_its_baseline_passed(
    baseline: Verdict, status: str, kind: str | None
) -> None:
    verdict = judged(REJECTED, Outcome("rejected", reason="ValueError: no"), baseline)
    assert (verdict.status, verdict.kind) == (status, kind)


def test_not_implemented_is_unsupported_for_either_expectation() -> None:
    for case in (VALID, REJECTED):
        assert (
            judged(case, Outcome("unsupported"), verdict_of_baseline("pass")).status
            == "unsupported"
        )


def test_a_fault_fails_with_its_kind() -> None:
    fault = Difference("mutated-input", "wrote")
    for case in (VALID, REJECTED):
        observed: Observed = "outputs" if case is VALID else "rejected"
        verdict = judged(case, Outcome(observed, fault=fault), verdict_of_baseline("pass"))
        assert (verdict.status, verdict.kind) == ("fail", "mutated-input")


def test_an_ambiguous_case_keeps_what_was_observed() -> None:
    verdict = judged({**VALID, "ambiguity": "open"}, Outcome("rejected", reason="E: no"))
    assert (verdict.status, verdict.kind) == ("implementation-defined", None)
    assert verdict.observed == "rejected"
    assert "the reference gives outputs" in verdict.detail


@pytest.mark.parametrize("observed", ["crash", "hang"])
@pytest.mark.parametrize("case", [VALID, REJECTED])
def test_no_reading_of_a_document_asks_for_a_crash(
    case: dict[str, Any], observed: Observed
) -> None:
    verdict = judged({**case, "ambiguity": "open"}, Outcome(observed, reason="it ended"))
    assert (verdict.status, verdict.kind) == (observed, None)


def test_an_ambiguous_case_that_did_not_run_is_not_run() -> None:
    verdict = judged({**VALID, "ambiguity": "open"}, Outcome("not-run", reason="given up"))
    assert (verdict.status, verdict.detail) == ("not-run", "given up")


@pytest.mark.parametrize("kind", sorted(DECISIVE_BREACHES))
def test_the_contract_holds_in_an_ambiguous_case(kind: FailureKind) -> None:
    outcome = Outcome("outputs", [], fault=Difference(kind, "wrong"))
    verdict = judged({**VALID, "ambiguity": "open"}, outcome)
    assert (verdict.status, verdict.kind) == ("fail", kind)
    assert BACKEND_CONTRACT[kind] in verdict.detail


@pytest.mark.parametrize("kind", ["value", "shape", "unstable"])
def test_the_outputs_of_an_ambiguous_call_do_not_decide(kind: FailureKind) -> None:
    outcome = Outcome("outputs", [], fault=Difference(kind, "other"))
    assert judged({**VALID, "ambiguity": "open"}, outcome).status == "implementation-defined"


@pytest.mark.parametrize("kind", [*BACKEND_CONTRACT, "uncredited"])
def test_a_violated_contract_and_an_uncredited_rejection_are_no_failure_of_a_rule(
    kind: FailureKind,
) -> None:
    verdict = Verdict("a/1", "a/A", "fail", kind, "outputs", ("a/violated_rule",), "")
    assert not verdict.counts_for_rules
    assert (verdict.violated_rule is None) is (kind in BACKEND_CONTRACT)


def test_a_verdict_says_who_rejected_the_call() -> None:
    outcome = Outcome("rejected", reason="E: no", rejected_by="adapter")
    assert judged(REJECTED, outcome, verdict_of_baseline("pass")).rejected_by == "adapter"
    assert judged(VALID, outcome).rejected_by == "adapter"
    assert judged(VALID, Outcome("outputs", [])).rejected_by is None


def test_an_uncredited_rejection_names_the_baseline_that_failed() -> None:
    outcome = Outcome("rejected", reason="E: no", rejected_by="runtime")
    verdict = judged(REJECTED, outcome, verdict_of_baseline("fail", "value"))
    assert (verdict.kind, verdict.attributed_to) == ("uncredited", "example-1/valid")
