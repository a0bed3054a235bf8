"""Failures x backend -> whether they show alone, in a process made afresh."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from opcert.generator.errors import BackendError
from opcert.generator.isolation.supervised import Supervised
from opcert.generator.suite.suite import Cases
from opcert.generator.verdicts.causes import causes
from opcert.generator.verdicts.certification import Certification
from opcert.generator.verdicts.verdict import FAILURES, Verdict

# How many failures are confirmed in a run, and how many cases are tried in front of one.
MOST = 50
BEFORE = 20
# What is said of a failure that was not tried alone, and of one that was and is no other there.
NOT_CONFIRMED = "not confirmed"
CONFIRMED = "confirmed: it fails alone in a process made afresh"
PASSES_ALONE = "but it passes alone and"
# Kinds that tell of more than one call, or of none: they cannot show in one case alone.
_OF_MORE = ("aliased-output", "mutated-input", "uncredited", "undeclared", "unstable", "state")


def confirmed(
    backend: Supervised,
    again: Callable[[], Certification],
    cases: Cases,
    verdicts: Mapping[str, Verdict],
) -> dict[str, Verdict]:
    """Return the failures among `verdicts`, with what became of the smallest of each cause alone.

    `again` begins a certification of the backend; `cases` are those of the suite. A failure that
    passes alone is of the kind `state`: it depends on what ran before.
    """
    failed = [each for each in verdicts.values() if each.status in FAILURES]
    found = {each.case: _with(each, NOT_CONFIRMED) for each in failed}
    if not failed:
        return found
    for verdict in tried_alone(failed, cases):
        before = in_front(verdict.case, list(verdicts))
        try:
            found[verdict.case] = _confirmed(backend, again, verdict, before)
        except BackendError:
            # What cannot be made again shows nothing of this failure, nor of the next.
            break
    return found


def tried_alone(failed: Sequence[Verdict], cases: Cases) -> Iterator[Verdict]:
    """Yield those of the failures of a run that are tried alone: the smallest of each cause."""
    sought = (each for each in causes(failed) if each.kind not in _OF_MORE)
    return (cause.smallest(cases) for cause in islice(sought, MOST))


def in_front(case: str, order: Sequence[str]) -> Sequence[str]:
    """Return the cases behind which one is tried that passes alone."""
    return order[: order.index(case)][-BEFORE:]


def _confirmed(
    backend: Supervised,
    again: Callable[[], Certification],
    verdict: Verdict,
    before: Sequence[str],
) -> Verdict:
    def fails(*cases: str) -> bool:
        backend.restart()
        certification = again()
        return [certification.verdict(case).status for case in cases][-1] in FAILURES

    if fails(verdict.case):
        return _with(verdict, CONFIRMED)
    found = passing_alone(verdict, before)[0 if fails(*before, verdict.case) else 1]
    return _with(replace(verdict, kind="state"), found)


def passing_alone(verdict: Verdict, before: Sequence[str]) -> tuple[str, str]:
    """Return what is said of a failure that passes alone: it shows behind others, or not again."""
    said = f"{verdict.kind or verdict.status}, {PASSES_ALONE}"
    return f"{said} fails behind the {len(before)} cases before it", f"{said} was not seen again"


def _with(verdict: Verdict, text: str) -> Verdict:
    return replace(verdict, detail=f"{verdict.detail}\n    {text}")
