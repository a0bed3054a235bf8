"""Which rows of levels are possible: tables of choices over few factors, joined to a tree.

Constraints are a network whose cliques, found by eliminating factors, form a junction tree
(Dechter, "Constraint Processing", chapter 9): what holds in each table and between neighbours holds
for whole rows, of which there are far too many to list.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

Row = tuple[int, ...]
Integers = npt.NDArray[np.integer]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
# Levels by factor, as arrays that broadcast: one element for each choice.
Columns = Mapping[int, Integers]

# The most choices that a table may have: what they take is memory and time.
MOST_CHOICES = 1 << 22


@dataclass(frozen=True, eq=False)
class Mask:
    """Which levels a few factors may have together: a grid with an axis for each of them."""

    factors: tuple[int, ...]
    grid: Flags

    def over(self, columns: Columns, _: Flags) -> Flags:
        """Return which choices of levels are allowed."""
        codes = codes_of([columns[factor] for factor in self.factors], self.grid.shape)
        allowed: Flags = self.grid.ravel()[codes]
        return allowed


@dataclass(frozen=True, eq=False)
class Constraint:
    """What must hold between a few factors, by position.

    `allows` says which choices of levels are allowed, of those that are reached. Its `parts`, where
    it has some, allow the same together, each of them over fewer factors: a table that grows
    factor by factor can drop choices as early as possible.
    """

    factors: tuple[int, ...]
    allows: Callable[[Columns, Flags], Flags]
    parts: tuple[Mask, ...] = ()

    def over(self, columns: Columns, reached: Flags) -> Flags:
        """Return which choices of levels are allowed; those not `reached` are not asked for."""
        if self.parts:
            parts = [part.over(columns, reached) for part in self.parts]
            return np.asarray(np.logical_and.reduce(parts))
        return self.allows(columns, reached)


def codes_of(columns: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Return the position of each choice of levels in the grid of all of them."""
    codes: Integers = np.zeros((), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column
    return codes


def distinct(codes: Integers, size: int) -> tuple[Integers, Integers]:
    """Return a place of each of the distinct `codes`, all below `size`, and where each one is."""
    if size > MOST_CHOICES:
        _, places, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return places, inverse
    # Sorting would take longer.
    place = np.full(size, -1)
    place[codes] = np.arange(len(codes))
    present = np.flatnonzero(place >= 0)
    places = place[present]
    place[present] = np.arange(len(present))
    return places, place[codes]


@dataclass(frozen=True, eq=False)
class Table:
    """A few factors, ascending, and each choice of their levels that is possible, one a line."""

    factors: tuple[int, ...]
    choices: Integers

    def column(self, factor: int) -> Integers:
        """Return the level of `factor` in each choice."""
        column: Integers = self.choices[:, self.factors.index(factor)]
        return column

    @cached_property
    def columns(self) -> Columns:
        """The column of each factor."""
        return {factor: self.column(factor) for factor in self.factors}


class Choices:
    """Every row that constraints allow, as a tree of tables.

    Tables that share factors are joined in a tree such that a factor's tables hang together: a
    line that agrees with one of each neighbour, and these with theirs, is part of a possible row,
    and a row can be read off table by table.
    """

    def __init__(self, levels: Sequence[int], tables: Sequence[Table]) -> None:
        """Join `tables`; they hold every factor, of which `levels` counts the levels."""
        self.levels = levels
        joined = [max(tables, key=lambda table: len(table.choices))]
        left = [table for table in tables if table is not joined[0]]
        # For each table behind the first: its neighbour before it, and the factors they share.
        self.joints: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while left:
            # A tree that shares as many factors as can be keeps each factor's tables together.
            _, t, j = max(
                (len(_shared(table, other)), -t, -j)
                for t, table in enumerate(left)
                for j, other in enumerate(joined)
            )
            table = left.pop(-t)
            self.joints.append((-j, _shared(table, joined[-j])))
            joined.append(table)
        self.tables = joined
        # The lines of each table that rows may have, all of them unless `breaking` something.
        self._open = [np.ones(len(table.choices), bool) for table in joined]
        # By table and joint: which choice of the shared factors each line has.
        self.codes = [
            (self._codes(self.tables[of], shared), self._codes(table, shared))
            for table, (of, shared) in zip(self.tables, self.joints, strict=True)
        ]
        self._by_level: dict[tuple[int, int], list[Integers]] = {}
        self._allowed: dict[tuple[int, Constraint], Flags] = {}

    def _codes(self, table: Table, factors: tuple[int, ...]) -> Integers:
        columns = [table.columns[factor] for factor in factors]
        codes = codes_of(columns, [self.levels[factor] for factor in factors])
        return np.broadcast_to(codes.astype(np.int32), len(table.choices))

    def admitting(
        self, constraints: Sequence[Constraint], breaking: Constraint | None = None
    ) -> "Choices":
        """Keep what `constraints` allow, each of which speaks of the factors of one table.

        With `breaking`, only rows that it does not allow are possible.
        """
        kept = [self._allowing(t, constraints) for t in range(len(self.tables))]
        tables = [
            Table(table.factors, _lines(table.choices, flags))
            for table, flags in zip(self.tables, kept, strict=True)
        ]
        choices = Choices(self.levels, tables)
        for t, table in enumerate(choices.tables):
            if breaking is not None and set(breaking.factors) <= set(table.factors):
                choices._open[t] = ~breaking.over(table.columns, choices._open[t])
        return choices

    def _allowing(self, t: int, constraints: Sequence[Constraint]) -> Flags:
        table = self.tables[t]
        flags = np.ones(len(table.choices), bool)
        for each in constraints:
            if set(each.factors) <= set(table.factors):
                key = t, each
                if key not in self._allowed:
                    self._allowed[key] = each.over(table.columns, np.ones_like(flags))
                flags &= self._allowed[key]
        return flags

    @cached_property
    def lines(self) -> list[Integers]:
        """The lines of each table that are part of a row."""
        lines: list[Integers] = [np.flatnonzero(each).astype(np.int32) for each in self._open]
        for t in reversed(range(1, len(lines))):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            lines[of] = lines[of][_marked(here[lines[t]], there[lines[of]])]
        for t in range(1, len(lines)):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            lines[t] = lines[t][_marked(there[lines[of]], here[lines[t]])]
        return lines

    def narrowed(self, wanted: Mapping[int, int]) -> list[Integers | None] | None:
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
                beside = self.lines[of] if (found := lines[of]) is None else found
                lines[of] = beside[_marked(here[below], there[beside])]
        whole = self.lines[0] if lines[0] is None else lines[0]
        return lines if len(whole) else None

    def agreeing(self, wanted: Mapping[int, int]) -> list[Integers] | None:
        """Return the lines of each table that are part of a row with the `wanted` levels.

        `wanted` maps factors to levels; without such a row, the answer is None.
        """
        lines = self.narrowed(wanted)
        if lines is None:
            return None
        for t in range(1, len(self.tables)):
            of, _ = self.joints[t]
            above = lines[of]
            if above is not None:
                there, here = self.codes[t]
                own = self.lines[t] if (found := lines[t]) is None else found
                lines[t] = own[_marked(there[above], here[own])]
        return [self.lines[t] if narrowed is None else narrowed for t, narrowed in enumerate(lines)]

    def _with(self, t: int, wanted: Mapping[int, int]) -> Integers | None:
        """Return the lines of a table with the wanted levels, of those that are part of a row."""
        columns = self.tables[t].columns
        own = [(factor, level) for factor, level in wanted.items() if factor in columns]
        if not own:
            return None
        first, *others = sorted(own, key=lambda each: len(self._at(t, each[0])[each[1]]))
        lines = self._at(t, first[0])[first[1]]
        for factor, level in others:
            lines = lines[columns[factor][lines] == level]
        return lines

    def _at(self, t: int, factor: int) -> list[Integers]:
        """Return the lines of a table that are part of a row, by the level of `factor`."""
        if (t, factor) not in self._by_level:
            column = self.tables[t].columns[factor][self.lines[t]]
            order = self.lines[t][np.argsort(column, kind="stable")]
            ends = np.cumsum(np.bincount(column, minlength=self.levels[factor]))
            self._by_level[t, factor] = np.split(order, ends[:-1])
        return self._by_level[t, factor]

    def below(self, t: int, code: int) -> Integers:
        """Return the lines of a table that share the choice `code` with the table before it."""
        codes, lines = self._by_code[t]
        return lines[codes.searchsorted(code) : codes.searchsorted(code, "right")]

    @cached_property
    def _by_code(self) -> list[tuple[Integers, Integers]]:
        """For each table, the lines that are part of a row and their codes, in the codes' order."""
        found = []
        for lines, (_, here) in zip(self.lines, self.codes, strict=True):
            order = np.argsort(here[lines], kind="stable")
            found.append((here[lines][order], lines[order]))
        return found

    @cached_property
    def pairs(self) -> dict[tuple[int, int], Flags]:
        """For each two factors, ascending, which of their levels stand in a row together."""
        beside = self._beside()
        sizes = [len(lines) for lines in self.lines]
        found = {}
        for f, size in enumerate(self.levels):
            home = min((n, t) for t, n in enumerate(sizes) if f in self.tables[t].columns)[1]
            column = self.tables[home].columns[f][self.lines[home]]
            rows = self._bits.flags(_either(beside[home], column, size))
            for g in range(f + 1, len(self.levels)):
                found[f, g] = rows[:, self._bits.columns[g]]
        return found

    @cached_property
    def _bits(self) -> "_LevelBits":
        return _LevelBits(self.levels)

    def _beside(self) -> list[Words]:
        """Return for each line of each table all levels that stand in a row with it, as bits.

        Messages go up the tree and down again, as those of a junction tree do that carry
        probabilities (Lauritzen and Spiegelhalter, 1988); sums are unions here.
        """
        shared = [(t, of) for t, (of, _) in enumerate(self.joints)][1:]
        beside = []
        for table, lines in zip(self.tables, self.lines, strict=True):
            own = np.zeros((len(lines), self._bits.width), np.uint64)
            for factor, column in table.columns.items():
                own |= self._bits.of[factor][column[lines]]
            beside.append(own)
        # What a table's factors and those further down are.
        within = [self._bits.mask(table.factors) for table in self.tables]
        for t, of in reversed(shared):
            there, here = (
                codes[self.lines[k]] for k, codes in zip((of, t), self.codes[t], strict=True)
            )
            beside[of] |= _either(beside[t], here, self._count(t))[there]
            within[of] |= within[t]
        for t, of in shared:
            there, here = (
                codes[self.lines[k]] for k, codes in zip((of, t), self.codes[t], strict=True)
            )
            # Of what lies here and further down, each line has said more itself.
            beside[t] |= _either(beside[of] & ~within[t], there, self._count(t))[here]
        return beside

    def _count(self, t: int) -> int:
        return prod(self.levels[factor] for factor in self.joints[t][1])


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

    def mask(self, factors: Iterable[int]) -> Words:
        """Return the bits of all levels of `factors`."""
        bits = [np.bitwise_or.reduce(self.of[factor]) for factor in factors]
        return np.asarray(np.bitwise_or.reduce(bits))

    def flags(self, words: Words) -> Flags:
        """Return the bits of each line of `words` one by one, a column for each level."""
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        return np.asarray(bits.astype(bool))


def _either(words: Words, codes: Integers, count: int) -> Words:
    """Return the union of all lines of `words` that have one code, for each code below `count`."""
    # NumPy sorts integers of 16 bits in linear time.
    order = np.argsort(codes.astype(np.uint16) if count <= 1 << 16 else codes, kind="stable")
    ordered = codes[order].astype(np.int64)
    present = np.flatnonzero(np.diff(ordered, prepend=-1))
    unions = np.zeros((count, words.shape[1]), np.uint64)
    if len(present):
        unions[ordered[present]] = np.bitwise_or.reduceat(words[order], present)
    return unions


def _shared(table: Table, other: Table) -> tuple[int, ...]:
    return tuple(sorted(set(table.factors) & set(other.factors)))


def _lines(choices: Integers, kept: Flags) -> Integers:
    """Return the lines of `choices` that are `kept`; its columns lie one behind the other."""
    lines: Integers = choices.T[:, kept].T
    return lines


def _marked(codes: Integers, asked: Integers) -> Flags:
    """Whether each of the codes `asked` about is among `codes`."""
    marks = np.zeros(max(codes.max(initial=0), asked.max(initial=0)) + 1, bool)
    marks[codes] = True
    flags: Flags = marks[asked]
    return flags


def choices_of(
    levels: Sequence[int], constraints: Sequence[Constraint], ties: Sequence[Constraint] = ()
) -> Choices:
    """Return every row that `constraints` allow.

    `levels` counts each factor's levels; `ties` forbid nothing, and see to it that a table has
    their factors.

    Raises:
        ValueError: a table has more than `MOST_CHOICES` choices.
    """
    groups = [each.factors for each in (*constraints, *ties)]
    tables = [_table(factors, levels, constraints) for factors in _cliques(levels, groups)]
    return Choices(levels, tables)


def _cliques(levels: Sequence[int], groups: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return sets of factors, a group within one of them, that can be joined to a tree.

    Factors are taken out one by one, that with the fewest choices beside its neighbours first;
    the neighbours then become neighbours of each other.
    """
    near: dict[int, set[int]] = {factor: set() for factor in range(len(levels))}
    for group in groups:
        for factor in group:
            near[factor] |= set(group) - {factor}
    cliques: list[set[int]] = []
    while near:
        factor = min(near, key=lambda f: (prod(levels[g] for g in {f, *near[f]}), f))
        others = near.pop(factor)
        for other in others:
            near[other] = (near[other] | others) - {factor, other}
        if not any({factor, *others} <= clique for clique in cliques):
            cliques.append({factor, *others})
    return [tuple(sorted(clique)) for clique in cliques]


def _table(
    factors: tuple[int, ...], levels: Sequence[int], constraints: Sequence[Constraint]
) -> Table:
    """Return the choices over `factors` that those of `constraints` over them alone allow.

    It grows by one factor at a time, by one that decides something if there is such a factor.
    """
    inside = [each for each in constraints if set(each.factors) <= set(factors)]
    # Masks come first: they cannot fail, and what they drop others are not asked of.
    waiting: list[Mask | Constraint] = [part for each in inside for part in each.parts]
    waiting += [each for each in inside if not each.parts]
    # A level of 8 bits is what makes the difference between megabytes and gigabytes.
    dtype = np.uint8 if max(levels, default=0) <= 256 else np.uint16
    columns: dict[int, Integers] = {}
    count = 1
    while len(columns) < len(factors):
        left = [each for each in factors if each not in columns]
        factor = min(left, key=lambda each: _still_open(each, [*columns], waiting))
        if count * levels[factor] > MOST_CHOICES:
            text = f"more than {MOST_CHOICES} choices of levels hang together by conditions"
            raise ValueError(f"{text}; expected conditions that tie fewer factors")
        added: Integers = np.arange(levels[factor]).astype(dtype)
        crossed = {each: column[:, None] for each, column in columns.items()}
        crossed[factor] = added[None, :]
        allowed = np.ones((count, len(added)), bool)
        ready = [each for each in waiting if set(each.factors) <= crossed.keys()]
        waiting = [each for each in waiting if each not in ready]
        for each in ready:
            allowed &= each.over(crossed, allowed)
        lines, chosen = np.nonzero(allowed)
        columns = {each: column[lines] for each, column in columns.items()}
        columns[factor] = added[chosen]
        count = len(lines)
    order = np.lexsort([columns[factor] for factor in reversed(factors)])
    return Table(factors, np.stack([columns[factor][order] for factor in factors]).T)


def _still_open(
    factor: int, chosen: Sequence[int], constraints: Sequence[Mask | Constraint]
) -> tuple[int, int]:
    """Rank the next factor: how many are missing then for a constraint to be asked."""
    open_ones = [
        len(set(each.factors) - {*chosen, factor}) for each in constraints if factor in each.factors
    ]
    return min(open_ones, default=0), factor
