"""The role `axis`: the axis of data that an operator works along."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays import Call, Tensor, lowest, wrap
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import DataRole
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
from opcert.roles.role import Role

_FORMS = {"scalar": "a scalar", "one_element": "a tensor of shape [1]"}


class AxisRole(Role):
    """An axis of data: a tensor of one element, or an attribute.

    With `negative`, a negative axis counts from the end. `form` lists the allowed forms of a
    tensor: `scalar` (rank 0) and `one_element` (shape [1]).
    """

    relations: ClassVar = {"of": ("data", "tensors")}

    role: Literal["axis"]
    of: str
    form: tuple[Literal["scalar", "one_element"], ...] = ("scalar",)
    negative: bool = True

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

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the sign and the form, if there is more than one of each."""
        yield from self.type_factors(profile)
        if self.negative:
            signs = {"positive": "counted from the front", "negative": "counted from the end"}
            yield Factor(self.factor("sign"), {"positive": 0, "negative": 1}, words=signs)
        if len(self.form) > 1:
            forms = {"scalar": "given as a scalar", "one_element": "given as a tensor of shape [1]"}
            yield Factor(self.factor("form"), {form: form for form in self.form}, words=forms)

    def constraints(self) -> Iterator[Constraint]:
        """Forbid a negative axis of an unsigned type."""
        if self.negative and not self.is_attribute:
            yield forbid(
                lambda sign, element_type: sign == "negative" and lowest(element_type) == 0,
                *(LevelName(self.factor("sign")), self.type_factor),
            )

    def build(self, context: BuildContext) -> Any:
        """Return the tested axis, counted from the front or from the end."""
        choice, data = context.choice, self.data
        axis = choice[data.factor("axis")]
        if self.negative and choice.level(self.factor("sign")) == "negative":
            axis -= choice[data.factor("rank")]
        if self.is_attribute:
            return axis
        form = choice.level(self.factor("form")) if len(self.form) > 1 else self.form[0]
        shape = (1,) if form == "one_element" else ()
        return Tensor(choice[self.type_factor], shape, (axis,))

    def value_in(self, call: Call) -> int:
        """Return the axis as a call gives it, negative or not."""
        return call.attributes[self.name] if self.is_attribute else self.values_in(call)[0]

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the axis that a call names."""
        return [{"axis": wrap(self.value_in(call), self.data.tensor_of(call).rank)}]

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the sign and the form."""
        levels: dict[str, frozenset[str]] = {}
        if self.negative:
            is_negative = self.value_in(call) < 0
            levels[self.factor("sign")] = levels_where(
                {"positive": not is_negative, "negative": is_negative}
            )
        if len(self.form) > 1:
            form = "one_element" if call.inputs[self.name].rank else "scalar"
            levels[self.factor("form")] = frozenset([form])
        return ObservedLevels(self.observed_type(call), levels)

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
