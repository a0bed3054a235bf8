"""Groups failures by cause: same operator, status, kind and rule usually mean one cause."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from opcert.run import FailureKind
from opcert.suite import CasesById, IndexedCase
from opcert.verdicts.verdict import FAILURE_STATUSES, Status, Verdict

# The most severe status first.
_SEVERITY = ("crash", "hang", "fail")


@dataclass(frozen=True)
class Cause:
    """Failures with the same operator, status, kind and rule, in the order of the suite.

    `rule` is None if they violate the backend contract. `attributed` are rejections that are not
    credited because their baseline is one of these failures.
    """

    operator: str
    status: Status
    kind: FailureKind | None
    rule: str | None
    verdicts: tuple[Verdict, ...]
    attributed: tuple[Verdict, ...] = ()

    def smallest_failure(self, cases: CasesById) -> Verdict:
        """Return the verdict with the fewest input elements; the first one if there are several."""
        return min(self.verdicts, key=lambda verdict: input_elements(cases[verdict.case][1]))


def group_by_cause(verdicts: Iterable[Verdict]) -> list[Cause]:
    """Group failures by cause, the worst cause first.

    Crashes and hangs come first, failures of kind `bits` last; in between, causes with more
    failures come before causes with fewer. An uncredited rejection is attributed to the cause of
    its baseline's failure. If `verdicts` lack that failure, it is a failure like any other.
    """
    failures = [verdict for verdict in verdicts if verdict.status in FAILURE_STATUSES]
    failed_cases = {verdict.case for verdict in failures}
    attributed = [verdict for verdict in failures if verdict.attributed_to in failed_cases]
    groups: dict[tuple[str, Status, FailureKind | None, str | None], list[Verdict]] = {}
    for verdict in failures:
        if verdict.attributed_to not in failed_cases:
            key = (verdict.operator, verdict.status, verdict.kind, verdict.violated_rule)
            groups.setdefault(key, []).append(verdict)
    causes = []
    for key, group in groups.items():
        cases = {verdict.case for verdict in group}
        rejections = tuple(verdict for verdict in attributed if verdict.attributed_to in cases)
        causes.append(Cause(*key, tuple(group), rejections))
    return sorted(
        causes,
        key=lambda cause: (
            _SEVERITY.index(cause.status),
            cause.kind == "bits",
            -len(cause.verdicts),
        ),
    )


def input_elements(case: IndexedCase) -> int:
    """Return the total number of elements of a case's inputs."""
    return sum(prod(array.shape) for array in case.inputs.values())
