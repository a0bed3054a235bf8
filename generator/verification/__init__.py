"""Certificate x suite -> findings: the checks of a third party, and the rerun of a sample."""

from opcert.verification.folder_checks import (
    file_name_findings,
    find_certificate,
    folder_findings,
    form_findings,
    has_this_version,
    read_signature,
    report_findings,
)
from opcert.verification.rerun import rerun_findings, sample_verdicts
from opcert.verification.series_checks import series_findings
from opcert.verification.verdict_checks import Finding
from opcert.verification.verification import verify_certificate

__all__ = [
    "Finding",
    "file_name_findings",
    "find_certificate",
    "folder_findings",
    "form_findings",
    "has_this_version",
    "read_signature",
    "report_findings",
    "rerun_findings",
    "sample_verdicts",
    "series_findings",
    "verify_certificate",
]
