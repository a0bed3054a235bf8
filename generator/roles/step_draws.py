"""Slicing steps: what a step of a strided slice does, its levels, and how steps are drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from opcert.arrays.element_types import Array, fits
from opcert.arrays.indexing import python_slice
from opcert.roles.samplers import Sampler
from opcert.roles.span_levels import selection_levels

# The levels of starts, of stops and of the absolute values of steps.
STARTS = (
    *("zero", "one", "last", "minus_one", "first_from_end", "beyond", "below", "least", "most"),
    *("past_u8", "past_u16", "past_u32", "u32_max"),
)
STOPS = (
    *("end", "last", "zero", "one", "minus_one", "first_from_end", "beyond", "below", "least"),
    *("most", "past_u8", "past_u16", "past_u32", "u32_max"),
)
SIZES = ("one", "two", "three", "beyond", "most", "past_u8", "past_u32")
# Values that the full suite covers only: the core suite has others that reveal nearly as much.
# Cut to 8 or 16 bits, 2^32 + 1 is 1 too; the greatest start backwards is the last index anyway.
ONLY_IN_FULL = {
    "start": ("past_u8", "u32_max", "least"),
    "stop": ("past_u8",),
    "step": ("past_u8",),
}


@dataclass(frozen=True)
class SlicingStep:
    """What one step does: it slices an axis, or a mask gives it another meaning."""

    kind: Literal["slice", "new", "single", "rest"]
    start: int
    stop: int
    step: int
    is_start_open: bool = False
    is_stop_open: bool = False

    def has_mark(self, marks: str) -> bool:
        """Whether the mask that marks a start, a stop or a kind marks it."""
        if marks in ("start", "stop"):
            return self.is_start_open if marks == "start" else self.is_stop_open
        return self.kind == marks


def level_value(value: Callable[[int, str], int], n: int, element_type: str, *_: int) -> int:
    """Return the value of a level, which further factors do not change."""
    return value(n, element_type)


def open_value(part: str, n: int, _: str, sign: int, *__: int) -> int:
    """Return where a masked start or stop lies."""
    if part == "start":
        return 0 if sign > 0 else n - 1
    return n if sign > 0 else 0


def ignored_step(kind: Literal["new", "rest"], sampler: Sampler) -> SlicingStep:
    """Return a step whose numbers are ignored, and whose start and stop may be masked too."""
    masked = [sampler.randbelow(4) == 0 for _ in range(2)]
    return SlicingStep(kind, sampler.between(0, 9), sampler.between(0, 9), 1, *masked)


def drawn_step(n: int, element_type: str, sampler: Sampler, has_step: bool) -> SlicingStep:
    """Draw a slice of an axis of `n` that selects something."""
    start, stop, step = sampler.span(n, element_type)
    if not has_step:
        start = sampler.between(0, n - 1)
        stop, step = sampler.between(start + 1, n), 1
        if not fits(element_type, stop):
            start, stop = 0, 1
    is_start_open, is_stop_open = (sampler.randbelow(3) == 0 for _ in range(2))
    first = open_value("start", n, "", step) if is_start_open else start
    is_stop_open = is_stop_open and step > 0
    selected = python_slice(n, first, n if is_stop_open else stop, step)
    if not selected:
        return SlicingStep("slice", start, stop, step)
    return SlicingStep("slice", start, stop, step, is_start_open, is_stop_open)


def backwards_step(n: int) -> SlicingStep:
    """Return a slice backwards that selects several elements of an axis of `n`, if it has them.

    An implementation that special-cases a rank, or an axis of it, fails where it differs.
    """
    return SlicingStep("slice", -1, 0 if n > 2 else -n - 1, -2 if n > 3 else -1)


def selection(
    n: Array, start: Array, stop: Array, size: Array, direction: Array, stop_level: Array
) -> Array:
    """Return how much each slice selects, no level if that is nothing or open."""
    single = np.where((-n <= start) & (start < n), np.where(n == 1, "all", "one"), "none")
    start = np.maximum(start, -n)
    levels = selection_levels(n, start, stop, size, direction)
    first = np.minimum(np.where(start < 0, start + n, start), n - 1)
    is_open = (stop_level == "masked") & (direction < 0) & (first % np.maximum(size, 1) == 0)
    levels = np.where(is_open, "none", levels)
    return np.where(stop_level == "single", single, levels)
