"""The role `partition`: the lengths of the parts of an axis."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays.element_types import fits, lowest
from opcert.errors import Inapplicable
from opcert.roles.axes import AlongRole
from opcert.roles.drawing import Drawing, draw_parts, places
from opcert.roles.role import ListRole, Requirement


class PartitionRole(AlongRole, ListRole):
    """Lengths that sum to the size of an axis.

    With `remainder`, one of them may be -1, which means the rest of the axis. A length may be 0
    unless `empty` is false.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["partition"]
    of: str
    remainder: bool = False
    empty: bool = True

    def bounds(self) -> tuple[str, str]:
        """Return the least length, -1 included, and the size of the axis."""
        least = "1" if not self.empty else "0"
        if self.remainder:
            least = f"-1 if lowest({self.name}.type) < 0 else {least}"
        return (least, self.axis.size_expr)

    def draw(self, call: Drawing) -> Any:
        """Return lengths that sum to the size of the axis, one of them perhaps the rest."""
        n, element_type = self.axis.draw_size(call), call.fact(self.draw_type)
        lengths = draw_parts(self, call, n, empty=self.empty)
        if self.remainder and lowest(element_type) < 0:
            rest = call.one(self, "rest", {"none": None, **places(len(lengths))})
            if rest is not None:
                lengths[rest] = -1
        if not all(fits(element_type, length) for length in lengths):
            raise Inapplicable("a length does not fit its type")
        return self.drawn_list(call, lengths)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its least length and its sum."""
        yield from super().requirements()
        values, size, along = f"{self.name}.values", self.axis.size_expr, f"{self.along}.range"
        least = -1 if self.remainder else 0 if self.empty else 1
        holds = f"all(length >= {least} for length in {values})"
        yield self.requirement("least", f"No length is below {least}.", holds, *self.list_keys)
        holds = f"sum({values}) == {size}"
        if not self.remainder:
            text = f"The lengths sum to the size of the axis of {self.of}."
            yield self.requirement("sum", text, holds, along, "least")
            return
        keys = (along, "least", "one-remainder")
        one = f"len([length for length in {values} if length == -1]) <= 1"
        yield self.requirement("one-remainder", "At most one length is -1.", one, *self.list_keys)
        text = f"Without a -1, the lengths sum to the size of the axis of {self.of}."
        yield self.requirement("sum", text, holds, *keys, when=f"-1 not in {values}")
        yield self.requirement(
            "remainder",
            f"The lengths other than a -1 sum to no more than the size of the axis of {self.of}.",
            f"sum({values}) + 1 <= {size}",
            *keys,
            when=f"-1 in {values}",
        )
