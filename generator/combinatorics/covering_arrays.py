"""Covering arrays: rows of levels in which every possible t-tuple of levels stands somewhere.

Greedy, a row at a time, as AETG does (Cohen et al., "The AETG system", 1997), but deterministic:
each row has the first tuple that is missing, and is completed table by table with the possible
choice that adds most tuples.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from zlib import crc32

import numpy as np
import numpy.typing as npt

from opcert.combinatorics.feasible_rows import FeasibleRows
from opcert.combinatorics.tables import BoolArray, IntArray, LevelTable, Row, level_codes

# How many rows are tried with a tuple until one counts.
ATTEMPTS = 5
# How many choices of a table are weighed for a row.
_WEIGHED = 512
# How many rows are looked up at a time.
_BATCH = 1024
# A product of matrices of more steps is one that OpenBLAS gives to threads, which then spin.
_SINGLE = 1 << 18


def covering_array(
    choices: FeasibleRows,
    t: int,
    rows: Sequence[Row] = (),
    together: Sequence[tuple[int, ...]] = (),
    counts: Callable[[Row], bool] = lambda _: True,
) -> list[Row]:
    """Extend `rows` until each t-tuple of levels that `choices` have stands in one.

    So does every combination of the factors in each group of `together`, ascending. A row that
    does not count covers nothing; a tuple is given up where none of a few rows with it counts.
    Deterministic: no randomness, ties go to the levels used least so far.
    """
    array = _Array(choices, t, together)
    grown = list(rows)
    for begin in range(0, len(rows), _BATCH):
        array.add(np.array(rows[begin : begin + _BATCH]))
    while (cell := array.first_missing()) is not None:
        for attempt in range(ATTEMPTS):
            added = array.row_with(cell, attempt)
            if added is None:
                array.drop(cell)
                break
            row = tuple(added.tolist())
            if counts(row):
                array.add(added[None, :])
                grown.append(row)
                break
        else:
            array.drop(cell)
    return grown


def alternative_rows(choices: FeasibleRows, wanted: Mapping[int, int]) -> Iterator[Row]:
    """Yield the rows with some levels, by factor, that `covering_array` tries besides the best."""
    group = tuple(sorted(wanted))
    array = _Array(choices, len(group), [group], only=True)
    cell = int(np.ravel_multi_index([wanted[f] for f in group], [choices.levels[f] for f in group]))
    for attempt in range(1, ATTEMPTS):
        row = array.row_with(cell, attempt)
        if row is not None:
            yield tuple(row.tolist())


class _Array:
    """The tuples that are still missing: a part for each group of t factors, all in one line."""

    def __init__(
        self,
        choices: FeasibleRows,
        t: int,
        together: Sequence[tuple[int, ...]],
        *,
        only: bool = False,
    ) -> None:
        self.choices = choices
        self.levels = choices.levels
        every = combinations(range(len(self.levels)), min(t, len(self.levels)))
        groups = {*(() if only else every), *together}
        # The largest parts first: they decide how many rows there are, the others ride along.
        self.groups = sorted(groups, key=lambda group: (-self._size(group), group))
        ends = np.cumsum([0, *map(self._size, self.groups)])
        self.begins = ends[:-1]
        # A row's cell in the part of each group is its product with these, past its beginning:
        # in floats, exact here, since NumPy multiplies matrices of integers slowly.
        self.strides = np.zeros((len(self.levels), len(self.groups)))
        for g, group in enumerate(self.groups):
            stride = 1
            for factor in reversed(group):
                self.strides[factor, g] = stride
                stride *= self.levels[factor]
        possible = [self._possible(group).ravel() for group in self.groups]
        self.missing = np.concatenate(possible)
        # How much of each part is missing: most are complete long before the last row.
        self.left = np.array([np.count_nonzero(each) for each in possible])
        self.used = [np.zeros(size, np.int64) for size in self.levels]
        self.next = 0
        self.completed = self._completed()

    def _size(self, group: Sequence[int]) -> int:
        return prod(self.levels[factor] for factor in group)

    def _possible(self, group: Sequence[int]) -> BoolArray:
        """Return which choices of levels may stand in a row, as far as tables and pairs tell."""
        if len(group) == 2:
            return self.choices.pairs[group[0], group[1]]
        sizes = [self.levels[factor] for factor in group]
        possible = np.ones(sizes, bool)
        for table in self.choices.tables:
            if set(group) <= set(table.factors):
                possible = np.zeros(sizes, bool)
                columns = [table.columns[factor] for factor in group]
                possible.ravel()[level_codes(columns, sizes)] = True
                return possible
        for i, j in combinations(range(len(group)), 2):
            shape = [self.levels[f] if k in (i, j) else 1 for k, f in enumerate(group)]
            possible &= self.choices.pairs[group[i], group[j]].reshape(shape)
        return possible

    def _completed(self) -> list[IntArray]:
        """Return the groups that are complete with each table, taken in the order of the tree."""
        seen: set[int] = set()
        before = np.zeros(len(self.groups), bool)
        completed: list[IntArray] = []
        for table in self.choices.tables:
            seen |= set(table.factors)
            now = np.array([seen.issuperset(group) for group in self.groups], bool)
            completed.append(np.flatnonzero(now & ~before))
            before = now
        return completed

    def first_missing(self) -> int | None:
        if self.next < len(self.missing):
            self.next += int(np.argmax(self.missing[self.next :]))
            if self.missing[self.next]:
                return self.next
        return None

    def drop(self, cell: int) -> None:
        """Take a tuple that no row has off what is missing."""
        self.missing[cell] = False
        self.left[self._group_of(cell)] -= 1

    def _group_of(self, cell: int) -> int:
        return int(np.searchsorted(self.begins, cell, "right")) - 1

    def add(self, rows: IntArray) -> None:
        """Take what stands in `rows` off what is missing."""
        cells = _product(rows, self.strides) + self.begins
        # The rows may share tuples.
        covered = np.unique(cells[self.missing[cells]])
        self.missing[covered] = False
        self.left -= np.bincount(
            np.searchsorted(self.begins, covered, "right") - 1, minlength=len(self.left)
        )
        for factor, levels in enumerate(rows.T):
            self.used[factor] += np.bincount(levels, minlength=self.levels[factor])

    def row_with(self, cell: int, attempt: int = 0) -> IntArray | None:
        """Return a row with the tuple of `cell`, if there is one: in each table what adds most.

        After the first attempt, each table has any of its choices, the same in each run.
        """
        g = self._group_of(cell)
        group = self.groups[g]
        shape = [self.levels[factor] for factor in group]
        levels = map(int, np.unravel_index(cell - self.begins[g], shape))
        wanted = dict(zip(group, levels, strict=True))
        narrowed = self.choices.narrowed(wanted)
        if narrowed is None:
            return None
        row = np.zeros(len(self.levels), np.int64)
        chosen: list[int] = []
        for t, (table, lines) in enumerate(zip(self.choices.tables, narrowed, strict=True)):
            there, here = self.choices.codes[t]
            if t == 0:
                kept = np.arange(len(here)) if lines is None else lines
            else:
                code = int(there[chosen[self.choices.joints[t][0]]])
                kept = self.choices.below(t, code) if lines is None else lines[here[lines] == code]
            if attempt:
                place = crc32(f"{group} {wanted} {t} {attempt}".encode()) % len(kept)
                chosen.append(int(kept[place]))
            else:
                chosen.append(self._best(table, kept, row, self.completed[t]))
            row[list(table.factors)] = table.choices[chosen[t]]
        return row

    def _best(self, table: LevelTable, lines: IntArray, row: IntArray, groups: IntArray) -> int:
        """Return the first of the lines that adds most tuples, of levels used least so far."""
        if len(lines) > _WEIGHED:
            # Others in each turn.
            turn = int(self.used[0].sum())
            even = np.arange(_WEIGHED) * len(lines) // _WEIGHED
            lines = lines[(even + turn) % len(lines)]
        groups = groups[self.left[groups] > 0]
        if len(lines) > 1 and len(groups):
            columns, strides = list(table.factors), self.strides[:, groups]
            # What the row has of these factors already, it has from them.
            before = row.copy()
            before[columns] = 0
            begins = _product(before[None, :], strides) + self.begins[groups]
            cells = _product(table.choices[lines], strides[columns]) + begins
            gain = np.count_nonzero(self.missing[cells], axis=1)
            lines = lines[gain == gain.max()]
        if len(lines) > 1:
            used = np.zeros(len(lines), np.int64)
            for factor, column in table.columns.items():
                used += self.used[factor][column[lines]] * self.levels[factor]
            lines = lines[used.argmin() :]
        return int(lines[0])


def _product(levels: IntArray, strides: npt.NDArray[np.float64]) -> IntArray:
    """Return the cells, past the beginnings of their parts, of some lines of levels."""
    step = max(1, _SINGLE // max(strides.size, 1))
    products = [levels[i : i + step] @ strides for i in range(0, len(levels), step)]
    return np.concatenate(products).astype(np.int64)
