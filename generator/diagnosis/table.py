"""The levels of cases, as a matrix."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
# The levels that a case exhibits at one point, by factor. A point may lack a factor.
Point = Mapping[str, frozenset[str]]
# Factors with some of their levels. A case matches at a point with one of these of each factor.
Condition = tuple[tuple[str, tuple[str, ...]], ...]


class LevelTable:
    """The levels of cases, as a matrix with a line for each point and a column for each level."""

    def __init__(
        self,
        factors: Mapping[str, Sequence[str]],
        cases: Sequence[Sequence[Point]],
        separate: Collection[str] = (),
    ) -> None:
        """Tabulate cases, each with one point or more; `factors` orders factors and levels.

        A condition has only one level of a `separate` factor: each level is a cause of its own.
        """
        self.separate = separate
        self.factors = {name: tuple(levels) for name, levels in factors.items()}
        names = [(name, level) for name, levels in self.factors.items() for level in levels]
        column = {pair: i for i, pair in enumerate(names)}
        ends = np.cumsum([len(levels) for levels in self.factors.values()]).tolist()
        self.columns = {
            name: slice(end - len(levels), end)
            for (name, levels), end in zip(self.factors.items(), ends, strict=True)
        }
        self.size = len(cases)
        self.owners = np.repeat(np.arange(self.size), [len(points) for points in cases])
        self.matrix = np.zeros((len(self.owners), len(names)), bool)
        for line, point in enumerate(point for points in cases for point in points):
            marked = [column[name, level] for name, levels in point.items() for level in levels]
            self.matrix[line, marked] = True

    def is_exclusive(self, factor: str) -> bool:
        """Whether no point has two levels of a factor."""
        return bool((self.matrix[:, self.columns[factor]].sum(axis=1) <= 1).all())

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

    def cases(self, lines: BoolArray) -> BoolArray:
        """Return which cases have a flagged line; `lines` may have several columns of flags."""
        starts = np.flatnonzero(np.diff(self.owners, prepend=-1))
        cases: BoolArray = np.logical_or.reduceat(lines, starts, axis=0)
        return cases


def unmatched_terms(points: Sequence[Point], condition: Condition) -> int:
    """Return how many terms of a condition a call lacks, at the point where it lacks the fewest."""
    return min(
        sum(point.get(factor, frozenset()).isdisjoint(levels) for factor, levels in condition)
        for point in points
    )
