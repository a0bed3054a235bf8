"""The roles `parts` and `lengths`, and the base class of one number for each axis."""

from collections.abc import Iterator
from math import isqrt
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import INTEGERS, fits
from opcert.arrays.tensor_functions import vector
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing, distinct, near, places
from opcert.roles.factors import (
    Factor,
    ObservationPoint,
    ObservedLevels,
    levels_where,
)
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

    def layout_factors(self) -> Iterator[Factor]:
        """Yield the layout of a tensor."""
        if not self.is_attribute:
            yield self.layout_factor()

    def observed_list(self, call: Call) -> dict[str, Any]:
        """Observe the element type and the layout of a tensor."""
        if self.is_attribute:
            return {}
        layout = call.inputs[self.name].layout if self.is_given_in(call) else "c"
        return {**self.observed_type(call), self.factor("layout"): layout}

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


# Numbers of parts: divisors of the lengths of data, up to and past a vector.
_COUNTS = {
    **{"two": 2, "one": 1, "three": 3, "six": 6, "four": 4, "eight": 8},
    **{"past_16": 17, "nineteen": 19, "past_32": 37},
}
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

    def factors(self) -> Iterator[Factor]:
        """Yield the number of parts."""
        words = {level: f"{n} part{'s' * (n > 1)}" for level, n in _COUNTS.items()}
        yield Factor(self.factor("count"), _COUNTS, words=words)

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

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the number of parts."""
        return ObservedLevels({self.factor("count"): call.attributes[self.name]})

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


_LENGTHS: dict[str, Any] = {
    "all": lambda n: n,
    "two": 2,
    "all_but_one": lambda n: n - 1,
    "one": 1,
    "three": 3,
    "past_u8": 257,
}
_WORDS = {
    **{"all": "a length of the whole axis", "all_but_one": "a length one short of the axis"},
    **{"one": "a length of 1", "two": "a length of 2", "three": "a length of 3"},
    "past_u8": "a length of 257",
}


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

    def factors(self) -> Iterator[Factor]:
        """Yield the type, the tested length, its place, the other lengths and the layout."""
        yield from self.type_factors()
        yield Factor(self.factor("value"), _LENGTHS, (self.data.factor("length"),), _WORDS)
        places = {"first": "at the first place", "last": "at the last place"}
        yield Factor.of_names(self.factor("place"), places)
        # Only several lengths reveal that they are taken in another order, or by another stride.
        # With the level `any`, there is at most one, or no element that it concerns.
        others = {"varied": "", "alike": f"{self.name} all the same", "any": ""}
        yield Factor.of_names(self.factor("others"), others)
        yield self.layout_factor()

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

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the first and the last place."""
        count = len(self.values_in(call))
        return [{"place": place} for place in dict.fromkeys([0, max(count - 1, 0)])]

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe the length at a place, and the others."""
        lengths, place = self.values_in(call), point["place"]
        n = call.inputs[self.data.name].shape[self._along.wrapped_in(call)]
        are_alike = len(lengths) > 1 and len({*lengths}) == 1
        values = {
            **self.observed_type(call),
            self.factor("value"): lengths[place] if lengths else n,
            self.factor("place"): "last" if place else "first",
            self.factor("layout"): call.inputs[self.name].layout,
        }
        levels = {
            "varied": len(lengths) > 1 and (not are_alike or n == 1),
            "alike": are_alike,
            "any": len(lengths) < 2 or not call.inputs[self.data.name].size,
        }
        return ObservedLevels(values, {self.factor("others"): levels_where(levels)})

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
