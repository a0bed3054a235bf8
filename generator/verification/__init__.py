"""Certificate x suite -> flaws: all that a third party can check, and a sample run again."""

from opcert.verification.findings import Finding
from opcert.verification.report_checks import is_ours, name_flaws, report_flaws
from opcert.verification.rerun import rerun_flaws, sample
from opcert.verification.submission_checks import (
    certificate_in,
    folder_flaws,
    form_flaws,
    signature_beside,
)
from opcert.verification.verification import regenerate_suite, verify_certificate

__all__ = [
    "Finding",
    "certificate_in",
    "folder_flaws",
    "form_flaws",
    "is_ours",
    "name_flaws",
    "regenerate_suite",
    "report_flaws",
    "rerun_flaws",
    "sample",
    "signature_beside",
    "verify_certificate",
]
