"""Levels, constraints over them, and tables of the assignments that constraints allow.

Factors are numbered by position, the levels of each from 0. A row has a level for every factor,
an assignment only for some.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

Row = tuple[int, ...]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
# Levels by factor, as arrays that broadcast against each other: an element for each assignment.
LevelColumns = Mapping[int, IntArray]

# A larger table would take gigabytes and minutes.
MAX_TABLE_ROWS = 1 << 22


@dataclass(frozen=True, eq=False)
class LevelMask:
    """Which levels a few factors may have together: a grid with an axis for each of them."""

    factors: tuple[int, ...]
    grid: BoolArray

    def evaluate(self, columns: LevelColumns, _: BoolArray) -> BoolArray:
        """Return which assignments are allowed."""
        codes = level_codes([columns[factor] for factor in self.factors], self.grid.shape)
        allowed: BoolArray = self.grid.ravel()[codes]
        return allowed


@dataclass(frozen=True, eq=False)
class LevelConstraint:
    """A constraint between a few factors, by position.

    `allows` takes assignments and flags of the reachable ones, and returns flags of the allowed
    ones. `masks`, if any, are equivalent to it together. Each is over fewer factors, so that a
    table that grows factor by factor can apply it earlier.
    """

    factors: tuple[int, ...]
    allows: Callable[[LevelColumns, BoolArray], BoolArray]
    masks: tuple[LevelMask, ...] = ()

    def evaluate(self, columns: LevelColumns, reachable: BoolArray) -> BoolArray:
        """Return which assignments are allowed; the answer for unreachable ones is arbitrary."""
        if self.masks:
            masks = [mask.evaluate(columns, reachable) for mask in self.masks]
            return np.asarray(np.logical_and.reduce(masks))
        return self.allows(columns, reachable)


def level_codes(columns: Sequence[IntArray], sizes: Sequence[int]) -> IntArray:
    """Return the position of each assignment in the grid of all assignments, in C order."""
    codes: IntArray = np.zeros((), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column
    return codes


def unique_codes(codes: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return a position of each distinct code, and for each code its number among these.

    All `codes` are below `size`.
    """
    if size > 16 * len(codes):
        _, positions, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return positions, inverse
    # A lookup table is faster than sorting as long as it is not much larger than `codes`.
    lookup = np.full(size, -1)
    lookup[codes] = np.arange(len(codes))
    present = np.flatnonzero(lookup >= 0)
    positions = lookup[present]
    lookup[present] = np.arange(len(present))
    return positions, lookup[codes]


@dataclass(frozen=True, eq=False)
class LevelTable:
    """The possible assignments to a few factors, ascending: a line for each."""

    factors: tuple[int, ...]
    assignments: IntArray

    @cached_property
    def columns(self) -> LevelColumns:
        """The levels of each factor."""
        return {factor: self.assignments[:, i] for i, factor in enumerate(self.factors)}

    def select(self, kept: BoolArray) -> "LevelTable":
        """Return the table with only the lines where `kept` is true."""
        return self if kept.all() else LevelTable(self.factors, self.assignments.T[:, kept].T)


def elimination_cliques(
    levels: Sequence[int], scopes: Iterable[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return sets of factors that form a junction tree; each scope lies within one of them.

    Factors are eliminated one by one, and the neighbours of an eliminated factor become neighbours
    of each other. The next factor is the one with the fewest assignments to itself and its
    neighbours: the minimum-weight heuristic (Kjærulff, "Triangulation of graphs", 1990).
    """
    neighbours: dict[int, set[int]] = {factor: set() for factor in range(len(levels))}
    for scope in scopes:
        for factor in scope:
            neighbours[factor] |= set(scope) - {factor}
    cliques: list[set[int]] = []
    while neighbours:
        factor = min(neighbours, key=lambda f: (prod(levels[g] for g in {f, *neighbours[f]}), f))
        adjacent = neighbours.pop(factor)
        for other in adjacent:
            neighbours[other] = (neighbours[other] | adjacent) - {factor, other}
        if not any({factor, *adjacent} <= clique for clique in cliques):
            cliques.append({factor, *adjacent})
    return [tuple(sorted(clique)) for clique in cliques]


def build_table(
    factors: tuple[int, ...], levels: Sequence[int], constraints: Sequence[LevelConstraint]
) -> LevelTable:
    """Return the assignments to `factors` that the constraints over only these factors allow.

    The table grows by one factor at a time. Each constraint is applied once the table has all its
    factors. The next factor is one that completes a constraint, if possible.

    Raises:
        ValueError: the growing table exceeds `MAX_TABLE_ROWS` assignments.
    """
    inside = [constraint for constraint in constraints if set(constraint.factors) <= set(factors)]
    # Masks cannot fail, and go first: conditions are not evaluated on assignments that they forbid.
    pending: list[LevelMask | LevelConstraint] = [
        mask for constraint in inside for mask in constraint.masks
    ]
    pending += [constraint for constraint in inside if not constraint.masks]

    def missing_factors(factor: int) -> int:
        """Return how many factors the most complete constraint still lacks with `factor`."""
        lacking = [
            len(set(constraint.factors) - {*columns, factor})
            for constraint in pending
            if factor in constraint.factors
        ]
        return min(lacking, default=0)

    # Levels of 8 bits keep the largest tables at megabytes.
    dtype = np.uint8 if max(levels, default=0) <= 256 else np.uint16
    columns: dict[int, IntArray] = {}
    count = 1
    while len(columns) < len(factors):
        factor = min(set(factors) - columns.keys(), key=lambda f: (missing_factors(f), f))
        if count * levels[factor] > MAX_TABLE_ROWS:
            raise ValueError(
                f"conditions connect factors with more than {MAX_TABLE_ROWS} combinations of "
                "levels; expected conditions that connect fewer factors"
            )
        added: IntArray = np.arange(levels[factor]).astype(dtype)
        grid = {known: column[:, None] for known, column in columns.items()}
        grid[factor] = added[None, :]
        allowed = np.ones((count, len(added)), bool)
        ready = [constraint for constraint in pending if set(constraint.factors) <= grid.keys()]
        pending = [constraint for constraint in pending if constraint not in ready]
        for constraint in ready:
            allowed &= constraint.evaluate(grid, allowed)
        lines, chosen = np.nonzero(allowed)
        columns = {known: column[lines] for known, column in columns.items()}
        columns[factor] = added[chosen]
        count = len(lines)
    order = np.lexsort([columns[factor] for factor in reversed(factors)])
    return LevelTable(factors, np.stack([columns[factor][order] for factor in factors]).T)
