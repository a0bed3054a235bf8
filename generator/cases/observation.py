"""Finished call -> the levels that it exhibits, determined without the row it was built for."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcert.arrays.calls import Call
from opcert.cases.conditions import Conditions
from opcert.cases.factors import Level, levels_by_factor, role_factors
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.factors import ObservationPoint, ObservedLevels
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
from opcert.specification.expressions import (
    evaluate,
    evaluate_condition_in,
    evaluate_in,
    evaluation_scope,
    parse_expression,
)
from opcert.specification.model import Spec


class Observer:
    """Observes the levels of a spec's factors in calls.

    A call may exhibit levels at several points, such as each axis that is sliced: each point is
    observed by itself, so that levels count as combined only where they occur together.
    """

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self.spec = spec
        self.conditions = Conditions(spec)
        self.levels = {
            factor: {level.name: level for level in levels}
            for factor, levels in levels_by_factor(spec, profile).items()
        }
        observable = {factor.name for factor in role_factors(spec, profile)}
        observable |= spec.cases.observe.keys()
        # The factors that can be observed, in their order.
        self.factors = [factor for factor in self.levels if factor in observable]

    def observe(self, call: Call) -> Iterator["Observation"]:
        """Yield the observation of `call` at each of its points.

        Raises:
            ExpressionError: an expression of the spec cannot be evaluated on the call.
        """
        names = self.conditions.names(call)
        for point in self._observation_points(call):
            observed = self._observed_by_roles(call, point)
            for name, text in self.spec.cases.places.items() or [("", "[0]")]:
                try:
                    expression = parse_expression(text)
                    places = list(evaluate(expression, names, EXPRESSION_FUNCTIONS))
                except (ExpressionError, Inapplicable, TypeError) as error:
                    raise ExpressionError(str(error), ("cases", "places", name)) from None
                for place in places:
                    yield Observation(self, {**names, name: place} if name else names, observed)

    def _observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return each combination of the points at which roles observe a call."""
        points: list[ObservationPoint] = [{}]
        for role in self.spec.bound_roles:
            own = role.observation_points(call)
            if own:
                points = [{**point, **other} for point in points for other in own]
        # Where no role selects an axis, the levels of data are observed at each of them.
        tensors = [role for role in self.spec.bound_roles if isinstance(role, DataRole)]
        for number, data in enumerate(tensors):
            if data.axis_key not in points[0] and (not number or data.has_own_shape):
                points = [{**point, **axis} for point in points for axis in data.axis_points(call)]
        return points

    def _observed_by_roles(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        values: dict[str, Any] = {}
        levels: dict[str, frozenset[str]] = {}
        for role in self.spec.bound_roles:
            observed = role.observe(call, point)
            values.update(observed.values)
            levels.update(observed.levels)
        return ObservedLevels(values, levels)

    def unobserved(self, call: Call, levels: Mapping[str, str]) -> list[str]:
        """Return the factors whose level in `levels` the call does not exhibit.

        Of several points, the one at which the call exhibits the most levels counts.

        Raises:
            ExpressionError: an expression of the spec cannot be evaluated on the call.
        """
        fewest = self.factors
        for observation in self.observe(call):
            missing = [f for f in self.factors if not observation.exhibits(f, levels[f])]
            if not missing:
                return []
            if len(missing) < len(fewest):
                fewest = missing
        return fewest


class Observation:
    """The levels that a call exhibits at one point.

    A role reports levels or values of its factors. For a factor that the spec observes, it writes
    an expression of the value, or a condition for each level. Where values are observed, the call
    exhibits the levels with these values.
    """

    def __init__(
        self, observer: Observer, names: Mapping[str, Any], observed: ObservedLevels
    ) -> None:
        self._observer = observer
        self._written = observer.spec.cases.observe
        self._levels = observed.levels
        self._values: dict[str, Any] = dict(observed.values)
        self._scope = evaluation_scope(names)
        for name, text in self._written.items():
            if isinstance(text, str):
                value = self._evaluate(name, text)
                # A name that is not a factor can be used by the expressions after it.
                target = self._values if name in observer.levels else self._scope
                target[name] = value

    def _evaluate(self, name: str, text: str) -> Any:
        """Return the value of an expression, or None where the call does not have it."""
        try:
            return evaluate_in(self._scope, parse_expression(text))
        except Inapplicable:
            return None
        except ExpressionError as error:
            raise ExpressionError(str(error), ("cases", "observe", name)) from None

    def levels(self, factor: str) -> frozenset[str]:
        """Return the levels of `factor` that the call exhibits here."""
        levels = self._observer.levels[factor]
        return frozenset(name for name in levels if self.exhibits(factor, name))

    def exhibits(self, factor: str, level: str) -> bool:
        """Whether the call exhibits a level here.

        Raises:
            ExpressionError: an expression of the spec cannot be evaluated on the call.
        """
        if factor in self._levels:
            return level in self._levels[factor]
        written = self._written.get(factor, "")
        if isinstance(written, str):
            # A role may have no value at a point, such as the step that slices no axis.
            observed = self._values.get(factor)
            expected = self._level_value(self._observer.levels[factor][level])
            if expected is None:
                return False
            # One of several observed values is enough.
            is_one_of = isinstance(observed, tuple) and expected in observed
            return bool(observed == expected) or is_one_of
        try:
            return evaluate_condition_in(self._scope, parse_expression(written[level]))
        except ExpressionError as error:
            raise ExpressionError(str(error), ("cases", "observe", factor, level)) from None

    def _level_value(self, level: Level) -> Any:
        """Return the value of a level, given the observed values that it depends on, or None."""
        try:
            return level.value({factor: self._value(factor) for factor in level.depends_on})
        except (ExpressionError, Inapplicable):
            return None

    def _value(self, factor: str) -> Any:
        """Return the observed value of a factor: that of its level where levels are observed."""
        if factor not in self._values:
            levels = self._observer.levels[factor]
            is_observable = factor in self._observer.factors
            values = [
                self._level_value(level)
                for name, level in levels.items()
                if is_observable and self.exhibits(factor, name)
            ]
            self._values[factor] = values[0] if values else None
        return self._values[factor]
