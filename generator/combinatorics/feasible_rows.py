"""The rows that constraints allow: tables over a few factors, joined to a tree, and draws.

There are far too many rows to list them. The constraints are a network whose cliques, found by
eliminating factors, form a junction tree (Dechter, "Constraint Processing", 2003, chapter 9): if
each table is consistent, and each pair of neighbours, then so are whole rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from opcert.combinatorics.tables import (
    BoolArray,
    IntArray,
    LevelColumns,
    LevelConstraint,
    LevelTable,
    Row,
    build_table,
    elimination_cliques,
    level_codes,
    unique_codes,
)

BitWords = npt.NDArray[np.uint64]


class FeasibleRows:
    """All rows that constraints allow, as a junction tree of tables.

    The tables that contain a given factor are connected in the tree. A line (an assignment of a
    table) that matches a line of each neighbour is part of a row, so that rows can be read off
    table by table without backtracking.
    """

    def __init__(
        self, levels: Sequence[int], tables: Sequence[LevelTable], kept: Sequence[BoolArray] = ()
    ) -> None:
        """Join `tables`, which contain every factor; `levels` counts the levels of each.

        `kept`, if given, marks the lines of each table that rows may have.
        """
        self.levels = levels
        # A maximum spanning tree over the numbers of shared factors is a junction tree (Jensen and
        # Jensen, "Optimal junction trees", 1994). It starts at the largest table.
        order = [max(range(len(tables)), key=lambda t: len(tables[t].assignments))]
        remaining = [t for t in range(len(tables)) if t not in order]
        # The position in the tree of each table's parent; the root is its own.
        self.parents = [0]
        while remaining:
            _, t, parent = max(
                (len(_shared(tables[table], tables[joined])), -t, -position)
                for t, table in enumerate(remaining)
                for position, joined in enumerate(order)
            )
            order.append(remaining.pop(-t))
            self.parents.append(-parent)
        self._unrestricted = [tables[t] for t in order]
        self._evaluated: dict[tuple[int, LevelConstraint], BoolArray] = {}
        self.tables = [tables[t].select(kept[t]) if kept else tables[t] for t in order]
        # For each table, codes of the levels of the factors that it shares with its parent: one
        # for each line of the parent, and one for each line of its own.
        self.codes = [self._separator_codes(t) for t in range(len(self.tables))]
        self._drop_dead_lines()
        self._lines_by_level: dict[tuple[int, int], list[IntArray]] = {}

    def _separator_codes(self, t: int) -> tuple[IntArray, IntArray]:
        table, parent = self.tables[t], self.tables[self.parents[t]]
        shared = _shared(table, parent) if t else ()
        sizes = [self.levels[factor] for factor in shared]
        sparse = [
            np.broadcast_to(
                level_codes([side.columns[factor] for factor in shared], sizes),
                len(side.assignments),
            )
            for side in (parent, table)
        ]
        positions, inverse = unique_codes(np.concatenate(sparse), prod(sizes))
        codes: IntArray = inverse.astype(np.int32)
        if len(positions) <= 1 << 16:
            # Half the memory, and NumPy sorts integers of 16 bits in linear time.
            codes = codes.astype(np.uint16)
        return codes[: len(parent.assignments)], codes[len(parent.assignments) :]

    def _drop_dead_lines(self) -> None:
        """Drop the lines that match no line of a neighbour, and so are part of no row.

        Semijoins once up the tree and once down are enough (Yannakakis, "Algorithms for acyclic
        database schemes", 1981).
        """
        kept = [np.ones(len(table.assignments), bool) for table in self.tables]
        for t in reversed(range(1, len(kept))):
            of_parent, own = self.codes[t]
            kept[self.parents[t]] &= _is_among(of_parent, own[kept[t]])
        for t in range(1, len(kept)):
            of_parent, own = self.codes[t]
            kept[t] &= _is_among(own, of_parent[kept[self.parents[t]]])
        for t, (of_parent, own) in enumerate(self.codes):
            self.codes[t] = of_parent[kept[self.parents[t]]], own[kept[t]]
        self.tables = [table.select(flags) for table, flags in zip(self.tables, kept, strict=True)]

    def restricted_to(
        self, constraints: Sequence[LevelConstraint], violating: LevelConstraint | None = None
    ) -> "FeasibleRows":
        """Return the rows that `constraints` allow, too.

        One table contains all factors of a constraint. With `violating`, return only the rows
        among them that this constraint forbids.
        """
        tables, kept = [], []
        for t, table in enumerate(self._unrestricted):
            allowed = np.ones(len(table.assignments), bool)
            for constraint in constraints:
                if set(constraint.factors) <= set(table.factors):
                    allowed &= self._evaluate(t, constraint)
            tables.append(table.select(allowed))
            if violating is not None:
                inside = set(violating.factors) <= set(table.factors)
                forbidden = ~self._evaluate(t, violating) if inside else np.ones_like(allowed)
                kept.append(forbidden[allowed])
        return FeasibleRows(self.levels, tables, kept)

    def _evaluate(self, t: int, constraint: LevelConstraint) -> BoolArray:
        """Return which lines of an unrestricted table a constraint allows, evaluated once."""
        key = t, constraint
        if key not in self._evaluated:
            table = self._unrestricted[t]
            reachable = np.ones(len(table.assignments), bool)
            self._evaluated[key] = constraint.evaluate(table.columns, reachable)
        return self._evaluated[key]

    def extensible_lines(self, assignment: Mapping[int, int]) -> list[IntArray | None] | None:
        """Return the lines of each table that agree with `assignment` in their subtree.

        `assignment` maps factors to levels. The item of a table that it does not restrict is None;
        the result is None if no row has the assignment.
        """
        lines = [self._lines_with(t, assignment) for t in range(len(self.tables))]
        for t in reversed(range(1, len(self.tables))):
            own_lines = lines[t]
            if own_lines is None:
                continue
            parent, (of_parent, own) = self.parents[t], self.codes[t]
            parent_lines = lines[parent]
            if parent_lines is None:
                lines[parent] = np.flatnonzero(_is_among(of_parent, own[own_lines]))
            else:
                lines[parent] = parent_lines[_is_among(of_parent[parent_lines], own[own_lines])]
        root = lines[0]
        return lines if len(self.tables[0].assignments if root is None else root) else None

    def consistent_with(self, assignment: Mapping[int, int]) -> list[IntArray] | None:
        """Return the lines of each table that are part of a row with `assignment`.

        `assignment` maps factors to levels. The result is None if no row has it.
        """
        extensible = self.extensible_lines(assignment)
        if extensible is None:
            return None
        lines = [
            np.arange(len(table.assignments)) if own is None else own
            for table, own in zip(self.tables, extensible, strict=True)
        ]
        for t in range(1, len(self.tables)):
            of_parent, own = self.codes[t]
            reached = of_parent[lines[self.parents[t]]]
            lines[t] = lines[t][_is_among(own[lines[t]], reached)]
        return lines

    def _lines_with(self, t: int, assignment: Mapping[int, int]) -> IntArray | None:
        """Return the lines of a table with the levels of `assignment`, None if all have them."""
        columns = self.tables[t].columns
        candidates = [
            (self._lines_of_levels(t, factor)[level], factor, level)
            for factor, level in assignment.items()
            if factor in columns
        ]
        if not candidates:
            return None
        # The rarest level leaves the fewest lines to compare.
        lines, rarest, _ = min(candidates, key=lambda candidate: len(candidate[0]))
        for _, factor, level in candidates:
            if factor != rarest:
                lines = lines[columns[factor][lines] == level]
        return lines

    def _lines_of_levels(self, t: int, factor: int) -> list[IntArray]:
        """Return the lines of a table by the level of `factor`."""
        if (t, factor) not in self._lines_by_level:
            column = self.tables[t].columns[factor]
            order = np.argsort(column, kind="stable").astype(np.int32)
            ends = np.cumsum(np.bincount(column, minlength=self.levels[factor]))
            self._lines_by_level[t, factor] = np.split(order, ends[:-1])
        return self._lines_by_level[t, factor]

    def lines_with_code(self, t: int, code: int) -> IntArray:
        """Return the lines of a table that match the parent's lines with the separator `code`."""
        codes, lines = self._lines_by_code[t]
        return lines[codes.searchsorted(code) : codes.searchsorted(code, "right")]

    @cached_property
    def _lines_by_code(self) -> list[tuple[IntArray, IntArray]]:
        """The separator codes of each table in ascending order, and their lines."""
        orders = [np.argsort(own, kind="stable") for _, own in self.codes]
        return [(own[order], order) for (_, own), order in zip(self.codes, orders, strict=True)]

    @cached_property
    def pairs(self) -> dict[tuple[int, int], BoolArray]:
        """For each two factors, ascending, which of their levels occur together in a row."""
        bits = _LevelBits(self.levels)
        cooccurring = self._cooccurring_levels(bits)
        pairs = {}
        for f, size in enumerate(self.levels):
            tables = [t for t, table in enumerate(self.tables) if f in table.columns]
            smallest = min(tables, key=lambda t: len(cooccurring[t]))
            column = self.tables[smallest].columns[f]
            flags = bits.unpack(_union_by_code(cooccurring[smallest], column, size))
            for g in range(f + 1, len(self.levels)):
                pairs[f, g] = flags[:, bits.columns[g]]
        return pairs

    def _cooccurring_levels(self, bits: "_LevelBits") -> list[BitWords]:
        """Return for each line of each table all levels that occur in a row with it.

        Messages go up the tree and down again, as probabilities do in a junction tree (Lauritzen
        and Spiegelhalter, 1988). Here they are sets of levels, and sums are unions.
        """
        levels = [bits.of_lines(table.columns, len(table.assignments)) for table in self.tables]
        # The levels of the factors of each table and of those below it.
        subtree = [bits.of_factors(table.factors) for table in self.tables]
        counts = [
            1 + int(max(of_parent.max(initial=0), own.max(initial=0)))
            for of_parent, own in self.codes
        ]
        for t in reversed(range(1, len(self.tables))):
            parent, (of_parent, own) = self.parents[t], self.codes[t]
            levels[parent] |= _union_by_code(levels[t], own, counts[t])[of_parent]
            subtree[parent] |= subtree[t]
        for t in range(1, len(self.tables)):
            of_parent, own = self.codes[t]
            message = _union_by_code(levels[self.parents[t]], of_parent, counts[t])
            # For its own subtree, a line is more precise than the parent's lines with its code.
            levels[t] |= (message & ~subtree[t])[own]
        return levels


class _LevelBits:
    """Sets of levels as words of 64 bits: a bit for each level of each factor."""

    def __init__(self, levels: Sequence[int]) -> None:
        ends = np.cumsum([0, *levels]).tolist()
        self.columns = [slice(*ends[i : i + 2]) for i in range(len(levels))]
        self.width = -(-ends[-1] // 64)
        words = np.zeros((ends[-1], self.width), np.uint64)
        bits = np.arange(ends[-1])
        words[bits, bits // 64] = np.uint64(1) << (bits % 64).astype(np.uint64)
        # By factor, the words with the bit of each of its levels.
        self.by_factor = [words[columns] for columns in self.columns]

    def of_factors(self, factors: Iterable[int]) -> BitWords:
        """Return the bits of all levels of `factors`."""
        bits = [np.bitwise_or.reduce(self.by_factor[factor]) for factor in factors]
        return np.asarray(np.bitwise_or.reduce(bits))

    def of_lines(self, columns: LevelColumns, count: int) -> BitWords:
        """Return the bits of the levels of each of `count` lines."""
        words = np.zeros((self.width, count), np.uint64)
        for factor, column in columns.items():
            for i, levels in enumerate(self.by_factor[factor].T):
                if levels.any():
                    words[i] |= levels[column]
        return words.T

    def unpack(self, words: BitWords) -> BoolArray:
        """Return the bits of each line of `words`, a column for each level."""
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        return np.asarray(bits.astype(bool))


def _union_by_code(words: BitWords, codes: IntArray, count: int) -> BitWords:
    """Return for each code below `count` the union of the lines of `words` with that code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    unions = np.zeros((count, words.shape[1]), np.uint64)
    if len(starts):
        unions[ordered[starts]] = np.bitwise_or.reduceat(words[order], starts)
    return unions


def _shared(table: LevelTable, other: LevelTable) -> tuple[int, ...]:
    return tuple(sorted(set(table.factors) & set(other.factors)))


def _is_among(codes: IntArray, members: IntArray) -> BoolArray:
    """Whether each of `codes` is among `members`: np.isin for small codes."""
    lookup = np.zeros(max(codes.max(initial=0), members.max(initial=0)) + 1, bool)
    lookup[members] = True
    flags: BoolArray = lookup[codes]
    return flags


def solve_constraints(
    levels: Sequence[int],
    constraints: Sequence[LevelConstraint],
    restrictions: Sequence[LevelConstraint] = (),
) -> FeasibleRows:
    """Return all rows that `constraints` allow, given the number of levels of each factor.

    `restrictions` forbid nothing yet, but one table contains all factors of each, so that
    `FeasibleRows.restricted_to` can apply it later.

    Raises:
        ValueError: a table has more than `MAX_TABLE_ROWS` lines.
    """
    scopes = [constraint.factors for constraint in (*constraints, *restrictions)]
    cliques = elimination_cliques(levels, scopes)
    return FeasibleRows(levels, [build_table(clique, levels, constraints) for clique in cliques])


# Draws an integer from 0 to below its argument, as `random.randrange` does.
RandBelow: TypeAlias = Callable[[int], int]


class RowSampler:
    """Draws feasible rows, a level at a time; every feasible row can be drawn.

    If every draw is 0, each factor has its first level that is feasible with those before it.
    """

    def __init__(self, feasible: FeasibleRows) -> None:
        self._levels = feasible.levels
        lines = feasible.consistent_with({}) or []
        # The factors of each table and the columns of its lines, which are in ascending order.
        self._tables: list[tuple[list[int], list[IntArray]]] = []
        known: set[int] = set()
        for table, kept in zip(feasible.tables, lines, strict=bool(lines)):
            # The factors that earlier tables decide come first, so that they narrow the lines.
            factors = sorted(table.factors, key=lambda factor: (factor not in known, factor))
            columns = [table.columns[factor][kept] for factor in factors]
            order = np.lexsort(columns[::-1])
            self._tables.append((factors, [column[order] for column in columns]))
            known.update(factors)

    def __bool__(self) -> bool:
        """Whether there is a feasible row."""
        return bool(self._tables)

    def sample(self, randbelow: RandBelow) -> Row:
        """Draw a row, the level of each factor among those that are still feasible."""
        row: dict[int, int] = {}
        for factors, columns in self._tables:
            # The lines from `first` to before `last` agree with the row so far.
            first, last = 0, len(columns[0])
            for factor, column in zip(factors, columns, strict=True):
                bounds = range(self._levels[factor] + 1)
                ends = first + np.searchsorted(column[first:last], bounds)
                if factor not in row:
                    levels = np.flatnonzero(np.diff(ends)).tolist()
                    row[factor] = levels[randbelow(len(levels))]
                first, last = int(ends[row[factor]]), int(ends[row[factor] + 1])
        return tuple(row[factor] for factor in range(len(self._levels)))
