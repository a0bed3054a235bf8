"""Covering arrays: rows of levels in which every possible t-tuple of levels stands somewhere."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

Row = tuple[int, ...]
Tuple = tuple[tuple[int, int], ...]
_FREE = -1


@dataclass(frozen=True)
class Constraint:
    """What must hold between a few factors, by position; asked once for each choice of levels."""

    factors: tuple[int, ...]
    allows: Callable[[Row], bool]


@dataclass(frozen=True)
class Cover:
    """The rows, and the tuples that no row can have, as (factor, level) pairs."""

    rows: list[Row]
    impossible: list[Tuple]


def covering_array(
    levels: Sequence[int], constraints: Sequence[Constraint], t: int, rows: Sequence[Row] = ()
) -> Cover:
    """Extend `rows` until each t-tuple of levels stands in one, or is shown to be impossible.

    `levels` counts each factor's levels. Deterministic: no randomness, ties go to the level used
    least so far.
    A tuple counts as impossible only after a complete search for a row that has it.
    """
    return _Array(levels, constraints, t).extended(rows)


class _Array:
    def __init__(self, levels: Sequence[int], constraints: Sequence[Constraint], t: int) -> None:
        self.levels = levels
        self.t = min(t, len(levels))
        # By factor: each constraint that it is part of, and where in it.
        self.constraints: list[list[tuple[Constraint, int]]] = [[] for _ in levels]
        for constraint in constraints:
            for at, factor in enumerate(constraint.factors):
                self.constraints[factor].append((constraint, at))
        self.known: dict[tuple[int, int, Row, Row], dict[int, bool]] = {}
        self.missing: dict[tuple[int, ...], npt.NDArray[np.bool_]] = {
            group: np.ones([levels[factor] for factor in group], bool)
            for group in combinations(range(len(levels)), self.t)
        }
        self.groups = [[g for g in self.missing if factor in g] for factor in range(len(levels))]
        self.used = [np.zeros(size, int) for size in levels]
        self.orders: dict[tuple[int, ...], list[int]] = {}

    def extended(self, rows: Sequence[Row]) -> Cover:
        grown, impossible = list(rows), dict[Tuple, None]()
        for given in rows:
            self._tick(given)
        # Small tuples first: one that contains an impossible smaller one needs no search.
        for size in range(1, self.t + 1):
            for wanted in self._tuples(size):
                if any(part in impossible for part in combinations(wanted, size - 1)):
                    impossible[wanted] = None
                elif size < self.t or self._is_missing(wanted):
                    row = self._row_with(wanted)
                    if row is None:
                        impossible[wanted] = None
                    elif size == self.t:
                        grown.append(row)
                        self._tick(row)
        return Cover(grown, [wanted for wanted in impossible if len(wanted) == self.t])

    def _tuples(self, size: int) -> Iterator[Tuple]:
        for group in combinations(range(len(self.levels)), size):
            for chosen in product(*(range(self.levels[factor]) for factor in group)):
                yield tuple(zip(group, chosen, strict=True))

    def _is_missing(self, wanted: Tuple) -> bool:
        group, chosen = zip(*wanted, strict=True)
        return bool(self.missing[group][chosen])

    def _tick(self, row: Row) -> None:
        for group, table in self.missing.items():
            table[tuple(row[factor] for factor in group)] = False
        for factor, level in enumerate(row):
            self.used[factor][level] += 1

    def _row_with(self, wanted: Tuple) -> Row | None:
        row = [_FREE] * len(self.levels)
        for factor, level in wanted:
            row[factor] = level
        group = tuple(factor for factor, _ in wanted)
        if not all(level in self._allowed(row, factor) for factor, level in wanted):
            return None
        if group not in self.orders:
            self.orders[group] = list(self._order(group))
        return tuple(row) if self._complete(row, self.orders[group]) else None

    def _complete(self, row: list[int], free: Sequence[int]) -> bool:
        if not free:
            return True
        factor, *others = free
        for level in self._by_gain(row, factor):
            row[factor] = level
            if self._complete(row, others):
                return True
        row[factor] = _FREE
        return False

    def _allowed(self, row: Sequence[int], factor: int) -> list[int]:
        """Return the levels of `factor` that the rest of `row` allows, as far as it is chosen.

        A constraint is asked only of what those before it allow.
        """
        allowed = list(range(self.levels[factor]))
        for constraint, at in self.constraints[factor]:
            chosen = [row[each] for each in constraint.factors]
            chosen[at] = 0
            if _FREE not in chosen:
                before, after = tuple(chosen[:at]), tuple(chosen[at + 1 :])
                known = self.known.setdefault((id(constraint), factor, before, after), {})
                for level in allowed:
                    if level not in known:
                        known[level] = constraint.allows((*before, level, *after))
                allowed = [level for level in allowed if known[level]]
        return allowed

    def _by_gain(self, row: Sequence[int], factor: int) -> list[int]:
        """Order the allowed levels of `factor` by the missing tuples each completes, rare first."""
        allowed = self._allowed(row, factor)
        if len(allowed) < 2:
            return allowed
        gain = np.zeros(self.levels[factor], int)
        for group in self.groups[factor]:
            index = tuple(slice(None) if each == factor else row[each] for each in group)
            if _FREE not in index:
                gain += self.missing[group][index]
        order = np.lexsort((self.used[factor][allowed], -gain[allowed]))
        return [allowed[i] for i in order]

    def _order(self, chosen: Sequence[int]) -> Iterator[int]:
        """Yield the other factors, those first that complete a constraint on what is chosen."""
        done, left = set(chosen), [f for f in range(len(self.levels)) if f not in chosen]
        while left:
            factor = min(left, key=lambda each: self._open_factors(each, done))
            left.remove(factor)
            done.add(factor)
            yield factor

    def _open_factors(self, factor: int, done: set[int]) -> tuple[int, int]:
        touching = [
            c.factors for c, _ in self.constraints[factor] if not done.isdisjoint(c.factors)
        ]
        still_open = [len(set(factors) - done) for factors in touching]
        return min(still_open, default=len(self.levels)), -len(self.constraints[factor])
