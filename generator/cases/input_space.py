"""The input space of a spec: rows of levels that cover it, and the call that a row describes."""

from collections.abc import Callable
from functools import cached_property

from opcert.arrays import TENSOR_BUILDERS, Call, Tensor
from opcert.cases.factors import FactorLevels, RowChoice
from opcert.cases.level_constraints import (
    constraint_from_expression,
    constraint_from_role,
    derivation_from_expression,
    derivation_from_role,
)
from opcert.combinatorics import (
    FeasibleRows,
    LevelConstraint,
    Row,
    covering_array,
    solve_constraints,
)
from opcert.errors import ExpressionError
from opcert.roles import BuildContext, RandomSource, Sampler, bound_draw_functions
from opcert.specification import Spec, abbreviate, evaluate_in, evaluation_scope, parse_expression


class InputSpace:
    """The factors of a spec with their levels, and the rows that its constraints allow."""

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self._spec = spec
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
        So the first rows have no masking levels, and only those count that `discriminates`
        accepts. Then come the combinations that need a masking condition, one condition at a time:
        two of them in one row would mask each other. What needs several comes last.
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
            # Of these rows each violates `masking`: without it, they are covered already.
            masked_once = feasible.restricted_to(others, violating=masking)
            rows = covering_array(masked_once, t, rows, groups)
        return covering_array(feasible, t, rows, groups)

    def full_combinations(self) -> list[tuple[str, ...]]:
        """Return the groups of factors of which every combination is covered."""
        groups = [group for role in self._spec.bound_roles for group in role.full_combinations()]
        return [*groups, *self._spec.cases.full_combinations]

    def feasible_rows(self) -> tuple[FeasibleRows, FeasibleRows]:
        """Return all feasible rows, and those of them without masking levels.

        Raises:
            ExpressionError: constraints tie too many factors together.
        """
        table, section, masking = self._table, self._spec.cases, self._masking_constraints
        constraints: list[LevelConstraint] = []
        for role in self._spec.bound_roles:
            constraints += [constraint_from_role(table, each) for each in role.constraints()]
        for role in self._spec.bound_roles:
            constraints += [derivation_from_role(table, each) for each in role.derived_factors()]
        constraints += [constraint_from_expression(table, text) for text in section.constraints]
        for factor, text in section.derived.items():
            constraints.append(derivation_from_expression(table, factor, text))
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
        """Build the call of `row`; what the row leaves open is drawn.

        Each draw has a seed of its own, made of `seed` and its name, so that one more draw leaves
        the others as they are. With a `random_source`, all draws come from that.

        Raises:
            ExpressionError, Inapplicable: an expression fails on this row.
        """
        spec, section = self._spec, self._spec.cases
        indices = dict(zip(self.factors, row, strict=True))
        context = BuildContext(RowChoice(self._table, indices), seed, random_source)
        arguments = {role.name: role.build(context) for role in spec.bound_roles}
        # Hand-written draws and arguments see all of this, each also the draws before it.
        names = {
            **self._table.fixed,
            **{factor: self._table.value(factor, indices) for factor in indices},
            **arguments,
            "level": self._table.level_names(indices),
        }
        sampler = Sampler(random_source)
        scope = evaluation_scope(names, bound_draw_functions(sampler))
        for name, text in section.draw.items():
            sampler.reseed(f"{seed}|{name}")
            scope[name] = evaluate_in(scope, parse_expression(text))
        scope = evaluation_scope(scope, TENSOR_BUILDERS)
        for name, text in {**section.inputs, **section.attributes}.items():
            arguments[name] = evaluate_in(scope, parse_expression(text))
            value = arguments[name]
            if name in section.inputs and not isinstance(value, Tensor | None):
                problem = f"{abbreviate(value)}; expected a tensor: filled(), tensor(), vector() or"
                raise ExpressionError(f"{problem} scalar()", ("cases", "inputs", name))
        given = {name: value for name, value in arguments.items() if value is not None}
        return Call(
            {each.name: given[each.name] for each in spec.inputs if each.name in given},
            {each.name: given[each.name] for each in spec.attributes if each.name in given},
        )
