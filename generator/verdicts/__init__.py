"""Vector and outcome -> verdict: certification, causes, confirmation, reduction, redaction."""

from opcert.verdicts.batches import Batch, batches
from opcert.verdicts.case_levels import call_levels, matches
from opcert.verdicts.cause_text import Term
from opcert.verdicts.causes import Cause, Diagnosis
from opcert.verdicts.certification import MAX_CRASHES, Certification, is_repeatable
from opcert.verdicts.confirmation import Confirmation, Confirmed
from opcert.verdicts.deciding_call import DECIDABLE_KINDS, DecidingCall
from opcert.verdicts.redaction import redact_text
from opcert.verdicts.reduction import Candidate, Reduction
from opcert.verdicts.reproduction import (
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
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
    "DECIDABLE_KINDS",
    "DECISIVE_BREACHES",
    "FAILURE_KINDS",
    "FAILURE_STATUSES",
    "MAX_CRASHES",
    "STATUSES",
    "WAIVABLE_KINDS",
    "Batch",
    "Candidate",
    "Cause",
    "Certification",
    "Confirmation",
    "Confirmed",
    "DecidingCall",
    "Diagnosis",
    "Reduction",
    "ReproducedCall",
    "Reproduction",
    "SerializedCall",
    "Status",
    "Term",
    "Verdict",
    "batches",
    "call_levels",
    "calls_of_case",
    "is_repeatable",
    "judge",
    "matches",
    "redact_text",
    "unverified_reasons",
]
