"""Covering arrays: rows of levels in which every possible t-tuple of levels stands somewhere."""

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from opcert.generator.cases.choices import Choices, Flags, Integers, Row

# How many choices of a table are weighed for a row.
_WEIGHED = 512


def covering_array(
    choices: Choices,
    t: int,
    rows: Sequence[Row] = (),
    together: Sequence[tuple[int, ...]] = (),
) -> list[Row]:
    """Extend `rows` until each t-tuple of levels that `choices` have stands in one.

    So does every combination of the factors in each group of `together`, ascending.
    Deterministic: no randomness, ties go to the levels used least so far.
    """
    array = _Array(choices, t, together)
    grown = list(rows)
    for row in rows:
        array.add(np.array(row))
    while (cell := array.first_missing()) is not None:
        added = array.row_with(cell)
        if added is None:
            array.missing[cell] = False
        else:
            array.add(added)
            grown.append(tuple(added.tolist()))
    return grown


class _Array:
    """The tuples that are still missing: a part for each group of t factors, all in one line."""

    def __init__(self, choices: Choices, t: int, together: Sequence[tuple[int, ...]]) -> None:
        self.choices = choices
        self.levels = choices.levels
        groups = {*combinations(range(len(self.levels)), min(t, len(self.levels))), *together}
        # The largest parts first: they decide how many rows there are, the others ride along.
        self.groups = sorted(groups, key=lambda group: (-self._size(group), group))
        self.begins = np.cumsum([0, *map(self._size, self.groups)])
        # A row's cell in the part of each group is its product with these, past its beginning.
        self.strides = np.zeros((len(self.levels), len(self.groups)), np.int64)
        for g, group in enumerate(self.groups):
            stride = 1
            for factor in reversed(group):
                self.strides[factor, g] = stride
                stride *= self.levels[factor]
        self.missing = np.concatenate([self._possible(group).ravel() for group in self.groups])
        self.used = [np.zeros(size, np.int64) for size in self.levels]
        self.next = 0
        self.completed = self._completed()

    def _size(self, group: Sequence[int]) -> int:
        return prod(self.levels[factor] for factor in group)

    def _possible(self, group: Sequence[int]) -> Flags:
        """Return which choices of levels may stand in a row, as far as tables and pairs tell."""
        possible = np.zeros([self.levels[factor] for factor in group], bool)
        for table in self.choices.tables:
            if set(group) <= set(table.factors):
                possible[tuple(table.column(factor) for factor in group)] = True
                break
        else:
            possible[...] = True
        for i, j in combinations(range(len(group)), 2):
            shape = [self.levels[f] if k in (i, j) else 1 for k, f in enumerate(group)]
            possible &= self.choices.pairs[group[i], group[j]].reshape(shape)
        return possible

    def _completed(self) -> list[Integers]:
        """Return the groups that are complete with each table, taken in the order of the tree."""
        seen: set[int] = set()
        before = np.zeros(len(self.groups), bool)
        completed = []
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

    def add(self, row: Integers) -> None:
        self.missing[row @ self.strides + self.begins[:-1]] = False
        for factor, level in enumerate(row):
            self.used[factor][level] += 1

    def row_with(self, cell: int) -> Integers | None:
        """Return a row with the tuple of `cell`, if there is one: in each table what adds most."""
        g = int(np.searchsorted(self.begins, cell, "right")) - 1
        group = self.groups[g]
        shape = [self.levels[factor] for factor in group]
        wanted = dict(zip(group, np.unravel_index(cell - self.begins[g], shape), strict=True))
        lines = self.choices.agreeing({factor: int(level) for factor, level in wanted.items()})
        if lines is None:
            return None
        row = np.zeros(len(self.levels), np.int64)
        for t, table in enumerate(self.choices.tables):
            _, shared = self.choices.joints[t]
            kept = table.choices[lines[t]]
            for factor in shared:
                kept = kept[kept[:, table.factors.index(factor)] == row[factor]]
            row[list(table.factors)] = self._best(table.factors, kept, row, self.completed[t])
        return row

    def _best(
        self, factors: tuple[int, ...], choices: Integers, row: Integers, groups: Integers
    ) -> Integers:
        if len(choices) > _WEIGHED:
            # Others in each turn.
            turn = int(self.used[0].sum())
            even = np.arange(_WEIGHED) * len(choices) // _WEIGHED
            choices = choices[(even + turn) % len(choices)]
        columns, strides = list(factors), self.strides[:, groups]
        # What the row has of these factors already, it has from them.
        before = row.copy()
        before[columns] = 0
        cells = choices @ strides[columns] + (before @ strides + self.begins[:-1][groups])
        gain = self.missing[cells].sum(axis=1)
        used = np.zeros(len(choices), np.int64)
        for i, factor in enumerate(factors):
            used += self.used[factor][choices[:, i]] * self.levels[factor]
        best: Integers = choices[np.lexsort((used, -gain))[0]]
        return best
