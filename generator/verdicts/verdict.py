"""Vector + outcome -> verdict."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from pydantic import ConfigDict

from opcert.generator.run.comparison import Kind
from opcert.generator.run.outcome import ENDINGS, Observed, Outcome
from opcert.generator.suite.format import IndexedCase

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
FAILURES = ("fail", "crash", "hang")
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Verdict:
    """What became of one case; `observed` is the raw outcome, whatever the status."""

    # How one is read from a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    case: str
    operator: str
    status: Status
    kind: Kind | None
    observed: Observed
    rules: tuple[str, ...]
    detail: str


def judge(operator: str, case: IndexedCase, outcome: Outcome, twin: Verdict | None) -> Verdict:
    """Judge what a backend did with a case; `twin` is the verdict of the valid call beside it."""
    status: Status
    kind: Kind | None
    if outcome.observed in ENDINGS:
        status, kind, detail = outcome.observed, None, outcome.reason
    elif case.expects == "rejection":
        status, kind, detail = _judge_rejection(case, outcome, twin)
    else:
        status, kind, detail = _judge_outputs(outcome)
    if case.ambiguity is not None:
        detail = f"open: {case.ambiguity}; the reference gives {case.expects}; {status}: {detail}"
        status, kind = "implementation-defined", None
    # What another process says may be no text that a file could hold.
    detail = detail.encode(errors="replace").decode()
    return Verdict(case.id, operator, status, kind, outcome.observed, case.rules, detail)


def unverified(verdicts: Collection[Verdict], claimed: Collection[str] = ()) -> list[str]:
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


def _judge_outputs(outcome: Outcome) -> tuple[Status, Kind | None, str]:
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
    case: IndexedCase, outcome: Outcome, twin: Verdict | None
) -> tuple[Status, Kind | None, str]:
    if outcome.observed == "unsupported":
        return "unsupported", None, outcome.reason
    if outcome.observed == "outputs":
        return "fail", "accepted", f"a call that breaks {case.rule} was accepted"
    if outcome.fault is not None:
        return "fail", outcome.fault.kind, outcome.fault.text
    if twin is None or twin.status == "pass" or twin.kind == "bits":
        return "pass", None, f"rejected: {outcome.reason}"
    if twin.status == "unsupported" or twin.kind == "undeclared":
        return "unsupported", None, f"rejected, and so is the valid call {twin.case}"
    text = f"rejected, but the valid call {twin.case} beside it did not pass: {twin.detail}"
    return "fail", "uncredited", text
