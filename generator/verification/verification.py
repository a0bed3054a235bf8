"""Finds contradictions between a certificate and its suite, and within the certificate."""

from collections.abc import Iterator
from dataclasses import dataclass

from opcert.certificate.certificate import Certificate
from opcert.certificate.file import json_differences
from opcert.errors import printable_line
from opcert.suite.suite import Suite
from opcert.verdicts.causes import Diagnosis


@dataclass(frozen=True)
class Finding:
    """A mistake in a certificate or its folder, and its place."""

    place: str
    text: str

    def __str__(self) -> str:
        return printable_line(f"{self.place}: {self.text}")


def verify_certificate(certificate: Certificate, suite: Suite) -> list[Finding]:
    """Return all findings about a certificate.

    `read_certificate` has already checked its counts and its conclusion. If the certificate is of
    another suite, nothing else is checked. What a case came to is not judged again.
    """
    differences = list(json_differences(certificate.to_dict()["suite"], suite.identity))
    if differences:
        return [
            Finding(
                ".".join(("suite", *place)),
                f"found {found}; this suite has {expected}; name another by --suite or --specs",
            )
            for place, found, expected in differences
        ]
    findings = [
        *_selection_findings(certificate, suite),
        *_case_findings(certificate, suite),
        *_reproduction_findings(certificate, suite),
    ]
    if not findings:
        findings += _cause_findings(certificate, suite)
    return [*_changed_file_findings(certificate), *findings]


def _changed_file_findings(certificate: Certificate) -> Iterator[Finding]:
    """Yield the files of the backend that changed during the run."""
    for name in certificate.run.changed:
        text = f"found {name}: it changed during the run, so its verdicts may be of different"
        yield Finding("run.changed", f"{text} versions; expected a run of one version")


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
    if not unexpected and not missing and cases != selected:
        pairs = zip(cases, selected, strict=True)
        found, expected = next(pair for pair in pairs if pair[0] != pair[1])
        yield Finding("verdicts", f"found {found}; expected {expected}, in the order of the suite")


def _case_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield verdicts with another operator or other rules than their cases."""
    for verdict in certificate.verdicts:
        if verdict.case not in suite.cases:
            continue
        operator, case = suite.cases[verdict.case]
        place, name = f"verdicts, {verdict.case}", operator.index.operator
        if verdict.operator != name:
            yield Finding(place, f"operator: found {verdict.operator}; expected {name}")
        if verdict.rules != case.rules:
            found, expected = (", ".join(rules) or "none" for rules in (verdict.rules, case.rules))
            yield Finding(place, f"rules: found {found}; expected {expected}")


def _reproduction_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield reproductions with calls that are not of the failure's operator."""
    for case, reproduction in certificate.reproductions.items():
        operator = suite.cases[case][0] if case in suite.cases else None
        known = {} if operator is None else operator.cases
        if any(call.case not in known for call in reproduction.calls):
            text = f"expected calls of cases of the operator of {case}"
            yield Finding(f"reproductions, {case}, calls", text)


def _cause_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield causes that do not follow from the verdicts."""
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
