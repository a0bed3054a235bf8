"""What each status and each kind of failure means, in one sentence."""

from collections.abc import Mapping

from opcert.verdicts.verdict import BACKEND_CONTRACT, FAILURE_KINDS, Status

STATUS_MEANINGS: Mapping[Status, str] = {
    "pass": "The backend did what the document says.",
    "fail": "The result differs from what the document says, or breaks the contract of a backend.",
    "crash": "The process of the backend ended during the call.",
    "hang": "The call did not return within the time limit.",
    "not-run": "The run, or that of the operator, ended before this case.",
    "waived": "A known failure, for which the run has a waiver.",
    "unsupported": "The backend declares that it does not support the call, or declined it.",
    "out-of-claim": "The claim does not cover the call, so it was not made.",
    "implementation-defined": "The document leaves the result open, so the case decides nothing.",
}
_MEANINGS_WITHOUT_CONTRACT: Mapping[str, str] = {
    "count": "The number of outputs is wrong.",
    "dtype": "An output has a wrong element type.",
    "shape": "An output has a wrong shape.",
    "value": "An element of an output has a wrong value.",
    "bits": "All values are right, but bits of an element differ, as in a NaN. "
    "It does not block conformance; the grade is value-exact.",
    "accepted": "The call violates a rule, but the backend returned outputs.",
    "rejected": "The call is valid, but the backend rejected it.",
    "uncredited": "The call was rejected, as it must be, but its valid baseline did not pass. "
    "So the rejection does not show that the rule is checked.",
}
KIND_MEANINGS: Mapping[str, str] = {
    kind: _MEANINGS_WITHOUT_CONTRACT.get(kind)
    or f"The contract is broken: {BACKEND_CONTRACT[kind]}"
    for kind in FAILURE_KINDS
}


def meaning_of_failure(failure: str) -> str:
    """Return what a kind of failure means, or the status of a failure without a kind."""
    if failure in KIND_MEANINGS:
        return KIND_MEANINGS[failure]
    return next(text for status, text in STATUS_MEANINGS.items() if status == failure)
