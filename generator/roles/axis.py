"""The role `axis`: the axis of data along which an operator works."""

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

    `negative` says whether it counts from the end where it is negative; `form` lists the forms
    of a tensor: `scalar` (rank 0) and `one_element` (shape [1]).
    """

    relations: ClassVar = {"of": ("data",)}

    role: Literal["axis"]
    of: str
    form: tuple[Literal["scalar", "one_element"], ...] = ("scalar",)
    negative: bool = True

    def rank_bounds(self) -> BoundExpressions:
        """Return the ranks of its forms."""
        ranks = [("scalar", "one_element").index(form) for form in self.form]
        return (str(min(ranks)), str(max(ranks)))

    def bounds(self) -> BoundExpressions:
        """Return the axes that data has."""
        return (f"-{self.of}.rank" if self.negative else "0", f"{self.of}.rank - 1")

    @property
    def data(self) -> DataRole:
        """The data whose axis it is."""
        return self.partner(self.of, DataRole)

    @property
    def wrapped(self) -> str:
        """The expression of the axis, counted from the front."""
        return f"wrap({self.number}, {self.of}.rank)" if self.negative else self.number

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the sign and the form, where there is more than one."""
        yield from self.type_factors(profile)
        if self.negative:
            signs = {"positive": "counted from the front", "negative": "counted from the end"}
            yield Factor(self.factor("sign"), {"positive": 0, "negative": 1}, words=signs)
        if len(self.form) > 1:
            forms = {"scalar": "given as a scalar", "one_element": "given as a tensor of shape [1]"}
            yield Factor(self.factor("form"), {each: each for each in self.form}, words=forms)

    def constraints(self) -> Iterator[Constraint]:
        """Yield that an unsigned axis is not negative."""
        if self.negative and not self.is_attribute:
            yield forbid(
                lambda sign, element_type: sign == "negative" and lowest(element_type) == 0,
                *(LevelName(self.factor("sign")), self.type_factor),
            )

    def build(self, scene: BuildContext) -> Any:
        """Return the axis in focus, from the front or from the end."""
        choice, data = scene.choice, self.data
        axis = choice[data.factor("axis")]
        if self.negative and choice.level(self.factor("sign")) == "negative":
            axis -= choice[data.factor("rank")]
        if self.is_attribute:
            return axis
        form = choice.level(self.factor("form")) if len(self.form) > 1 else self.form[0]
        shape = (1,) if form == "one_element" else ()
        return Tensor(choice[self.type_factor], shape, (axis,))

    def value(self, call: Call) -> int:
        """Return its value in a call."""
        return call.attributes[self.name] if self.is_attribute else self.values_in(call)[0]

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the axis of data that a call names."""
        return [{"axis": wrap(self.value(call), call.inputs[self.of].rank)}]

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Return the sign and the form."""
        levels: dict[str, frozenset[str]] = {}
        if self.negative:
            is_negative = self.value(call) < 0
            levels[self.factor("sign")] = levels_where(
                {"positive": not is_negative, "negative": is_negative}
            )
        if len(self.form) > 1:
            form = "one_element" if call.inputs[self.name].rank else "scalar"
            levels[self.factor("form")] = frozenset([form])
        return ObservedLevels(self.observed_type(call), levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its shape and its range."""
        yield from super().requirements()
        name, rank = self.name, f"{self.of}.rank"
        if not self.is_attribute:
            least, most = self.rank
            ranks = f"{name}.rank <= {most}" if least == "0" else f"{name}.rank == {most}"
            yield Requirement(
                f"{name}.shape",
                f"{name} is {' or '.join(_FORMS[form] for form in self.form)}.",
                f"{ranks} and {name}.size == 1",
            )
        least, _ = self.range or self.bounds()
        yield Requirement(
            f"{name}.range",
            f"{name} is an axis that {self.of} has.",
            f"{least} <= {self.number} < {rank}",
            given=(f"{name}.type", f"{name}.shape"),
        )
