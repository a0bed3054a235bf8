"""How many elements of an axis: the roles `partition`, `parts`, `lengths` and `counts`."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import INTEGERS, fits, highest, lowest
from opcert.arrays.tensor_functions import vector
from opcert.errors import Inapplicable
from opcert.roles.axes import AlongRole, AxisRole, DividingRole
from opcert.roles.data import PerAxis
from opcert.roles.drawing import MAX_OUTPUTS, Drawing, distinct, draw_parts, near, parted, places
from opcert.roles.plain_values import OfModeRole
from opcert.roles.role import ListRole, Requirement


class PartitionRole(DividingRole, ListRole):
    """Lengths that sum to the size of an axis.

    With `remainder`, one of them may be -1, which means the rest of the axis. A length may be 0
    unless `empty` is false.
    """

    role: Literal["partition"]
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
        return self.drawn_list(call, lengths)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its least length and its sum."""
        yield from super().requirements()
        values, size, along = f"{self.name}.values", self.axis.size_expr, f"{self.along}.range"
        least = -1 if self.remainder else 0 if self.empty else 1
        text = f"No length is below {least}."
        yield self.of_each("least", text, "length", f"length >= {least}")
        holds = f"sum({values}) == {size}"
        if not self.remainder:
            text = f"The lengths sum to the size of the axis of {self.of}."
            yield self.requirement("sum", text, holds, along, "least")
            return
        keys = (along, "least", "one-remainder")
        one = f"len([length for length in {values} if length == -1]) <= 1"
        yield self.requirement("one-remainder", "At most one length is -1.", one, *self.list_keys)
        whole = f"the size of the axis of {self.of}"
        text = f"Without a -1, the lengths sum to {whole}."
        yield self.requirement("sum", text, holds, *keys, when=f"-1 not in {values}")
        text = f"The lengths other than a -1 sum to no more than {whole}."
        holds = f"sum({values}) + 1 <= {size}"
        yield self.requirement("remainder", text, holds, *keys, when=f"-1 in {values}")


# A call has at most so many outputs.
_MOST_PARTS = 1000


class PartsRole(DividingRole):
    """The number of equal parts of an axis of data: an attribute that divides the size.

    Unless `empty` is false, an axis of size 0 has any number of parts.
    """

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
        several = [k for k in range(2, min(n, _MOST_PARTS) + 1) if n % k == 0]
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
        value = call.one(self, "value", *parted(valid, lambda v: v > 1))
        place = call.one(self, "place", places(count))
        others = call.one(self, "others", ["any", "rising", "falling", "alike", "all but it are 1"])
        drawn = {"any": count, "rising": 1, "falling": 1}.get(others, 0)
        lengths = call.integers(self, "values", 1, n, drawn)
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


# The most elements of a large output that is drawn: counts past 16 bits need it.
_MAX_CHANGED = 1 << 19


class CountsRole(PerAxis, OfModeRole):
    """For each axis of data, how often it is repeated or how much is added at one end.

    `zero` is the meaning of a 0: it `keeps` the axis (nothing is added), `empties` it (it is
    repeated zero times), or is `invalid`. `negative` is the meaning of a negative count: it `crops`
    the axis by so much, or is `invalid`. With `aligned`, there may be fewer or more counts than
    axes; both are aligned at the end, and the shorter is extended by counts that change nothing, or
    by axes of 1 element. `limits` gives the greatest count in some words of `mode`, as an offset
    to the size of the axis.
    """

    relations: ClassVar = {**PerAxis.relations, "mode": ("mode",)}

    # Large counts are valid, and make outputs large: there are no bounds to aim at.
    role: Literal["counts"]
    zero: Literal["keeps", "empties", "invalid"]
    negative: Literal["crops", "invalid"] = "invalid"
    aligned: bool = False
    limits: Mapping[str, int] = {}

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report unknown words of the mode, and limits without a mode."""
        yield from super().mistakes()
        if self.mode_role is not None:
            for word in self.limits.keys() - {*self.mode_role.one_of}:
                yield "limits", self.mode_role.unknown(word)
        elif self.limits:
            yield "limits", "missing key 'mode'; expected it together with 'limits'"

    @property
    def neutral(self) -> int:
        """The count that does not change an axis."""
        return 0 if self.zero == "keeps" else 1

    @property
    def least(self) -> int | None:
        """The least valid count, None if there is no such limit."""
        if self.negative == "crops":
            return None
        return 1 if self.zero == "invalid" else 0

    @property
    def _earlier(self) -> list["CountsRole"]:
        """The counts of the same data that come before these."""
        alike = self.data.referrers("of", CountsRole)
        return alike[: [role.name for role in alike].index(self.name)]

    def _changed(self, n: int, count: int) -> int:
        """Return what an axis of `n` becomes."""
        return n + count if self.zero == "keeps" else n * count

    def _draw_surplus(self, call: Drawing) -> int:
        """Draw how many more counts than axes there are."""
        rank, most = call.fact(self.data.draw_rank), int(self.data.rank[1])
        kinds = {"as many": 0, "one more": 1, "one fewer": -1, "two more": 2, "two fewer": -2}
        if most - rank > max(kinds.values()):
            kinds["as many as possible"] = most - rank
        kinds |= {"only one": 1 - rank, "any": call.integer(self, "surplus", 1 - rank, most - rank)}
        possible = {kind: k for kind, k in kinds.items() if min(rank, 1) <= rank + k <= most}
        return call.one(self, "number", possible, {"none": -rank} if rank else {})

    def draw_counts(self, call: Drawing) -> list[int]:
        """Draw the counts; one of them is near the size of its axis, or past the limits of types.

        How large they are depends on what the output has room for, next to earlier counts.
        """
        shape = call.fact(self.data.draw_shape)
        surplus = self._draw_surplus(call) if self.aligned else 0
        own = [*(1,) * surplus, *shape[max(0, -surplus) :]]
        limits, count = self._limits(call, own), len(own)
        if any(limit < self.neutral for limit in limits):
            raise Inapplicable("an axis has no element to repeat")
        if not count:
            return []
        extents = own
        for role in self._earlier:
            earlier = call.fact(role.draw_counts)
            extents = [role._changed(n, k) for n, k in zip(extents, earlier, strict=True)]
        rooms = {"up to 2^14": MAX_OUTPUTS}, {"up to 2^19": _MAX_CHANGED}
        size = prod(max(1, n) for n in (*shape[: max(0, -surplus)], *extents))
        room = max(2, call.one(self, "size", *rooms) // size)
        tested = call.one(self, "place", places(count))
        others = [k for k in call.sample(self, "order", range(count), count) if k != tested]
        also = distinct({"only it": 0, "one more": min(1, count - 1), "all": count - 1})
        numbers = [self.neutral] * count
        for k in [tested, *others[: call.one(self, "changed", also)]]:
            n = max(1, extents[k])
            most = min(limits[k], n * (room - 1) if self.zero == "keeps" else room)
            if k == tested:
                numbers[k] = self._draw_tested(call, own[k], most)
            else:
                least = min(self.neutral + 1, most)
                numbers[k] = call.integer(self, f"count {k}", least, max(least, min(most, 4)))
            room = max(1, room * n // max(1, self._changed(n, numbers[k])))
        return numbers

    def _limits(self, call: Drawing, extents: Sequence[int]) -> list[int]:
        """Return the greatest counts that the mode and the type allow."""
        most = min(_MAX_CHANGED, highest(call.fact(self.draw_type)))
        word = "" if self.mode_role is None else str(call.fact(self.mode_role.draw_meant))
        if word not in self.limits:
            return [most] * len(extents)
        return [min(most, n + self.limits[word]) for n in extents]

    def _draw_tested(self, call: Drawing, n: int, most: int) -> int:
        """Draw the count of an axis of `n` elements, `most` at most."""
        least = 1 - n if self.least is None else self.least
        named = {"2": 2, "3": 3, **near(n, "i64"), "the most": most}
        named = {name: k for name, k in named.items() if least <= k <= most}
        # No change and no copy leave nothing to see.
        return call.one(self, "count", *parted(named, lambda k: k not in (self.neutral, 0)))

    def draw(self, call: Drawing) -> Any:
        """Return the counts."""
        return self.drawn_list(call, call.fact(self.draw_counts))

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it; None if it may have any length."""
        return None if self.aligned else super().lengths

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of each count, aligned at the end; None for one before the first axis."""
        count, rank = len(self.values_in(call)), self.data.tensor_of(call).rank
        return [k + rank - count if k + rank >= count else None for k in range(count)]

    def requirements(self) -> Iterator[Requirement]:
        """Yield type, rank, length, least count, and the greatest count of each mode."""
        yield from super().requirements()
        name = self.name
        if self.least is not None:
            text = f"None of {name} is below {self.least}."
            yield self.of_each("least", text, "count", f"count >= {self.least}")
        mode = self.mode_role
        if mode is None:
            return
        for word, offset in self.limits.items():
            limit = f"n + {offset}" if offset > 0 else f"n - {-offset}" if offset else "n"
            of = "from their ends, " if self.aligned else ""
            counts, extents = self.values_expr, f"{self.of}.shape"
            if self.aligned:
                counts, extents = f"reversed({counts})", f"reversed({extents})"
            text = f"In mode {word}, {of}none of {name} is above {limit} for an axis of n elements."
            holds = f"all(count <= {limit} for count, n in zip({counts}, {extents}))"
            keys = *self.list_keys, mode.word_requirement
            when = f"{mode.is_one_of([word])} and {self.given_expr}"
            yield self.requirement(f"limit-{word}", text, holds, *keys, when=when)
