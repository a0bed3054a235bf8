"""Levels of the role `spans`: starts, stops and steps of slices, and how much they select."""

from collections.abc import Callable

import numpy as np

from opcert.arrays.element_types import Array, highest, lowest

# A constant, or a function of the length of the axis and the element type.
SpanValue = int | Callable[[int, str], int]

# Starts and stops with their words: at, next to and past both ends of the axis, of the type, and of
# narrower types to which a runtime may truncate.
ENDPOINTS: dict[str, tuple[SpanValue, str]] = {
    "zero": (0, "at 0"),
    "one": (1, "at 1"),
    "last": (lambda n, _: n - 1, "at the last"),
    "end": (lambda n, _: n, "at the size"),
    "beyond": (lambda n, _: n + 3, "past the end"),
    "minus_one": (-1, "at -1"),
    "first_from_end": (lambda n, _: -n, "at the negated size"),
    "below": (lambda n, _: -n - 1, "below the negated size"),
    "least": (lambda _, t: lowest(t), "at the least of its type"),
    "most": (lambda _, t: highest(t), "at the greatest of its type"),
    "int_min": (-(1 << 31), "at -2^31"),
    "int_max": ((1 << 31) - 1, "at 2^31 - 1"),
    "int64_min": (-(1 << 63), "at -2^63"),
    "int64_max": ((1 << 63) - 1, "at 2^63 - 1"),
    "past_u8": ((1 << 8) + 1, "at 257"),
    "past_u16": ((1 << 16) + 1, "at 65537"),
    "past_u32": ((1 << 32) + 1, "at 2^32 + 1"),
    "u32_max": ((1 << 32) - 1, "at 2^32 - 1"),
    "below_u32": (1 - (1 << 32), "at 1 - 2^32"),
    "u64_max": ((1 << 64) - 1, "at 2^64 - 1"),
}
# The plainest levels, which come first, and the levels under stress.
PLAINEST_ENDPOINTS = {
    "start": ("zero", "one", "last", "end"),
    "stop": ("end", "last", "one", "zero"),
}
ENDPOINTS_UNDER_STRESS = {
    "start": ("zero", "one", "last", "minus_one", "first_from_end", "most"),
    "stop": ("end", "last", "zero", "minus_one", "below", "most"),
}
# Absolute values of steps with their words. The least value of a type has no positive counterpart.
STEP_SIZES: dict[str, tuple[SpanValue, str]] = {
    "one": (1, "of 1"),
    "two": (2, "of 2"),
    "three": (3, "of 3"),
    "four": (4, "of 4"),
    "eight": (8, "of 8"),
    "beyond": (lambda n, _: n + 1, "past the size"),
    "most": (lambda _, t: highest(t), "of the greatest of its type"),
    "least": (lambda _, t: -lowest(t), "of the least of its type"),
    "past_u8": ((1 << 8) + 1, "of 257"),
    "past_u16": ((1 << 16) + 1, "of 65537"),
    "past_u32": ((1 << 32) + 1, "of 2^32 + 1"),
}
STEP_SIZES_UNDER_STRESS: dict[str, tuple[SpanValue, str]] = {
    **{level: STEP_SIZES[level] for level in ("one", "two", "three", "least", "past_u8")},
    "past_u16": (1 << 16, "of 2^16"),
}
# The meaning of an omitted part as a level, forwards and backwards: the whole axis.
OMITTED_MEANS = {"start": ("zero", "last"), "stop": ("end", "below"), "step": ("one", None)}
SELECTED = {
    "some": "selects some",
    "all": "selects all",
    "one": "selects one",
    "none": "selects nothing",
}


def selection_levels(n: Array, start: Array, stop: Array, size: Array, direction: Array) -> Array:
    """Return the name of the level of `SELECTED` for each slice; `n` is the length of its axis."""
    forwards = direction > 0
    # As Python's slice.indices does.
    least, most = np.where(forwards, 0, -1), np.where(forwards, n, n - 1)
    first, end = (
        np.clip(np.where(value < 0, value + n, value), least, most) for value in (start, stop)
    )
    distance = np.where(forwards, end - first, first - end)
    count = np.maximum(0, (distance + size - 1) // np.maximum(size, 1))
    conditions = [count == 0, count == n, count == 1]
    return np.select(conditions, ["none", "all", "one"], default="some")
