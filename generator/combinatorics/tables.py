"""Tables of choices: the levels that a few factors may have together, under constraints."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

Row = tuple[int, ...]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
# Levels by factor, as arrays that broadcast: one element for each choice.
LevelColumns = Mapping[int, IntArray]

# The most choices that a table may have: what they take is memory and time.
MAX_TABLE_ROWS = 1 << 22


@dataclass(frozen=True, eq=False)
class LevelMask:
    """Which levels a few factors may have together: a grid with an axis for each of them."""

    factors: tuple[int, ...]
    grid: BoolArray

    def over(self, columns: LevelColumns, _: BoolArray) -> BoolArray:
        """Return which choices of levels are allowed."""
        codes = level_codes([columns[factor] for factor in self.factors], self.grid.shape)
        allowed: BoolArray = self.grid.ravel()[codes]
        return allowed


@dataclass(frozen=True, eq=False)
class LevelConstraint:
    """What must hold between a few factors, by position.

    `allows` says which choices of levels are allowed, of those that are reached. Its `parts`, where
    it has some, allow the same together, each of them over fewer factors: a table that grows
    factor by factor can drop choices as early as possible.
    """

    factors: tuple[int, ...]
    allows: Callable[[LevelColumns, BoolArray], BoolArray]
    parts: tuple[LevelMask, ...] = ()

    def over(self, columns: LevelColumns, reached: BoolArray) -> BoolArray:
        """Return which choices of levels are allowed; those not `reached` are not asked for."""
        if self.parts:
            parts = [part.over(columns, reached) for part in self.parts]
            return np.asarray(np.logical_and.reduce(parts))
        return self.allows(columns, reached)


def level_codes(columns: Sequence[IntArray], sizes: Sequence[int]) -> IntArray:
    """Return the position of each choice of levels in the grid of all of them."""
    codes: IntArray = np.zeros((), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column
    return codes


def unique_codes(codes: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return a place of each of the distinct `codes`, all below `size`, and where each one is."""
    if size > 16 * len(codes):
        _, places, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return places, inverse
    # Sorting would take longer.
    place = np.full(size, -1)
    place[codes] = np.arange(len(codes))
    present = np.flatnonzero(place >= 0)
    places = place[present]
    place[present] = np.arange(len(present))
    return places, place[codes]


@dataclass(frozen=True, eq=False)
class LevelTable:
    """A few factors, ascending, and each choice of their levels that is possible, one a line."""

    factors: tuple[int, ...]
    choices: IntArray

    def column(self, factor: int) -> IntArray:
        """Return the level of `factor` in each choice."""
        column: IntArray = self.choices[:, self.factors.index(factor)]
        return column

    @cached_property
    def columns(self) -> LevelColumns:
        """The column of each factor."""
        return {factor: self.column(factor) for factor in self.factors}

    def only(self, kept: BoolArray) -> "LevelTable":
        """Return the table with the lines that are `kept`."""
        return self if kept.all() else LevelTable(self.factors, self.choices.T[:, kept].T)


def elimination_cliques(
    levels: Sequence[int], groups: Iterable[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return sets of factors, a group within one of them, that can be joined to a tree.

    Factors are taken out one by one, that with the fewest choices beside its neighbours first;
    the neighbours then become neighbours of each other.
    """
    near: dict[int, set[int]] = {factor: set() for factor in range(len(levels))}
    for group in groups:
        for factor in group:
            near[factor] |= set(group) - {factor}
    elimination_cliques: list[set[int]] = []
    while near:
        factor = min(near, key=lambda f: (prod(levels[g] for g in {f, *near[f]}), f))
        others = near.pop(factor)
        for other in others:
            near[other] = (near[other] | others) - {factor, other}
        if not any({factor, *others} <= clique for clique in elimination_cliques):
            elimination_cliques.append({factor, *others})
    return [tuple(sorted(clique)) for clique in elimination_cliques]


def build_table(
    factors: tuple[int, ...], levels: Sequence[int], constraints: Sequence[LevelConstraint]
) -> LevelTable:
    """Return the choices over `factors` that those of `constraints` over them alone allow.

    It grows by one factor at a time, by one that decides something if there is such a factor.
    """
    inside = [each for each in constraints if set(each.factors) <= set(factors)]
    # Masks come first: they cannot fail, and what they drop others are not asked of.
    waiting: list[LevelMask | LevelConstraint] = [part for each in inside for part in each.parts]
    waiting += [each for each in inside if not each.parts]
    # A level of 8 bits is what makes the difference between megabytes and gigabytes.
    dtype = np.uint8 if max(levels, default=0) <= 256 else np.uint16
    columns: dict[int, IntArray] = {}
    count = 1
    while len(columns) < len(factors):
        left = [each for each in factors if each not in columns]
        factor = min(left, key=lambda each: _still_open(each, [*columns], waiting))
        if count * levels[factor] > MAX_TABLE_ROWS:
            text = f"more than {MAX_TABLE_ROWS} choices of levels hang together by conditions"
            raise ValueError(f"{text}; expected conditions that tie fewer factors")
        added: IntArray = np.arange(levels[factor]).astype(dtype)
        crossed = {each: column[:, None] for each, column in columns.items()}
        crossed[factor] = added[None, :]
        allowed = np.ones((count, len(added)), bool)
        ready = [each for each in waiting if set(each.factors) <= crossed.keys()]
        waiting = [each for each in waiting if each not in ready]
        for each in ready:
            allowed &= each.over(crossed, allowed)
        lines, chosen = np.nonzero(allowed)
        columns = {each: column[lines] for each, column in columns.items()}
        columns[factor] = added[chosen]
        count = len(lines)
    order = np.lexsort([columns[factor] for factor in reversed(factors)])
    return LevelTable(factors, np.stack([columns[factor][order] for factor in factors]).T)


def _still_open(
    factor: int, chosen: Sequence[int], constraints: Sequence[LevelMask | LevelConstraint]
) -> tuple[int, int]:
    """Rank the next factor: how many are missing then for a constraint to be asked."""
    open_ones = [
        len(set(each.factors) - {*chosen, factor}) for each in constraints if factor in each.factors
    ]
    return min(open_ones, default=0), factor
