"""What verdicts say of their confirmation x how a run confirms -> what of it cannot be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opcert.generator.certificate import Certificate
from opcert.generator.confirmation import (
    CONFIRMED,
    NOT_CONFIRMED,
    in_front,
    passing_alone,
    tried_alone,
)
from opcert.generator.flaws import Flaw
from opcert.generator.run import ENDINGS
from opcert.generator.verdict import FAILURES, KINDS, Verdict
from opcert.generator.verdict_checks import Judged


def confirmation_flaws(certificate: Certificate, judged: Sequence[Judged]) -> Iterator[Flaw]:
    """Yield which failures say of their confirmation what cannot be, or nothing.

    A finished run in a process of its own confirms its failures, unless that was interrupted.
    """
    order = [each.case.id for each in judged]
    failed = [each.raw for each in judged if each.raw.status in FAILURES]
    former = {each.case: _before(each, order) for each in failed}
    said = {each.case: _said(each, former[each.case], order) for each in failed}
    confirms = certificate.run.isolated and not certificate.counts["not-run"]
    cases = {each.case.id: each.case for each in judged}
    tried = {each.case for each in tried_alone([*former.values()], cases)} if confirms else set()
    none_was = not any(said.values())
    for case, text in said.items():
        place = f"verdicts, {case}"
        if not confirms and text:
            yield Flaw(place, f"found '{text}' in a run that confirms no failure")
        elif confirms and not none_was and not text:
            yield Flaw(place, "does not say whether it was confirmed, as others do")
        elif text == NOT_CONFIRMED and case in tried:
            yield Flaw(
                place,
                f"found '{text}'; expected what became of it alone: it is the "
                "smallest of its cause",
            )
        elif text not in ("", NOT_CONFIRMED) and confirms and case not in tried:
            yield Flaw(
                place,
                f"found '{text}'; expected '{NOT_CONFIRMED}': it is not the smallest of its cause",
            )


def _said(verdict: Verdict, former: Verdict, order: Sequence[str]) -> str:
    """Return what a failure says of its confirmation, at its end, or nothing."""
    known = (NOT_CONFIRMED, CONFIRMED, *passing_alone(former, in_front(verdict.case, order)))
    last = _last(verdict)
    return last if last in known else ""


def _before(verdict: Verdict, order: Sequence[str]) -> Verdict:
    """Return a failure as it was before it was confirmed."""
    if verdict.kind != "state":
        return verdict
    ending = verdict.status in ENDINGS
    kinds = (None,) if ending else KINDS
    formers = (replace(verdict, kind=kind) for kind in kinds)
    before = in_front(verdict.case, order)
    return next((f for f in formers if _last(verdict) in passing_alone(f, before)), verdict)


def _last(verdict: Verdict) -> str:
    _, _, last = verdict.detail.rpartition("\n    ")
    return last
