"""What counts in a run: declared support, claims, feature levels and waivers."""

from opcert.scope.claims import Claim, ClaimContent, claim_mistakes, read_claim
from opcert.scope.scope import Scope, unsupported_types
from opcert.scope.support import (
    OperatorSupport,
    Support,
    checked_support,
    declared_support,
    rules_and_levels,
    unknown_operators,
)

__all__ = [
    "Claim",
    "ClaimContent",
    "OperatorSupport",
    "Scope",
    "Support",
    "checked_support",
    "claim_mistakes",
    "declared_support",
    "read_claim",
    "rules_and_levels",
    "unknown_operators",
    "unsupported_types",
]
