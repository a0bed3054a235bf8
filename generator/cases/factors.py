"""The factors of a spec: their levels, and the values of levels that depend on other factors."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from opcert.roles.factors import Factor
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
from opcert.specification.expressions import evaluate, parse_expression
from opcert.specification.model import Spec

# The value of a level, given the values of the factors that it depends on.
LevelValue = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Level:
    """One level of a factor: its name, the factors that its value depends on, and the value."""

    name: str
    depends_on: tuple[str, ...]
    value: LevelValue


def role_factors(spec: Spec, profile: str) -> Iterator[Factor]:
    """Yield the factors that the roles of a spec's arguments contribute."""
    for role in spec.bound_roles:
        yield from role.factors(profile)


def levels_by_factor(spec: Spec, profile: str) -> dict[str, tuple[Level, ...]]:
    """Return the levels of each factor: those of its role first, then the additional ones."""
    factors = {factor.name: _role_levels(factor) for factor in role_factors(spec, profile)}
    for name, additional in spec.cases.additional.items():
        if name in factors and profile != "stress":
            for level, text in additional.items():
                value = evaluate(parse_expression(text), spec.fixed_names, EXPRESSION_FUNCTIONS)
                factors[name] += (Level(level, (), partial(_constant, value)),)
    return factors


def _constant(value: Any, _: Mapping[str, Any]) -> Any:
    return value


def _role_levels(factor: Factor) -> tuple[Level, ...]:
    def computed(function: Callable[..., Any]) -> LevelValue:
        return lambda values: function(*[values[name] for name in factor.depends_on])

    return tuple(
        Level(name, factor.depends_on, computed(value))
        if callable(value)
        else Level(name, (), partial(_constant, value))
        for name, value in factor.levels.items()
    )


class FactorLevels:
    """The factors of a spec in one profile, by name and by position."""

    def __init__(self, spec: Spec, profile: str) -> None:
        self.fixed = spec.fixed_names
        self.levels = levels_by_factor(spec, profile)
        self.sizes = [len(levels) for levels in self.levels.values()]
        self.position = {name: i for i, name in enumerate(self.levels)}
        # By factor, the factors that its value depends on, directly or through others.
        self.dependencies: dict[str, tuple[str, ...]] = {}
        for name in self.levels:
            self._add_dependencies(name)
        self._values: dict[tuple[object, ...], Any] = {}

    def _add_dependencies(self, name: str) -> None:
        """Add the dependencies of a factor, after those of the factors that it depends on."""
        direct = {factor for level in self.levels[name] for factor in level.depends_on}
        for factor in sorted(direct & self.levels.keys() - self.dependencies.keys()):
            self._add_dependencies(factor)
        self.dependencies[name] = self.in_order(self.with_dependencies(direct))

    def with_dependencies(self, names: Iterable[str]) -> frozenset[str]:
        """Return the factors among `names`, and all factors that their values depend on."""
        direct = frozenset(names) & self.levels.keys()
        return direct.union(*(self.dependencies[factor] for factor in direct))

    def in_order(self, factors: Iterable[str]) -> tuple[str, ...]:
        """Return each of `factors` once, in the order of the table."""
        return tuple(sorted(set(factors), key=self.position.__getitem__))

    def value(self, factor: str, row: Mapping[str, int]) -> Any:
        """Return the value of a factor in a row: the index of a level, by factor.

        Raises:
            Inapplicable: it has none.
        """
        dependencies = self.dependencies[factor]
        key = (factor, row[factor], *[row[name] for name in dependencies])
        if key not in self._values:
            level = self.levels[factor][row[factor]]
            self._values[key] = level.value({name: self.value(name, row) for name in dependencies})
        return self._values[key]


class RowChoice:
    """A row of levels as roles see it: the value, or the name, of each factor's level."""

    def __init__(self, factors: FactorLevels, row: Mapping[str, int]) -> None:
        self._factors = factors
        self._row = row

    def __getitem__(self, factor: str) -> Any:
        return self._factors.value(factor, self._row)

    def level(self, factor: str) -> str:
        """Return the name of the factor's level; an empty text where there is no such factor."""
        if factor not in self._row:
            return ""
        return self._factors.levels[factor][self._row[factor]].name
