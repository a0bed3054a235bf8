"""Vector and outcome -> verdict: scope, waivers, causes, confirmation."""

from opcert.verdicts.anonymous import without_names
from opcert.verdicts.causes import Cause, causes
from opcert.verdicts.certification import Certification, is_repeatable
from opcert.verdicts.confirmation import (
    Confirmation,
    Confirmed,
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
    representative_verdict,
)
from opcert.verdicts.contract import BACKEND_CONTRACT, DECISIVE_BREACHES
from opcert.verdicts.reduction import Candidate, Reduction
from opcert.verdicts.verdict import (
    FAILURE_KINDS,
    FAILURE_STATUSES,
    STATUSES,
    Status,
    Verdict,
    judge,
    unverified_reasons,
)
from opcert.verdicts.waivers import Waiver, Waivers, read_waivers

__all__ = [
    "BACKEND_CONTRACT",
    "DECISIVE_BREACHES",
    "FAILURE_KINDS",
    "FAILURE_STATUSES",
    "STATUSES",
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
    "Waiver",
    "Waivers",
    "calls_of_case",
    "causes",
    "is_repeatable",
    "judge",
    "read_waivers",
    "representative_verdict",
    "unverified_reasons",
    "without_names",
]
