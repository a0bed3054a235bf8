"""Vector + outcome -> verdict."""

from dataclasses import dataclass

from opcert.generator.run import ENDINGS, Outcome
from opcert.generator.suite_format import IndexedCase

# The statuses that are against a backend.
FAILURES = ("fail", "crash", "hang")
# What can be wrong where a case fails.
KINDS = (
    *("count", "type", "dtype", "shape", "value", "bits", "accepted", "rejected", "uncredited"),
    *("undeclared", "mutated-input", "aliased-output", "unstable", "state", "protocol"),
)


@dataclass(frozen=True)
class Verdict:
    """What became of one case; `observed` is the raw outcome, whatever the status."""

    case: str
    operator: str
    status: str
    kind: str | None
    observed: str
    rules: tuple[str, ...]
    detail: str


def judge(operator: str, case: IndexedCase, outcome: Outcome, twin: Verdict | None) -> Verdict:
    """Judge what a backend did with a case; `twin` is the verdict of the valid call beside it."""
    status: str
    if outcome.observed in ENDINGS:
        status, kind, detail = outcome.observed, None, outcome.reason
    elif case.expects == "rejection":
        status, kind, detail = _judge_rejection(case, outcome, twin)
    else:
        status, kind, detail = _judge_outputs(outcome)
    if case.ambiguity is not None:
        expected = "rejection" if case.expects == "rejection" else "outputs"
        detail = f"open: {case.ambiguity}; the reference gives {expected}; {status}: {detail}"
        status, kind = "implementation-defined", None
    return Verdict(case.id, operator, status, kind, outcome.observed, case.rules, detail)


def _judge_outputs(outcome: Outcome) -> tuple[str, str | None, str]:
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
) -> tuple[str, str | None, str]:
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
