"""What is out of scope beforehand: by feature level, claim or declaration; and what is not."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from opcert.scope.claims import ClaimContent
from opcert.scope.support import Support
from opcert.suite import IndexedCase, OperatorSuite

# The statuses of what does not run.
Excluded: TypeAlias = Literal["out-of-claim", "unsupported"]


@dataclass(frozen=True)
class Scope:
    """What feature level, claim and declaration leave of a suite."""

    feature_level: str | None
    claim: ClaimContent | None
    support: Support

    def left_out(self, operator: OperatorSuite, case: IndexedCase) -> tuple[Excluded, str] | None:
        """Return the status of a case that is not to be run, and why; None where it is."""
        name = operator.index.operator
        claimed = None if self.claim is None else self.claim.operators.get(name)
        declared = (self.support.declared or {}).get(name)
        # A requirement that is excluded is not asked for: the calls that break it are left out. So
        # are those that would show an excluded behaviour, for which they may be declined.
        for rule in (case.violated_rule, *case.extra_behaviours):
            if claimed is not None and rule in claimed.excluded:
                return "out-of-claim", f"the claim leaves out excluded, {rule}"
            if declared is not None and rule in declared.excluded:
                return "unsupported", f"declared: excluded, {rule}"
        # Otherwise a negative case is in scope with its baseline: its own type or rank may be what
        # breaks the rule. A valid neighbour is in scope by itself.
        if case.expects == "rejection" and case.baseline is not None:
            case = operator.cases[case.baseline]
        level = self.feature_level
        if level and operator.index.feature_levels and level not in case.feature_levels:
            return "out-of-claim", f"not in feature level {level}"
        if self.claim is not None:
            beyond = self.claim.exclusion_reason(name, case)
            if beyond is not None:
                return "out-of-claim", beyond
        unsupported = self.support.exclusion_reason(name, case)
        return None if unsupported is None else ("unsupported", unsupported)

    @property
    def exclusions(self) -> dict[str, list[str]]:
        """The rules and levels that claim and declaration exclude, by operator."""
        claimed = {} if self.claim is None else self.claim.operators
        scopes = [*claimed.items(), *(self.support.declared or {}).items()]
        found: dict[str, list[str]] = {}
        for name, scope in scopes:
            if scope.excluded:
                found[name] = sorted({*found.get(name, ()), *scope.excluded})
        return found

    def promises(self, operator: str, case: IndexedCase) -> bool:
        """Whether a claim has `case` itself, so that to decline it is a failure."""
        if self.claim is None or case.ambiguity is not None:
            return False
        # A changed call runs with the claimed one beside it; its own type or rank may be beyond.
        return self.claim.exclusion_reason(operator, case) is None


def unsupported_types(calls: Iterable[tuple[str, str, bool]]) -> set[tuple[str, str]]:
    """Return each operator and data type of which every call was declined.

    `calls` are those that ran: the operator, the data type, and whether it was declined.
    """
    found: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    for operator, element_type, declined in calls:
        found[operator, element_type].add(declined)
    return {key for key, declined in found.items() if declined == {True}}
