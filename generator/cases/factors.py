"""The factors of a spec: their levels, and the values that levels have beside others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from opcert.errors import ExpressionError
from opcert.roles import Factor
from opcert.specification import (
    EXPRESSION_FUNCTIONS,
    Expression,
    Levels,
    Spec,
    abbreviate,
    evaluate,
    parse_expression,
)


@dataclass(frozen=True)
class Level:
    """One level of a factor, and its value given the values of the factors that it builds on."""

    name: str
    needs: tuple[str, ...]
    value: Callable[[Mapping[str, Any]], Any]


def levels_by_factor(spec: Spec, profile: str) -> dict[str, tuple[Level, ...]]:
    """Return the levels of every factor: those of roles, then those that the spec writes out."""
    fixed = spec.fixed_names
    factors = {factor.name: _levels_of_role(factor) for factor in role_factors(spec, profile)}
    table = spec.cases
    for name, levels in table.levels(profile).items():
        factors[name] = tuple(_written(levels, fixed, {*factors, name}))
    for name, more in table.additional.items():
        if name in factors and profile != "stress":
            factors[name] += tuple(_written(more, fixed, factors.keys()))
    return factors


def role_factors(spec: Spec, profile: str) -> Iterator[Factor]:
    """Yield the factors of the spec's roles."""
    for role in spec.bound_roles:
        yield from role.factors(profile)


def _levels_of_role(factor: Factor) -> tuple[Level, ...]:
    def computed(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Any]:
        return lambda known: function(*[known[name] for name in factor.depends_on])

    def constant(value: Any) -> Callable[[Mapping[str, Any]], Any]:
        return lambda _: value

    return tuple(
        Level(name, factor.depends_on, computed(value))
        if callable(value)
        else Level(name, (), constant(value))
        for name, value in factor.levels.items()
    )


def _written(levels: Levels, fixed: Mapping[str, Any], factors: Iterable[str]) -> Iterator[Level]:
    """Yield the levels that a mapping names, or that an expression lists."""
    known = set(factors)
    if isinstance(levels, str):
        values = evaluate(parse_expression(levels), fixed, EXPRESSION_FUNCTIONS)
        levels = {str(value): repr(value) for value in values}

    def evaluated(expression: Expression) -> Callable[[Mapping[str, Any]], Any]:
        return lambda values: evaluate(expression, {**fixed, **values}, EXPRESSION_FUNCTIONS)

    for name, text in levels.items():
        expression = parse_expression(text)
        needs = tuple(sorted(expression.names & known))
        value = evaluated(expression)
        if not needs:
            yield Level(name, (), _once(value))
        else:
            yield Level(name, needs, value)


def _once(value: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Return what evaluates a constant the first time that it is asked for."""
    known: list[Any] = []

    def constant(_: Mapping[str, Any]) -> Any:
        if not known:
            known.append(value({}))
        return known[0]

    return constant


class Factors:
    """The factors of a spec in one profile, by name and by position."""

    def __init__(self, spec: Spec, profile: str) -> None:
        self.fixed = spec.fixed_names
        self.levels = levels_by_factor(spec, profile)
        self.sizes = [len(levels) for levels in self.levels.values()]
        self.position = {name: i for i, name in enumerate(self.levels)}
        # The factors that the value of each one builds on, through others too.
        self.needs: dict[str, tuple[str, ...]] = {}
        for name, levels in self.levels.items():
            self.needs[name] = self.ordered(
                each for level in levels for each in self.behind(level.needs)
            )
        self._values: dict[tuple[object, ...], Any] = {}

    def behind(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of `names` that are factors, and what their values build on."""
        direct = frozenset(names) & self.levels.keys()
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
            value = level.value({each: self.value(each, row) for each in needed})
            if not isinstance(value, bool | int | float | str):
                text = f"{abbreviate(value)}; expected a number or text as the value of a level"
                raise ExpressionError(text, ("cases", "factors", factor, level.name))
            self._values[key] = value
        return self._values[key]

    def level_names(self, row: Mapping[str, int]) -> SimpleNamespace:
        """Return what expressions see as `level`: the name of each level in `row`."""
        return SimpleNamespace(**{name: self.levels[name][i].name for name, i in row.items()})


class RowChoice:
    """A row of levels as roles see it: the value, or the name, of each factor's level."""

    def __init__(self, factors: Factors, row: Mapping[str, int]) -> None:
        self._factors = factors
        self._row = row

    def __getitem__(self, factor: str) -> Any:
        return self._factors.value(factor, self._row)

    def level(self, factor: str) -> str:
        """Return the name of the factor's level; an empty text where there is no such factor."""
        if factor not in self._row:
            return ""
        return self._factors.levels[factor][self._row[factor]].name
