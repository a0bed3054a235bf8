"""Which levels show in a drawn call: told from its data, not from the row that it was drawn for."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcert.arrays import Call
from opcert.cases.conditions import Conditions
from opcert.cases.factors import Level, levels_by_factor, role_factors
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles import DataRole, ObservationPoint, ObservedLevels
from opcert.specification import (
    EXPRESSION_FUNCTIONS,
    Spec,
    evaluate,
    evaluate_condition_in,
    evaluate_in,
    evaluation_scope,
    parse_expression,
)


class Observer:
    """The places of calls at which the factors of a spec show."""

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self.spec = spec
        self.conditions = Conditions(spec)
        self.levels = {
            factor: {level.name: level for level in levels}
            for factor, levels in levels_by_factor(spec, profile).items()
        }
        # The factors whose levels can be told from a call.
        of_roles = {factor.name for factor in role_factors(spec, profile)}
        observed = of_roles | spec.cases.observe.keys()
        self.factors = [factor for factor in self.levels if factor in observed]

    def observe(self, call: Call) -> Iterator["Observation"]:
        """Yield the observation of `call` from each of the places that the spec names.

        Raises:
            ExpressionError: the places cannot be told.
        """
        names = self.conditions.names(call)
        for focus in self._focuses(call):
            for text_name, text in self.spec.cases.places.items() or [("", "[0]")]:
                try:
                    places = list(evaluate(parse_expression(text), names, EXPRESSION_FUNCTIONS))
                except (ExpressionError, Inapplicable, TypeError) as error:
                    raise ExpressionError(str(error), ("cases", "places", text_name)) from None
                for place in places:
                    known = {**names, text_name: place} if text_name else names
                    yield Observation(self, known, self._observed(call, focus))

    def _focuses(self, call: Call) -> list[ObservationPoint]:
        """Return the places that roles look at: each of one with each of another."""
        observation_points: list[ObservationPoint] = [{}]
        for role in self.spec.bound_roles:
            own = role.observation_points(call)
            if own:
                observation_points = [
                    {**focus, **other} for focus in observation_points for other in own
                ]
        data = next((role for role in self.spec.bound_roles if isinstance(role, DataRole)), None)
        if data is not None and "axis" not in observation_points[0]:
            observation_points = [
                {**focus, **axis} for focus in observation_points for axis in data.axis_points(call)
            ]
        return observation_points

    def _observed(self, call: Call, focus: ObservationPoint) -> ObservedLevels:
        values: dict[str, Any] = {}
        levels: dict[str, frozenset[str]] = {}
        for role in self.spec.bound_roles:
            observed = role.observe(call, focus)
            values.update(observed.values)
            levels.update(observed.levels)
        return ObservedLevels(values, levels)

    def unobserved(self, call: Call, levels: Mapping[str, str]) -> list[str]:
        """Return which of `levels`, by factor, the best observation of `call` does not show.

        Raises:
            ExpressionError: a level cannot be told.
        """
        best = self.factors
        for observation in self.observe(call):
            missing = [
                factor for factor in self.factors if not observation.shows(factor, levels[factor])
            ]
            if not missing:
                return []
            if len(missing) < len(best) or best is self.factors:
                best = missing
        return best


class Observation:
    """What shows of each factor from one place of a call."""

    def __init__(
        self, observer: Observer, names: Mapping[str, Any], observed: ObservedLevels
    ) -> None:
        self._sights = observer
        self._scope = evaluation_scope(names)
        self._values: dict[str, Any] = dict(observed.values)
        self._levels = observed.levels
        for name, seen in observer.spec.cases.observe.items():
            if isinstance(seen, str):
                value = self._evaluated(name, seen)
                if name in observer.levels:
                    self._values[name] = value
                else:
                    self._scope[name] = value

    def _evaluated(self, name: str, text: str) -> Any:
        """Return a value, or None where the call does not have it."""
        try:
            return evaluate_in(self._scope, parse_expression(text))
        except Inapplicable:
            return None
        except ExpressionError as error:
            raise ExpressionError(str(error), ("cases", "observe", name)) from None

    def levels(self, factor: str) -> frozenset[str]:
        """Return the levels of `factor` that show."""
        return frozenset(name for name in self._sights.levels[factor] if self.shows(factor, name))

    def shows(self, factor: str, level: str) -> bool:
        """Whether a level shows.

        Raises:
            ExpressionError: it cannot be told.
        """
        if factor in self._levels:
            return level in self._levels[factor]
        seen = self._sights.spec.cases.observe.get(factor, "")
        if isinstance(seen, str):
            found = self._values[factor]
            wanted = self._wanted(self._sights.levels[factor][level])
            return wanted is not None and (
                found == wanted or (isinstance(found, tuple) and wanted in found)
            )
        try:
            return evaluate_condition_in(self._scope, parse_expression(seen[level]))
        except ExpressionError as error:
            raise ExpressionError(str(error), ("cases", "observe", factor, level)) from None

    def _wanted(self, level: Level) -> Any:
        """Return the value of `level`, given what shows of the factors that it builds on."""
        try:
            return level.value({factor: self._value(factor) for factor in level.needs})
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
