"""Covering arrays: rows in which every feasible t-tuple of levels occurs.

Greedy, a row at a time, like AETG (Cohen, Dalal, Fredman and Patton, "The AETG system", 1997), but
without randomness: each row starts from the first uncovered tuple, and is completed table by table
with the feasible assignment that covers most. Constraints restrict the tuples and the rows, as in
Cohen, Dwyer and Shi, "Interaction testing of highly-configurable systems in the presence of
constraints" (2007); here the tables of `FeasibleRows` decide what is feasible, not a SAT solver.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from zlib import crc32

import numpy as np
import numpy.typing as npt

from opcert.combinatorics.feasible_rows import FeasibleRows
from opcert.combinatorics.tables import BoolArray, IntArray, Row, level_codes

# How many rows with a tuple are tried until one counts.
ATTEMPTS = 5
# How many assignments of a table are compared for a row.
_MAX_CANDIDATES = 512
# How many of the initial rows are marked as covered at a time.
_BATCH = 1024
# OpenBLAS computes larger matrix products on several threads, which then busy-wait.
_MAX_PRODUCT = 1 << 18


def covering_array(
    feasible: FeasibleRows,
    strength: int,
    rows: Sequence[Row] = (),
    full_combinations: Sequence[tuple[int, ...]] = (),
    counts: Callable[[Row], bool] = lambda _: True,
) -> list[Row]:
    """Return `rows`, extended until they cover each feasible tuple of `strength` levels.

    The result also covers every feasible combination of the factors in each of
    `full_combinations`, which lists positions in ascending order. A row for which `counts` is
    false covers nothing; a tuple is given up after `ATTEMPTS` such rows. The same arguments always
    give the same rows.
    """
    tuples = _UncoveredTuples(feasible, strength, full_combinations)
    array = list(rows)
    for start in range(0, len(rows), _BATCH):
        tuples.cover(np.array(rows[start : start + _BATCH]))
    while (cell := tuples.first()) is not None:
        for attempt in range(ATTEMPTS):
            levels = tuples.row_with(cell, attempt)
            if levels is None:
                tuples.give_up(cell)
                break
            row = tuple(levels.tolist())
            if counts(row):
                tuples.cover(levels[None, :])
                array.append(row)
                break
        else:
            tuples.give_up(cell)
    return array


def alternative_rows(feasible: FeasibleRows, assignment: Mapping[int, int]) -> Iterator[Row]:
    """Yield the rows that `covering_array` tries for an assignment if the best does not count.

    `assignment` maps factors to levels.
    """
    group = tuple(sorted(assignment))
    # Strength 0 adds no other group, so that the group's cells are all there are.
    tuples = _UncoveredTuples(feasible, 0, [group])
    shape = [feasible.levels[factor] for factor in group]
    cell = int(np.ravel_multi_index([assignment[factor] for factor in group], shape))
    for attempt in range(1, ATTEMPTS):
        row = tuples.row_with(cell, attempt)
        if row is not None:
            yield tuple(row.tolist())


class _UncoveredTuples:
    """The tuples of levels that no row covers yet.

    Each group of factors to cover has a grid with a cell for each tuple. All grids are flattened
    and concatenated.
    """

    def __init__(
        self, feasible: FeasibleRows, strength: int, full_combinations: Sequence[tuple[int, ...]]
    ) -> None:
        self.feasible = feasible
        self.levels = feasible.levels
        factors = range(len(self.levels))
        groups = {*combinations(factors, min(strength, len(factors))), *full_combinations} - {()}
        # The largest grids first: they decide how many rows there are, and the rows for them cover
        # the others on the way.
        self.groups = sorted(groups, key=lambda group: (-prod(self._shape(group)), group))
        ends = np.cumsum([0, *(prod(self._shape(group)) for group in self.groups)])
        self.offsets = ends[:-1]
        # A row multiplied by these strides, plus the offsets, gives its cells. Floats are exact
        # here, and NumPy multiplies matrices of integers slowly.
        self.strides = np.zeros((len(self.levels), len(self.groups)))
        for g, group in enumerate(self.groups):
            stride = 1
            for factor in reversed(group):
                self.strides[factor, g] = stride
                stride *= self.levels[factor]
        feasible_cells = [self._feasible_cells(group).ravel() for group in self.groups]
        self.uncovered = np.concatenate(feasible_cells)
        # By group, how many cells are uncovered: most grids are complete long before the last row.
        self.remaining = np.array([np.count_nonzero(cells) for cells in feasible_cells])
        # How often the rows have each level, times the number of levels of its factor; the levels
        # of all factors in one array, those of a factor from its position in `level_offsets`.
        self.weighted_usage = np.zeros(sum(self.levels), np.int64)
        self.level_offsets = np.cumsum([0, *self.levels[:-1]])
        self.level_weights = np.repeat(self.levels, self.levels)
        self.row_count = 0
        self._next = 0
        # By table, the groups whose factors all have a level once this table's line is chosen.
        self.completed: list[IntArray] = []
        assigned: set[int] = set()
        before = np.zeros(len(self.groups), bool)
        for table in feasible.tables:
            assigned |= set(table.factors)
            complete = np.array([assigned.issuperset(group) for group in self.groups], bool)
            self.completed.append(np.flatnonzero(complete & ~before))
            before = complete
        self._searches: dict[int, _LineSearch] = {}

    def _shape(self, group: Sequence[int]) -> list[int]:
        return [self.levels[factor] for factor in group]

    def _feasible_cells(self, group: Sequence[int]) -> BoolArray:
        """Return which tuples are feasible, as far as one table, or else all pairs, decide it."""
        if len(group) == 2:
            return self.feasible.pairs[group[0], group[1]]
        shape = self._shape(group)
        for table in self.feasible.tables:
            if set(group) <= set(table.factors):
                cells = np.zeros(shape, bool)
                columns = [table.columns[factor] for factor in group]
                cells.ravel()[level_codes(columns, shape)] = True
                return cells
        cells = np.ones(shape, bool)
        for i, j in combinations(range(len(group)), 2):
            pair_shape = [size if k in (i, j) else 1 for k, size in enumerate(shape)]
            cells &= self.feasible.pairs[group[i], group[j]].reshape(pair_shape)
        return cells

    def first(self) -> int | None:
        """Return the first uncovered cell."""
        if self._next < len(self.uncovered):
            self._next += int(np.argmax(self.uncovered[self._next :]))
            if self.uncovered[self._next]:
                return self._next
        return None

    def give_up(self, cell: int) -> None:
        """Remove the tuple of `cell`, which no row covers."""
        self.uncovered[cell] = False
        self.remaining[self._group_of(cell)] -= 1

    def _group_of(self, cell: int) -> int:
        return int(np.searchsorted(self.offsets, cell, "right")) - 1

    def cover(self, rows: IntArray) -> None:
        """Remove the tuples that `rows` cover."""
        cells = _products(rows, self.strides) + self.offsets
        for row_cells in cells:
            # A row has one cell of each group.
            is_new = self.uncovered[row_cells]
            self.uncovered[row_cells[is_new]] = False
            self.remaining -= is_new
            if not self.remaining[is_new].all():
                # The searches still count the tuples of a group that is complete now.
                self._searches.clear()
        levels = (rows + self.level_offsets).ravel()
        counts = np.bincount(levels, minlength=len(self.weighted_usage))
        self.weighted_usage += counts * self.level_weights
        self.row_count += len(rows)

    def row_with(self, cell: int, attempt: int = 0) -> IntArray | None:
        """Return a row with the tuple of `cell`, or None if there is no such row.

        In the first attempt, each table adds the line that covers the most tuples. In later
        attempts, it adds an arbitrary line, the same in every run.
        """
        g = self._group_of(cell)
        group = self.groups[g]
        levels = map(int, np.unravel_index(cell - self.offsets[g], self._shape(group)))
        assignment = dict(zip(group, levels, strict=True))
        extensible = self.feasible.extensible_lines(assignment)
        if extensible is None:
            return None
        row = np.zeros(len(self.levels), np.int64)
        chosen: list[int] = []
        for t, (table, lines) in enumerate(zip(self.feasible.tables, extensible, strict=True)):
            of_parent, own = self.feasible.codes[t]
            if t == 0:
                candidates = np.arange(len(own)) if lines is None else lines
            else:
                code = int(of_parent[chosen[self.feasible.parents[t]]])
                if lines is None:
                    candidates = self.feasible.lines_with_code(t, code)
                else:
                    candidates = lines[own[lines] == code]
            if attempt:
                arbitrary = crc32(f"{group} {assignment} {t} {attempt}".encode())
                chosen.append(int(candidates[arbitrary % len(candidates)]))
            else:
                chosen.append(self._best_line(t, candidates, row))
            row[list(table.factors)] = table.assignments[chosen[t]]
        return row

    def _best_line(self, t: int, lines: IntArray, row: IntArray) -> int:
        """Return the line that covers the most tuples; among equals, one with rarely used levels.

        `row` has the levels of the tables before `t`.
        """
        if len(lines) == 1:
            return int(lines[0])
        if len(lines) > _MAX_CANDIDATES:
            # Evenly spaced lines, different ones for each row.
            even = np.arange(_MAX_CANDIDATES) * len(lines) // _MAX_CANDIDATES
            lines = lines[(even + self.row_count) % len(lines)]
        search = self._searches.get(t)
        if search is None:
            search = self._searches[t] = self._line_search(t)
        assignments = self.feasible.tables[t].assignments[lines]
        if len(search.offsets):
            offsets = (row @ search.other_strides).astype(np.int64) + search.offsets
            cells = _products(assignments, search.own_strides) + offsets
            gain = self.uncovered[cells].sum(axis=1)
            best = np.flatnonzero(gain == gain.max())
            lines, assignments = lines[best], assignments[best]
        used = self.weighted_usage[assignments + search.level_offsets].sum(axis=1)
        return int(lines[used.argmin()])

    def _line_search(self, t: int) -> "_LineSearch":
        """Return what the search for a line of a table needs, for its groups with tuples left."""
        factors, groups = list(self.feasible.tables[t].factors), self.completed[t]
        groups = groups[self.remaining[groups] > 0]
        strides = self.strides[:, groups]
        # A line repeats the levels of factors that its table shares with earlier ones.
        others = strides.copy()
        others[factors] = 0
        return _LineSearch(
            strides[factors], others, self.offsets[groups], self.level_offsets[factors]
        )


@dataclass(frozen=True, eq=False)
class _LineSearch:
    """The strides and offsets of groups of factors that have all their levels with a table's line.

    `own_strides` are those of the table's factors, `other_strides` those of all others, in columns
    for the groups; `level_offsets` are those of the table's factors.
    """

    own_strides: npt.NDArray[np.float64]
    other_strides: npt.NDArray[np.float64]
    offsets: IntArray
    level_offsets: IntArray


def _products(levels: IntArray, strides: npt.NDArray[np.float64]) -> IntArray:
    """Return lines of levels multiplied by strides: the position of each in each group's grid."""
    if levels.shape[0] * strides.size <= _MAX_PRODUCT:
        return (levels @ strides).astype(np.int64)
    step = max(1, _MAX_PRODUCT // max(strides.size, 1))
    products = [levels[i : i + step] @ strides for i in range(0, len(levels), step)]
    return np.concatenate(products).astype(np.int64)
