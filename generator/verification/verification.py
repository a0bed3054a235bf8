"""Certificate x suite -> flaws: everything in it that contradicts the suite, or itself."""

import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from opcert.certificate import Certificate, SuiteEntry, json_differences
from opcert.specification import read_specs_in
from opcert.suite import Suite, generate_suite_files, write_suite
from opcert.verification.findings import Finding
from opcert.verification.run_checks import (
    date_flaws,
    declaration_flaws,
    evidence_flaws,
    run_flaws,
)
from opcert.verification.verdict_checks import Judged, VerdictChecks
from opcert.verification.waiver_checks import waiver_flaws


def verify_certificate(
    certificate: Certificate, suite: Suite, now: datetime | None = None
) -> list[Finding]:
    """Return what in a certificate, whose form is right, cannot be; `now` is when it is asked.

    Its reader has recomputed conclusion and counts. Where it is of another suite, nothing can be
    said of its verdicts.
    """
    now = datetime.now(UTC) if now is None else now
    dated, other = list(date_flaws(certificate, now)), list(_another_suite(certificate, suite))
    return dated + (other or list(_flaws_by_suite(certificate, suite, now.date())))


def _flaws_by_suite(certificate: Certificate, suite: Suite, today: date) -> Iterator[Finding]:
    judged = [
        Judged(*suite.cases[verdict.case], verdict)
        for verdict in certificate.verdicts
        if verdict.case in suite.cases
    ]
    yield from run_flaws(certificate, suite.cases)
    yield from declaration_flaws(certificate, suite)
    yield from _feature_level(certificate, suite)
    yield from _chosen(certificate, suite)
    yield from VerdictChecks(certificate, judged).flaws()
    yield from evidence_flaws(certificate, suite.cases, judged)
    yield from waiver_flaws(certificate, suite, judged, today)


def _another_suite(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    stated = certificate.content()["suite"]
    for place, found, wanted in json_differences(stated, suite.identity):
        text = f"found {found}; the suite at hand has {wanted}; name another by --suite or --specs"
        yield Finding(".".join(("suite", *place)), text)


def _feature_level(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    level, claim = certificate.selection.feature_level, certificate.claim
    if level is not None and level not in suite.feature_levels:
        yield Finding("selection.feature_level", f"found {level}; no operator has it")
    claimed = None if claim is None else claim.content.feature_level
    if claimed is not None and claimed != level:
        yield Finding("selection.feature_level", f"found {level}; the claim has {claimed}")


def _chosen(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Say where the cases are not those that were chosen of the suite."""
    chosen = suite.select(certificate.selection.operator, certificate.selection.case)
    found = [verdict.case for verdict in certificate.verdicts]
    beyond, missing = set(found).difference(chosen), set(chosen).difference(found)
    for case in found:
        if case in beyond:
            what = "was not chosen" if case in suite.cases else "the suite does not have"
            yield Finding("verdicts", f"found one of {case}, which {what}")
    yield from (Finding("verdicts", f"{case} has none") for case in chosen if case in missing)


def regenerate_suite(stated: SuiteEntry, specs: Path) -> Suite:
    """Return the suite of the operators, profile and seed that a certificate states, made anew.

    Raises:
        OpcertError: a spec has mistakes, or the profile is none.
    """
    chosen = [each for each in read_specs_in(specs, "*") if each.spec.operator in stated.specs]
    jobs = min(len(chosen), os.cpu_count() or 1)
    files = generate_suite_files(chosen, stated.profile, stated.seed, jobs)
    with tempfile.TemporaryDirectory() as folder:
        write_suite(Path(folder) / "suite", files)
        return Suite(Path(folder) / "suite", specs)
