"""The role `partition`: the lengths of the parts of an axis."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import fits, lowest
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.drawing import Drawing, draw_parts, places
from opcert.roles.role import ListRole, Requirement

# Kinds of lengths. If the first is the mean, the parts seem equal to a runtime that compares only
# the first. With the high bit set, a length is negative if its byte is read as signed.
LENGTHS = ("varied", "ones", "equal", "first_one", "last_one", "first_mean", "high_bit")


class PartitionRole(ListRole):
    """Lengths that sum to the size of an axis.

    With `remainder`, one of them may be -1, which means the rest of the axis. A length may be 0
    unless `empty` is false.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["partition"]
    of: str
    along: str
    remainder: bool = False
    empty: bool = True

    def bounds(self) -> tuple[str, str]:
        """Return the least length, -1 included, and the size of the axis."""
        least = "1" if not self.empty else "0"
        if self.remainder:
            least = f"-1 if lowest({self.name}.type) < 0 else {least}"
        return (least, self._size_expr)

    @property
    def axis(self) -> AxisRole:
        """The axis that it divides."""
        return self.related(self.along, AxisRole)

    @property
    def _size_expr(self) -> str:
        return f"{self.of}.shape[{self.axis.wrapped_expr}]"

    def draw(self, call: Drawing) -> Any:
        """Return lengths that sum to the size of the axis, one of them perhaps the rest."""
        n = call.fact(self.axis.data.draw_shape)[call.fact(self.axis.draw_axis)]
        element_type = call.fact(self.draw_type)
        lengths = draw_parts(self, call, n, empty=self.empty)
        if self.remainder and lowest(element_type) < 0:
            rest = call.one(self, "rest", {"none": None, **places(len(lengths))})
            if rest is not None:
                lengths[rest] = -1
        if not all(fits(element_type, length) for length in lengths):
            raise Inapplicable("a length does not fit its type")
        return self.drawn_list(call, lengths)

    def axes_in(self, call: Call) -> int:
        """Return the axis that is divided."""
        return self.axis.axis_in(call)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its least length and its sum."""
        yield from super().requirements()
        name, values = self.name, f"{self.name}.values"
        form = (f"{name}.type", f"{name}.rank")
        yield self.rank_requirement()
        least = -1 if self.remainder else 0 if self.empty else 1
        yield Requirement(
            f"{name}.least",
            f"No length is below {least}.",
            f"all(length >= {least} for length in {values})",
            prerequisites=form,
        )
        prerequisites: tuple[str, ...] = (f"{self.along}.range", f"{name}.least")
        total = f"sum({values})"
        if not self.remainder:
            text = f"The lengths sum to the size of the axis of {self.of}."
            yield Requirement(
                f"{name}.sum", text, f"{total} == {self._size_expr}", prerequisites=prerequisites
            )
            return
        yield Requirement(
            f"{name}.one-remainder",
            "At most one length is -1.",
            f"len([length for length in {values} if length == -1]) <= 1",
            prerequisites=form,
        )
        prerequisites = (*prerequisites, f"{name}.one-remainder")
        yield Requirement(
            f"{name}.sum",
            f"Without a -1, the lengths sum to the size of the axis of {self.of}.",
            f"{total} == {self._size_expr}",
            f"-1 not in {values}",
            prerequisites,
        )
        yield Requirement(
            f"{name}.remainder",
            f"The lengths other than a -1 sum to no more than the size of the axis of {self.of}.",
            f"{total} + 1 <= {self._size_expr}",
            f"-1 in {values}",
            prerequisites,
        )
