"""Failing cases -> the smallest conjunctions of levels that explain them.

A conjunction that makes every case with it fail is a failure-causing schema (Nie and Leung, "The
minimal failure-causing schema of combinatorial testing", 2011). Yilmaz, Cohen and Porter ("Covering
arrays for efficient fault characterization in complex configuration spaces", 2006) learn such
conjunctions by classification trees, which split all failures by one factor, although they may have
several causes. Here a beam search finds one conjunction after the other, as in CN2 (Clark and
Niblett, "The CN2 induction algorithm", 1989): each is the best for the failures left to explain.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.floating]
# The levels that a case exhibits at one point, by factor. A point may lack a factor.
Point = Mapping[str, frozenset[str]]
# Factors with some of their levels. A case matches at a point with one of these of each factor.
Condition = tuple[tuple[str, tuple[str, ...]], ...]
# The same by number of the factor, with a flag for each of its levels.
_Choice = dict[int, BoolArray]

MAX_ALTERNATIVES = 3
# What a passing case that matches costs, in failures that a condition explains.
_PASSING = 2.0
# What a factor and each further level cost, in bits: about what it takes to name one of them. The
# rarer failures are, the more bits each that a condition explains is worth: among many failures, a
# condition soon explains some by chance (minimum description length; Rissanen, 1978).
_FACTOR_BITS, _LEVEL_BITS = 9.0, 3.5
# What they cost besides, as a share of the failures that the condition matches. Most faults cannot
# be seen in some calls, and with thousands of cases there is always a level that leaves these out.
_FACTOR_SHARE, _LEVEL_SHARE = 0.06, 0.025
# Two bounds say which levels are chosen if these are neighbours in the order of the factor.
_RANGE = 2
# While a factor is still missing, passing cases cost less: so much at the most, and so much if as
# many cases fail as pass.
_PASSING_SO_FAR, _PASSING_SHARE = 0.5, 3.0
# Of the failures that a condition matches, so many must have no earlier explanation.
_OWN_SHARE = 0.25
# How many failures with a known condition outweigh a passing case; fewer than so many with a
# separate level may have another cause.
_KNOWN, _MIN_SEPARATE = 3, 3
# The least value of four factors, as a share of the failures: so many fit parts of them by chance.
_SHARE_OF_FOURS = 0.5
# How many pairs are searched, and get further factors; how many triples, and fours; and of how many
# times as many these are the best.
_PAIRS, _LONGER, _ESTIMATED = 12, 16, 3
# A condition explains nothing if more of its cases pass. What all failures have is stated if fewer
# passing cases have it; each factor halves them.
_MAX_PASSING, _MAX_COMMON, _COMMON_LEVELS, _COMMON_FACTORS = 0.5, 0.25, 4, 3


@dataclass(frozen=True, eq=False)
class Explanation:
    """A condition, the failures that it explains, and the cases that it matches.

    `explained` flags the failing cases that no earlier explanation explains. The condition is empty
    if most cases fail, whatever their levels, or if no combination of levels explains the rest. The
    `alternatives` match exactly the same of the cases that fail or pass.
    """

    condition: Condition
    explained: BoolArray
    alternatives: tuple[Condition, ...] = ()


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


def separate_causes(table: LevelTable, failing: BoolArray, passing: BoolArray) -> list[Condition]:
    """Return the separate levels with which every case fails; to find them needs no search."""
    remaining = failing.copy()
    conditions: list[Condition] = []
    for name, level in ((n, x) for n in table.separate for x in table.factors.get(n, ())):
        condition = ((name, (level,)),)
        matched = table.matching(condition)
        if (matched & remaining).sum() >= _MIN_SEPARATE and not (matched & passing).any():
            conditions.append(condition)
            remaining &= ~matched
    return conditions


def explain_failures(
    table: LevelTable, failing: BoolArray, passing: BoolArray, known: Sequence[Condition] = ()
) -> list[Explanation]:
    """Return the fewest and simplest conditions that explain failing cases.

    They are conjunctions of at most four factors. Cases that neither fail nor pass do not count.
    Conditions that are `known` to cause failures come first where most cases with them fail.
    """
    conditions = _separate_first(table, failing, passing, known) if passing.any() else []
    remaining = failing.copy()
    for condition in conditions:
        remaining &= ~table.matching(condition)
    while remaining.any() and passing.any():
        best = _Search(table, remaining, passing).best()
        if best is None:
            break
        conditions.append(best)
        remaining &= ~table.matching(best)
    # Later conditions together may explain all that an earlier one does.
    for condition in conditions[:-1]:
        others = [table.matching(other) for other in conditions if other != condition]
        if not (table.matching(condition) & failing & ~np.any(others, axis=0)).any():
            conditions.remove(condition)
    explanations = []
    remaining = failing.copy()
    for condition in conditions:
        matched = table.matching(condition)
        # What others explain but for a few failures is no cause of its own.
        if (matched & remaining).sum() < _OWN_SHARE * (matched & failing).sum():
            continue
        alternatives = tuple(_alternatives(table, condition, failing | passing))
        explanations.append(Explanation(condition, matched & remaining, alternatives))
        remaining &= ~matched
    if remaining.any():
        explanations.append(Explanation((), remaining))
    return explanations


def necessary_condition(table: LevelTable, failing: BoolArray, passing: BoolArray) -> Condition:
    """Return what all failing cases have, and few passing ones; () if there is nothing like it."""
    seen: BoolArray = np.any(table.matrix[failing[table.owners]], axis=0)
    terms = [
        (name, tuple(np.array(levels)[seen[table.columns[name]]].tolist()))
        for name, levels in table.factors.items()
        if 0 < seen[table.columns[name]].sum() <= _COMMON_LEVELS
    ]
    condition: Condition = ()
    count = int(passing.sum())
    while count and len(condition) < _COMMON_FACTORS:
        longer = [(*condition, term) for term in terms if term not in condition]
        common = [c for c in longer if not (failing & ~table.matching(c)).any()]
        counts = [int((passing & table.matching(c)).sum()) for c in common]
        fewer, best = min(zip(counts, common, strict=True), default=(count, condition))
        if 2 * fewer > count:
            break
        count, condition = fewer, best
    return condition if count <= _MAX_COMMON * passing.sum() else ()


def _separate_first(
    table: LevelTable, failing: BoolArray, passing: BoolArray, known: Sequence[Condition]
) -> list[Condition]:
    """Return the separate levels that explain failures, here or among other failures."""
    own = dict.fromkeys((*separate_causes(table, failing, passing), *known))
    order = [*table.separate]
    remaining = failing.copy()
    conditions: list[Condition] = []
    for condition in sorted(own, key=lambda terms: order.index(terms[0][0])):
        matched = table.matching(condition)
        if (matched & remaining).sum() > _KNOWN * (matched & passing).sum():
            conditions.append(condition)
            remaining &= ~matched
    return conditions


def _alternatives(table: LevelTable, condition: Condition, counted: BoolArray) -> list[Condition]:
    """Return conditions that have another factor and match the same of the `counted` cases."""
    matched = table.matching(condition) & counted
    alternatives: list[Condition] = []
    for i, (former, former_levels) in enumerate(condition):
        replaced = table.matched_lines(((former, former_levels),))
        has_former = table.matrix[:, table.columns[former]].any(axis=1)
        others = (*condition[:i], *condition[i + 1 :])
        taken = {former, *(name for name, _ in others)}
        cases = table.cases(table.matrix & table.matched_lines(others)[:, None])
        # A level takes part if it matches none of the other cases.
        is_part: BoolArray = np.any(cases & matched[:, None], axis=0)
        is_part &= ~np.any(cases & (counted & ~matched)[:, None], axis=0)
        for name, columns in table.columns.items():
            flags = is_part[columns]
            if name in taken or (cases[:, columns][:, flags].any(axis=1) < matched).any():
                continue
            term = name, tuple(np.array(table.factors[name])[flags].tolist())
            has_both = has_former & table.matrix[:, columns].any(axis=1)
            if (table.matched_lines((term,)) != replaced)[has_both].any():
                alternatives.append((*others, term))
    # A longer list of levels is no alternative: it fits by chance.
    lengths = [sum(len(levels) for _, levels in terms) for terms in (condition, *alternatives)]
    simple = [terms for terms, n in zip(alternatives, lengths[1:], strict=True) if n <= lengths[0]]
    return simple[:MAX_ALTERNATIVES]


class _Search:
    """The search for the condition that best explains some failing cases."""

    def __init__(self, table: LevelTable, remaining: BoolArray, passing: BoolArray) -> None:
        self._table = table
        self._columns = [*table.columns.values()]
        self._is_separate = [name in table.separate for name in table.factors]
        counted = (remaining | passing)[table.owners]
        self._lines = table.matrix[counted]
        self._floats = self._lines.astype(np.float32)
        # The cases that count are renumbered, to reduce lines to cases.
        owners = table.owners[counted]
        self._starts = np.flatnonzero(np.diff(owners, prepend=-1))
        cases = owners[self._starts]
        self._fails, self._passes = (
            mask[cases].astype(np.float32) for mask in (remaining, passing)
        )
        self._line_fails = remaining[owners].astype(np.float32)
        self._line_passes = passing[owners].astype(np.float32)
        bits = max(1.0, -math.log2(self._fails.mean()))
        self._factor_price, self._level_price = _FACTOR_BITS / bits, _LEVEL_BITS / bits
        odds = float(self._fails.sum() / self._passes.sum())
        self._price_so_far = min(_PASSING_SO_FAR, _PASSING_SHARE * odds)
        self._is_present: BoolArray = np.any(self._lines, axis=0)

    def best(self) -> Condition | None:
        """Return the condition of the greatest value, or None if no condition explains much."""
        found = [self._ascend([i]) for i, columns in enumerate(self._columns)]
        total = self._fails.sum()
        # At best, a pair explains every failure and nothing else.
        if max(value for value, _ in found) < total - self._factor_price:
            found += [self._ascend([*pair], pair) for pair in self._pairs(_PASSING)]
        if max(value for value, _ in found) < total - 2 * self._factor_price:
            pairs = self._pairs(self._price_so_far)
            found += [self._ascend([*triple], triple) for triple in self._longer(pairs, _PASSING)]
            if max(value for value, _ in found) < total - 3 * self._factor_price:
                triples = self._longer(pairs, self._price_so_far)
                fours = [self._ascend([*f], f) for f in self._longer(triples, _PASSING)]
                found += [four for four in fours if four[0] >= _SHARE_OF_FOURS * total]
        # Of conditions with equal values, the one of the fewest factors comes first.
        value, choice = max(found, key=itemgetter(0))
        matched = self._cases(self._matched(choice))
        failing, passing = (matched * self._fails).sum(), (matched * self._passes).sum()
        if value <= self._factor_price or passing > _MAX_PASSING * (failing + passing):
            return None
        # Drop a factor whose levels leave out no case.
        for factor in sorted(choice):
            others = {i: flags for i, flags in choice.items() if i != factor}
            if (self._cases(self._matched(others)) == matched).all():
                choice = others
        factors = [*self._table.factors.items()]
        return tuple(
            (factors[i][0], tuple(factors[i][1][k] for k in np.flatnonzero(flags)))
            for i, flags in sorted(choice.items())
        )

    def _worth(self, lines: BoolArray, price: float) -> float:
        """Return the failing cases of some lines, less the passing ones at a price."""
        cases = self._cases(lines)
        return float(self._fails @ cases - price * (self._passes @ cases))

    def _best_of(self, choices: Iterable[_Choice], price: float, most: int) -> list[_Choice]:
        """Return the choices that are worth most, of those that match the same lines one."""
        estimated = self._ranked(choices, price)[: _ESTIMATED * most]
        refined = self._ranked((self._refined(choice, price) for choice in estimated), price)
        return refined[:most]

    def _ranked(self, choices: Iterable[_Choice], price: float) -> list[_Choice]:
        """Return choices, the best first; of those that match the same lines, the simplest."""
        distinct: dict[bytes, tuple[float, int, _Choice]] = {}
        for choice in choices:
            lines = self._matched(choice)
            key, levels = lines.tobytes(), sum(int(flags.sum()) for flags in choice.values())
            if key not in distinct or levels < -distinct[key][1]:
                distinct[key] = self._worth(lines, price), -levels, choice
        best = sorted(distinct.values(), key=itemgetter(0), reverse=True)
        return [choice for _, _, choice in best]

    def _refined(self, choice: _Choice, price: float) -> _Choice:
        """Choose the levels of each factor anew, the last one first."""
        refined = dict(choice)
        for factor in reversed(choice):
            others = {i: flags for i, flags in refined.items() if i != factor}
            refined[factor] = self._widen(factor, self._matched(others), price)[1]
        return refined

    def _pairs(self, price: float) -> list[_Choice]:
        """Return promising pairs of factors, by counts of lines.

        `price` is that of a passing line. A pair must be worth more than either of its factors.
        """
        weights = self._line_fails - price * self._line_passes
        counts = self._floats.T @ (weights[:, None] * self._floats)
        starts = [columns.start for columns in self._columns]
        singles = np.add.reduceat(np.maximum(np.diag(counts), 0), starts)
        # The sum of the cells above zero is more than any choice of rows and columns.
        bounds = np.add.reduceat(np.maximum(counts, 0), starts, axis=0)
        bounds = np.add.reduceat(bounds, starts, axis=1)
        pairs: list[tuple[float, _Choice]] = []
        for first, second in combinations(range(len(self._columns)), 2):
            least = max(singles[first], singles[second])
            if bounds[first, second] <= least:
                continue
            cells = counts[self._columns[first], self._columns[second]]
            value, rows, columns = _best_rectangle(cells)
            if value > least:
                pairs.append((value, {first: rows, second: columns}))
        best = sorted(pairs, key=itemgetter(0), reverse=True)[: _ESTIMATED * _ESTIMATED * _PAIRS]
        return self._best_of((pair for _, pair in best), price, _PAIRS)

    def _longer(self, choices: Sequence[_Choice], price: float) -> list[_Choice]:
        """Return promising choices with one more factor, which separates their lines.

        `price` is that of a passing line.
        """
        longer: dict[tuple[int, ...], _Choice] = {}
        weights = self._line_fails - price * self._line_passes
        for choice in choices:
            matched = self._matched(choice)
            counts = self._floats[matched].T @ weights[matched]
            for factor, columns in enumerate(self._columns):
                flags = counts[columns] > 0
                if factor not in choice and flags.any() and not flags.all():
                    longer.setdefault(tuple(sorted((*choice, factor))), {**choice, factor: flags})
        return self._best_of(longer.values(), price, _LONGER)

    def _matched(self, choice: Mapping[int, BoolArray]) -> BoolArray:
        """Return the lines with a chosen level of each factor."""
        lines = np.ones(len(self._lines), bool)
        for factor, flags in choice.items():
            lines &= self._lines[:, self._columns[factor]][:, flags].any(axis=1)
        return lines

    def _cases(self, lines: BoolArray) -> BoolArray:
        """Return which cases have a line, for lines or for columns of lines."""
        cases: BoolArray = np.logical_or.reduceat(lines, self._starts, axis=0)
        return cases

    def _ascend(self, order: list[int], choice: _Choice | None = None) -> tuple[float, _Choice]:
        """Choose the levels of one factor after the other, until no choice is worth more.

        Return the value of the choice as well.
        """
        choice = dict(choice or {})
        best, best_choice = -np.inf, choice
        # The factor that separates best comes last in the order.
        while True:
            for factor in reversed(order):
                others = {i: flags for i, flags in choice.items() if i != factor}
                value, choice[factor] = self._widen(factor, self._matched(others))
            explained = float(self._fails @ self._cases(self._matched(choice)))
            value -= (self._factor_price + _FACTOR_SHARE * explained) * (len(order) - 1)
            if value <= best:
                return best, best_choice
            best, best_choice = value, dict(choice)

    def _widen(
        self, factor: int, lines: BoolArray, price: float = _PASSING
    ) -> tuple[float, BoolArray]:
        """Choose the best level of a factor on some lines, and add levels as long as they help.

        Return the value of the choice as well; `price` is that of a passing case.
        """
        matched = self._cases(self._lines[:, self._columns[factor]] & lines[:, None])
        weights = self._fails - price * self._passes
        is_useful = (self._fails @ matched.astype(np.float32)) > 0
        is_present = self._is_present[self._columns[factor]]
        least = 1 if is_present.sum() > 1 else 0
        flags = np.zeros(matched.shape[1], bool)
        cases = np.zeros(len(matched), bool)
        best, best_flags = -np.inf, flags
        # All levels but one cost no more than two, so that more levels may be worth it.
        while (is_useful & ~flags).any():
            widened: BoolArray = np.logical_or(matched, cases[:, None])
            values = weights @ widened.astype(np.float32)
            values[flags | ~is_useful] = -np.inf
            level = int(values.argmax())
            cases, flags = widened[:, level], flags.copy()
            flags[level] = True
            level_price = self._level_price + _LEVEL_SHARE * float(self._fails @ cases)
            value = float(values[level]) - level_price * _extra_levels(flags, is_present)
            # A choice of all levels would only say that there is one.
            if value > best and (is_present & ~flags).sum() >= least:
                best, best_flags = value, flags
            if self._is_separate[factor]:
                break
        return best, best_flags


def _extra_levels(flags: BoolArray, is_present: BoolArray) -> int:
    """Return how many levels after the first it takes to state a choice, or what it leaves out."""
    chosen = flags[is_present]
    count = int(chosen.sum())
    bounds = int((np.diff(chosen.astype(np.int8)) != 0).sum())
    return min(count - 1, len(chosen) - count, _RANGE if bounds <= _RANGE else count)


def _best_rectangle(cells: FloatArray) -> tuple[float, BoolArray, BoolArray]:
    """Return a choice of rows and columns whose cells have a great sum, and the sum."""
    best = -np.inf, np.zeros(cells.shape[0], bool), np.zeros(cells.shape[1], bool)
    row = int(cells.max(axis=1).argmax())
    for start in (np.ones(cells.shape[0], bool), np.arange(cells.shape[0]) == row):
        rows = start
        for _ in range(3):
            columns = cells[rows].sum(axis=0) > 0
            rows = cells[:, columns].sum(axis=1) > 0
        value = float(cells[rows][:, columns].sum())
        if value > best[0]:
            best = value, rows, columns
    return best
