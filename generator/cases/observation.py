"""Finished call -> the levels that it exhibits, determined without the row it was built for."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcert.arrays.calls import Call
from opcert.cases.conditions import Conditions
from opcert.cases.factors import Level, levels_by_factor
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.factors import ObservationPoint, ObservedLevels
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

    def unobserved(self, call: Call, levels: Mapping[str, str]) -> list[str]:
        """Return the factors whose level in `levels` the call does not exhibit.

        Of several points, the one at which the call exhibits the most levels counts.
        """
        fewest = [*self.levels]
        for observation in self.observe(call):
            missing = [f for f in self.levels if not observation.exhibits(f, levels[f])]
            if not missing:
                return []
            if len(missing) < len(fewest):
                fewest = missing
        return fewest


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
        levels = self._observer.levels[factor]
        return frozenset(name for name in levels if self.exhibits(factor, name))

    def exhibits(self, factor: str, level: str) -> bool:
        """Whether the call exhibits a level here."""
        if factor in self._levels:
            return level in self._levels[factor]
        # A role may have no value at a point, such as the step that slices no axis.
        observed = self._values.get(factor)
        expected = self._level_value(self._observer.levels[factor][level])
        if expected is None:
            return False
        # One of several observed values is enough.
        is_one_of = isinstance(observed, tuple) and expected in observed
        return bool(observed == expected) or is_one_of

    def _level_value(self, level: Level) -> Any:
        """Return the value of a level, given the observed values that it depends on, or None."""
        try:
            return level.value({factor: self._value(factor) for factor in level.depends_on})
        except Inapplicable:
            return None

    def _value(self, factor: str) -> Any:
        """Return the observed value of a factor: that of its level where levels are observed."""
        if factor not in self._values:
            levels = self._observer.levels[factor]
            values = [
                self._level_value(level)
                for name, level in levels.items()
                if self.exhibits(factor, name)
            ]
            self._values[factor] = values[0] if values else None
        return self._values[factor]
