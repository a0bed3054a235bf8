"""Which rows of levels are possible: tables of choices over few factors, joined to a tree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

Row = tuple[int, ...]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# The most choices that a table may have: what they take is memory and time.
MOST_CHOICES = 1 << 22


@dataclass(frozen=True)
class Constraint:
    """What must hold between a few factors, by position; asked once for each choice of levels."""

    factors: tuple[int, ...]
    allows: Callable[[Row], bool]


@dataclass(frozen=True)
class Table:
    """A few factors, ascending, and each choice of their levels that is possible, one a line."""

    factors: tuple[int, ...]
    choices: Integers

    def column(self, factor: int) -> Integers:
        """Return the level of `factor` in each choice."""
        column: Integers = self.choices[:, self.factors.index(factor)]
        return column

    def admitting(self, constraints: Iterable[Constraint]) -> "Table":
        """Keep the choices that those of `constraints` allow that speak of this table alone."""
        table = self
        for constraint in constraints:
            if set(constraint.factors) <= set(table.factors):
                table = replace(table, choices=table.choices[_allowed(constraint, table)])
        return table


def _allowed(constraint: Constraint, table: Table) -> Flags:
    """Ask `constraint` once for each of its choices that stand in `table`."""
    if not len(table.choices):
        return np.zeros(0, bool)
    columns = tuple(table.column(factor) for factor in constraint.factors)
    sizes = [int(column.max()) + 1 for column in columns]
    cells = np.ravel_multi_index(columns, sizes)
    allowed = np.zeros(prod(sizes), bool)
    allowed[cells] = True
    distinct = np.flatnonzero(allowed)
    asked = zip(*(each.tolist() for each in np.unravel_index(distinct, sizes)), strict=True)
    allowed[distinct] = [constraint.allows(each) for each in asked]
    flags: Flags = allowed[cells]
    return flags


class Choices:
    """Every row that constraints allow, as a tree of tables.

    Tables that share factors are joined in a tree such that a factor's tables hang together
    (a junction tree): once `agreeing` has made neighbours agree, each line left in any table is
    part of a possible row, and a row can be read off table by table.
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
        # By table and joint: which choice of the shared factors each line has.
        self.codes = [
            (self._codes(self.tables[of], shared), self._codes(table, shared))
            for table, (of, shared) in zip(self.tables, self.joints, strict=True)
        ]
        self._lines: dict[tuple[int, int, int], Flags] = {}

    def _codes(self, table: Table, factors: tuple[int, ...]) -> Integers:
        code = np.zeros(len(table.choices), np.int64)
        for factor in factors:
            code = code * self.levels[factor] + table.column(factor)
        return code

    def admitting(self, constraints: Sequence[Constraint]) -> "Choices":
        """Keep what `constraints` allow, each of which speaks of the factors of one table."""
        return Choices(self.levels, [table.admitting(constraints) for table in self.tables])

    def agreeing(self, wanted: Mapping[int, int]) -> list[Integers] | None:
        """Return the lines of each table that are part of a row with the `wanted` levels.

        `wanted` maps factors to levels; without such a row, the answer is None.
        """
        lines = [self._with(t, wanted) for t in range(len(self.tables))]
        for t in reversed(range(1, len(self.tables))):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            lines[of] = lines[of][_marked(here[lines[t]], there, lines[of])]
        if not len(lines[0]):
            return None
        for t in range(1, len(self.tables)):
            of, _ = self.joints[t]
            there, here = self.codes[t]
            lines[t] = lines[t][_marked(there[lines[of]], here, lines[t])]
        return lines

    def _with(self, t: int, wanted: Mapping[int, int]) -> Integers:
        table = self.tables[t]
        kept: Flags | None = None
        for factor, level in wanted.items():
            if factor in table.factors:
                key = t, factor, level
                if key not in self._lines:
                    self._lines[key] = table.column(factor) == level
                kept = self._lines[key] if kept is None else kept & self._lines[key]
        return np.flatnonzero(kept) if kept is not None else self._all[t]

    @cached_property
    def _all(self) -> list[Integers]:
        return [np.arange(len(table.choices)) for table in self.tables]

    @cached_property
    def pairs(self) -> dict[tuple[int, int], Flags]:
        """For each two factors, ascending, which of their levels stand in a row together."""
        found = {
            (f, g): np.zeros((self.levels[f], self.levels[g]), bool)
            for f, g in combinations(range(len(self.levels)), 2)
        }
        for f, size in enumerate(self.levels):
            for level in range(size):
                lines = self.agreeing({f: level})
                for table, kept in zip(self.tables, lines or [], strict=lines is not None):
                    for g in table.factors:
                        if g > f:
                            found[f, g][level, table.column(g)[kept]] = True
        return found


def _shared(table: Table, other: Table) -> tuple[int, ...]:
    return tuple(sorted(set(table.factors) & set(other.factors)))


def _marked(codes: Integers, others: Integers, lines: Integers) -> Flags:
    """Whether the code of each of `lines` among `others` stands in `codes`."""
    asked = others[lines]
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
    waiting = [each for each in constraints if set(each.factors) <= set(factors)]
    table = Table((), np.zeros((1, 0), np.int64))
    while len(table.factors) < len(factors):
        left = [each for each in factors if each not in table.factors]
        factor = min(left, key=lambda each: _still_open(each, table.factors, waiting))
        count, size = len(table.choices), levels[factor]
        if count * size > MOST_CHOICES:
            text = f"more than {MOST_CHOICES} choices of levels hang together by conditions"
            raise ValueError(f"{text}; expected conditions that tie fewer factors")
        added = np.tile(np.arange(size), count)[:, None]
        choices = np.hstack([np.repeat(table.choices, size, axis=0), added])
        table = Table((*table.factors, factor), choices)
        ready = [each for each in waiting if set(each.factors) <= set(table.factors)]
        waiting = [each for each in waiting if each not in ready]
        table = table.admitting(ready)
    choices = table.choices[:, np.argsort(table.factors)]
    return Table(factors, choices[np.lexsort(choices.T[::-1])])


def _still_open(
    factor: int, chosen: Sequence[int], constraints: Sequence[Constraint]
) -> tuple[int, int]:
    """Rank the next factor: how many are missing then for a constraint to be asked."""
    open_ones = [
        len(set(each.factors) - {*chosen, factor}) for each in constraints if factor in each.factors
    ]
    return min(open_ones, default=0), factor
