"""What a certificate says of its run x the suite and the verdicts -> what of it cannot be."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace

from opcert.certificate import Certificate
from opcert.errors import BackendError
from opcert.scope import Support, checked_support, claim_mistakes
from opcert.suite import CasesById, Suite
from opcert.verdicts import FAILURE_STATUSES, is_repeatable
from opcert.verification.findings import Finding
from opcert.verification.verdict_checks import Judged

# How far the clock of another machine may be ahead.
_AHEAD = timedelta(days=1)


def date_flaws(certificate: Certificate, now: datetime) -> Iterator[Finding]:
    """Yield which moments there are not, or lie ahead."""
    moments = {
        "platform.date": certificate.platform.date,
        **{f"run.resumed.{i}": each for i, each in enumerate(certificate.run.resumed)},
    }
    for place, moment in moments.items():
        try:
            ahead = datetime.fromisoformat(moment) - now > _AHEAD
        except ValueError:
            yield Finding(place, f"found {moment}; expected a moment that there is")
            continue
        if ahead:
            yield Finding(place, f"found {moment}, which is in the future")


def run_flaws(certificate: Certificate, cases: CasesById) -> Iterator[Finding]:
    """Yield what of the run cannot be: how calls were delivered, and which were made often."""
    if certificate.backend.delivery == "packed" and not certificate.run.isolated:
        text = "found packed, of a run in opcert's process; expected as drawn"
        yield Finding("backend.delivery", text)
    for case in certificate.run.repeated:
        if case not in cases or not is_repeatable(cases[case][1]):
            text = f"found {case}; expected valid calls of the suite that move a few elements"
            yield Finding("run.repeated", text)


def declaration_flaws(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield what declaration and claim name that there is not, so that a run would not begin."""
    declared = Support(certificate.backend.support).described()
    try:
        checked_support(SimpleNamespace(support=declared), suite)
    except BackendError as error:
        yield Finding("backend.support", str(error).removeprefix("support: "))
    if certificate.claim is not None:
        content, chosen = certificate.claim.content, certificate.selection.operator
        for place, text in claim_mistakes(content, suite, chosen):
            yield Finding(".".join(("claim.content", *map(str, place))), text)


def evidence_flaws(
    certificate: Certificate, cases: CasesById, judged: Sequence[Judged]
) -> Iterator[Finding]:
    """Yield which excerpts and reproductions are of no failure, or of calls that there are not."""
    failed = {each.case.id for each in judged if each.raw.status in FAILURE_STATUSES}
    evidence = {"excerpts": certificate.excerpts, "reproductions": certificate.reproductions}
    for part, names in evidence.items():
        for name in names.keys() - failed:
            yield Finding(f"{part}, {name}", "of a case that did not fail")
    for name, reproduction in certificate.reproductions.items():
        if name not in failed:
            continue
        operator = cases[name][0]
        if any(call.case not in operator.cases for call in reproduction.calls):
            text = f"expected calls of cases of {operator.index.operator}"
            yield Finding(f"reproductions, {name}, calls", text)
