"""Verdicts -> certificate: whole and resumed runs, the file, the submission, the signature.

Import the module `signing` by its name: it needs an optional package.
"""

from opcert.certificate.certificate import (
    BackendEntry,
    Certificate,
    ClaimEntry,
    WaiversEntry,
)
from opcert.certificate.certify_suite import (
    CertificationInterrupted,
    OnVerdict,
    UnusedWaiverError,
    certify,
)
from opcert.certificate.claim_draft import claim_path, draft_claim, write_claim
from opcert.certificate.entries import backend_entry, date_mistake
from opcert.certificate.file import (
    CERTIFICATE_FILE,
    MAX_CERTIFICATE_BYTES,
    certificate_json_schema,
    json_differences,
    parse_certificate,
    read_certificate,
    read_certificate_bytes,
    refuse_path_in_suite,
)
from opcert.certificate.journal import (
    JOURNAL_FILE,
    is_journal,
    read_former_certificate,
    read_journal,
)
from opcert.certificate.series_result import (
    SERIES_RESULT_FILE,
    BackendName,
    CopyResult,
    SeriesEntry,
    SeriesResult,
    backend_name,
    copy_result,
    has_series_result,
    identity_of_run,
    read_series_result,
    result_mistakes,
    series_entry,
    series_result,
)
from opcert.certificate.submission import (
    CLAIM_FILE,
    SIGNATURE_FILE,
    WAIVERS_FILE,
    file_digest,
    own_files,
    submission_path,
    write_signature,
    write_submission,
)

__all__ = [
    "CERTIFICATE_FILE",
    "CLAIM_FILE",
    "JOURNAL_FILE",
    "MAX_CERTIFICATE_BYTES",
    "SERIES_RESULT_FILE",
    "SIGNATURE_FILE",
    "WAIVERS_FILE",
    "BackendEntry",
    "BackendName",
    "Certificate",
    "CertificationInterrupted",
    "ClaimEntry",
    "CopyResult",
    "OnVerdict",
    "SeriesEntry",
    "SeriesResult",
    "UnusedWaiverError",
    "WaiversEntry",
    "backend_entry",
    "backend_name",
    "certificate_json_schema",
    "certify",
    "claim_path",
    "copy_result",
    "date_mistake",
    "draft_claim",
    "file_digest",
    "has_series_result",
    "identity_of_run",
    "is_journal",
    "json_differences",
    "own_files",
    "parse_certificate",
    "read_certificate",
    "read_certificate_bytes",
    "read_former_certificate",
    "read_journal",
    "read_series_result",
    "refuse_path_in_suite",
    "result_mistakes",
    "series_entry",
    "series_result",
    "submission_path",
    "write_claim",
    "write_signature",
    "write_submission",
]
