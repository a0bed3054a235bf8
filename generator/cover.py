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
        self.constraints: list[list[Constraint]] = [[] for _ in levels]
        for constraint in constraints:
            for factor in constraint.factors:
                self.constraints[factor].append(constraint)
        self.known: dict[tuple[int, Row], bool] = {}
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
        if not all(self._allowed(row, factor) for factor in group):
            return None
        free = self.orders.setdefault(group, list(self._order(group)))
        return tuple(row) if self._complete(row, free) else None

    def _complete(self, row: list[int], free: Sequence[int]) -> bool:
        if not free:
            return True
        factor, *others = free
        for level in self._by_gain(row, factor):
            row[factor] = level
            if self._allowed(row, factor) and self._complete(row, others):
                return True
        row[factor] = _FREE
        return False

    def _allowed(self, row: Sequence[int], factor: int) -> bool:
        return all(self._holds(row, constraint) for constraint in self.constraints[factor])

    def _holds(self, row: Sequence[int], constraint: Constraint) -> bool:
        chosen = tuple(row[factor] for factor in constraint.factors)
        if _FREE in chosen:
            return True
        key = (id(constraint), chosen)
        if key not in self.known:
            self.known[key] = constraint.allows(chosen)
        return self.known[key]

    def _by_gain(self, row: Sequence[int], factor: int) -> list[int]:
        """Order the levels of `factor` by the missing tuples that each completes, rare first."""
        gain = np.zeros(self.levels[factor], int)
        for group in self.groups[factor]:
            if all(row[each] != _FREE for each in group if each != factor):
                index = tuple(slice(None) if each == factor else row[each] for each in group)
                gain += self.missing[group][index]
        return [int(level) for level in np.lexsort((self.used[factor], -gain))]

    def _order(self, chosen: Sequence[int]) -> Iterator[int]:
        """Yield the other factors, those first that complete a constraint on what is chosen."""
        done, left = set(chosen), [f for f in range(len(self.levels)) if f not in chosen]
        while left:
            factor = min(left, key=lambda each: self._open_factors(each, done))
            left.remove(factor)
            done.add(factor)
            yield factor

    def _open_factors(self, factor: int, done: set[int]) -> tuple[int, int]:
        touching = [c for c in self.constraints[factor] if done & set(c.factors)]
        still_open = [len(set(c.factors) - done) for c in touching]
        return min(still_open, default=len(self.levels)), -len(self.constraints[factor])
