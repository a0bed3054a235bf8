"""The role `tensors`: a list of tensors that an operator joins along an axis."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, extent_kinds, insert, tensors_in
from opcert.arrays.element_types import LAYOUTS, Layout
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing, places
from opcert.roles.factors import (
    Factor,
    ObservationPoint,
    ObservedLevels,
    levels_where,
)
from opcert.roles.role import Requirement

# How many tensors there are: few, and one more than tables and kernels often have room for.
_COUNTS = {"two": 2, "one": 1, "three": 3, "five": 5, "past_8": 9, "past_16": 17, "past_32": 33}
_MANY_COUNTS = {"past_64": 65}
# The greatest number that a factor has, even if more are allowed.
_MOST = 300
# How long the tensors are along the axis, given the length of the plainest.
_LENGTHS = {"two": 2, "one": 1, "seven": 7, "past_u8": 259}
_LARGE_LENGTHS = {"past_u16": 65537, "two": 2}
_VARIATIONS = {
    "varied": "of different lengths",
    "equal": "of one length",
    "first_longest": "the first the longest",
    "last_longest": "the last the longest",
    "first_empty": "the first without elements",
    "middle_empty": "one in the middle without elements",
    "last_empty": "the last without elements",
    "all_empty": "all without elements",
}
# How many tensors there are at least, where it is not 2.
_LEAST_COUNTS = {"equal": 1, "all_empty": 1, "middle_empty": 3}
_OTHERS = ("varied", "equal", "ones", "long", "wide", "tall", "zero")
# Drawn tensors have at most so many elements together.
_MOST_ELEMENTS = 1 << 18
# Of which tensors the memory layout differs from C order.
_WHICH = {"every": "", "first": "the first alone", "later": "all but the first"}


class TensorsRole(DataRole):
    """A list of tensors that are joined along the axis `along`.

    They have one type and one rank, and the same extents off the axis. Along it, their lengths may
    differ; unless `empty` is false, an extent may be 0.
    """

    relations: ClassVar = {"along": ("axis",)}
    can_be_variadic: ClassVar = True

    role: Literal["tensors"]  # type: ignore[assignment]
    variadic: tuple[int, int]
    along: str

    @property
    def tensor_expr(self) -> str:
        """The expression of the first tensor."""
        return f"{self.name}[0]"

    def tensor_of(self, call: Call) -> Tensor:
        """Return the first tensor."""
        return tensors_in(call.arguments[self.name])[0]

    def factors(self) -> Iterator[Factor]:
        """Yield those of data, with the number of tensors and how their lengths differ."""
        for factor in super().factors():
            if factor.name == self.factor("length"):
                words = {level: f"tensors of length {n}" for level, n in _LENGTHS.items()}
                yield Factor(factor.name, _LENGTHS, words=words)
            elif factor.name == self.factor("others"):
                allowed = [kind for kind in _OTHERS if kind != "zero" or self.empty]
                yield Factor.of_names(factor.name, allowed, "{} extents next to it")
            else:
                yield factor
        least, most = self.variadic
        counts = {**_COUNTS, **_MANY_COUNTS, "most": _MOST}
        counts = {level: n for level, n in counts.items() if least <= n <= most}
        words = {level: f"{n} tensor{'s' * (n > 1)}" for level, n in counts.items()}
        yield Factor(self.factor("count"), counts, words=words)
        variations = {
            level: text
            for level, text in _VARIATIONS.items()
            if self.empty or not level.endswith("empty")
        }
        yield Factor.of_names(self.factor("lengths"), variations)
        yield Factor.of_names(self.factor("which"), _WHICH)

    draws_own_shape: ClassVar[bool] = False

    def draw_count(self, call: Drawing) -> int:
        """Draw how many tensors there are; a single one has nothing to be joined to."""
        least, most = self.variadic
        few = {"2": 2, "3": 3, "4": 4, "several": call.integer(self, "several", 5, 16)}
        rare = {"1": 1, "many": call.many(self)}
        fitting = [{k: n for k, n in named.items() if least <= n <= most} for named in (few, rare)]
        return call.one(self, "number", *fitting)

    def draw_shapes(self, call: Drawing) -> list[tuple[int, ...]]:
        """Draw the shape of each tensor: they differ on the axis alone."""
        rank, room, count = call.fact(self.draw_rank), call.room(self), call.fact(self.draw_count)
        if not rank:
            return [()] * count
        # Half of the room is for extents off the axis.
        share = max(1, room // (2 * count))
        others = call.extents(self, rank - 1, share, empty=self.empty, aspect="other extents")
        axis = call.fact(self.related(self.along, AxisRole).draw_axis)
        size = prod(max(1, extent) for extent in others)
        lengths = self._draw_lengths(call, count, max(4, share // size), _MOST_ELEMENTS // size)
        return [insert(others, axis, length) for length in lengths]

    def _draw_lengths(self, call: Drawing, count: int, most: int, most_in_all: int) -> list[int]:
        """Draw the lengths on the axis, up to `most`, but one may be longer.

        Where a tensor begins is the sum of the lengths before it, which may wrap.
        """
        kinds = ["different", "equal", "one longer"] if count > 1 else ["any", "one longer"]
        common, rare = (["some empty"], ["all empty"]) if self.empty and count > 1 else ([], [])
        kind = call.one(self, "lengths", [*kinds, *common], rare)
        if kind in ("equal", "all empty"):
            return [call.extent(self, "length", most) if kind == "equal" else 0] * count
        lengths = call.choices.integers(f"{self.name} lengths", 1, most, count)
        place = call.one(self, "place", places(count))
        if kind == "some empty":
            are_empty = call.choices.integers(f"{self.name} empty", 0, 2, count)
            lengths = [n * bool(rest) for n, rest in zip(lengths, are_empty, strict=True)]
            lengths[place] = 0
        elif kind == "different" and len(set(lengths)) == 1:
            lengths[place] += 1
        elif kind == "one longer":
            before = sum(lengths[:place])
            ends = {name: 1 << bits for name, bits in (("2^8", 8), ("2^16", 16))}
            ends |= {f"{name} + 1": end + 1 for name, end in ends.items()}
            ends = {k: end for k, end in ends.items() if before < end <= most_in_all}
            longer = before + call.extent(self, "longer", 8 * most, least=most)
            lengths[place] = call.one(self, "end", {"any": longer, **ends}) - before
        return lengths

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Return the shape of the first tensor."""
        return call.fact(self.draw_shapes)[0]

    def draw(self, call: Drawing) -> Any:
        """Return tensors for data patterns to fill, in one layout or in several."""
        element_type, shapes = call.fact(self.draw_type), call.fact(self.draw_shapes)
        tensors = [Tensor(element_type, shape) for shape in shapes]
        largest = max(tensors, key=lambda tensor: tensor.size)
        if largest.size > 1 and largest.nbytes <= MAX_STORED_BYTES:
            uniform: Literal["no", "some"] = call.one(
                self, "elements", {"different": "no"}, {"all alike": "some"}
            )
            tensors = [replace(tensor, uniform=uniform) for tensor in tensors]
        layout, count = call.laid_out(self, largest).requested_layout, len(tensors)
        layouts = [layout] * count
        if count > 1 and layout != "c":
            places_of = {"all": range(count), "the first": range(1)}
            places_of |= {"all but the first": range(1, count), "any": range(0)}
            laid_out = call.one(self, "laid out", places_of)
            layouts = [layout if k in laid_out else "c" for k in range(count)]
            if not laid_out:
                numbers = call.choices.integers(f"{self.name} layouts", 0, len(LAYOUTS) - 1, count)
                layouts = [LAYOUTS[number] for number in numbers]
        return tuple(
            tensor if own == "c" else replace(tensor, requested_layout=own)
            for tensor, own in zip(tensors, layouts, strict=True)
        )

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe all factors, with the axis of `point` as the tested axis."""
        tensors = tensors_in(call.arguments[self.name])
        first, axis = tensors[0], point.get("axis", 0)
        lengths = [tensor.shape[axis] if tensor.rank else 1 for tensor in tensors]
        others = [extent for d, extent in enumerate(first.shape) if d != axis]
        layouts = [tensor.layout for tensor in tensors]
        shared: Layout = next((layout for layout in layouts if layout != "c"), "c")
        is_shared = [layout == shared for layout in layouts]
        # The length of the plainest tensor: the variation follows from all others.
        known = {*_LENGTHS.values(), *_LARGE_LENGTHS.values()}
        count = len(tensors)
        plain = {
            kind: {n for n in known if lengths_of(kind, n, count) == lengths}
            for kind in _VARIATIONS
            if count >= _LEAST_COUNTS.get(kind, 2)
        }
        values = {
            self.factor("type"): first.type,
            self.factor("rank"): first.rank,
            self.factor("axis"): axis,
            self.factor("layout"): shared,
            self.factor("elements"): first.uniform,
            self.factor("count"): count,
            self.factor("length"): tuple(set().union(*plain.values())),
            self.factor("others"): extent_kinds(others, max(lengths)),
        }
        which = {
            "every": all(is_shared),
            "first": is_shared[0] and not any(is_shared[1:]),
            "later": not is_shared[0] and all(is_shared[1:]),
        }
        levels = {
            self.factor("lengths"): levels_where(
                {kind: bool(numbers) for kind, numbers in plain.items()}
            ),
            self.factor("which"): levels_where(which),
        }
        return ObservedLevels(values, levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield one type, one rank, and the same extents off the axis."""
        name, first = self.name, self.tensor_expr
        yield Requirement(
            f"{name}.same-type",
            f"All tensors of {name} have one element type.",
            f"all(tensor.type == {first}.type for tensor in {name})",
        )
        yield Requirement(
            f"{name}.same-rank",
            f"All tensors of {name} have as many dimensions.",
            f"all(tensor.rank == {first}.rank for tensor in {name})",
        )
        axis = self.related_axis_expr
        yield Requirement(
            f"{name}.off-axis",
            f"Off the axis, all tensors of {name} have the same extents.",
            f"all(tensor.shape[d] == {first}.shape[d] "
            f"for tensor in {name} for d in range({first}.rank) if d != {axis})",
            prerequisites=(f"{name}.same-rank", f"{self.along}.range"),
        )

    @property
    def related_axis_expr(self) -> str:
        """The expression of the axis, counted from the front."""
        axis = self._signature.arguments[self.along]
        return str(axis.wrapped_expr)  # type: ignore[attr-defined]


def lengths_of(kind: str, n: int, count: int) -> list[int]:
    """Return the lengths of `count` tensors along the axis, the plainest of which is `n`."""
    lengths = [n] * count
    if kind == "varied":
        # Neighbours differ, and no two runs of them are alike.
        lengths = [n + (k * k + k) // 2 % 4 for k in range(count)]
    elif kind == "first_longest":
        lengths[0] = n + 5
    elif kind == "last_longest":
        lengths[-1] = n + 5
    elif kind == "first_empty":
        lengths[0] = 0
    elif kind == "middle_empty":
        lengths[count // 2] = 0
    elif kind == "last_empty":
        lengths[-1] = 0
    elif kind == "all_empty":
        lengths = [0] * count
    return lengths
