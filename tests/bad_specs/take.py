"""The reference of the made-up operator that the bad specs describe, and wrong ones."""

from typing import Any

import numpy.typing as npt

from opcert.reference.rules import require

Array = npt.NDArray[Any]


def take(data: Array, count: int) -> list[Array]:
    """Return the first `count` rows of `data`."""
    require(0 <= count <= len(data), "take-1/count-range", f"count {count} of {len(data)}")
    return [data[:count].copy()]


def accepting(data: Array, count: int) -> list[Array]:
    """Take rows, and accept a count that is too high."""
    return take(data, min(count, len(data)))


def misnaming(data: Array, count: int) -> list[Array]:
    """Take rows, and name another rule when rejecting."""
    require(0 <= count <= len(data), "take-1/first-rows", f"count {count} of {len(data)}")
    return take(data, count)


def rejecting(data: Array, count: int) -> list[Array]:
    """Take rows, but never none."""
    require(count != 0, "take-1/count-range", "count 0")
    return take(data, count)


def transposing(data: Array, count: int) -> list[Array]:
    """Take rows, and turn them into columns."""
    return [each.T for each in take(data, count)]


NOT_A_FUNCTION = "take"
