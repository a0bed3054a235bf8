"""Failures by cause: those of one operator, status, kind and rule mostly have one reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from opcert.generator.run.comparison import Kind
from opcert.generator.suite.format import IndexedCase
from opcert.generator.suite.suite import Cases
from opcert.generator.verdicts.verdict import FAILURES, Status, Verdict

# The gravest first; where bits alone differ, values are right.
_GRAVITY = ("crash", "hang", "fail")


@dataclass(frozen=True)
class Cause:
    """Failures that are alike: what they have in common, and their verdicts as they came."""

    operator: str
    status: Status
    kind: Kind | None
    rule: str | None
    verdicts: tuple[Verdict, ...]

    def smallest(self, cases: Cases) -> Verdict:
        """Return the verdict of the call with the fewest elements, the first of them."""
        return min(self.verdicts, key=lambda each: _elements(cases[each.case][1]))


def causes(verdicts: Iterable[Verdict]) -> list[Cause]:
    """Group failures, the worst first: what ends the process, then by number, bits last."""
    found: dict[tuple[str, Status, Kind | None, str | None], list[Verdict]] = {}
    for each in verdicts:
        if each.status in FAILURES:
            rule = each.rules[0] if each.rules else None
            found.setdefault((each.operator, each.status, each.kind, rule), []).append(each)
    return sorted((Cause(*sort, tuple(alike)) for sort, alike in found.items()), key=_order)


def _order(cause: Cause) -> tuple[int, bool, int]:
    return _GRAVITY.index(cause.status), cause.kind == "bits", -len(cause.verdicts)


def _elements(case: IndexedCase) -> int:
    return sum(prod(each.shape) for each in case.inputs.values())
