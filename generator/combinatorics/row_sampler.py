"""One possible row of levels at a time, read off the tables of choices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from opcert.combinatorics.feasible_rows import FeasibleRows
from opcert.combinatorics.tables import IntArray, Row

# Draws an integer from 0 to below its argument.
RandBelow: TypeAlias = Callable[[int], int]


@dataclass(frozen=True)
class _Columns:
    """The choices of a table in ascending order, a column for each factor."""

    factors: tuple[int, ...]
    columns: tuple[IntArray, ...]


class RowSampler:
    """Every row that can be, each within reach of a few draws.

    Where every draw is 0, each factor has its first level that can be beside the others.
    """

    def __init__(self, choices: FeasibleRows) -> None:
        self._levels = choices.levels
        lines = choices.consistent_with({}) or []
        self._tables: list[_Columns] = []
        known: set[int] = set()
        for table, kept in zip(choices.tables, lines, strict=bool(lines)):
            # What earlier tables decide comes first, so that it narrows the lines.
            factors = sorted(table.factors, key=lambda factor: (factor not in known, factor))
            columns = [table.column(factor)[kept] for factor in factors]
            order = np.lexsort(columns[::-1])
            self._tables.append(_Columns(tuple(factors), tuple(each[order] for each in columns)))
            known.update(factors)

    def __bool__(self) -> bool:
        """Whether there is a row at all."""
        return bool(self._tables)

    def read(self, below: RandBelow) -> Row:
        """Draw a row, each factor's level among those that can still be."""
        row: dict[int, int] = {}
        for table in self._tables:
            self._extend(row, table, below)
        return tuple(row[factor] for factor in range(len(self._levels)))

    def _extend(self, row: dict[int, int], table: _Columns, below: RandBelow) -> None:
        first, last = 0, len(table.columns[0])
        for factor, column in zip(table.factors, table.columns, strict=True):
            ends = first + np.searchsorted(column[first:last], range(self._levels[factor] + 1))
            if factor not in row:
                row[factor] = _drawn(np.flatnonzero(np.diff(ends)).tolist(), below)
            first, last = int(ends[row[factor]]), int(ends[row[factor] + 1])


def _drawn(levels: Sequence[int], below: RandBelow) -> int:
    return levels[below(len(levels))]
