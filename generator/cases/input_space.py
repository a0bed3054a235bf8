"""The input space of a spec: rows that cover it, their calls, and the levels that calls exhibit."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from opcert.arrays.calls import Call, flatten_variadic
from opcert.cases.conditions import Conditions
from opcert.cases.level_constraints import (
    FactorLevels,
    Level,
    RowChoice,
    constraint_from_expression,
    constraint_from_role,
    derivation_from_role,
    levels_by_factor,
)
from opcert.combinatorics.covering_arrays import covering_array
from opcert.combinatorics.feasible_rows import FeasibleRows, solve_constraints
from opcert.combinatorics.tables import LevelConstraint, Row
from opcert.errors import ExpressionError, Inapplicable, Mistake, SpecError
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    ObservationPoint,
    ObservedLevels,
    is_plain_value,
)
from opcert.specification.expressions import abbreviate, evaluate, parse_expression
from opcert.specification.files import SpecFile
from opcert.specification.model import Example, Spec
from opcert.yaml_files import YamlPath


@dataclass(frozen=True)
class Change:
    """The one change in which a call differs from its baseline.

    `kind` names the mutation, the violation of the spec, or the respect in which neighbours differ.
    Only a mutation has an `argument`, and a `position` if it changes one of several elements.
    """

    kind: str
    argument: str = ""
    position: str = ""


@dataclass(frozen=True)
class Case:
    """One call and what it expects.

    A positive case is a valid call. A negative case violates `violated_rule` and differs in one
    `change` from a valid call, its `baseline`; `extra_behaviours` are those that it exhibits and
    its baseline does not. A neighbour is a valid call with a `baseline`. A case with an
    `ambiguity` expects what the reference does, and never decides a certificate.

    `place` is the path in the spec at which a mistake in the case is reported. `rules` are the full
    ids of the rules that the case exercises; `levels` names the level of each factor.
    """

    id: str
    call: Call
    place: YamlPath
    rules: tuple[str, ...]
    levels: Mapping[str, str] = field(default_factory=dict)
    violated_rule: str | None = None
    baseline: str | None = None
    change: Change | None = None
    extra_behaviours: tuple[str, ...] = ()
    ambiguity: str | None = None
    feature_levels: tuple[str, ...] = ()
    example: Example | None = None


def short_digest(text: str) -> str:
    """Return eight hexadecimal digits, for unique ids and for a reproducible random order."""
    return sha256(text.encode()).hexdigest()[:8]


class MistakeLog:
    """The mistakes that cases reveal in one spec: the first one at each place."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._mistakes: dict[YamlPath, Mistake] = {}

    def __contains__(self, place: YamlPath) -> bool:
        return place in self._mistakes

    def add(self, place: YamlPath, text: str) -> None:
        """Record a mistake, unless there is one at its place already."""
        self._mistakes.setdefault(place, self._file.mistake(place, text))

    @contextmanager
    def collect(self, place: YamlPath, context: str = "") -> Iterator[None]:
        """Record an error of an expression in the block, and continue after the block."""
        try:
            yield
        except (ExpressionError, Inapplicable) as error:
            self.add(getattr(error, "place", ()) or place, f"{error}{context}")

    def raise_if_any(self) -> None:
        """Raise the recorded mistakes.

        Raises:
            SpecError: there are some.
        """
        if self._mistakes:
            raise SpecError([*self._mistakes.values()])


class InputSpace:
    """The factors of a spec with their levels, and the rows that its constraints allow."""

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self._spec = spec
        self._profile = profile
        self._table = FactorLevels(spec, profile)
        self.factors = self._table.levels

    def level_names(self, row: Row) -> dict[str, str]:
        """Return the name of each factor's level in `row`."""
        return {
            factor: levels[index].name
            for (factor, levels), index in zip(self.factors.items(), row, strict=True)
        }

    def rows(self, t: int, discriminates: Callable[[Row], bool] = lambda _: True) -> list[Row]:
        """Return rows that cover each feasible combination of t levels, and full combinations.

        A row whose output cannot reveal a fault tests nothing: some of its levels mask the others.
        The first rows therefore have no masking levels, and count only if `discriminates` accepts
        them. Next come the combinations that need a masking condition, one condition at a time,
        since two of them in one row would mask each other. Combinations that need several come
        last.
        """
        feasible, unmasked = self.feasible_rows()
        position = self._table.position
        groups = [
            tuple(sorted(position[factor] for factor in group))
            for group in self.full_combinations()
        ]
        rows = covering_array(unmasked, t, [], groups, discriminates)
        for masking in self._masking_constraints:
            others = [other for other in self._masking_constraints if other is not masking]
            # Each of these rows violates `masking`: the others are covered already.
            masked_once = feasible.restricted_to(others, violating=masking)
            rows = covering_array(masked_once, t, rows, groups)
        return covering_array(feasible, t, rows, groups)

    def full_combinations(self) -> list[tuple[str, ...]]:
        """Return the groups of factors of which every combination is covered."""
        return [group for role in self._spec.bound_roles for group in role.full_combinations()]

    def feasible_rows(self) -> tuple[FeasibleRows, FeasibleRows]:
        """Return all feasible rows, and the feasible rows without masking levels.

        Raises:
            ExpressionError: the constraints connect too many factors.
        """
        table, masking = self._table, self._masking_constraints
        constraints: list[LevelConstraint] = []
        for role in self._spec.bound_roles:
            own = (*role.constraints(), *role.group_constraints(self._profile))
            constraints += [constraint_from_role(table, item) for item in own]
        for role in self._spec.bound_roles:
            constraints += [derivation_from_role(table, item) for item in role.derived_factors()]
        constraints += [
            constraint_from_expression(table, text) for text in self._spec.cases.constraints
        ]
        try:
            feasible = solve_constraints(table.sizes, constraints, restrictions=masking)
        except ValueError as error:
            raise ExpressionError(str(error), ("cases", "constraints")) from None
        return feasible, feasible.restricted_to(masking)

    @cached_property
    def _masking_constraints(self) -> list[LevelConstraint]:
        masking = (condition for role in self._spec.bound_roles for condition in role.masking())
        return [constraint_from_role(self._table, condition) for condition in masking]

    def call(self, row: Row, seed: str) -> Call:
        """Build the call of `row`; the values that the row does not determine are drawn.

        The seed of each draw consists of `seed` and the name of the draw, so that an additional
        draw changes no other.

        Raises:
            ExpressionError, Inapplicable: an expression fails on this row.
        """
        spec = self._spec
        indices = dict(zip(self.factors, row, strict=True))

        def evaluate_over_arguments(text: str) -> Any:
            names = parse_expression(text).names
            built = {r.name: r.build(context) for r in spec.bound_roles if r.name in names}
            return evaluate(text, {**self._table.fixed, **built})

        choice = RowChoice(self._table, indices)
        context = BuildContext(choice, seed, evaluate_over_arguments)
        arguments = {role.name: role.build(context) for role in spec.bound_roles}
        values = {factor: choice[factor] for factor in indices} if spec.cases.attributes else {}
        names = {**self._table.fixed, **values, **arguments}
        types = {item.name: item.type for item in spec.attributes}
        for name, text in spec.cases.attributes.items():
            value = evaluate(text, names)
            if value is not None and not is_plain_value(value, types[name]):
                problem = f"{abbreviate(value)}; expected a value of type {types[name]}"
                raise ExpressionError(problem, ("cases", "attributes", name))
            arguments[name] = value
        present = {name: value for name, value in arguments.items() if value is not None}
        inputs, attributes = (
            {item.name: present[item.name] for item in declared if item.name in present}
            for declared in (spec.inputs, spec.attributes)
        )
        return Call(flatten_variadic(inputs), attributes)


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
