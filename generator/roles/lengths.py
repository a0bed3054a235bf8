"""The roles `parts` and `lengths`, and the base class of one number for each axis."""

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import INTEGERS, fits
from opcert.arrays.tensor_functions import vector
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing, distinct, near, places
from opcert.roles.role import ListRole, Requirement, Role


class PerAxis(ListRole):
    """One number for each axis of data: a list attribute, or a one-dimensional tensor."""

    relations: ClassVar = {"of": ("data",)}

    of: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an attribute that is no list."""
        if self.is_attribute and self.type != "list":
            text = f"an attribute of type '{self.type}' has no number for each axis"
            yield "type", f"{text}; expected the type 'list', or a tensor"

    @property
    def data(self) -> DataRole:
        """The data that has the axes."""
        return self.related(self.of, DataRole)

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return all axes."""
        return range(self.data.tensor_of(call).rank)

    @property
    def list_requirements(self) -> tuple[str, ...]:
        """The keys of the requirements that make it a list with a number for each axis."""
        keys = () if self.is_attribute else (f"{self.name}.type", f"{self.name}.rank")
        return keys if self.lengths is None else (*keys, f"{self.name}.length")

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it; None if it may have any length."""
        text = f"{self.name} has one number for each axis of {self.of}"
        return f"{self.length_expr} == {self.of}.rank", text

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank and its length."""
        yield from super().requirements()
        if not self.is_attribute:
            yield self.rank_requirement()
        if self.lengths is not None:
            condition, text = self.lengths
            yield Requirement(
                f"{self.name}.length",
                f"{text}.",
                condition,
                self.given_expr,
                self.list_requirements[:-1],
            )


# A call has at most so many outputs.
_MOST_PARTS = 1000


class PartsRole(Role):
    """The number of equal parts of an axis of data: an attribute that divides the size.

    Unless `empty` is false, an axis of size 0 has any number of parts.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["parts"]
    type: Literal["int"]
    of: str
    along: str
    empty: bool = True

    def bounds(self) -> tuple[str, str]:
        """Return 1 and the size of the axis; an empty axis has any number of parts."""
        return ("1", f"{self._size_expr} or {self.name}")

    @property
    def data(self) -> DataRole:
        """The data that is divided."""
        return self.related(self.of, DataRole)

    @property
    def _size_expr(self) -> str:
        return f"{self.of}.shape[{self.related(self.along, AxisRole).wrapped_expr}]"

    def draw(self, call: Drawing) -> int:
        """Return a number that divides the size of the axis; one part only is rare."""
        axis = call.fact(self.related(self.along, AxisRole).draw_axis)
        n = call.fact(self.data.draw_shape)[axis]
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

    def axes_in(self, call: Call) -> int:
        """Return the axis that is divided."""
        return self.related(self.along, AxisRole).axis_in(call)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its least value, and that it divides the size of the axis."""
        name = self.name
        yield Requirement(f"{name}.least", f"{name} is at least 1.", f"{name} >= 1")
        yield Requirement(
            f"{name}.divides",
            f"{name} divides the size of the axis of {self.of}.",
            f"{self._size_expr} % {name} == 0",
            prerequisites=(f"{self.along}.range", f"{name}.least"),
        )


class LengthsRole(ListRole):
    """For each element of the axis `each`, how many elements of the axis `along` count: a tensor.

    Both are axes of one data; `each` has a position of its own. A length is a whole number from 1
    to the size of `along`, of an integer type or of a floating-point type.
    """

    relations: ClassVar = {"each": ("axis",), "along": ("axis",)}

    role: Literal["lengths"]
    each: str
    along: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an axis `each` without a position of its own."""
        if self._each.other_than != self.along:
            text = f"'{self.each}' is not declared as another axis than '{self.along}'"
            yield "each", f"{text}; expected an axis with 'other_than: {self.along}'"

    @property
    def _each(self) -> AxisRole:
        return self.related(self.each, AxisRole)

    @property
    def _along(self) -> AxisRole:
        return self.related(self.along, AxisRole)

    @property
    def data(self) -> DataRole:
        """The data that has both axes."""
        return self._along.data

    def _extent_expr(self, axis: AxisRole) -> str:
        return f"{self.data.name}.shape[{axis.wrapped_expr}]"

    def bounds(self) -> tuple[str, str]:
        """Return 1 and the size of the axis."""
        return ("1", self._extent_expr(self._along))

    def draw(self, call: Drawing) -> Any:
        """Return the lengths: one is near an end of the axis or of a type, most of them reverse.

        Raises:
            Inapplicable: the axis has no elements, so that no length is valid.
        """
        shape, element_type = call.fact(self.data.draw_shape), call.fact(self.draw_type)
        count, n = shape[call.fact(self._each.draw_axis)], shape[call.fact(self._along.draw_axis)]
        if not count:
            return vector(element_type, ())
        # Floating-point types have gaps between the integers that they hold.
        valid = {k: v for k, v in near(n, "i64").items() if 1 <= v <= n and fits(element_type, v)}
        plain = {name: v for name, v in valid.items() if v == 1 < n}
        reversing = {name: v for name, v in valid.items() if name not in plain}
        value = call.one(self, "value", reversing, plain)
        place = call.one(self, "place", places(count))
        others = call.one(self, "others", ["any", "rising", "falling", "alike", "all but it are 1"])
        lengths = call.choices.integers(f"{self.name} values", 1, n, count)
        if others in ("rising", "falling"):
            sign = 1 if others == "rising" else -1
            lengths = [(lengths[0] + sign * k) % n + 1 for k in range(count)]
        elif others != "any":
            lengths = [value if others == "alike" else 1] * count
        lengths[place] = value
        fitting = [v if fits(element_type, v) else value for v in lengths]
        return self.drawn_list(call, fitting)

    def axes_in(self, call: Call) -> int:
        """Return the axis along which they count elements."""
        return self._along.axis_in(call)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank and its length, and that each length is whole and in range."""
        yield from super().requirements()
        yield self.rank_requirement()
        name, axes = self.name, (f"{self.each}.range", f"{self.along}.range")
        # Lengths may be more than the steps of a comprehension; few of them differ.
        distinct = f"set({name}.values)"
        yield Requirement(
            f"{name}.length",
            f"{name} has one length for each element along {self.each}.",
            f"{name}.size == {self._extent_expr(self._each)}",
            prerequisites=(f"{name}.rank", *axes),
        )
        keys: tuple[str, ...] = ()
        if not set(self._signature.types[self.type]) <= set(INTEGERS):
            keys = (f"{name}.whole",)
            yield Requirement(
                *keys,
                f"The elements of {name} are whole numbers.",
                f"all(value % 1 == 0 for value in {distinct})",
            )
        least, most = self.range or self.bounds()
        yield Requirement(
            f"{name}.range",
            f"Each length is at least 1 and at most the size of {self.along}.",
            f"all({least} <= value <= {most} for value in {distinct})",
            prerequisites=(*keys, *axes),
        )
