"""The scope of a run: the cases that feature level, claim and declared support exclude."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from opcert.scope.claims import ClaimContent
from opcert.scope.support import Support
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite

# The status of a case that is not run.
ExclusionStatus: TypeAlias = Literal["out-of-claim", "unsupported"]


@dataclass(frozen=True)
class Scope:
    """The feature level, the claim and the declared support of a run."""

    feature_level: str | None
    claim: ClaimContent | None
    support: Support

    def exclusion(
        self, operator: OperatorSuite, case: IndexedCase
    ) -> tuple[ExclusionStatus, str] | None:
        """Return the status and the reason of an excluded case, or None if it is in scope."""
        name = operator.index.operator
        claimed = None if self.claim is None else self.claim.operators.get(name)
        declared = (self.support.declared or {}).get(name)
        # An excluded requirement excludes the calls that violate it. An excluded behaviour excludes
        # the negative cases that exhibit it, since a backend may decline them for that alone.
        for rule in (case.violated_rule, *case.extra_behaviours):
            if claimed is not None and rule in claimed.excluded:
                return "out-of-claim", f"the claim excludes {rule}"
            if declared is not None and rule in declared.excluded:
                return "unsupported", f"the declared support excludes {rule}"
        # Otherwise a negative case is in scope if its baseline is, since its own type or rank may
        # break the rule. The scope of a neighbour, a valid call, does not depend on its baseline.
        if case.expects == "rejection" and case.baseline is not None:
            case = operator.cases[case.baseline]
        level = self.feature_level
        if level and operator.index.feature_levels and level not in case.feature_levels:
            return "out-of-claim", f"not in feature level {level}"
        if self.claim is not None:
            reason = self.claim.exclusion_reason(name, case)
            if reason is not None:
                return "out-of-claim", reason
        reason = self.support.exclusion_reason(name, case)
        return None if reason is None else ("unsupported", reason)

    @property
    def exclusions(self) -> dict[str, list[str]]:
        """The rules and levels that claim and declared support exclude, by operator."""
        claimed = {} if self.claim is None else self.claim.operators
        excluded: dict[str, list[str]] = {}
        for name, scope in [*claimed.items(), *(self.support.declared or {}).items()]:
            if scope.excluded:
                excluded[name] = sorted({*excluded.get(name, ()), *scope.excluded})
        return excluded

    def is_claimed(self, operator: str, case: IndexedCase) -> bool:
        """Whether a claim covers `case` itself, so that declining it is a failure.

        A negative case can be outside the claim although its baseline is in scope.
        """
        if self.claim is None or case.ambiguity is not None:
            return False
        return self.claim.exclusion_reason(operator, case) is None


def unsupported_types(calls: Iterable[tuple[str, str, bool]]) -> set[tuple[str, str]]:
    """Return the pairs of operator and data type for which a backend declined every call.

    `calls` are the operator and the data type of each call that ran, and whether it was declined.
    """
    declined: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    for operator, element_type, is_declined in calls:
        declined[operator, element_type].add(is_declined)
    return {key for key, answers in declined.items() if answers == {True}}
