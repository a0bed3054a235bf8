"""The search for the conjunction of levels that best explains failing cases.

A beam search, as in CN2 (Clark and Niblett, "The CN2 induction algorithm", 1989).
"""

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from opcert.diagnosis.counts import CaseCounter
from opcert.diagnosis.table import BoolArray, Condition, LevelTable, whole_range

FloatArray = npt.NDArray[np.floating]
# For some factors, by number, a flag for each level.
_Choice = dict[int, BoolArray]

# What a passing case that matches costs, in failures that a condition explains.
_PASSING = 2.0
# While a factor is still missing, passing cases cost less: so much at the most, and so much if as
# many cases fail as pass.
_PASSING_SO_FAR, _PASSING_SHARE = 0.5, 3.0
# What a factor and each further level cost, in bits: about what it takes to name one of them. The
# rarer failures are, the more bits each that a condition explains is worth: among many failures, a
# condition soon explains some by chance (minimum description length; Rissanen, 1978).
_FACTOR_BITS, _LEVEL_BITS = 9.0, 3.5
# What they cost besides, as a share of the failures that the condition matches. Most faults cannot
# be seen in some calls, and with thousands of cases there is always a level that leaves these out.
_FACTOR_SHARE, _LEVEL_SHARE = 0.06, 0.025
# How many times as much a derived factor costs.
_DERIVED = 2.0
# A condition is final if its failures, less its exceptions, are this share of all.
_NEARLY_ALL = 0.95
# So many bounds at the most state levels as a range of numbers.
_MAX_BOUNDS = 2
# The most factors of a condition. One of `_LONG` factors or more fits a few failures by chance,
# unless its value is such a share of the failures that it matches.
_MAX_FACTORS, _LONG, _SHARE_OF_LONG = 5, 4, 0.25
# How many pairs are searched, and get further factors; how many longer choices; and of how many
# times as many these are the best.
_PAIRS, _LONGER, _ESTIMATED = 24, 16, 3
# How many other factors are tried in the place of one.
_EXCHANGED = 12
# A condition explains nothing if more of its cases pass.
_MAX_PASSING = 0.5


class Search:
    """The search for the condition that best explains some failing cases."""

    def __init__(self, table: LevelTable, remaining: BoolArray, passing: BoolArray) -> None:
        self._table = table
        # The rows of the levels of each factor.
        self._rows = [*table.columns.values()]
        self._starts = [rows.start for rows in self._rows]
        self._is_separate = [name in table.separate for name in table.factors]
        self._is_exclusive = [table.is_exclusive(name) for name in table.factors]
        self._has_only_ranges = [table.has_only_ranges(name) for name in table.factors]
        self._is_ordered = [name in table.ordered for name in table.factors]
        self._weights = [_DERIVED if name in table.derived else 1.0 for name in table.factors]
        self._counter = counter = CaseCounter(table, remaining, passing)
        self._levels, self._cases = counter.levels, counter.cases
        self._fails, self._passes = counter.fails, counter.passes
        # What a failure that a condition explains is worth, in bits.
        worth = max(1.0, -math.log2(self._fails.mean()))
        self._factor_price, self._level_price = _FACTOR_BITS / worth, _LEVEL_BITS / worth
        odds = float(self._fails.sum() / self._passes.sum())
        self._price_so_far = min(_PASSING_SO_FAR, _PASSING_SHARE * odds)
        self._is_present: BoolArray = np.any(self._levels, axis=1)
        # Promising choices by their number of factors.
        self._kept: dict[int, list[_Choice]] = {}
        # The best levels of a factor, by the other ones.
        self._widened: dict[object, BoolArray] = {}

    def best(self) -> Condition | None:
        """Return the condition of the greatest value, or None if no condition explains much."""
        return self._condition(*self._found[-1])

    # All numbers are finite, but products of OpenBLAS may raise this flag (NumPy's issue 24067).
    @np.errstate(invalid="ignore")
    def shortest(self) -> Condition | None:
        """Return the condition that states in the fewest bits which cases fail.

        A fault may not show in all calls that it concerns. If the best condition leaves no failures
        and has no exceptions, it is that one.
        """
        value, choice = self._found[-1]
        is_separate = any(self._is_separate[i] for i in choice)
        net = self._worth(self._matched(choice), _PASSING)
        if net < _NEARLY_ALL * self._fails.sum() and not is_separate:
            price = self._price_so_far
            choices = (*self._singles, *self._so_far(2), *self._so_far(3))
            found = (*self._found, *(self._ascend(choice, price) for choice in choices))
            shortest = max(((self._saved(own), own) for _, own in found), key=itemgetter(0))
            if shortest[0] > self._factor_price:
                value, choice = shortest
        return self._condition(value, choice)

    def _condition(self, value: float, choice: _Choice) -> Condition | None:
        """Return a choice of such a value as a condition, or None if that explains too little."""
        if value <= self._factor_price:
            return None
        matched = self._cases(self._matched(choice))
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

    def description_length(self, conditions: Sequence[Condition]) -> float:
        """Return how many bits state which cases fail, with conditions one after the other."""
        left, length = np.ones(len(self._fails), bool), 0.0
        for condition in conditions:
            levels = dict(condition)
            choice = {
                i: np.isin(names, levels[factor])
                for i, (factor, names) in enumerate(self._table.factors.items())
                if factor in levels
            }
            matched = self._cases(self._matched(choice))
            length += self._bits(matched & left)
            length += _FACTOR_BITS * sum(self._weights[factor] for factor in choice)
            length += _LEVEL_BITS * sum(self._extra_levels(*pair) for pair in choice.items())
            left &= ~matched
        return length + self._bits(left)

    def _bits(self, cases: BoolArray) -> float:
        """Return how many bits it takes to state which of some cases fail."""
        counts = [float(ends @ cases) for ends in (self._fails, self._passes)]
        return -sum(n * math.log2(n / sum(counts)) for n in counts if n)

    @cached_property
    @np.errstate(invalid="ignore")  # as of `shortest`
    def _found(self) -> list[tuple[float, _Choice]]:
        """Conditions with their values, the best one last; long ones if they may be worth more."""
        found = [self._ascend(single) for single in self._singles]
        total = float(self._fails.sum())
        for count in range(2, _MAX_FACTORS + 1):
            # At best, a longer one explains every failure and nothing else.
            if max(value for value, _ in found) >= total - (count - 1) * self._factor_price:
                break
            tried = map(self._ascend, self._promising(count, _PASSING))
            found += [each for each in tried if count < _LONG or self._is_sure(*each)]
        # Of conditions with equal values, the one of the fewest factors comes first.
        return [*found, self._exchanged(*max(found, key=itemgetter(0)))]

    def _is_sure(self, value: float, choice: _Choice) -> bool:
        """Whether a long condition is worth enough not to fit its failures by chance."""
        return value >= _SHARE_OF_LONG * self._worth(self._matched(choice), 0)

    def _exchanged(self, value: float, choice: _Choice) -> tuple[float, _Choice]:
        """Exchange factors for others as long as the condition is then worth more.

        Many factors say nearly the same, and few of them are in a promising pair.
        """
        for factor in choice:
            others = {i: flags for i, flags in choice.items() if i != factor}
            fails, passes = self._counter.counts(self._matched(others))
            counts = np.maximum(fails - _PASSING * passes, 0)
            for i in np.argsort(-np.add.reduceat(counts, self._starts), kind="stable")[:_EXCHANGED]:
                if i not in others:
                    tried = self._ascend({**others, int(i): counts[self._rows[i]] > 0})
                    if tried[0] > value:
                        return self._exchanged(*tried)
        return value, choice

    @cached_property
    def _singles(self) -> list[_Choice]:
        """Each factor alone, of which no level is chosen yet."""
        return [{i: np.zeros(rows.stop - rows.start, bool)} for i, rows in enumerate(self._rows)]

    def _promising(self, count: int, price: float) -> list[_Choice]:
        """Return promising choices of so many factors; `price` is that of a passing case."""
        if count == 2:
            return self._pairs(price)
        return self._longer(self._so_far(count - 1), price)

    def _so_far(self, count: int) -> list[_Choice]:
        """Return promising choices of so many factors, while others are still missing."""
        if count not in self._kept:
            self._kept[count] = self._promising(count, self._price_so_far)
        return self._kept[count]

    def _saved(self, choice: _Choice) -> float:
        """Return how much shorter it is to state which cases fail with a condition, in failures."""
        matched = self._cases(self._matched(choice))
        fails, passes = (float(ends @ matched) for ends in (self._fails, self._passes))
        if passes > _MAX_PASSING * (fails + passes):
            return -math.inf
        every: BoolArray = np.ones(len(matched), bool)
        saved = 1 - (self._bits(matched) + self._bits(~matched)) / self._bits(every)
        return saved * float(self._fails.sum()) - self._price(choice, fails)

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
            refined[factor] = self._levels_of(factor, refined, price)
        return refined

    def _pairs(self, price: float) -> list[_Choice]:
        """Return promising pairs of factors.

        `price` is that of a passing case. A pair must be worth more than either of its factors.
        """
        fails, passes = self._counter.of_pairs
        counts = fails - price * passes
        singles = np.add.reduceat(np.maximum(np.diag(counts), 0), self._starts)
        # Few choices of rows and columns are worth more than the sum of the cells above zero.
        bounds = np.add.reduceat(np.maximum(counts, 0), self._starts, axis=1)
        bounds = np.add.reduceat(bounds, self._starts, axis=0)
        least = np.maximum.outer(singles, singles)
        promising = np.argwhere(np.triu(bounds > least, 1))
        promising = promising[np.argsort(-bounds[tuple(promising.T)], kind="stable")]
        most = _ESTIMATED * _ESTIMATED * _PAIRS
        pairs: list[tuple[float, _Choice]] = []
        # The best values so far, the least of them first.
        values: list[float] = [-np.inf] * most
        for first, second in promising.tolist():
            if bounds[first, second] <= values[0]:
                break
            cells = counts[self._rows[first], self._rows[second]]
            value, rows, columns = _best_rectangle(cells)
            if value > least[first, second]:
                pairs.append((value, {first: rows, second: columns}))
                heapq.heappushpop(values, value)
        best = sorted(pairs, key=itemgetter(0), reverse=True)[:most]
        return self._best_of((pair for _, pair in best), price, _PAIRS)

    def _longer(self, choices: Sequence[_Choice], price: float) -> list[_Choice]:
        """Return promising choices with one more factor, which separates their cases.

        `price` is that of a passing case.
        """
        longer: dict[tuple[int, ...], _Choice] = {}
        for choice in choices:
            fails, passes = self._counter.counts(self._matched(choice))
            counts = fails - price * passes
            for factor, rows in enumerate(self._rows):
                flags = counts[rows] > 0
                if factor not in choice and flags.any() and not flags.all():
                    longer.setdefault(tuple(sorted((*choice, factor))), {**choice, factor: flags})
        return self._best_of(longer.values(), price, _LONGER)

    def _matched(self, choice: Mapping[int, BoolArray]) -> BoolArray:
        """Return the lines with a chosen level of each factor."""
        lines = np.ones(self._levels.shape[1], bool)
        for factor, flags in choice.items():
            lines &= np.logical_or.reduce(self._levels[self._rows[factor]][flags])
        return lines

    def _ascend(self, choice: _Choice, price: float = _PASSING) -> tuple[float, _Choice]:
        """Choose the levels of one factor after the other, until no choice is worth more.

        Return the value of the choice as well. `price` is that of a passing case.
        """
        order, choice = [*choice], dict(choice)
        best, best_choice = -np.inf, choice
        # The factor that separates best comes last in the order.
        while True:
            for factor in reversed(order):
                choice[factor] = self._levels_of(factor, choice, price)
            if (value := self._value(choice, price)) <= best:
                return best, best_choice
            best, best_choice = value, dict(choice)

    def _value(self, choice: _Choice, price: float) -> float:
        """Return what a choice explains, less the price of passing cases, factors and levels."""
        cases = self._cases(self._matched(choice))
        explained = float(self._fails @ cases)
        return explained - price * float(self._passes @ cases) - self._price(choice, explained)

    def _price(self, choice: _Choice, explained: float) -> float:
        """Return what the factors and levels of a choice cost that explains so many failures."""
        factors = sum(self._weights[factor] for factor in choice) - 1
        levels = sum(self._extra_levels(*pair) for pair in choice.items())
        price = (self._factor_price + _FACTOR_SHARE * explained) * factors
        return price + (self._level_price + _LEVEL_SHARE * explained) * levels

    def _levels_of(self, factor: int, choice: _Choice, price: float) -> BoolArray:
        """Return the best levels of a factor with the other factors of a choice.

        Much of the time goes here, and many choices lead to the same others.
        """
        others = {i: choice[i] for i in sorted(choice) if i != factor}
        key = factor, price, *((i, flags.tobytes()) for i, flags in others.items())
        if key not in self._widened:
            self._widened[key] = self._widen(factor, self._matched(others), price)
        return self._widened[key]

    def _widen(self, factor: int, lines: BoolArray, price: float) -> BoolArray:
        """Choose the best level of a factor on some lines, and add levels as long as they help.

        `price` is that of a passing case.
        """
        matched = self._cases(self._levels[self._rows[factor]] & lines)
        floats = matched.astype(np.float32)
        weights = self._fails - price * self._passes
        is_useful = floats @ self._fails > 0
        is_present = self._is_present[self._rows[factor]]
        least = 1 if is_present.sum() > 1 else 0
        flags = np.zeros(len(matched), bool)
        cases = np.zeros(matched.shape[1], bool)
        best, best_flags = -np.inf, flags
        most = float(self._fails @ np.any(matched, axis=0))
        # All levels but one may cost no more than two, so that more levels may be worth it. These
        # explain all failures at best, and keep the passing cases so far.
        while (is_useful & ~flags).any() and most - price * (self._passes @ cases) > best:
            values = float(weights @ cases) + floats @ (weights * ~cases)
            values[flags | ~is_useful] = -np.inf
            level = int(values.argmax())
            flags = flags.copy()
            flags[level] = True
            cases = cases | matched[level]
            choices = [(flags, cases)]
            if self._is_ordered[factor]:
                # A whole range is simpler than parts of it.
                whole = whole_range(flags)
                of_whole = (whole, np.any(matched[whole], axis=0))
                choices = [of_whole] if self._has_only_ranges[factor] else [*choices, of_whole]
            for choice, of_choice in choices:
                level_price = self._level_price + _LEVEL_SHARE * float(self._fails @ of_choice)
                value = float(weights @ of_choice)
                value -= level_price * self._extra_levels(factor, choice)
                # A choice of all levels would only say that there is one.
                if value > best and (is_present & ~choice).sum() >= least:
                    best, best_flags = value, choice
            if self._is_separate[factor]:
                break
        return best_flags

    def _extra_levels(self, factor: int, flags: BoolArray) -> int:
        """Return how many levels after the first it takes to state a choice.

        Numbers next to one another are a range, which its bounds state. Where no point has two
        levels, a choice can state the levels that it leaves out.
        """
        chosen = flags[self._is_present[self._rows[factor]]]
        count = int(np.count_nonzero(chosen))
        bounds = int(np.count_nonzero(chosen[1:] != chosen[:-1]))
        extra = [count - 1]
        extra += [len(chosen) - count] if self._is_exclusive[factor] else []
        extra += [bounds] if self._is_ordered[factor] and bounds <= _MAX_BOUNDS else []
        return min(extra)


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
