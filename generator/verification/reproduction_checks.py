"""The reproductions of a certificate x its verdicts -> what of them cannot be."""

from collections.abc import Iterator, Sequence

from opcert.generator.certificate.certificate import Certificate
from opcert.generator.suite.suite import Cases
from opcert.generator.verdicts.verdict import FAILURES
from opcert.generator.verification.flaws import Flaw
from opcert.generator.verification.verdict_checks import Judged


def reproduction_flaws(
    certificate: Certificate, cases: Cases, judged: Sequence[Judged]
) -> Iterator[Flaw]:
    """Yield which reproductions are of no failure, or do not go with its verdict.

    A finished run in a process of its own confirms its failures, unless that was interrupted.
    """
    verdicts = {each.case.id: each.raw for each in judged}
    may_confirm = certificate.run.isolated and not certificate.counts["not-run"]
    for name, reproduction in certificate.reproductions.items():
        place = f"reproductions, {name}"
        verdict = verdicts.get(name)
        if verdict is None or verdict.status not in FAILURES:
            yield Flaw(place, "of a case that did not fail")
            continue
        if not may_confirm:
            yield Flaw(place, "of a run that confirms no failure")
        if reproduction.shows == "alone" and reproduction.kind != verdict.kind:
            text = f"found {reproduction.kind}, which shows alone; the verdict is {verdict.kind}"
            yield Flaw(f"{place}, kind", text)
        called = {call.case for call in reproduction.calls}
        operators = {cases[each][0].index.operator for each in called if each in cases}
        if called - cases.keys() or operators - {verdict.operator}:
            yield Flaw(f"{place}, calls", f"expected calls of cases of {verdict.operator}")
        if reproduction.shows == "alone" and called - {name}:
            yield Flaw(f"{place}, calls", f"found calls of other cases; expected those of {name}")
