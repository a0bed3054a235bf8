"""Verdicts -> counts, and the gravest status among them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from opcert.certificate import Certificate
from opcert.verdicts import STATUSES, Status, Verdict

# Told apart without colour.
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
# What a cell is coloured by: what blocks, then what was verified, then why nothing was.
_GRAVITY: Sequence[Status] = (
    *("crash", "hang", "fail", "not-run", "waived", "pass"),
    *("unsupported", "implementation-defined", "out-of-claim"),
)


@dataclass(frozen=True)
class Tally:
    """Some verdicts: how many there are, of which status the gravest is, and how many have it."""

    counts: Mapping[Status, int]

    @property
    def cases(self) -> int:
        """How many verdicts there are."""
        return sum(self.counts.values())

    @property
    def status(self) -> Status:
        """The gravest status among them."""
        return next((each for each in _GRAVITY if self.counts.get(each)), "not-run")

    @property
    def count(self) -> int:
        """How many have it."""
        return self.counts.get(self.status, 0)

    @property
    def others(self) -> Mapping[Status, int]:
        """How many have each of the other statuses."""
        return {s: n for s in STATUSES if (n := self.counts.get(s)) and s != self.status}

    @property
    def told(self) -> str:
        """Each status with its number."""
        return ", ".join(f"{n} {s}" for s in STATUSES if (n := self.counts.get(s)))


def count_statuses(verdicts: Iterable[Verdict]) -> Tally:
    """Count some verdicts."""
    return Tally(Counter(each.status for each in verdicts))


def rejections(certificate: Certificate) -> str:
    """Say how many of the rejections that count were made by the runtime itself."""
    runtime, adapter = (certificate.rejections[who] for who in ("runtime", "adapter"))
    return f"{runtime:,} of {runtime + adapter:,} rejections by the runtime itself"
