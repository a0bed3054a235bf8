"""How many of the cases that fail, and that pass, have some levels: the search asks it often."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from opcert.diagnosis.table import BoolArray, LevelTable

# Flags as the bits of words.
_Words = npt.NDArray[np.uint64]
_WORD_BITS = 64
# The weights of failing and of passing cases, for each level.
Counts = npt.NDArray[np.float64]
# Further cases that fail weigh no more together than the others that fail, or than so many.
_FEW = 30.0


class CaseCounter:
    """Counts cases by their lines, of which a case has one or more.

    `levels` has a row for each level, with a flag for each line. `fails` and `passes` have the
    weight of each case that does, which is 1 but for further cases that fail: many of these are
    made from one failing case, and what they share with it by chance must not count more often. The
    first lines of all cases come first, those of cases with the most lines at the front, then all
    second lines, and so on: what a case has is a few operations on arrays.
    """

    def __init__(self, table: LevelTable, failing: BoolArray, passing: BoolArray) -> None:
        counted = np.flatnonzero((failing | passing)[table.owners])
        cases, starts, numbers, counts = np.unique(
            table.owners[counted], return_index=True, return_inverse=True, return_counts=True
        )
        places = np.arange(len(counted)) - starts[numbers]
        counted = counted[np.lexsort((numbers, -counts[numbers], places))]
        self._ends = np.cumsum(np.bincount(places)).tolist()
        cases = cases[np.lexsort((cases, -counts))]
        self.levels: BoolArray = np.ascontiguousarray(table.matrix[counted].T)
        is_further = np.arange(len(failing)) >= table.first_further
        own, further = ((failing & mask)[cases] for mask in (~is_further, is_further))
        self._weight = min(1.0, max(_FEW, own.sum()) / max(1, further.sum()))
        self.fails = (own + self._weight * further).astype(np.float32)
        self.passes = passing[cases].astype(np.float32)
        self._packed_levels = [_packed(lines) for lines in self._by_place(self.levels)]
        self._packed_ends = [*map(_packed, (own, further, passing[cases]))]

    def cases(self, lines: BoolArray) -> BoolArray:
        """Return which cases have a line, for lines or for rows of lines."""
        first, *others = self._by_place(lines)
        cases = first.copy()
        for at_place in others:
            cases[..., : at_place.shape[-1]] |= at_place
        return cases

    def counts(self, lines: BoolArray) -> Counts:
        """Return the weights of cases that fail, and that pass, with such a line of each level."""
        return self._counts(self._packed_levels, map(_packed, self._by_place(lines)))

    @cached_property
    def of_pairs(self) -> Counts:
        """The weights of cases that fail, and that pass, with a line of each pair of levels.

        Levels of no failing case are left out: no condition is worth more with them.
        """
        counted = np.flatnonzero(self.counts(np.ones(self.levels.shape[1], bool))[0])
        packed = [levels[counted] for levels in self._packed_levels]
        of_pairs = np.zeros((2, len(self.levels), len(self.levels)))
        for number, level in enumerate(counted):
            others = [levels[number:] for levels in packed]
            lines = [levels[number] for levels in packed]
            of_pairs[:, level, counted[number:]] = self._counts(others, lines)
        return np.maximum(of_pairs, of_pairs.swapaxes(1, 2))

    def _counts(self, levels: Sequence[_Words], lines: Iterable[_Words]) -> Counts:
        """Return the counts of lines for each level, both by place.

        Much of the time goes here, so that each bit of a word is a case.
        """
        (first, *others), (own, *own_others) = levels, lines
        cases = first & own
        for of_place, lines_at in zip(others, own_others, strict=True):
            cases[:, : of_place.shape[1]] |= of_place & lines_at
        fails, further_fails, passes = (
            np.bitwise_count(cases & ends).sum(axis=1, dtype=float) for ends in self._packed_ends
        )
        return np.array([fails + self._weight * further_fails, passes])

    def _by_place(self, lines: BoolArray) -> Iterator[BoolArray]:
        """Yield the first lines of all cases, then all second lines, and so on."""
        for start, end in pairwise([0, *self._ends]):
            yield lines[..., start:end]


def _packed(flags: BoolArray) -> _Words:
    """Return flags as bits of words, filled with zeros, for flags or for rows of flags."""
    missing = [(0, 0)] * (flags.ndim - 1) + [(0, -flags.shape[-1] % _WORD_BITS)]
    return np.packbits(np.pad(flags, missing), axis=-1).view(np.uint64)
