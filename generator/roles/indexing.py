"""What the roles of indices share: how they are drawn, where they may lie."""

from collections.abc import Iterator
from math import prod
from typing import ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import highest, lowest
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.role import DerivedAmbiguity, Requirement, Role


def lines_along(shape: tuple[int, ...], axis: int) -> Iterator[range]:
    """Yield the positions in C order of the elements of each line along `axis`."""
    count, step = shape[axis], prod(shape[axis + 1 :])
    for block in range(0, prod(shape[:axis]) * count * step, max(count * step, 1)):
        yield from (
            range(start, block + count * step, step) for start in range(block, block + step)
        )


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

    def bounds(self) -> tuple[str, str]:
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
    def _axis(self) -> AxisRole | None:
        return None if self.along is None else self.related(self.along, AxisRole)

    @property
    def axis_keys(self) -> tuple[str, ...]:
        """The keys of the requirements on the axis."""
        return () if self.along is None else (f"{self.along}.range",)

    def draw_axis(self, call: Drawing) -> int:
        """Draw the axis that is indexed."""
        return 0 if self._axis is None else call.fact(self._axis.draw_axis)

    @property
    def axis_expr(self) -> str:
        """The expression of the axis, counted from the front."""
        return "0" if self._axis is None else self._axis.wrapped_expr

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

    def draw_values(self, call: Drawing, n: int, count: int) -> list[int]:
        """Draw `count` indices into an axis of `n`.

        Raises:
            Inapplicable: there is no valid index.
        """
        if not count:
            return []
        element_type = call.fact(self.draw_type)
        valid = {
            name: value
            for name, value in near(n, element_type).items()
            if self.may_be_outside or self.is_inside(value, n)
        }
        value, place = call.one_near(self, "value", valid), call.one(self, "place", places(count))
        least = max(-n if self.negative else 0, lowest(element_type))
        most = max(0, min(n - 1, highest(element_type)))
        orders = ["any", "from the front", "rising", "falling", "alike"]
        outside = [i for i in valid.values() if not self.is_inside(i, n)]
        order = call.one(self, "others", orders, ["outside"] if outside else [])
        if order == "alike":
            return [value] * count
        drawn = call.choices.integers(f"{self.name} values", min(0, least), most, count)
        if order in ("rising", "falling"):
            sign = 1 if order == "rising" else -1
            # All of the axis in its order, or backwards, shows what takes it for data itself.
            is_whole = call.integer(self, "whole", 0, 1)
            first = (0 if sign > 0 else most) if is_whole else drawn[0]
            drawn = [(sign * k + first) % (most + 1) for k in range(count)]
            if is_whole:
                return drawn
        elif order == "outside":
            drawn = [outside[i % len(outside)] for i in drawn]
        elif order == "from the front":
            drawn = [i % (most + 1) for i in drawn]
        drawn[place] = value
        return drawn

    def range_requirements(self, *prerequisites: str) -> Iterator[Requirement]:
        """Yield the requirement that all indices lie inside, with `outside: reject`."""
        if self.outside == "reject":
            text = f"Each of {self.name} is an index of {self.into} along the axis."
            keys = ("type", *prerequisites, *self.axis_keys)
            yield self.requirement("range", text, self._inside_expr, *keys)

    def axes_in(self, call: Call) -> int:
        """Return the axis that is indexed."""
        return 0 if self._axis is None else self._axis.axis_in(call)

    def open_question(
        self, aspect: str, text: str, condition: str, *rules: Requirement
    ) -> DerivedAmbiguity:
        """Return an ambiguity of calls in which the size of the axis can be read."""
        axis = () if self._axis is None else self._axis.requirements()
        holds = [rule.holds for rule in (*Role.requirements(self), *axis, *rules)]
        touches = " and ".join(f"({part})" for part in (*holds, condition))
        return DerivedAmbiguity(f"{self.name}.{aspect}", text, touches)

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield the meaning of an index outside with `outside: undefined`."""
        if self.outside == "undefined":
            text = f"What an index of {self.name} outside of the axis gives."
            yield self.open_question("range", text, f"not {self._inside_expr}")
