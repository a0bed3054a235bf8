"""One spec's table of factors: rows of levels, and the call that a row draws."""

from collections.abc import Callable
from functools import cached_property

from opcert.arrays import TENSOR_BUILDERS, Call, Tensor
from opcert.cases.factors import Factors, RowChoice
from opcert.cases.level_constraints import (
    following,
    following_of_role,
    forbidding,
    forbidding_of_role,
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
    """The factors of a spec with their levels."""

    def __init__(self, spec: Spec, profile: str = "core") -> None:
        self._spec = spec
        self._factors = Factors(spec, profile)
        self.factors = self._factors.levels

    def level_names(self, row: Row) -> dict[str, str]:
        """Return the name of each factor's level in `row`."""
        chosen = zip(self.factors.items(), row, strict=True)
        return {factor: levels[i].name for (factor, levels), i in chosen}

    def rows(self, t: int, discriminates: Callable[[Row], bool] = lambda _: True) -> list[Row]:
        """Cover every possible t-tuple of levels, and the full combinations.

        First with rows whose call discriminates. Then what only one masking condition admits, one
        condition after the other, so that they do not hide each other; what is left comes last.
        """
        choices, telling = self.choices()
        wanted = self.full_combinations()
        position = self._factors.position
        together = [tuple(sorted(map(position.__getitem__, group))) for group in wanted]
        rows = covering_array(telling, t, [], together, discriminates)
        masks = self._masks
        for admitted in masks:
            # Whatever else it admits, the rows that tell have already.
            others = [mask for mask in masks if mask is not admitted]
            alone = choices.restricted_to(others, violating=admitted)
            rows = covering_array(alone, t, rows, together)
        return covering_array(choices, t, rows, together)

    def full_combinations(self) -> list[tuple[str, ...]]:
        """Return the factors of which every combination is covered: those of roles and the spec."""
        groups = [group for role in self._spec.bound_roles for group in role.full_combinations()]
        return [*groups, *self._spec.cases.full_combinations]

    def choices(self) -> tuple[FeasibleRows, FeasibleRows]:
        """Return every row that can be, and those of them whose output can tell.

        Raises:
            ExpressionError: too many factors hang together by conditions.
        """
        table, factors, roles = self._spec.cases, self._factors, self._spec.bound_roles
        forbidden = (each for role in roles for each in role.constraints())
        derived = (each for role in roles for each in role.derived_factors())
        possible = [
            *(forbidding_of_role(factors, each) for each in forbidden),
            *(following_of_role(factors, each) for each in derived),
            *(forbidding(factors, text) for text in table.constraints),
            *(following(factors, *each) for each in table.derived.items()),
        ]
        try:
            choices = solve_constraints(self._factors.sizes, possible, restrictions=self._masks)
        except ValueError as error:
            raise ExpressionError(str(error), ("cases", "constraints")) from None
        return choices, choices.restricted_to(self._masks)

    @cached_property
    def _masks(self) -> list[LevelConstraint]:
        masking = (each for role in self._spec.bound_roles for each in role.masking())
        return [forbidding_of_role(self._factors, each) for each in masking]

    def call(self, row: Row, seed: str, random_source: RandomSource | None = None) -> Call:
        """Draw the call of `row`, each draw from a seed of its own, or all from `chance`.

        Raises:
            ExpressionError, Inapplicable: an expression fails on this row.
        """
        table = self._spec.cases
        chosen = dict(zip(self.factors, row, strict=True))
        scene = BuildContext(RowChoice(self._factors, chosen), seed, random_source)
        built = {role.name: role.build(scene) for role in self._spec.bound_roles}
        names = {
            **self._factors.fixed,
            **{factor: self._factors.value(factor, chosen) for factor in chosen},
            **built,
            "level": self._factors.level_names(chosen),
        }
        sampler = Sampler(random_source)
        scope = evaluation_scope(names, bound_draw_functions(sampler))
        for name, text in table.draw.items():
            sampler.reseed(f"{seed}|{name}")
            scope[name] = evaluate_in(scope, parse_expression(text))
        scope = evaluation_scope(scope, TENSOR_BUILDERS)
        for name, text in {**table.inputs, **table.attributes}.items():
            built[name] = evaluate_in(scope, parse_expression(text))
        for name in table.inputs:
            if built[name] is not None and not isinstance(built[name], Tensor):
                text = (
                    f"{abbreviate(built[name])}; expected a tensor: filled(), tensor(), vector() or"
                )
                raise ExpressionError(f"{text} scalar()", ("cases", "inputs", name))
        built = {name: value for name, value in built.items() if value is not None}
        spec = self._spec
        return Call(
            {each.name: built[each.name] for each in spec.inputs if each.name in built},
            {each.name: built[each.name] for each in spec.attributes if each.name in built},
        )
