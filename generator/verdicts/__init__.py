"""Vector and outcome -> verdict: certification, causes, confirmation, reduction, redaction."""

from opcert.verdicts.causes import Cause, group_by_cause
from opcert.verdicts.certification import Certification, is_repeatable
from opcert.verdicts.confirmation import Confirmation, Confirmed
from opcert.verdicts.redaction import redact_text
from opcert.verdicts.reduction import Candidate, Reduction
from opcert.verdicts.reproduction import (
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
    representative_verdict,
)
from opcert.verdicts.verdict import (
    BACKEND_CONTRACT,
    DECISIVE_BREACHES,
    FAILURE_KINDS,
    FAILURE_STATUSES,
    STATUSES,
    WAIVABLE_KINDS,
    Status,
    Verdict,
    judge,
    unverified_reasons,
)

__all__ = [
    "BACKEND_CONTRACT",
    "DECISIVE_BREACHES",
    "FAILURE_KINDS",
    "FAILURE_STATUSES",
    "STATUSES",
    "WAIVABLE_KINDS",
    "Candidate",
    "Cause",
    "Certification",
    "Confirmation",
    "Confirmed",
    "Reduction",
    "ReproducedCall",
    "Reproduction",
    "SerializedCall",
    "Status",
    "Verdict",
    "calls_of_case",
    "group_by_cause",
    "is_repeatable",
    "judge",
    "redact_text",
    "representative_verdict",
    "unverified_reasons",
]
