"""The role `partition`: the lengths of the parts of an axis."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, insert, replace
from opcert.arrays.element_types import fits, highest, lowest
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.drawing import Drawing, draw_parts, places
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Sampler,
    forbid,
    levels_where,
)
from opcert.roles.role import ListRole, Requirement

# Numbers of parts: up to and past a vector, and past fixed arrays that a runtime may use.
COUNTS = {
    **{"two": 2, "one": 1, "three": 3, "four": 4, "six": 6, "eight": 8, "nine": 9},
    **{"past_16": 17, "past_32": 33},
}
MANY_COUNTS = {"past_64": 65, "past_256": 257, "two": 2}
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

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield number and kind of the lengths, a special length and its place, and layout."""
        yield from self.type_factors(profile)
        counts = MANY_COUNTS if profile == "stress" else COUNTS
        words = {level: f"{n} part{'s' * (n > 1)}" for level, n in counts.items()}
        yield Factor(self.factor("count"), counts, words=words)
        special = {"none": "", "zero": "a length of 0"}
        if self.remainder:
            special["rest"] = "a length of -1"
            if profile != "stress":
                special["rest_empty"] = "a -1 with nothing left"
                special["rest_long"] = "a rest too long for the type of the lengths"
        if not self.empty:
            special.pop("zero")
        yield Factor.of_names(self.factor("special"), special)
        places: dict[str, Any] = {"first": 0, "middle": lambda n: n // 2, "last": lambda n: n - 1}
        yield Factor(self.factor("place"), places, (self.factor("count"),), "at the {} length")
        yield Factor.of_names(self.factor("lengths"), LENGTHS, "{} lengths")
        yield self.layout_factor()

    def full_combinations(self) -> Iterator[tuple[str, ...]]:
        """Yield the axis, the special length and its place."""
        yield self.axis.data.factor("axis"), self.factor("special"), self.factor("place")

    def constraints(self) -> Iterator[Constraint]:
        """Forbid lengths that cannot sum to the size of the axis."""
        data = self.axis.data
        n, count, special = data.factor("length"), self.factor("count"), self.factor("special")
        lengths, types, place = self.factor("lengths"), self.type_factor, self.factor("place")
        remainders = ("rest", "rest_empty", "rest_long")
        # Special lengths that mean an empty part.
        empty = ("zero", "rest_empty")
        yield forbid(lambda special, t: special in remainders and lowest(t) == 0, special, types)
        # The other lengths are 1, and the remainder is longer than its type can state.
        yield forbid(
            lambda special, n, count, t: (
                special == "rest_long" and (n < count or n - count + 1 <= highest(t))
            ),
            *(special, n, count, types),
        )
        yield forbid(lambda special, count: special in empty and count < 2, special, count)
        yield forbid(
            lambda special, place: special == "none" and place != "first", special, LevelName(place)
        )
        yield forbid(lambda place, count: place == "middle" and count < 3, LevelName(place), count)
        yield forbid(lambda place, count: place == "last" and count < 2, LevelName(place), count)
        # Without a special length, either no length is 0 or all are.
        yield forbid(
            lambda special, count, n: special == "none" and count > n > 0, special, count, n
        )
        yield forbid(lambda special, n: special == "rest" and n == 0, special, n)
        # Even the greatest lengths of the type are too short for the axis.
        yield forbid(
            lambda special, n, t, count: (
                special != "rest_long" and n > highest(t) * (count - (special in empty))
            ),
            *(special, n, types, count),
        )
        yield forbid(
            lambda lengths, special, count: (
                lengths != "varied" and (special != "none" or count < 2)
            ),
            *(lengths, special, count),
        )
        yield forbid(
            lambda layout, count: layout != "c" and count < 2, self.factor("layout"), count
        )
        yield forbid(
            lambda lengths, n, count, t, special: (
                special == "none" and not is_possible(lengths, n, count, highest(t))
            ),
            *(lengths, n, count, types, special),
        )

    def build(self, context: BuildContext) -> Tensor:
        """Return the lengths."""
        values = context.draw(self.name, partial(self._draw, context))
        return self.integer_tensor(context, values, context.choice[self.factor("layout")])

    def _draw(self, context: BuildContext, sampler: Sampler) -> Sequence[int]:
        choice = context.choice
        n = choice[self.axis.data.factor("length")]
        count, place = choice[self.factor("count")], choice[self.factor("place")]
        most = highest(choice[self.type_factor])
        special = choice[self.factor("special")]
        if special == "rest":
            return replace(sampler.parts(n - 1, count, most), place, -1)
        if special == "rest_long":
            return replace((1,) * count, place, -1)
        if special == "rest_empty":
            return insert(sampler.parts(n, count - 1, most), place, -1)
        if special == "zero":
            return insert(sampler.parts(n, count - 1, most), place, 0)
        return draw_lengths(choice[self.factor("lengths")], n, count, most, sampler)

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


def is_possible(kind: str, n: int, count: int, most: int) -> bool:
    """Whether `count` lengths of a kind, from 1 to `most`, can sum to `n`."""
    if kind == "varied":
        return count != n or count == 1
    if kind == "ones":
        return count == n
    if kind in ("first_one", "last_one"):
        return count < n and n - 1 <= most * (count - 1)
    if kind == "equal":
        return n > 0 and n % count == 0 and n != count
    if kind == "first_mean":
        return count > 2 and n % count == 0 and count < n and n // count < most
    return most == _MAX_BYTE and 127 < n - count + 1 <= most


def draw_lengths(kind: str, n: int, count: int, most: int, sampler: Sampler) -> tuple[int, ...]:
    """Draw `count` lengths of a kind, up to `most`, that sum to `n`."""
    mean = n // count
    if kind == "high_bit":
        return (n - count + 1, *(1,) * (count - 1))
    if kind in ("ones", "equal"):
        return (mean,) * count
    if kind == "first_mean":
        return (mean, mean - 1, mean + 1, *(mean,) * (count - 3))
    if kind == "first_one":
        return (1, *sampler.parts(n - 1, count - 1, most))
    if kind == "last_one":
        return (*sampler.parts(n - 1, count - 1, most), 1)
    return sampler.parts(n, count, most)


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
