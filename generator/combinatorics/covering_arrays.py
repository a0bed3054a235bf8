"""Covering arrays: rows in which every feasible t-tuple of levels occurs.

Greedy, a row at a time, like AETG (Cohen, Dalal, Fredman and Patton, "The AETG system", 1997), but
without randomness: each row starts from the first uncovered tuple, and is completed table by table
with the feasible assignment that covers most. Constraints restrict the tuples and the rows, as in
Cohen, Dwyer and Shi, "Interaction testing of highly-configurable systems in the presence of
constraints" (2007); here the tables of `FeasibleRows` decide what is feasible, not a SAT solver.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from zlib import crc32

import numpy as np
import numpy.typing as npt

from opcert.combinatorics.feasible_rows import FeasibleRows
from opcert.combinatorics.tables import BoolArray, IntArray, LevelTable, Row, level_codes

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
        self,
        feasible: FeasibleRows,
        strength: int,
        full_combinations: Sequence[tuple[int, ...]],
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
        self.usage = [np.zeros(size, np.int64) for size in self.levels]
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
        # Rows may have tuples in common.
        covered = np.unique(cells[self.uncovered[cells]])
        self.uncovered[covered] = False
        groups = np.searchsorted(self.offsets, covered, "right") - 1
        self.remaining -= np.bincount(groups, minlength=len(self.remaining))
        for factor, levels in enumerate(rows.T):
            self.usage[factor] += np.bincount(levels, minlength=self.levels[factor])

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
                chosen.append(self._best_line(table, candidates, row, self.completed[t]))
            row[list(table.factors)] = table.assignments[chosen[t]]
        return row

    def _best_line(
        self, table: LevelTable, lines: IntArray, row: IntArray, groups: IntArray
    ) -> int:
        """Return the line that covers the most tuples; among equals, one with rarely used levels.

        `row` has the levels of the earlier tables. `groups` are the groups of factors that have
        all their levels once a line is chosen.
        """
        if len(lines) > _MAX_CANDIDATES:
            # Evenly spaced lines, different ones for each row.
            turn = int(self.usage[0].sum())
            even = np.arange(_MAX_CANDIDATES) * len(lines) // _MAX_CANDIDATES
            lines = lines[(even + turn) % len(lines)]
        groups = groups[self.remaining[groups] > 0]
        if len(lines) > 1 and len(groups):
            columns, strides = list(table.factors), self.strides[:, groups]
            # A line repeats the levels of factors that its table shares with earlier ones.
            others = row.copy()
            others[columns] = 0
            offsets = _products(others[None, :], strides) + self.offsets[groups]
            cells = _products(table.assignments[lines], strides[columns]) + offsets
            gain = np.count_nonzero(self.uncovered[cells], axis=1)
            lines = lines[gain == gain.max()]
        if len(lines) > 1:
            used = np.zeros(len(lines), np.int64)
            for factor, column in table.columns.items():
                used += self.usage[factor][column[lines]] * self.levels[factor]
            lines = lines[used.argmin() :]
        return int(lines[0])


def _products(levels: IntArray, strides: npt.NDArray[np.float64]) -> IntArray:
    """Return lines of levels multiplied by strides: the position of each in each group's grid."""
    step = max(1, _MAX_PRODUCT // max(strides.size, 1))
    products = [levels[i : i + step] @ strides for i in range(0, len(levels), step)]
    return np.concatenate(products).astype(np.int64)
