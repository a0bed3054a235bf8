"""The levels of cases, as a matrix."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from itertools import chain, starmap
from typing import Self

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
# The levels that a case exhibits at one point, by factor. A point may lack a factor.
Point = Mapping[str, frozenset[str]]
# Factors with some of their levels. A case matches at a point with one of these of each factor.
Condition = tuple[tuple[str, tuple[str, ...]], ...]


def whole_range(flags: BoolArray) -> BoolArray:
    """Return flags from the first to the last that is set."""
    return np.logical_or.accumulate(flags) & np.logical_or.accumulate(flags[::-1])[::-1]


class LevelTable:
    """The levels of cases, as a matrix with a line for each point and a column for each level."""

    def __init__(
        self,
        factors: Mapping[str, Sequence[str]],
        cases: Iterable[Sequence[Point]],
        separate: Collection[str] = (),
        ordered: Collection[str] = (),
        derived: Collection[str] = (),
    ) -> None:
        """Tabulate cases, each with one point or more; `factors` orders factors and levels.

        A condition has only one level of a `separate` factor: each level is a cause of its own.
        Levels of an `ordered` factor are numbers or their ranges. A `derived` factor follows from
        others, which say more.
        """
        self.separate, self.ordered, self.derived = separate, ordered, derived
        self.factors = {name: tuple(levels) for name, levels in factors.items()}
        names = [(name, level) for name, levels in self.factors.items() for level in levels]
        column = {pair: i for i, pair in enumerate(names)}
        ends = np.cumsum([len(levels) for levels in self.factors.values()]).tolist()
        self.columns = {
            name: slice(end - len(levels), end)
            for (name, levels), end in zip(self.factors.items(), ends, strict=True)
        }
        self._column = column
        self._set_lines(*self._lines(cases))
        # The number of the first of the further cases, if there are some.
        self.first_further = int(self.owners.max(initial=-1)) + 1

    def with_cases(self, cases: Iterable[Sequence[Point]]) -> Self:
        """Return the table, which has no further cases, with some; levels it lacks are left out."""
        table = copy(self)
        owners, matrix = self._lines(cases)
        owners = np.concatenate([self.owners, self.first_further + owners])
        table._set_lines(owners, np.concatenate([self.matrix, matrix]))
        return table

    def _set_lines(self, owners: npt.NDArray[np.int64], matrix: BoolArray) -> None:
        self.owners, self.matrix = owners, matrix
        self._exclusive = {
            name: bool((matrix[:, columns].sum(axis=1) <= 1).all())
            for name, columns in self.columns.items()
        }

    def _lines(self, cases: Iterable[Sequence[Point]]) -> tuple[npt.NDArray[np.int64], BoolArray]:
        """Return the number of the case of each line, and the levels of each line."""
        owners: list[int] = []
        lines: list[BoolArray] = []
        # Most points have the levels of a factor that others have.
        columns = cache(self._columns_of)
        for number, points in enumerate(cases):
            for point in points:
                owners.append(number)
                lines.append(np.zeros(len(self._column), bool))
                lines[-1][[*chain.from_iterable(starmap(columns, point.items()))]] = True
        return np.array(owners, np.int64), np.array(lines, bool).reshape(-1, len(self._column))

    def _columns_of(self, name: str, levels: frozenset[str]) -> list[int]:
        return [self._column[name, x] for x in levels if (name, x) in self._column]

    def is_exclusive(self, factor: str) -> bool:
        """Whether no point has two levels of a factor."""
        return self._exclusive[factor]

    def has_only_ranges(self, factor: str) -> bool:
        """Whether a condition has a whole range of a factor, since points have several numbers.

        Some of many numbers fit any cases by chance.
        """
        return factor in self.ordered and not self.is_exclusive(factor)

    def matching(self, condition: Condition) -> BoolArray:
        """Return which cases match a condition; all of them match the empty one."""
        return self.cases(self.matched_lines(condition))

    def matched_lines(self, condition: Condition) -> BoolArray:
        """Return which lines match a condition."""
        lines = np.ones(len(self.owners), bool)
        for name, levels in condition:
            wanted = [level in levels for level in self.factors[name]]
            lines &= self.matrix[:, self.columns[name]][:, wanted].any(axis=1)
        return lines

    def without_spare_levels(self, condition: Condition) -> Condition:
        """Return a condition without levels that change nothing about which lines it matches.

        Axes in order down to 0, for example, are axes that do not rise.
        """
        matched = self.matched_lines(condition)
        for name, levels in condition:
            counts = {x: int(self.matched_lines(((name, (x,)),)).sum()) for x in levels}
            # What is left of a range without a part of it is harder to read.
            spare = (*levels[:1], *levels[-1:]) if name in self.ordered else levels
            for rarest in sorted(spare, key=counts.__getitem__):
                fewer = tuple(
                    (factor, tuple(x for x in own if (factor, x) != (name, rarest)))
                    for factor, own in condition
                )
                if (self.matched_lines(fewer) == matched).all():
                    condition = fewer
        return condition

    def cases(self, lines: BoolArray) -> BoolArray:
        """Return which cases have a flagged line; `lines` may have several columns of flags."""
        starts = np.flatnonzero(np.diff(self.owners, prepend=-1))
        # NumPy combines bytes many times faster than flags.
        flags = lines.reshape(len(lines), -1)
        packed = np.bitwise_or.reduceat(np.packbits(flags, axis=1), starts, axis=0)
        cases = np.unpackbits(packed, axis=1, count=flags.shape[1]).view(np.bool_)
        return cases.reshape(-1, *lines.shape[1:])


def unmatched_terms(points: Sequence[Point], condition: Condition) -> int:
    """Return how many terms of a condition a call lacks, at the point where it lacks the fewest."""
    return min(
        sum(point.get(factor, frozenset()).isdisjoint(levels) for factor, levels in condition)
        for point in points
    )
