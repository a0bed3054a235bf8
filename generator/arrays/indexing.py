"""Arithmetic of axes, extents and indices, for specs and for roles."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from opcert.errors import Inapplicable

if TYPE_CHECKING:
    from opcert.arrays.calls import Tensor

Item = TypeVar("Item")

# Extents that exceed a vector register (with a tail), a tile, 16 bits.
LONG_EXTENT, WIDE_EXTENT, HUGE_EXTENT = 11, 521, 65539


def wrap(axis: int, rank: int) -> int:
    """Return `axis` counted from the front, where a negative one counts from the end."""
    return axis + rank if axis < 0 else axis


def broadcasts(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether `shape`, aligned at the end, broadcasts to `target` in one direction."""
    if len(shape) > len(target):
        return False
    aligned = target[len(target) - len(shape) :]
    return all(source in (1, extent) for source, extent in zip(shape, aligned, strict=True))


def python_slice(n: int, start: int, stop: int, step: int) -> range:
    """Return the indices that Python's [start:stop:step] selects of `n` elements."""
    return range(*slice(start, stop, step).indices(n))


def part_at(lengths: Sequence[int], position: int) -> tuple[int, int]:
    """Return which of consecutive parts has the element at `position`, and its position in it.

    Raises:
        IndexError: no part has it.
    """
    first = 0
    for number, length in enumerate(lengths):
        if first <= position < first + length:
            return number, position - first
        first += length
    raise IndexError(f"position {position} of {first}")


def within(values: Sequence[int], low: int, high: int) -> bool:
    """Whether any of `values` is at least `low` and less than `high`."""
    return any(low <= value < high for value in values)


def extent_kinds(extents: Sequence[int], taken: int) -> tuple[str, ...]:
    """Return the kinds of extents that describe `extents`; `Sampler.dims` draws these kinds.

    `taken` is the number of elements of the other dimensions.
    """
    if not extents:
        return ("varied",)
    if 0 in extents:
        return ("zero",)
    if max(extents) == 1:
        return ("ones",)
    long_extents = [extent for extent in extents if extent > 1]
    kinds = {
        "varied": len(extents) == 1 or min(extents) < max(extents),
        "equal": len(extents) == 1 or len(set(long_extents)) < len(long_extents),
        "same": set(extents) == {taken},
        "long": extents[-1] >= LONG_EXTENT,
        "wide": extents[-1] >= WIDE_EXTENT,
        "tall": extents[0] >= WIDE_EXTENT,
        "huge": max(extents) >= HUGE_EXTENT,
    }
    return tuple(kind for kind, applies in kinds.items() if applies)


def insert(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    """Return `items` with `item` inserted before `position`."""
    return (*items[:position], item, *items[position:])


def replace(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    """Return `items` with one of them replaced; a negative position counts from the end.

    Raises:
        Inapplicable: the position is out of range.
    """
    if not -len(items) <= position < len(items):
        raise Inapplicable(f"no element {position} in {items}")
    position %= len(items)
    return (*items[:position], item, *items[position + 1 :])


def repeats(indices: "Tensor", axis: int, n: int) -> bool:
    """Whether two elements of `indices` in one line along `axis` are the same place of `n`."""
    if indices.size < 2 or not n or not indices.values:
        return False
    numbers = np.array([*map(int, indices.values)]).reshape(indices.shape) % n
    ordered = np.sort(numbers, axis=axis)
    return not np.diff(ordered, axis=axis).all()
