"""The files that a certificate names x what opcert makes of it -> flaws."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from opcert import __version__
from opcert.certificate import CLAIM_FILE, WAIVERS_FILE, Certificate
from opcert.report import (
    JUNIT_FILE,
    REPORT_FILE,
    operator_page_path,
    render_operator_pages,
    render_report,
)
from opcert.suite import Suite
from opcert.verification.findings import Finding


def is_ours(certificate: Certificate) -> bool:
    """Whether this opcert wrote a certificate: another may write other files, and otherwise."""
    return certificate.platform.opcert == __version__


def name_flaws(certificate: Certificate) -> Iterator[Finding]:
    """Yield which files a certificate names that opcert never writes, or lacks that it does.

    A run that was not finished has no report; operators have a page where their specs are known.
    """
    done = not certificate.counts["not-run"]
    report = {REPORT_FILE, JUNIT_FILE} if done else set()
    pages = set(map(operator_page_path, certificate.operators)) if done else set()
    for name in sorted(certificate.files.keys() - report - pages - {CLAIM_FILE, WAIVERS_FILE}):
        why = "of such a run" if done else "of a run that was not finished"
        yield Finding(f"files.{name}", f"is no file that opcert writes {why}")
    for name in sorted(report - certificate.files.keys()):
        yield Finding(f"files.{name}", "found none; expected one, as of any run that was finished")


def report_flaws(
    certificate: Certificate, suite: Suite, specs: Path | None = None
) -> tuple[list[Finding], list[str]]:
    """Return where the report is not what is made of a certificate, and what cannot be made.

    The certificate has no other flaws, and `suite` is its own.
    """
    if certificate.counts["not-run"]:
        return [], []
    named = [
        name for name in map(operator_page_path, certificate.operators) if name in certificate.files
    ]
    pages = render_operator_pages(certificate, suite, specs) if named else {}
    made = {**render_report(certificate, suite, named), **pages}
    flaws = [
        Finding(f"files.{name}", f"found {stated}; of this certificate opcert makes {digest}")
        for name, stated in certificate.files.items()
        if name in made and stated != (digest := sha256(made[name]).hexdigest())
    ]
    return flaws, [name for name in named if name not in pages]
