"""Counts of verdicts by status, and the most severe status among them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from opcert.certificate.certificate import Certificate
from opcert.verdicts.verdict import STATUSES, Status, Verdict

# Statuses must be distinguishable without colour.
STATUS_MARKS: Mapping[Status, str] = {
    "pass": "\N{CHECK MARK}",
    "fail": "\N{BALLOT X}",
    "crash": "\N{DOUBLE EXCLAMATION MARK}",
    "hang": "\N{HORIZONTAL ELLIPSIS}",
    "not-run": "\N{WHITE SQUARE}",
    "waived": "\N{WHITE UP-POINTING TRIANGLE}",
    "unsupported": "\N{EN DASH}",
    "out-of-claim": "\N{WHITE CIRCLE}",
    "implementation-defined": "\N{WHITE DIAMOND}",
}
# The order in which a status determines the colour of a cell: statuses that block conformance, then
# verified ones, then reasons why nothing was verified.
_BY_SEVERITY: Sequence[Status] = (
    *("crash", "hang", "fail", "not-run", "waived", "pass"),
    *("unsupported", "implementation-defined", "out-of-claim"),
)
_FAILURES: Sequence[Status] = ("fail", "crash", "hang")


@dataclass(frozen=True)
class Tally:
    """The number of verdicts with each status."""

    counts: Mapping[Status, int]

    @property
    def cases(self) -> int:
        """The number of all verdicts."""
        return sum(self.counts.values())

    @property
    def status(self) -> Status:
        """The most severe status; `not-run` if there are no verdicts."""
        return next((status for status in _BY_SEVERITY if self.counts.get(status)), "not-run")

    @property
    def count(self) -> int:
        """The number of verdicts with the most severe status."""
        return self.counts.get(self.status, 0)

    @property
    def decisive_count(self) -> int:
        """The number of all failures if there are any, else of the most severe status."""
        failures = sum(self.counts.get(status, 0) for status in _FAILURES)
        return failures or self.count

    @property
    def others(self) -> Mapping[Status, int]:
        """The number of verdicts with each of the other statuses."""
        return {s: n for s in STATUSES if (n := self.counts.get(s)) and s != self.status}

    @property
    def summary(self) -> str:
        """All statuses with their numbers, such as "12 pass, 1 fail"."""
        return ", ".join(f"{n} {s}" for s in STATUSES if (n := self.counts.get(s)))


def count_statuses(verdicts: Iterable[Verdict]) -> Tally:
    """Return the tally of some verdicts."""
    return Tally(Counter(verdict.status for verdict in verdicts))


def describe_rejections(certificate: Certificate) -> str:
    """Return the share of passing rejections that came from the runtime, not its adapter."""
    runtime, adapter = (certificate.rejections[source] for source in ("runtime", "adapter"))
    return f"{runtime:,} of {runtime + adapter:,} rejections by the runtime itself"
