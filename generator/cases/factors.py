"""The factors of a spec: their levels, and the values that levels have beside others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from opcert.generator.errors import ExpressionError
from opcert.generator.specification.expressions import (
    FUNCTIONS,
    Expression,
    evaluate,
    parse,
    shown,
)
from opcert.generator.specification.model import Levels, Spec


@dataclass(frozen=True)
class Level:
    """One level of a factor: its name, and its value as an expression over earlier factors."""

    name: str
    value: Expression


def levels_of(levels: Levels, fixed: Mapping[str, Any]) -> tuple[Level, ...]:
    """Return the levels of a factor: those that a mapping names, or that an expression lists."""
    if isinstance(levels, str):
        values = evaluate(parse(levels), fixed, FUNCTIONS)
        return tuple(Level(str(value), parse(repr(value))) for value in values)
    return tuple(Level(name, parse(value)) for name, value in levels.items())


class Factors:
    """The factors of a spec in one profile, by name and by position."""

    def __init__(self, spec: Spec, profile: str) -> None:
        self.fixed = spec.fixed_names
        self.levels = {
            name: levels_of(levels, self.fixed)
            for name, levels in spec.cases.levels(profile).items()
        }
        self.sizes = [len(levels) for levels in self.levels.values()]
        self.position = {name: i for i, name in enumerate(self.levels)}
        # The factors that the value of each one builds on, through others too.
        self.needs: dict[str, tuple[str, ...]] = {}
        for name, levels in self.levels.items():
            self.needs[name] = self.ordered(each for lv in levels for each in self.behind(lv.value))
        self._values: dict[tuple[object, ...], Any] = {}

    def behind(self, expression: Expression) -> frozenset[str]:
        """Return the factors that `expression` needs the values of, through others too."""
        direct = expression.names & self.levels.keys()
        return direct.union(*(self.needs[factor] for factor in direct))

    def ordered(self, factors: Iterable[str]) -> tuple[str, ...]:
        """Return each of `factors` once, in the spec's order."""
        return tuple(sorted(set(factors), key=self.position.__getitem__))

    def value(self, factor: str, row: Mapping[str, int]) -> Any:
        """Return the value of the factor's level in `row`, which has all that it builds on.

        Raises:
            ExpressionError, Inapplicable: it has none.
        """
        needed = self.needs[factor]
        key = (factor, row[factor], *[row[each] for each in needed])
        if key not in self._values:
            level = self.levels[factor][row[factor]]
            known = {each: self.value(each, row) for each in needed}
            value = evaluate(level.value, {**self.fixed, **known}, FUNCTIONS)
            if not isinstance(value, bool | int | float | str):
                text = f"{shown(value)}; expected a number or text as the value of a level"
                raise ExpressionError(text, ("cases", "factors", factor, level.name))
            self._values[key] = value
        return self._values[key]

    def level_names(self, row: Mapping[str, int]) -> SimpleNamespace:
        """Return what expressions see as `level`: the name of each level in `row`."""
        return SimpleNamespace(**{name: self.levels[name][i].name for name, i in row.items()})
