"""The roles `partition`, `parts` and `lengths`: how many elements of an axis belong together."""

from collections.abc import Iterator
from math import isqrt
from typing import Any, ClassVar, Literal

from opcert.arrays.element_types import INTEGERS, fits, lowest
from opcert.arrays.tensor_functions import vector
from opcert.errors import Inapplicable
from opcert.roles.axes import AlongRole, AxisRole
from opcert.roles.data import DataRole, OfDataRole
from opcert.roles.drawing import Drawing, distinct, draw_parts, near, parted, places
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


# A call has at most so many outputs.
_MOST_PARTS = 1000


class PartsRole(AlongRole, OfDataRole):
    """The number of equal parts of an axis of data: an attribute that divides the size.

    Unless `empty` is false, an axis of size 0 has any number of parts.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["parts"]
    type: Literal["int"]
    empty: bool = True

    def bounds(self) -> tuple[str, str]:
        """Return 1 and the size of the axis; an empty axis has any number of parts."""
        return ("1", f"{self.axis.size_expr} or {self.name}")

    def draw(self, call: Drawing) -> int:
        """Return a number that divides the size of the axis; one part only is rare."""
        n = self.axis.draw_size(call)
        if not n:
            if not self.empty:
                raise Inapplicable("an axis without elements has no parts")
            return call.one(self, "number", (1, 2, 3, call.integer(self, "any", 4, _MOST_PARTS)))
        small = [k for k in range(1, isqrt(n) + 1) if n % k == 0]
        divisors = sorted({*small, *(n // k for k in small)})
        several = [k for k in divisors if 1 < k <= _MOST_PARTS]
        named: dict[str, int] = {}
        if several:
            fewest = several[0]
            named = {"fewest": fewest, "n": n, "n // fewest": n // fewest}
            named["any"] = call.pick(self, "any", several)
            named = distinct({name: k for name, k in named.items() if k in several})
        return call.one(self, "number", named, {"1": 1})

    def requirements(self) -> Iterator[Requirement]:
        """Yield its least value, and that it divides the size of the axis."""
        name = self.name
        yield self.requirement("least", f"{name} is at least 1.", f"{name} >= 1")
        text = f"{name} divides the size of the axis of {self.of}."
        holds = f"{self.axis.size_expr} % {name} == 0"
        yield self.requirement("divides", text, holds, f"{self.along}.range", "least")


class LengthsRole(AlongRole, ListRole):
    """For each element of the axis `each`, how many elements of the axis `along` count: a tensor.

    Both are axes of one data; `each` has a position of its own. A length is a whole number from 1
    to the size of `along`, of an integer type or of a floating-point type.
    """

    relations: ClassVar = {"each": ("axis",), "along": ("axis",)}

    role: Literal["lengths"]
    each: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an axis `each` without a position of its own."""
        if self._each.other_than != self.along:
            text = f"'{self.each}' is not declared as another axis than '{self.along}'"
            yield "each", f"{text}; expected an axis with 'other_than: {self.along}'"

    @property
    def _each(self) -> AxisRole:
        return self.related(self.each, AxisRole)

    @property
    def data(self) -> DataRole:
        """The data that has both axes."""
        return self.axis.data

    def bounds(self) -> tuple[str, str]:
        """Return 1 and the size of the axis."""
        return ("1", self.axis.size_expr)

    def draw(self, call: Drawing) -> Any:
        """Return the lengths: one is near an end of the axis or of a type, most of them reverse.

        Raises:
            Inapplicable: the axis has no elements, so that no length is valid.
        """
        element_type = call.fact(self.draw_type)
        count, n = self._each.draw_size(call), self.axis.draw_size(call)
        if not count:
            return vector(element_type, ())
        # Floating-point types have gaps between the integers that they hold.
        valid = {k: v for k, v in near(n, "i64").items() if 1 <= v <= n and fits(element_type, v)}
        # To reverse one element changes nothing.
        value = call.one(self, "value", *parted(valid, lambda v: v > 1 or n == 1))
        place = call.one(self, "place", places(count))
        others = call.one(self, "others", ["any", "rising", "falling", "alike", "all but it are 1"])
        drawn = {"any": count, "rising": 1, "falling": 1}.get(others, 0)
        lengths = call.choices.integers(f"{self.name} values", 1, n, drawn)
        if others in ("rising", "falling"):
            sign = 1 if others == "rising" else -1
            lengths = [(lengths[0] + sign * k) % n + 1 for k in range(count)]
        elif others != "any":
            lengths = [value if others == "alike" else 1] * count
        lengths[place] = value
        fitting = [v if fits(element_type, v) else value for v in lengths]
        return self.drawn_list(call, fitting)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank and its length, and that each length is whole and in range."""
        yield from super().requirements()
        name, axes = self.name, (f"{self.each}.range", f"{self.along}.range")
        # Lengths may be more than the steps of a comprehension; few of them differ.
        distinct = f"set({name}.values)"
        text = f"{name} has one length for each element along {self.each}."
        holds = f"{name}.size == {self._each.size_expr}"
        yield self.requirement("length", text, holds, "rank", *axes)
        keys: tuple[str, ...] = ()
        if not set(self._signature.types[self.type]) <= set(INTEGERS):
            keys = ("whole",)
            text = f"The elements of {name} are whole numbers."
            yield self.requirement("whole", text, f"all(value % 1 == 0 for value in {distinct})")
        least, most = self.range or self.bounds()
        text = f"Each length is at least 1 and at most the size of {self.along}."
        holds = f"all({least} <= value <= {most} for value in {distinct})"
        yield self.requirement("range", text, holds, *keys, *axes)
