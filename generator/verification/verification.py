"""Finds contradictions between a certificate and its suite, and within the certificate."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace

from opcert.certificate.certificate import Certificate
from opcert.certificate.entries import date_mistake
from opcert.certificate.file import json_differences
from opcert.errors import BackendError
from opcert.scope.claims import claim_mistakes
from opcert.scope.support import Support, checked_support
from opcert.suite.suite import Suite
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import is_repeatable
from opcert.verdicts.verdict import FAILURE_STATUSES
from opcert.verification.verdict_checks import (
    CaseVerdict,
    Finding,
    VerdictChecks,
    waiver_findings,
)


def verify_certificate(
    certificate: Certificate, suite: Suite, now: datetime | None = None
) -> list[Finding]:
    """Return all findings about a certificate.

    `read_certificate` has already checked its counts and its conclusion. If the certificate is of
    another suite, its verdicts are not checked. `now` is the current time by default.
    """
    now = datetime.now(UTC) if now is None else now
    findings = list(_date_findings(certificate, now))
    differences = list(json_differences(certificate.to_dict()["suite"], suite.identity))
    for place, found, expected in differences:
        text = f"found {found}; this suite has {expected}; name another by --suite or --specs"
        findings.append(Finding(".".join(("suite", *place)), text))
    if differences:
        return findings
    verdicts = [
        CaseVerdict(*suite.cases[verdict.case], verdict)
        for verdict in certificate.verdicts
        if verdict.case in suite.cases
    ]
    return [
        *findings,
        *_run_findings(certificate, suite),
        *_scope_findings(certificate, suite),
        *_selection_findings(certificate, suite),
        *VerdictChecks(certificate, verdicts).findings(),
        *_evidence_findings(certificate, suite, verdicts),
        *_cause_findings(certificate, suite),
        *waiver_findings(certificate, suite, verdicts, now.date()),
    ]


def _date_findings(certificate: Certificate, now: datetime) -> Iterator[Finding]:
    """Yield dates that do not exist or are in the future."""
    dates = {
        "platform.date": certificate.platform.date,
        **{f"run.resumed.{i}": date for i, date in enumerate(certificate.run.resumed)},
    }
    for place, text in dates.items():
        mistake = date_mistake(text, now)
        if mistake is not None:
            yield Finding(place, mistake)


def _run_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield impossible conditions of the run."""
    if certificate.backend.delivery == "packed" and not certificate.run.isolated:
        text = "found packed, but the run was not isolated; expected strided"
        yield Finding("backend.delivery", text)
    files = certificate.backend.files
    for name in certificate.run.changed:
        if name in files:
            text = f"found {name}: it changed during the run, so its verdicts may be of different"
            yield Finding("run.changed", f"{text} versions; expected a run of one version")
        else:
            text = (
                f"found {name}; expected a file of the backend: {', '.join(files) or 'it has none'}"
            )
            yield Finding("run.changed", text)
    cluster = certificate.run.cluster
    on_workers = 0 if cluster is None else sum(worker.cases for worker in cluster.platforms)
    reached = sum(not verdict.is_left_to_run for verdict in certificate.verdicts)
    if on_workers > reached:
        text = f"its workers ran {on_workers} cases; expected at most the {reached} with a verdict"
        yield Finding("run.cluster", text)
    for case in certificate.run.repeated:
        if case not in suite.cases or not is_repeatable(suite.cases[case][1]):
            text = f"found {case}; expected a valid case of the suite with few output elements"
            yield Finding("run.repeated", text)


def _scope_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield names in support, claim and feature level that do not exist."""
    declared = Support(certificate.backend.support).to_dict()
    try:
        checked_support(SimpleNamespace(support=declared), suite)
    except BackendError as error:
        yield Finding("backend.support", str(error).removeprefix("support: "))
    claim, selection = certificate.claim, certificate.selection
    if claim is not None:
        for place, text in claim_mistakes(claim.content, suite, selection.operator):
            yield Finding(".".join(("claim.content", *map(str, place))), text)
    level = selection.feature_level
    if level is not None and level not in suite.feature_levels:
        text = f"found {level}, but no operator has this feature level"
        yield Finding("selection.feature_level", text)
    claimed = None if claim is None else claim.content.feature_level
    if claimed is not None and claimed != level:
        yield Finding("selection.feature_level", f"found {level}; the claim has {claimed}")


def _selection_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield the differences between the cases with verdicts and the selected cases."""
    selected = suite.select(certificate.selection.operator, certificate.selection.case)
    cases = [verdict.case for verdict in certificate.verdicts]
    unexpected, missing = set(cases).difference(selected), set(selected).difference(cases)
    for case in cases:
        if case in unexpected:
            why = "was not selected" if case in suite.cases else "is not in the suite"
            yield Finding("verdicts", f"found a verdict of {case}, which {why}")
    for case in selected:
        if case in missing:
            yield Finding("verdicts", f"missing verdict of {case}")


def _evidence_findings(
    certificate: Certificate, suite: Suite, verdicts: Sequence[CaseVerdict]
) -> Iterator[Finding]:
    """Yield excerpts and reproductions of cases that did not fail, and unknown calls in them."""
    failed = {entry.case.id for entry in verdicts if entry.original.status in FAILURE_STATUSES}
    evidence = {"excerpts": certificate.excerpts, "reproductions": certificate.reproductions}
    for part, cases in evidence.items():
        for case in cases.keys() - failed:
            yield Finding(f"{part}, {case}", "found one for a case that did not fail")
    for case, reproduction in certificate.reproductions.items():
        if case not in failed:
            continue
        operator = suite.cases[case][0]
        if any(call.case not in operator.cases for call in reproduction.calls):
            text = f"expected calls of cases of {operator.index.operator}"
            yield Finding(f"reproductions, {case}, calls", text)


def _cause_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield causes that do not follow from the verdicts."""
    failed = {v.case for v in certificate.verdicts if v.status in FAILURE_STATUSES}
    strangers = [
        Finding(f"causes.{number}", f"found {case}, which is no failure of the certificate")
        for number, cause in enumerate(certificate.causes)
        for case in (*cause.cases, *cause.attributed)
        if case not in failed
    ]
    yield from strangers
    operators = {case.id: case.operator for case in suite}
    if strangers or any(operators.get(v.case) != v.operator for v in certificate.verdicts):
        return
    # The run may have lacked the specs of the suite, which describe its cases further.
    for diagnosis in (Diagnosis(suite, {}), Diagnosis(suite)):
        causes = diagnosis.causes(certificate.verdicts, certificate.reproductions)
        if causes == certificate.causes:
            return
    found, expected = len(certificate.causes), len(causes)
    if found != expected:
        text = f"found {found} causes; expected {expected}, which follow from the verdicts"
        yield Finding("causes", text)
        return
    stated, following = (c.to_dict() for c in (certificate, certificate.replace(causes=causes)))
    place, was, follows = next(json_differences(stated, following))
    text = f"found {was}; expected {follows}, which follows from the verdicts"
    yield Finding(".".join(place), text)
