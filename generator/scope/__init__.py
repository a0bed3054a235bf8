"""The scope of a run: declared support, claims, feature levels and waivers."""

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
from opcert.scope.waivers import Waiver, Waivers, read_waivers, waivers_on

__all__ = [
    "Claim",
    "ClaimContent",
    "OperatorSupport",
    "Scope",
    "Support",
    "Waiver",
    "Waivers",
    "checked_support",
    "claim_mistakes",
    "declared_support",
    "read_claim",
    "read_waivers",
    "rules_and_levels",
    "unknown_operators",
    "unsupported_types",
    "waivers_on",
]
