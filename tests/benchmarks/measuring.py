"""Rows of the table: a time, and the floor that is measured in turn with it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

REPEATS = 5
Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """A measurement with its floor, in seconds, and what their ratio should be at most."""

    what: str
    seconds: float
    floor_is: str
    floor: float
    goal: float | None = None

    def __str__(self) -> str:
        ratio = f"{self.seconds / self.floor:.2f}"
        goal = f"{self.goal}" if self.goal else ""
        times = f"{_unit(self.seconds)} | {self.floor_is} | {_unit(self.floor)}"
        return f"| {self.what} | {times} | {ratio} | {goal} |"


def _unit(seconds: float) -> str:
    if seconds >= 10:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-2 else f"{seconds * 1e6:.0f} µs"


def measured(work: Work, floor: Work, repeats: int = REPEATS) -> tuple[float, float]:
    """Return the median times of both, run in turn after one run each that does not count."""
    work()
    floor()
    pairs = [(_time(work), _time(floor)) for _ in range(repeats)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def _time(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
