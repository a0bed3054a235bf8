"""Failures x backend -> whether they show alone, in a process made afresh."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from opcert.generator.causes import causes
from opcert.generator.certification import Certification
from opcert.generator.supervised import Supervised
from opcert.generator.verdict import FAILURES, Verdict

# How many failures are confirmed in a run, and how many cases are tried in front of one.
MOST = 50
BEFORE = 20
# Kinds that tell of more than one call, or of none: they cannot show in one case alone.
_OF_MORE = ("aliased-output", "mutated-input", "uncredited", "undeclared", "unstable", "state")


def confirmed(
    backend: Supervised, again: Callable[[], Certification], verdicts: Mapping[str, Verdict]
) -> dict[str, Verdict]:
    """Return the failures among `verdicts`, with what became of the smallest of each cause alone.

    `again` begins a certification of the backend. A failure that passes alone is of the kind
    `state`: it depends on what ran before.
    """
    order = list(verdicts)
    failed = [each for each in verdicts.values() if each.status in FAILURES]
    found = {each.case: _with(each, "not confirmed") for each in failed}
    if not failed:
        return found
    cases = {case.id: case for _, case in again().suite}
    sought = (each for each in causes(failed) if each.kind not in _OF_MORE)
    for cause in islice(sought, MOST):
        verdict = cause.smallest(cases)
        before = order[: order.index(verdict.case)][-BEFORE:]
        found[verdict.case] = _confirmed(backend, again, verdict, before)
    return found


def _confirmed(
    backend: Supervised,
    again: Callable[[], Certification],
    verdict: Verdict,
    before: Sequence[str],
) -> Verdict:
    def fails(*cases: str) -> bool:
        backend.close()
        certification = again()
        return [certification.verdict(case).status for case in cases][-1] in FAILURES

    if fails(verdict.case):
        return _with(verdict, "confirmed: it fails alone in a process made afresh")
    shows = fails(*before, verdict.case)
    behind = f"fails behind the {len(before)} cases before it" if shows else "was not seen again"
    text = f"{verdict.kind or verdict.status}, but it passes alone and {behind}"
    return _with(replace(verdict, kind="state"), text)


def _with(verdict: Verdict, text: str) -> Verdict:
    return replace(verdict, detail=f"{verdict.detail}\n    {text}")
