"""Vector + outcome -> verdict."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from pydantic import ConfigDict

from opcert.run import (
    FATAL_OUTCOMES,
    Difference,
    FailureKind,
    Observed,
    Outcome,
    Rejecter,
    compare_outputs,
)
from opcert.suite import IndexedCase
from opcert.verdicts.contract import BACKEND_CONTRACT, DECISIVE_BREACHES, cite_contract

Status = Literal[
    "pass",
    "fail",
    "unsupported",
    "crash",
    "hang",
    "not-run",
    "waived",
    "out-of-claim",
    "implementation-defined",
]
STATUSES: tuple[Status, ...] = get_args(Status)
# The statuses that are against a backend.
FAILURE_STATUSES = ("fail", "crash", "hang")
FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)


@dataclass(frozen=True)
class Verdict:
    """The judgement of one case; `observed` is what the backend did, whatever the status.

    `rejected_by` says who rejected the call, where it was rejected. `attributed_to` is the baseline
    whose failure keeps a rejection from counting.
    """

    # How one is read from a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    case: str
    operator: str
    status: Status
    kind: FailureKind | None
    observed: Observed
    rules: tuple[str, ...]
    detail: str
    rejected_by: Rejecter | None = None
    attributed_to: str | None = None

    @property
    def violated_rule(self) -> str | None:
        """The rule that a failure is put down to; None where that is opcert's own contract."""
        return None if self.kind in BACKEND_CONTRACT or not self.rules else self.rules[0]

    @property
    def counts_for_rules(self) -> bool:
        """Whether the verdict says something of the rules that its case exercises."""
        failed = self.status in FAILURE_STATUSES or self.status == "waived"
        return not failed or (self.kind not in BACKEND_CONTRACT and self.kind != "uncredited")


def judge(operator: str, case: IndexedCase, outcome: Outcome, baseline: Verdict | None) -> Verdict:
    """Judge an outcome; `baseline` is the verdict of the valid call that a negative case changes.

    Without one, a rejection counts by itself.
    """
    status: Status
    kind: FailureKind | None
    attributed_to = None
    if outcome.observed in FATAL_OUTCOMES:
        # No reading of a document asks for a crash.
        status, kind, detail = outcome.observed, None, outcome.reason
    elif case.ambiguity is not None and (breach := _breach(outcome)) is not None:
        status, kind, detail = "fail", breach.kind, breach.text
    elif case.expects == "rejection":
        status, kind, detail = _judge_rejection(case, outcome, baseline)
        if kind == "uncredited" and baseline is not None:
            attributed_to = baseline.case
    else:
        status, kind, detail = _judge_outputs(outcome)
    if (
        case.ambiguity is not None
        and status not in FATAL_OUTCOMES
        and kind not in DECISIVE_BREACHES
    ):
        detail = f"open: {case.ambiguity}; the reference gives {case.expects}; {status}: {detail}"
        status, kind, attributed_to = "implementation-defined", None, None
    # What another process says may be no text that a file could hold.
    detail = cite_contract(kind, detail).encode(errors="replace").decode()
    return Verdict(
        case=case.id,
        operator=operator,
        status=status,
        kind=kind,
        observed=outcome.observed,
        rules=case.rules,
        detail=detail,
        rejected_by=outcome.rejected_by,
        attributed_to=attributed_to,
    )


def unverified_reasons(verdicts: Collection[Verdict], claimed: Collection[str] = ()) -> list[str]:
    """Say of which operators that ran, or that are claimed, nothing was verified."""
    verified = {
        each.operator
        for each in verdicts
        if each.status == "pass" or (each.status == "fail" and each.kind == "bits")
    }
    if not verified:
        return ["nothing was verified"]
    in_scope = {
        each.operator for each in verdicts if each.observed != "not-run" or each.operator in claimed
    }
    return [f"nothing of {name} was verified" for name in sorted(in_scope - verified)]


def _breach(outcome: Outcome) -> Difference | None:
    """Return what breaks the contract however a document is read, if something does."""
    fault = outcome.fault
    if fault is None and outcome.observed == "outputs":
        # Open is what a call gives, not that it gives arrays.
        fault = compare_outputs((), outcome.outputs)
    return fault if fault is not None and fault.kind in DECISIVE_BREACHES else None


def _judge_outputs(outcome: Outcome) -> tuple[Status, FailureKind | None, str]:
    if outcome.fault is not None and outcome.fault.kind == "protocol":
        return "fail", "protocol", outcome.fault.text
    if outcome.observed == "unsupported":
        return "unsupported", None, outcome.reason
    if outcome.observed == "rejected":
        return "fail", "rejected", f"a valid call was rejected: {outcome.reason}"
    if outcome.fault is not None:
        return "fail", outcome.fault.kind, outcome.fault.text
    return "pass", None, ""


def _judge_rejection(
    case: IndexedCase, outcome: Outcome, baseline: Verdict | None
) -> tuple[Status, FailureKind | None, str]:
    if outcome.observed == "unsupported":
        return "unsupported", None, outcome.reason
    if outcome.observed == "outputs":
        return "fail", "accepted", f"a call that breaks {case.violated_rule} was accepted"
    if outcome.fault is not None:
        return "fail", outcome.fault.kind, outcome.fault.text
    if baseline is None or baseline.status == "pass" or baseline.kind == "bits":
        return "pass", None, f"rejected: {outcome.reason}"
    if baseline.status == "unsupported" or baseline.kind == "undeclared":
        return "unsupported", None, f"rejected, and so is the valid call {baseline.case}"
    first, _, _ = baseline.detail.partition("\n")
    text = f"rejected, but the valid call {baseline.case} beside it did not pass: {first}"
    return "fail", "uncredited", text
