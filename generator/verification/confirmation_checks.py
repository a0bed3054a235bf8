"""What verdicts say of their confirmation x how a run confirms -> what of it cannot be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opcert.generator.certificate.certificate import Certificate
from opcert.generator.run.outcome import ENDINGS
from opcert.generator.verdicts.confirmation import (
    CONFIRMED,
    NOT_CONFIRMED,
    PASSES_ALONE,
    in_front,
    passing_alone,
    tried_alone,
)
from opcert.generator.verdicts.verdict import FAILURES, KINDS, Verdict
from opcert.generator.verification.flaws import Flaw
from opcert.generator.verification.verdict_checks import Judged


def confirmation_flaws(certificate: Certificate, judged: Sequence[Judged]) -> Iterator[Flaw]:
    """Yield which failures say of their confirmation what cannot be, or nothing.

    A finished run in a process of its own confirms its failures, unless that was interrupted.
    """
    order = [each.case.id for each in judged]
    failed = [each.raw for each in judged if each.raw.status in FAILURES]
    found = {each.case: _parted(each, order) for each in failed}
    if not certificate.run.isolated or certificate.counts["not-run"]:
        for case, (_, said) in found.items():
            if said:
                yield Flaw(f"verdicts, {case}", f"found '{said}' in a run that confirms no failure")
    elif any(said for _, said in found.values()):
        cases = {each.case.id: (each.operator, each.case) for each in judged}
        alone = {each.case for each in tried_alone([former for former, _ in found.values()], cases)}
        for case, (_, said) in found.items():
            if wrong := _wrong(said, case in alone):
                yield Flaw(f"verdicts, {case}", wrong)


def _wrong(said: str, alone: bool) -> str:
    """Say where other words are expected of a failure that was tried `alone`, or was not."""
    if not said:
        return "does not say whether it was confirmed, as others do"
    if alone and said == NOT_CONFIRMED:
        return f"found '{said}' of the smallest of its cause; expected what became of it alone"
    if not alone and said != NOT_CONFIRMED:
        return f"found '{said}'; expected '{NOT_CONFIRMED}': it is not the smallest of its cause"
    return ""


def _parted(verdict: Verdict, order: Sequence[str]) -> tuple[Verdict, str]:
    """Return a failure as it was before it was confirmed, and what it says of that, or nothing."""
    _, _, last = verdict.detail.rpartition("\n    ")
    if last in (NOT_CONFIRMED, CONFIRMED):
        return verdict, last
    if verdict.kind == "state" and PASSES_ALONE in last:
        before = in_front(verdict.case, order)
        for kind in (None,) if verdict.status in ENDINGS else KINDS:
            former = replace(verdict, kind=kind)
            if last in passing_alone(former, before):
                return former, last
    return verdict, ""
