"""The role `axis`: an axis of data that an operator works along."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import lowest
from opcert.arrays.indexing import wrap
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import AXIS_POSITIONS, DataRole, axis_position_constraints
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.role import OMITTED, Role

_FORMS = {"scalar": "a scalar", "one_element": "a tensor of shape [1]"}


class AxisRole(Role):
    """An axis of data: a tensor of one element, or an attribute.

    With `negative`, a negative axis counts from the end. `form` lists the allowed forms of a
    tensor: `scalar` (rank 0) and `one_element` (shape [1]). An omitted attribute means `default`.
    If an operator works along two axes, one of them names the other in `other_than`: data has one
    tested axis, and this one has a position of its own.
    """

    relations: ClassVar = {"of": ("data", "tensors"), "other_than": ("axis",)}

    role: Literal["axis"]
    of: str
    form: tuple[Literal["scalar", "one_element"], ...] = ("scalar",)
    negative: bool = True
    other_than: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an optional axis without a default."""
        if not self.required and not (self.is_attribute and isinstance(self.default, int)):
            text = "an axis that may be omitted has no default"
            yield "required", f"{text}; expected an attribute with a default"

    def rank_bounds(self) -> BoundExpressions:
        """Return the ranks of its forms."""
        ranks = [("scalar", "one_element").index(form) for form in self.form]
        return (str(min(ranks)), str(max(ranks)))

    def bounds(self) -> BoundExpressions:
        """Return the first and the last axis of data."""
        tensor = self.data.tensor_expr
        return (f"-{tensor}.rank" if self.negative else "0", f"{tensor}.rank - 1")

    @property
    def data(self) -> DataRole:
        """The data that has the axis."""
        return self.related(self.of, DataRole)

    @property
    def value_expr(self) -> str:
        """The expression of the axis as it is given."""
        return self.name if self.is_attribute else f"{self.name}.values[0]"

    @property
    def wrapped_expr(self) -> str:
        """The expression of the axis counted from the front."""
        rank = f"{self.data.tensor_expr}.rank"
        return f"wrap({self.value_expr}, {rank})" if self.negative else self.value_expr

    @property
    def position_factor(self) -> str:
        """The factor of its position in data."""
        return self.data.factor("axis") if self.other_than is None else self.factor("position")

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the sign or the omission, the form, and the position next to the tested axis."""
        yield from self.type_factors(profile)
        if self._ways:
            yield Factor.of_names(self.factor("sign"), self._ways)
        if len(self.form) > 1:
            forms = {"scalar": "given as a scalar", "one_element": "given as a tensor of shape [1]"}
            yield Factor(self.factor("form"), {form: form for form in self.form}, words=forms)
        if self.other_than is not None:
            rank, words = self.data.factor("rank"), f"{self.name} the {{}} axis"
            yield Factor(self.position_factor, AXIS_POSITIONS, (rank,), words)

    @property
    def _ways(self) -> dict[str, str]:
        """The ways to give the axis, in words; none if there is only one."""
        ways = {"positive": "counted from the front"}
        if self.negative:
            ways["negative"] = "counted from the end"
        if not self.required:
            ways[OMITTED] = f"{self.name} omitted"
        return ways if len(ways) > 1 else {}

    def constraints(self) -> Iterator[Constraint]:
        """Forbid ways to give the axis that cannot express it, and two equal axes."""
        rank, position = self.data.factor("rank"), self.position_factor
        if self.negative and not self.is_attribute:
            yield forbid(
                lambda sign, element_type: sign == "negative" and lowest(element_type) == 0,
                *(LevelName(self.factor("sign")), self.type_factor),
            )
        if not self.required:
            yield forbid(
                lambda sign, axis, rank: sign == OMITTED and not self._is_default(axis, rank),
                *(LevelName(self.factor("sign")), position, rank),
            )
        if self.other_than is not None:
            yield from axis_position_constraints(position, rank)
            other = self.related(self.other_than, AxisRole).position_factor
            yield forbid(lambda axis, other: axis == other, position, other)

    def _is_default(self, axis: int, rank: int) -> bool:
        default = self.default
        return isinstance(default, int) and axis == (default + rank if default < 0 else default)

    def build(self, context: BuildContext) -> Any:
        """Return the axis, counted from the front or from the end, None if it is omitted."""
        choice, data = context.choice, self.data
        axis = choice[self.position_factor]
        sign = choice.level(self.factor("sign"))
        if sign == OMITTED:
            return None
        if sign == "negative":
            axis -= choice[data.factor("rank")]
        if self.is_attribute:
            return axis
        form = choice.level(self.factor("form")) if len(self.form) > 1 else self.form[0]
        shape = (1,) if form == "one_element" else ()
        return Tensor(choice[self.type_factor], shape, (axis,))

    def value_in(self, call: Call) -> int:
        """Return the axis as a call gives it, negative or not; an omitted one is its default."""
        if self.is_attribute:
            axis: int = call.attributes.get(self.name, self.default)
            return axis
        return self.values_in(call)[0]

    def wrapped_in(self, call: Call) -> int:
        """Return the axis of a call, counted from the front."""
        return wrap(self.value_in(call), self.data.tensor_of(call).rank)

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the axis that a call names, unless another one is the tested axis."""
        return [] if self.other_than is not None else [{"axis": self.wrapped_in(call)}]

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe how it is given, the form, and the position next to the tested axis."""
        levels: dict[str, frozenset[str]] = {}
        if self._ways:
            is_negative, is_omitted = self.value_in(call) < 0, not self.is_given_in(call)
            levels[self.factor("sign")] = levels_where(
                {
                    "positive": not is_omitted and not is_negative,
                    "negative": not is_omitted and is_negative,
                    OMITTED: is_omitted,
                }
            )
        if len(self.form) > 1:
            form = "one_element" if call.inputs[self.name].rank else "scalar"
            levels[self.factor("form")] = frozenset([form])
        values = self.observed_type(call)
        if self.other_than is not None:
            values[self.position_factor] = self.wrapped_in(call)
        return ObservedLevels(values, levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its form and its range."""
        yield from super().requirements()
        name, rank = self.name, f"{self.data.tensor_expr}.rank"
        if not self.is_attribute:
            least_rank, most_rank = self.rank
            relation = "<=" if least_rank == "0" else "=="
            yield Requirement(
                f"{name}.shape",
                f"{name} is {' or '.join(_FORMS[form] for form in self.form)}.",
                f"{name}.rank {relation} {most_rank} and {name}.size == 1",
            )
        least, _ = self.range or self.bounds()
        yield Requirement(
            f"{name}.range",
            f"{name} is an axis that {self.of} has.",
            f"{least} <= {self.value_expr} < {rank}",
            prerequisites=(f"{name}.type", f"{name}.shape"),
        )
