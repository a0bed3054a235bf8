"""The role `partition`: the lengths of the parts of an axis."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import fits, highest, lowest
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.drawing import Drawing, draw_parts, places
from opcert.roles.factors import (
    Factor,
    ObservationPoint,
    ObservedLevels,
    levels_where,
)
from opcert.roles.role import ListRole, Requirement

# Numbers of parts: up to and past a vector, and past fixed arrays that a runtime may use.
COUNTS = {
    **{"two": 2, "one": 1, "three": 3, "four": 4, "six": 6, "eight": 8, "nine": 9},
    **{"past_16": 17, "past_32": 33},
}
# Kinds of lengths. If the first is the mean, the parts seem equal to a runtime that compares only
# the first. With the high bit set, a length is negative if its byte is read as signed.
LENGTHS = ("varied", "ones", "equal", "first_one", "last_one", "first_mean", "high_bit")
_MAX_BYTE = highest("u8")


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

    def factors(self) -> Iterator[Factor]:
        """Yield number and kind of the lengths, a special length and its place, and layout."""
        yield from self.type_factors()
        words = {level: f"{n} part{'s' * (n > 1)}" for level, n in COUNTS.items()}
        yield Factor(self.factor("count"), COUNTS, words=words)
        special = {"none": "", "zero": "a length of 0"}
        if self.remainder:
            special["rest"] = "a length of -1"
            special["rest_empty"] = "a -1 with nothing left"
            special["rest_long"] = "a rest too long for the type of the lengths"
        if not self.empty:
            special.pop("zero")
        yield Factor.of_names(self.factor("special"), special)
        places: dict[str, Any] = {"first": 0, "second": 1, "middle": lambda n: n // 2}
        places |= {"last but one": lambda n: n - 2, "last": lambda n: n - 1}
        yield Factor(self.factor("place"), places, (self.factor("count"),), "at the {} length")
        yield Factor.of_names(self.factor("lengths"), LENGTHS, "{} lengths")
        yield self.layout_factor()

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe all factors."""
        tensor = call.inputs[self.name]
        values = self.values_in(call)
        data = call.inputs[self.of]
        n = data.shape[point["axis"]]
        remaining = n - sum(length for length in values if length > 0)
        most = highest(tensor.type)
        has_remainder = -1 in values
        special = {
            "none": not has_remainder and (0 not in values or n == 0),
            "zero": not has_remainder and 0 in values,
            "rest": has_remainder and 0 < remaining <= most,
            "rest_long": has_remainder and remaining > most,
            "rest_empty": has_remainder and remaining == 0,
        }
        special_length = -1 if has_remainder else 0
        places = [k for k, length in enumerate(values) if length == special_length] or [0]
        return ObservedLevels(
            {
                **self.observed_type(call),
                self.factor("count"): len(values),
                self.factor("place"): tuple(places),
                self.factor("layout"): tensor.layout,
            },
            {
                self.factor("special"): levels_where(special),
                self.factor("lengths"): observed_lengths(values, n, most),
            },
        )

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


def observed_lengths(values: Sequence[int], n: int, most: int) -> frozenset[str]:
    """Return the kinds of the lengths of an axis of `n`, each at most `most`."""
    if not values:
        return frozenset()
    are_several = len(values) > 1
    least, greatest = min(values), max(values)
    return levels_where(
        {
            "varied": n == 0 or not are_several or least < greatest,
            "ones": least == greatest == 1,
            "equal": are_several and least == greatest,
            "first_one": are_several and values[0] == 1,
            "last_one": are_several and values[-1] == 1,
            "high_bit": most == _MAX_BYTE and greatest > 127,
            "first_mean": len(values) > 2
            and -1 not in values
            and values[0] * len(values) == n
            and least < greatest,
        }
    )
