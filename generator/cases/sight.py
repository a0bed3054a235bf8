"""Which levels show in a drawn call: told from its data, not from the row that it was drawn for."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcert.generator.arrays.calls import Call
from opcert.generator.cases.conditions import Conditions
from opcert.generator.cases.factors import Level, levels_of
from opcert.generator.errors import ExpressionError, Inapplicable
from opcert.generator.specification.expressions import (
    FUNCTIONS,
    evaluate,
    evaluate_in,
    holds_in,
    parse,
    scope_of,
)
from opcert.generator.specification.model import Spec
from opcert.generator.specification.yaml_source import SpecPath


class Sights:
    """The places of calls at which the factors of a spec show."""

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self.spec = spec
        self.conditions = Conditions(spec)
        self.fixed = spec.fixed_names
        self.levels = {
            factor: {level.name: level for level in levels_of(levels, self.fixed)}
            for factor, levels in spec.cases.levels(profile).items()
        }
        # By the text of a level's value, the factors that it builds on.
        self.needs = {
            level.value.text: tuple(level.value.names & self.levels.keys())
            for levels in self.levels.values()
            for level in levels.values()
        }
        self._values: dict[str, Any] = {}
        # The factors whose levels can be told from a call.
        self.factors = [factor for factor in self.levels if factor in spec.cases.seen]

    def of(self, call: Call) -> Iterator["Sight"]:
        """Yield the sight of `call` from each of the places that the spec names.

        Raises:
            ExpressionError: the places cannot be told.
        """
        names = self.conditions.names(call)
        places: list[dict[str, Any]] = [{}]
        for name, text in self.spec.cases.seen_at.items():
            place: SpecPath = ("cases", "seen_at", name)
            try:
                places = [{name: each} for each in evaluate(parse(text), names, FUNCTIONS)]
            except (ExpressionError, Inapplicable, TypeError) as error:
                raise ExpressionError(str(error), place) from None
        for each in places:
            yield Sight(self, {**names, **each})

    def unseen(self, call: Call, levels: Mapping[str, str]) -> list[str]:
        """Return which of `levels`, by factor, the best sight of `call` does not show.

        Raises:
            ExpressionError: a level cannot be told.
        """
        best = self.factors
        for sight in self.of(call):
            missing = [factor for factor in self.factors if not sight.shows(factor, levels[factor])]
            if not missing:
                return []
            if len(missing) < len(best) or best is self.factors:
                best = missing
        return best

    def value(self, level: Level, known: Mapping[str, Any]) -> Any:
        """Return the value of `level`, given the values of the factors that it builds on.

        Raises:
            ExpressionError, Inapplicable: it has none.
        """
        if known:
            return evaluate(level.value, {**self.fixed, **known}, FUNCTIONS)
        text = level.value.text
        if text not in self._values:
            self._values[text] = evaluate(level.value, self.fixed, FUNCTIONS)
        return self._values[text]


class Sight:
    """What shows of each factor from one place of a call."""

    def __init__(self, sights: Sights, names: Mapping[str, Any]) -> None:
        self._sights = sights
        self._scope = scope_of(names)
        self._values: dict[str, Any] = {}
        for name, seen in sights.spec.cases.seen.items():
            if isinstance(seen, str):
                value = self._evaluated(name, seen)
                if name in sights.levels:
                    self._values[name] = value
                else:
                    self._scope[name] = value

    def _evaluated(self, name: str, text: str) -> Any:
        """Return a value, or None where the call does not have it."""
        try:
            return evaluate_in(self._scope, parse(text))
        except Inapplicable:
            return None
        except ExpressionError as error:
            raise ExpressionError(str(error), ("cases", "seen", name)) from None

    def levels(self, factor: str) -> frozenset[str]:
        """Return the levels of `factor` that show."""
        return frozenset(name for name in self._sights.levels[factor] if self.shows(factor, name))

    def shows(self, factor: str, level: str) -> bool:
        """Whether a level shows.

        Raises:
            ExpressionError: it cannot be told.
        """
        seen = self._sights.spec.cases.seen[factor]
        if isinstance(seen, str):
            found = self._values[factor]
            wanted = self._wanted(self._sights.levels[factor][level])
            return wanted is not None and (
                found == wanted or (isinstance(found, tuple) and wanted in found)
            )
        try:
            return holds_in(self._scope, parse(seen[level]))
        except ExpressionError as error:
            raise ExpressionError(str(error), ("cases", "seen", factor, level)) from None

    def _wanted(self, level: Level) -> Any:
        """Return the value of `level`, given what shows of the factors that it builds on."""
        try:
            needed = self._sights.needs[level.value.text]
            return self._sights.value(level, {factor: self._value(factor) for factor in needed})
        except (ExpressionError, Inapplicable):
            return None

    def _value(self, factor: str) -> Any:
        """Return the value of a factor, where conditions tell its level that of the level."""
        if factor not in self._values:
            shown = [
                self._wanted(level)
                for name, level in self._sights.levels[factor].items()
                if factor in self._sights.factors and self.shows(factor, name)
            ]
            self._values[factor] = shown[0] if shown else None
        return self._values[factor]
