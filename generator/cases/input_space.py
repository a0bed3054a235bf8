"""The input space of a spec: rows of levels that cover it, and the call that a row describes."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from opcert.arrays.calls import Call
from opcert.arrays.variadic import flatten_variadic
from opcert.cases.factors import FactorLevels, RowChoice
from opcert.cases.level_constraints import (
    constraint_from_expression,
    constraint_from_role,
    derivation_from_role,
)
from opcert.combinatorics.covering_arrays import covering_array
from opcert.combinatorics.feasible_rows import FeasibleRows, solve_constraints
from opcert.combinatorics.tables import LevelConstraint, Row
from opcert.errors import ExpressionError
from opcert.roles.argument import is_plain_value
from opcert.roles.factors import BuildContext
from opcert.roles.samplers import RandomSource
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
from opcert.specification.expressions import abbreviate, evaluate, parse_expression
from opcert.specification.model import Spec


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

    def call(self, row: Row, seed: str, random_source: RandomSource | None = None) -> Call:
        """Build the call of `row`; the values that the row does not determine are drawn.

        The seed of each draw consists of `seed` and the name of the draw, so that an additional
        draw changes no other. With a `random_source`, all draws use that instead.

        Raises:
            ExpressionError, Inapplicable: an expression fails on this row.
        """
        spec = self._spec
        indices = dict(zip(self.factors, row, strict=True))

        def evaluate_over_arguments(text: str) -> Any:
            expression = parse_expression(text)
            used = [role for role in spec.bound_roles if role.name in expression.names]
            built = {role.name: role.build(context) for role in used}
            return evaluate(expression, {**self._table.fixed, **built}, EXPRESSION_FUNCTIONS)

        choice = RowChoice(self._table, indices)
        context = BuildContext(choice, seed, evaluate_over_arguments, random_source)
        arguments = {role.name: role.build(context) for role in spec.bound_roles}
        values = {factor: choice[factor] for factor in indices} if spec.cases.attributes else {}
        names = {**self._table.fixed, **values, **arguments}
        types = {item.name: item.type for item in spec.attributes}
        for name, text in spec.cases.attributes.items():
            value = evaluate(parse_expression(text), names, EXPRESSION_FUNCTIONS)
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
