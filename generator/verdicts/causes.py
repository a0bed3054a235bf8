"""Failures by cause: those of one operator, status, kind and rule mostly have one reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from opcert.run import FailureKind
from opcert.suite import CasesById, IndexedCase
from opcert.verdicts.verdict import FAILURE_STATUSES, Status, Verdict

# The gravest first; where bits alone differ, values are right.
_GRAVITY = ("crash", "hang", "fail")


@dataclass(frozen=True)
class Cause:
    """Failures that are alike: what they have in common, and their verdicts as they came.

    `rule` is None where they violate opcert's contract. `attributed` are rejections that do not
    count, since their baseline is one of the failures.
    """

    operator: str
    status: Status
    kind: FailureKind | None
    rule: str | None
    verdicts: tuple[Verdict, ...]
    attributed: tuple[Verdict, ...] = ()

    def smallest(self, cases: CasesById) -> Verdict:
        """Return the verdict of the call with the fewest elements, the first of them."""
        return min(self.verdicts, key=lambda each: input_elements(cases[each.case][1]))


def causes(verdicts: Iterable[Verdict]) -> list[Cause]:
    """Group failures, the worst first: what ends the process, then by number, bits last.

    A rejection that is uncredited is attributed to the cause that its baseline fails for. It is a
    failure of its own only where the baseline is none of the failures.
    """
    groups: dict[tuple[str, Status, FailureKind | None, str | None], list[Verdict]] = {}
    failed = [verdict for verdict in verdicts if verdict.status in FAILURE_STATUSES]
    known = {verdict.case for verdict in failed}
    echoes = [verdict for verdict in failed if verdict.attributed_to in known]
    for verdict in failed:
        if verdict.attributed_to not in known:
            key = (verdict.operator, verdict.status, verdict.kind, verdict.violated_rule)
            groups.setdefault(key, []).append(verdict)
    found = []
    for key, alike in groups.items():
        cases = {verdict.case for verdict in alike}
        attributed = tuple(verdict for verdict in echoes if verdict.attributed_to in cases)
        found.append(Cause(*key, tuple(alike), attributed))
    return sorted(found, key=_order)


def _order(cause: Cause) -> tuple[int, bool, int]:
    return _GRAVITY.index(cause.status), cause.kind == "bits", -len(cause.verdicts)


def input_elements(case: IndexedCase) -> int:
    """Return how many elements the inputs of a call have."""
    return sum(prod(each.shape) for each in case.inputs.values())
