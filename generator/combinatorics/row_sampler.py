"""Random feasible rows, read off the tables of levels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from opcert.combinatorics.feasible_rows import FeasibleRows
from opcert.combinatorics.tables import IntArray, Row

# Draws an integer from 0 to below its argument, as `random.randrange` does.
RandBelow: TypeAlias = Callable[[int], int]


@dataclass(frozen=True)
class _SortedTable:
    """The lines of a table in ascending order, a column for each factor."""

    factors: tuple[int, ...]
    columns: tuple[IntArray, ...]


class RowSampler:
    """Draws feasible rows, a level at a time; every feasible row can be drawn.

    If every draw is 0, each factor has its first level that is feasible with those before it.
    """

    def __init__(self, feasible: FeasibleRows) -> None:
        self._levels = feasible.levels
        lines = feasible.consistent_with({}) or []
        self._tables: list[_SortedTable] = []
        known: set[int] = set()
        for table, kept in zip(feasible.tables, lines, strict=bool(lines)):
            # The factors that earlier tables decide come first, so that they narrow the lines.
            factors = sorted(table.factors, key=lambda factor: (factor not in known, factor))
            columns = [table.columns[factor][kept] for factor in factors]
            order = np.lexsort(columns[::-1])
            sorted_columns = tuple(column[order] for column in columns)
            self._tables.append(_SortedTable(tuple(factors), sorted_columns))
            known.update(factors)

    def __bool__(self) -> bool:
        """Whether there is a feasible row."""
        return bool(self._tables)

    def sample(self, randbelow: RandBelow) -> Row:
        """Draw a row, the level of each factor among those that are still feasible."""
        row: dict[int, int] = {}
        for table in self._tables:
            # The lines from `first` to before `last` agree with the row so far.
            first, last = 0, len(table.columns[0])
            for factor, column in zip(table.factors, table.columns, strict=True):
                bounds = range(self._levels[factor] + 1)
                ends = first + np.searchsorted(column[first:last], bounds)
                if factor not in row:
                    levels = np.flatnonzero(np.diff(ends)).tolist()
                    row[factor] = levels[randbelow(len(levels))]
                first, last = int(ends[row[factor]]), int(ends[row[factor] + 1])
        return tuple(row[factor] for factor in range(len(self._levels)))
