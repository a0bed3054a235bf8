"""One spec's table of factors: rows of levels, and the call that a row draws."""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any

from opcert.generator.arrays.calls import BUILDERS, Call, Tensor
from opcert.generator.cases.choices import Choices, Constraint, Row, choices_of
from opcert.generator.cases.cover import covering_array
from opcert.generator.errors import ExpressionError, did_you_mean
from opcert.generator.specification.expressions import (
    FUNCTIONS,
    Expression,
    Functions,
    condition,
    evaluate,
    parse,
    shown,
)
from opcert.generator.specification.model import Levels, Spec
from opcert.generator.specification.samplers import Sampler, bound


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


class InputSpace:
    """The factors of a spec with their levels."""

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self._spec = spec
        self._fixed = spec.fixed_names
        self.factors = {
            name: levels_of(levels, self._fixed)
            for name, levels in spec.cases.levels(profile).items()
        }
        self._position = {name: i for i, name in enumerate(self.factors)}
        self._needs: dict[str, tuple[str, ...]] = {}
        for name, levels in self.factors.items():
            needed = frozenset().union(*(self._behind(each.value) for each in levels))
            self._needs[name] = tuple(sorted(needed, key=self._position.__getitem__))
        self._values: dict[tuple[object, ...], Any] = {}

    def _behind(self, expression: Expression) -> frozenset[str]:
        """Return the factors that `expression` needs the values of, through others too."""
        direct = expression.names & self.factors.keys()
        return direct.union(*(self._needs[factor] for factor in direct))

    def level_names(self, row: Row) -> dict[str, str]:
        """Return the name of each factor's level in `row`."""
        chosen = zip(self.factors.items(), row, strict=True)
        return {factor: levels[i].name for (factor, levels), i in chosen}

    def rows(self, t: int) -> list[Row]:
        """Cover every possible t-tuple of levels, and what the spec wants together.

        First where the output can tell. Then what only one masked condition admits, one condition
        after the other, so that they do not hide each other; what is left comes last.
        """
        choices, telling = self.choices()
        masks = self._masks
        alone = [
            choices.admitting([mask for mask in masks if mask is not admitted])
            for admitted in masks
        ]
        wanted = self._spec.cases.together
        together = [tuple(sorted(map(self._position.__getitem__, group))) for group in wanted]
        rows: list[Row] = []
        for each in (telling, *alone, choices):
            rows = covering_array(each, t, rows, together)
        return rows

    def choices(self) -> tuple[Choices, Choices]:
        """Return every row that can be, and those of them whose output can tell.

        Raises:
            ExpressionError: too many factors hang together by conditions.
        """
        sizes = [len(levels) for levels in self.factors.values()]
        table = self._spec.cases
        possible = [
            *(self._without(text) for text in table.unless),
            *(self._following(factor, text) for factor, text in table.follows.items()),
        ]
        try:
            choices = choices_of(sizes, possible, ties=self._masks)
        except ValueError as error:
            raise ExpressionError(str(error), ("cases", "unless")) from None
        return choices, choices.admitting(self._masks)

    @cached_property
    def _masks(self) -> list[Constraint]:
        return [self._without(text) for text in self._spec.cases.masked]

    def is_masked(self, row: Row) -> bool:
        """Whether the output of a call of `row` cannot tell."""
        chosen = ((mask, tuple(row[i] for i in mask.factors)) for mask in self._masks)
        return not all(mask.allows(levels) for mask, levels in chosen)

    def _without(self, forbidden: str) -> Constraint:
        """Allow what a condition does not forbid."""
        factors, forbids = self._asked(forbidden, condition)
        return Constraint(factors, lambda chosen: not forbids(chosen))

    def _following(self, factor: str, text: str) -> Constraint:
        """Allow of `factor` the level alone that an expression over other factors names."""
        factors, followed = self._asked(text, evaluate)
        names = [level.name for level in self.factors[factor]]

        def allows(chosen: Row) -> bool:
            name = followed(chosen[:-1])
            if name not in names:
                found = f"{shown(text)} is {shown(name)}{did_you_mean(str(name), names)}"
                raise ExpressionError(found, ("cases", "follows", factor))
            return bool(names[chosen[-1]] == name)

        return Constraint((*factors, self._position[factor]), allows)

    def _asked(
        self, text: str, ask: Callable[[Expression, Mapping[str, Any], Functions], Any]
    ) -> tuple[tuple[int, ...], Callable[[Row], Any]]:
        """Return the factors that `text` is about, and what it gives for a choice of their levels.

        It is evaluated once for each of the values that choices come to.
        """
        expression = parse(text)
        levels = level_uses(expression)
        order = sorted(self._behind(expression) | levels, key=self._position.__getitem__)
        named = sorted(expression.names & self.factors.keys())
        known: dict[tuple[Any, ...], Any] = {}

        @cache
        def given(chosen: Row) -> Any:
            row = dict(zip(order, chosen, strict=True))
            key = (*(self._value(each, row) for each in named), *(row[each] for each in levels))
            if key not in known:
                known[key] = ask(expression, self.names(row, named), FUNCTIONS)
            return known[key]

        return tuple(self._position[factor] for factor in order), given

    def _value(self, factor: str, row: Mapping[str, int]) -> Any:
        """Return the value of the factor's level in `row`, which has all that it builds on."""
        needed = self._needs[factor]
        key = (factor, row[factor], *[row[each] for each in needed])
        if key not in self._values:
            level = self.factors[factor][row[factor]]
            value = evaluate(level.value, self._with_values(row, needed), FUNCTIONS)
            if not isinstance(value, bool | int | float | str):
                text = f"{shown(value)}; expected a number or text as the value of a level"
                raise ExpressionError(text, ("cases", "factors", factor, level.name))
            self._values[key] = value
        return self._values[key]

    def _with_values(self, row: Mapping[str, int], factors: Iterable[str]) -> dict[str, Any]:
        return {**self._fixed, **{each: self._value(each, row) for each in factors}}

    def names(self, row: Mapping[str, int], factors: Iterable[str]) -> dict[str, Any]:
        """Return what expressions see of `row`: the values of `factors`, and each `level`."""
        chosen = {factor: self.factors[factor][i].name for factor, i in row.items()}
        return {**self._with_values(row, factors), "level": SimpleNamespace(**chosen)}

    def call(self, row: Row, seed: str, sampler: Sampler | None = None) -> Call:
        """Draw the call of `row`, each draw from a seed of its own, or all with `sampler`.

        Raises:
            ExpressionError, Inapplicable: an expression fails on this row.
        """
        table = self._spec.cases
        names = self.names(dict(zip(self.factors, row, strict=True)), self.factors)
        sampler = sampler or Sampler()
        functions = {**FUNCTIONS, **bound(sampler)}
        for name, text in table.draw.items():
            sampler.reseed(f"{seed}|{name}")
            names[name] = evaluate(parse(text), names, functions)
        built = {
            name: evaluate(parse(text), names, {**FUNCTIONS, **BUILDERS})
            for name, text in {**table.inputs, **table.attributes}.items()
        }
        return self._call_of(built)

    def _call_of(self, built: Mapping[str, Any]) -> Call:
        def chosen(wanted: Mapping[str, str]) -> dict[str, Any]:
            return {name: built[name] for name in wanted if built[name] is not None}

        inputs = chosen(self._spec.cases.inputs)
        for name, value in inputs.items():
            if not isinstance(value, Tensor):
                expected = "expected a tensor: filled(), tensor(), listed() or scalar()"
                raise ExpressionError(f"{shown(value)}; {expected}", ("cases", "inputs", name))
        return Call(inputs, chosen(self._spec.cases.attributes))


def level_uses(expression: Expression) -> frozenset[str]:
    """Return the factors whose level, not whose value, `expression` asks for."""
    return frozenset(
        node.attr
        for node in ast.walk(expression.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "level"
    )
