"""Which rows of levels are possible: tables of choices over few factors, joined to a tree.

Constraints are a network whose cliques, found by eliminating factors, form a junction tree
(Dechter, "Constraint Processing", chapter 9): what holds in each table and between neighbours holds
for whole rows, of which there are far too many to list.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from opcert.combinatorics.tables import (
    BoolArray,
    IntArray,
    LevelColumns,
    LevelConstraint,
    LevelTable,
    build_table,
    elimination_cliques,
    level_codes,
    unique_codes,
)

Words = npt.NDArray[np.uint64]


class FeasibleRows:
    """Every row that constraints allow, as a tree of tables.

    Tables that share factors are joined in a tree such that a factor's tables hang together: a
    line that agrees with one of each neighbour, and these with theirs, is part of a possible row,
    and a row can be read off table by table.
    """

    def __init__(
        self, levels: Sequence[int], tables: Sequence[LevelTable], open_: Sequence[BoolArray] = ()
    ) -> None:
        """Join `tables`; they hold every factor, of which `levels` counts the levels.

        Where `open_` says which lines of each table rows may have, they have no others.
        """
        self.levels = levels
        order = [max(range(len(tables)), key=lambda t: len(tables[t].choices))]
        left = [t for t in range(len(tables)) if t not in order]
        # For each table behind the first: its neighbour before it, and the factors they share.
        self.joints: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while left:
            # A tree that shares as many factors as can be keeps each factor's tables together.
            _, t, j = max(
                (len(_shared(tables[table], tables[other])), -t, -j)
                for t, table in enumerate(left)
                for j, other in enumerate(order)
            )
            joined = left.pop(-t)
            self.joints.append((-j, _shared(tables[joined], tables[order[-j]])))
            order.append(joined)
        # Every choice, also those that no row has.
        self._whole = [tables[t] for t in order]
        self._flags: dict[tuple[int, LevelConstraint], BoolArray] = {}
        self.tables = [tables[t].only(open_[t]) if open_ else tables[t] for t in order]
        # By table: which choice of the factors that it shares with its neighbour each line of
        # both has.
        self.codes = [self._codes(t) for t in range(len(self.tables))]
        self._make_agree()
        self._by_level: dict[tuple[int, int], list[IntArray]] = {}

    def _codes(self, t: int) -> tuple[IntArray, IntArray]:
        of, shared = self.joints[t]
        there, here = self.tables[of], self.tables[t]
        sizes = [self.levels[factor] for factor in shared]
        both = [
            np.broadcast_to(
                level_codes([each.columns[f] for f in shared], sizes), len(each.choices)
            )
            for each in (there, here)
        ]
        places, which = unique_codes(np.concatenate(both), prod(sizes))
        codes: IntArray = which.astype(np.int32)
        if len(places) <= 1 << 16:
            # Half the memory, and NumPy sorts integers of 16 bits in linear time.
            codes = codes.astype(np.uint16)
        return codes[: len(there.choices)], codes[len(there.choices) :]

    def _make_agree(self) -> None:
        """Drop the lines that agree with none of a neighbour, and so are part of no row.

        Once up the tree and once down it is enough (Yannakakis, 1981).
        """
        kept = [np.ones(len(table.choices), bool) for table in self.tables]
        for t in reversed(range(1, len(kept))):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            kept[of] &= _marked(here[kept[t]], there)
        for t in range(1, len(kept)):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            kept[t] &= _marked(there[kept[of]], here)
        for t, (there, here) in enumerate(self.codes):
            self.codes[t] = there[kept[self.joints[t][0]]], here[kept[t]]
        self.tables = [table.only(flags) for table, flags in zip(self.tables, kept, strict=True)]

    def restricted_to(
        self, constraints: Sequence[LevelConstraint], breaking: LevelConstraint | None = None
    ) -> "FeasibleRows":
        """Keep what `constraints` allow, each of which speaks of the factors of one table.

        With `breaking`, only rows that it does not allow are possible.
        """
        tables, open_ = [], []
        for t, table in enumerate(self._whole):
            kept = np.ones(len(table.choices), bool)
            for each in constraints:
                if set(each.factors) <= set(table.factors):
                    kept &= self._allowed(t, each)
            tables.append(table.only(kept))
            if breaking is not None:
                inside = set(breaking.factors) <= set(table.factors)
                flags = ~self._allowed(t, breaking) if inside else np.ones_like(kept)
                open_.append(flags[kept])
        return FeasibleRows(self.levels, tables, open_)

    def _allowed(self, t: int, constraint: LevelConstraint) -> BoolArray:
        key = t, constraint
        if key not in self._flags:
            table = self._whole[t]
            reached = np.ones(len(table.choices), bool)
            self._flags[key] = constraint.over(table.columns, reached)
        return self._flags[key]

    def narrowed(self, wanted: Mapping[int, int]) -> list[IntArray | None] | None:
        """Return the lines of each table that agree with `wanted` levels there and further down.

        `wanted` maps factors to levels. Of a table that it leaves whole there is None, and None
        is the answer where no row has them.
        """
        lines = [self._with(t, wanted) for t in range(len(self.tables))]
        for t in reversed(range(1, len(self.tables))):
            below = lines[t]
            if below is not None:
                of, _ = self.joints[t]
                there, here = self.codes[t]
                above = lines[of]
                if above is None:
                    lines[of] = np.flatnonzero(_marked(here[below], there))
                else:
                    lines[of] = above[_marked(here[below], there[above])]
        first = lines[0]
        return lines if len(self.tables[0].choices if first is None else first) else None

    def consistent_with(self, wanted: Mapping[int, int]) -> list[IntArray] | None:
        """Return the lines of each table that are part of a row with the `wanted` levels.

        `wanted` maps factors to levels; without such a row, the answer is None.
        """
        narrowed = self.narrowed(wanted)
        if narrowed is None:
            return None
        lines = [
            np.arange(len(table.choices)) if own is None else own
            for table, own in zip(self.tables, narrowed, strict=True)
        ]
        for t in range(1, len(self.tables)):
            there, here = self.codes[t]
            lines[t] = lines[t][_marked(there[lines[self.joints[t][0]]], here[lines[t]])]
        return lines

    def _with(self, t: int, wanted: Mapping[int, int]) -> IntArray | None:
        """Return the lines of a table with the wanted levels."""
        columns = self.tables[t].columns
        own = [(self._at(t, f)[level], f, level) for f, level in wanted.items() if f in columns]
        if not own:
            return None
        lines, first, _ = min(own, key=lambda each: len(each[0]))
        for _, factor, level in own:
            if factor != first:
                lines = lines[columns[factor][lines] == level]
        return lines

    def _at(self, t: int, factor: int) -> list[IntArray]:
        """Return the lines of a table by the level of `factor`."""
        if (t, factor) not in self._by_level:
            column = self.tables[t].columns[factor]
            order = np.argsort(column, kind="stable").astype(np.int32)
            ends = np.cumsum(np.bincount(column, minlength=self.levels[factor]))
            self._by_level[t, factor] = np.split(order, ends[:-1])
        return self._by_level[t, factor]

    def below(self, t: int, code: int) -> IntArray:
        """Return the lines of a table that share the choice `code` with its neighbour."""
        codes, lines = self._by_code[t]
        return lines[codes.searchsorted(code) : codes.searchsorted(code, "right")]

    @cached_property
    def _by_code(self) -> list[tuple[IntArray, IntArray]]:
        """For each table, its lines and what they share with its neighbour, in that order."""
        found: list[tuple[IntArray, IntArray]] = []
        for _, here in self.codes:
            order = np.argsort(here, kind="stable")
            found.append((here[order], order))
        return found

    @cached_property
    def pairs(self) -> dict[tuple[int, int], BoolArray]:
        """For each two factors, ascending, which of their levels stand in a row together."""
        bits = _LevelBits(self.levels)
        beside = self._beside(bits)
        found = {}
        for f, size in enumerate(self.levels):
            homes = [t for t, table in enumerate(self.tables) if f in table.columns]
            home = min(homes, key=lambda t: len(beside[t]))
            rows = bits.flags(_unions(beside[home], self.tables[home].columns[f], size))
            for g in range(f + 1, len(self.levels)):
                found[f, g] = rows[:, bits.columns[g]]
        return found

    def _beside(self, bits: "_LevelBits") -> list[Words]:
        """Return for each line of each table all levels that stand in a row with it.

        Messages go up the tree and down again, as those of a junction tree do that carry
        probabilities (Lauritzen and Spiegelhalter, 1988); here they are sets, and sums unions.
        """
        beside = [bits.of_lines(table.columns, len(table.choices)) for table in self.tables]
        # What a table's factors and those further down are.
        within = [bits.of_factors(table.factors) for table in self.tables]
        counts = [
            int(max(there.max(initial=0), here.max(initial=0))) + 1 for there, here in self.codes
        ]
        for t in reversed(range(1, len(self.tables))):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            beside[of] |= _unions(beside[t], here, counts[t])[there]
            within[of] |= within[t]
        for t in range(1, len(self.tables)):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            # Of its own factors and those further down, a line knows more than its neighbours.
            beside[t] |= (_unions(beside[of], there, counts[t]) & ~within[t])[here]
        return beside


class _LevelBits:
    """A bit for each level of each factor, in words of 64."""

    def __init__(self, levels: Sequence[int]) -> None:
        ends = np.cumsum([0, *levels]).tolist()
        self.columns = [slice(*ends[i : i + 2]) for i in range(len(levels))]
        self.width = -(-ends[-1] // 64)
        one = np.zeros((ends[-1], self.width), np.uint64)
        places = np.arange(ends[-1])
        one[places, places // 64] = np.uint64(1) << (places % 64).astype(np.uint64)
        # By factor, the words that have the bit of each of its levels.
        self.of = [one[each] for each in self.columns]

    def of_factors(self, factors: Iterable[int]) -> Words:
        """Return the bits of all levels of `factors`."""
        bits = [np.bitwise_or.reduce(self.of[factor]) for factor in factors]
        return np.asarray(np.bitwise_or.reduce(bits))

    def of_lines(self, columns: LevelColumns, count: int) -> Words:
        """Return for each of `count` lines the bits of the levels that it has."""
        words = np.zeros((self.width, count), np.uint64)
        for factor, column in columns.items():
            for i, levels in enumerate(self.of[factor].T):
                if levels.any():
                    words[i] |= levels[column]
        return words.T

    def flags(self, words: Words) -> BoolArray:
        """Return the bits of each line of `words` one by one, a column for each level."""
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        return np.asarray(bits.astype(bool))


def _unions(words: Words, codes: IntArray, count: int) -> Words:
    """Return the union of all lines of `words` that have one code, for each code below `count`."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order].astype(np.int64)
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    unions = np.zeros((count, words.shape[1]), np.uint64)
    if len(begins):
        unions[ordered[begins]] = np.bitwise_or.reduceat(words[order], begins)
    return unions


def _shared(table: LevelTable, other: LevelTable) -> tuple[int, ...]:
    return tuple(sorted(set(table.factors) & set(other.factors)))


def _marked(codes: IntArray, asked: IntArray) -> BoolArray:
    """Whether each of the codes `asked` about is among `codes`."""
    marks = np.zeros(max(codes.max(initial=0), asked.max(initial=0)) + 1, bool)
    marks[codes] = True
    flags: BoolArray = marks[asked]
    return flags


def solve_constraints(
    levels: Sequence[int],
    constraints: Sequence[LevelConstraint],
    ties: Sequence[LevelConstraint] = (),
) -> FeasibleRows:
    """Return every row that `constraints` allow.

    `levels` counts each factor's levels; `ties` forbid nothing, and see to it that a table has
    their factors.

    Raises:
        ValueError: a table has more than `MOST_CHOICES` choices.
    """
    groups = [each.factors for each in (*constraints, *ties)]
    tables = [
        build_table(factors, levels, constraints) for factors in elimination_cliques(levels, groups)
    ]
    return FeasibleRows(levels, tables)
