"""The levels that finished calls exhibit: causes of failures name them."""

from collections.abc import Iterator
from typing import Any

from opcert.arrays.calls import Call
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.factors import Factor, ObservationPoint, ObservedLevels
from opcert.specification.model import Spec


class Observer:
    """Observes the levels of a spec's factors in calls.

    A call may exhibit levels at several points, such as each axis that is sliced: each point is
    observed by itself, so that levels count as combined only where they occur together.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.factors = {f.name: f for role in spec.bound_roles for f in role.factors()}

    def observe(self, call: Call) -> Iterator["Observation"]:
        """Yield the observation of `call` at each of its points."""
        for point in self._observation_points(call):
            yield Observation(self, self._observed_by_roles(call, point))

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


class Observation:
    """The levels that a call exhibits at one point.

    A role reports levels or values of its factors. Where values are observed, the call exhibits the
    levels with these values.
    """

    def __init__(self, observer: Observer, observed: ObservedLevels) -> None:
        self._observer = observer
        self._levels = observed.levels
        self._values: dict[str, Any] = dict(observed.values)

    def levels(self, factor: str) -> frozenset[str]:
        """Return the levels of `factor` that the call exhibits here."""
        names = self._observer.factors[factor].levels
        return frozenset(name for name in names if self.exhibits(factor, name))

    def exhibits(self, factor: str, level: str) -> bool:
        """Whether the call exhibits a level here."""
        if factor in self._levels:
            return level in self._levels[factor]
        # A role may have no value at a point, such as the step that slices no axis.
        observed = self._values.get(factor)
        expected = self._level_value(self._observer.factors[factor], level)
        if expected is None:
            return False
        # One of several observed values is enough.
        is_one_of = isinstance(observed, tuple) and expected in observed
        return bool(observed == expected) or is_one_of

    def _level_value(self, factor: Factor, level: str) -> Any:
        """Return the value of a level, given the observed values that it depends on, or None."""
        value = factor.levels[level]
        try:
            return value(*map(self._value, factor.depends_on)) if callable(value) else value
        except Inapplicable:
            return None

    def _value(self, name: str) -> Any:
        """Return the observed value of a factor: that of its level where levels are observed."""
        if name not in self._values:
            factor = self._observer.factors[name]
            exhibited = [level for level in factor.levels if self.exhibits(name, level)]
            self._values[name] = self._level_value(factor, exhibited[0]) if exhibited else None
        return self._values[name]
