"""Axes, extents and indices: the arithmetic that specs and roles share."""

from collections.abc import Sequence
from typing import TypeVar

from opcert.errors import Inapplicable

Item = TypeVar("Item")

# Extents past a vector register (with a tail), past a tile, past 16 bits.
LONG_EXTENT, WIDE_EXTENT, HUGE_EXTENT = 11, 521, 65539


def wrap(axis: int, rank: int) -> int:
    """Return `axis` counted from the front, where a negative one counts from the end."""
    return axis + rank if axis < 0 else axis


def broadcasts(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether `shape`, aligned at the end, stretches to `target` in one direction."""
    aligned = tuple(target[len(target) - len(shape) :])
    return len(shape) <= len(target) and all(
        extent in (1, wanted) for extent, wanted in zip(shape, aligned, strict=True)
    )


def python_slice(n: int, start: int, stop: int, step: int) -> range:
    """Return the indices that Python's [start:stop:step] selects of `n` elements."""
    return range(*slice(start, stop, step).indices(n))


def within(values: Sequence[int], low: int, high: int) -> bool:
    """Whether one of `values` is at least `low` and less than `high`."""
    return any(low <= value < high for value in values)


def extent_kinds(extents: Sequence[int], taken: int) -> tuple[str, ...]:
    """Return of which kinds that `dims` draws beside `taken` elements `extents` are."""
    if not extents:
        return ("varied",)
    if 0 in extents:
        return ("zero",)
    if max(extents) == 1:
        return ("ones",)
    past_one = [extent for extent in extents if extent > 1]
    found = {
        "varied": len(extents) == 1 or min(extents) < max(extents),
        "equal": len(extents) == 1 or len(set(past_one)) < len(past_one),
        "same": set(extents) == {taken},
        "long": extents[-1] >= LONG_EXTENT,
        "wide": extents[-1] >= WIDE_EXTENT,
        "tall": extents[0] >= WIDE_EXTENT,
        "huge": max(extents) >= HUGE_EXTENT,
    }
    return tuple(kind for kind, is_so in found.items() if is_so)


def insert(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    """Return `items` with `item` put in at `position`."""
    return (*items[:position], item, *items[position:])


def replace(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    """Return `items` with the one at `position`, from the end where negative, replaced.

    Raises:
        Inapplicable: there is none.
    """
    if not -len(items) <= position < len(items):
        raise Inapplicable(f"no element {position} in {items}")
    position %= len(items)
    return (*items[:position], item, *items[position + 1 :])
