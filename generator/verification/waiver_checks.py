"""The waivers of a certificate x its verdicts -> what of them cannot be, or holds no more."""

from collections.abc import Iterator, Sequence
from datetime import date

from opcert.certificate import Certificate
from opcert.suite import Suite
from opcert.verdicts import FAILURE_KINDS, FAILURE_STATUSES, Waiver
from opcert.verification.findings import Finding
from opcert.verification.verdict_checks import Judged


def waiver_flaws(
    certificate: Certificate, suite: Suite, judged: Sequence[Judged], today: date
) -> Iterator[Finding]:
    """Yield what is wrong with the waivers, and with what they made of verdicts."""
    waivers = certificate.waivers.content if certificate.waivers is not None else ()
    device = certificate.backend.options.get("device")
    here = {i: each for i, each in enumerate(waivers) if each.device in (None, device)}
    for number, waiver in enumerate(waivers):
        place = f"waivers.content.{number}"
        yield from (Finding(place, each) for each in _wrong(certificate, suite, waiver, today))
        if number in here and (idle := _idle(waiver, judged)):
            yield Finding(place, idle)
    for each in judged:
        number_of = next((i for i, waiver in here.items() if waiver.waives(each.raw)), None)
        place = f"verdicts, {each.case.id}"
        yield from (Finding(place, text) for text in _misapplied(each, number_of))


def _wrong(certificate: Certificate, suite: Suite, waiver: Waiver, today: date) -> Iterator[str]:
    day = max((certificate.platform.date, *certificate.run.resumed))[:10]
    if waiver.expires < day:
        yield f"expires: found {waiver.expires}; expected the day of the run, {day}, or later"
    elif waiver.expires < today.isoformat():
        yield f"expires: it has expired since, on {waiver.expires}; what it waives counts again"
    if waiver.kind not in (None, *FAILURE_KINDS, *FAILURE_STATUSES[1:]):
        yield f"kind: found '{waiver.kind}', which there is not"
    if not any(waiver.matches(case.id, case.rules) for _, case in suite):
        yield "waives nothing: the suite has no such case"


def _idle(waiver: Waiver, judged: Sequence[Judged]) -> str:
    """Say that none of the cases that a waiver speaks of fails so, if that is so."""
    about = [each for each in judged if waiver.matches(each.case.id, each.verdict.rules)]
    # A run that was stopped says nothing of the rest.
    stopped = any(each.verdict.status == "not-run" for each in about)
    if not about or stopped or any(waiver.waives(each.raw) for each in about):
        return ""
    return f"waives nothing: of {len(about)} cases that it speaks of none fails so"


def _misapplied(judged: Judged, number: int | None) -> Iterator[str]:
    verdict = judged.verdict
    if number is None:
        if verdict.status == "waived":
            yield "found waived; no waiver of the certificate speaks of it"
    elif verdict.status != "waived":
        yield f"found {verdict.status}; expected waived, as waivers.content.{number} says"
