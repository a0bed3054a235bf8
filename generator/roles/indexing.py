"""What the roles `indices` and `element_indices` share: integers that name places along an axis."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.roles.argument import BoundExpressions
from opcert.roles.axis import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.factors import DerivedAmbiguity, ObservationPoint, Requirement
from opcert.roles.index_levels import places_of
from opcert.roles.role import Role


class IndexingRole(Role):
    """Indices into an axis of data: a tensor.

    `along` names the axis, by default the first one. With `negative`, negative indices count from
    the end. An index `outside` of the axis gives `zeros`, gives the element at the nearer end
    (`clamp`), makes the call invalid (`reject`), or is left open by the document (`undefined`), as
    an ambiguity then states.
    """

    relations: ClassVar = {"into": ("data",), "along": ("axis",)}

    into: str
    along: str | None = None
    negative: bool = True
    outside: Literal["zeros", "clamp", "reject", "undefined"]

    def bounds(self) -> BoundExpressions:
        """Return the ends of the axis, or of the type if a valid index may lie outside."""
        if self.may_be_outside:
            return (f"lowest({self.name}.type)", f"highest({self.name}.type)")
        return (self._least_expr, f"{self.extent_expr} - 1")

    @property
    def may_be_outside(self) -> bool:
        """Whether an index outside of the axis is valid."""
        return self.outside in ("zeros", "clamp")

    @property
    def data(self) -> DataRole:
        """The data that is indexed."""
        return self.related(self.into, DataRole)

    @property
    def axis_expr(self) -> str:
        """The expression of the axis, counted from the front."""
        return "0" if self.along is None else self.related(self.along, AxisRole).wrapped_expr

    @property
    def extent_expr(self) -> str:
        """The expression of the size of the axis."""
        return f"{self.into}.shape[{self.axis_expr}]"

    @property
    def _least_expr(self) -> str:
        return f"-{self.extent_expr}" if self.negative else "0"

    @property
    def _inside_expr(self) -> str:
        least, most = f"min({self.name}.values)", f"max({self.name}.values)"
        is_inside = f"{self._least_expr} <= {least} and {most} < {self.extent_expr}"
        return f"({self.name}.size == 0 or {is_inside})"

    def is_inside(self, index: int, n: int) -> bool:
        """Whether an index is valid for an axis of `n`."""
        return (-n if self.negative else 0) <= index < n

    def range_requirements(self, *prerequisites: str) -> Iterator[Requirement]:
        """Yield the requirement that all indices lie inside, with `outside: reject`."""
        if self.outside == "reject":
            axis = () if self.along is None else (f"{self.along}.range",)
            yield Requirement(
                f"{self.name}.range",
                f"Each of {self.name} is an index of {self.into} along the axis.",
                self._inside_expr,
                prerequisites=(f"{self.name}.type", *prerequisites, *axis),
            )

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the first, middle and last place, and the first axis unless `along` names one."""
        places = sorted({*places_of(call.inputs[self.name].size).values()})
        axis = {"axis": 0} if self.along is None else {}
        return [{self.factor("place"): place, **axis} for place in places]

    def valid_axis_conditions(self) -> list[str]:
        """Return the conditions under which the size of the axis can be read."""
        rules = [*Role.requirements(self)]
        if self.along is not None:
            rules += self.related(self.along, AxisRole).requirements()
        return [rule.holds for rule in rules]

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield the meaning of an index outside with `outside: undefined`."""
        if self.outside == "undefined":
            conditions = [*self.valid_axis_conditions(), f"not {self._inside_expr}"]
            yield DerivedAmbiguity(
                f"{self.name}.range",
                f"What an index of {self.name} outside of the axis gives.",
                " and ".join(f"({condition})" for condition in conditions),
            )
