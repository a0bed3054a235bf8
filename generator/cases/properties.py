"""Properties of finished calls, the same for all operators: causes of failures name them.

A role says which axis of data each of its integers concerns, and what it may be near to. All else
follows from the call: types, ranks, extents, orders, and what the outputs have of an axis.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

from opcert.arrays.calls import Call, Tensor, extent_kinds, tensors_in
from opcert.arrays.element_types import INTEGERS
from opcert.diagnosis.table import Point
from opcert.roles.data import DataRole
from opcert.roles.drawing import names_near, names_of_place
from opcert.roles.role import OMITTED, Argument, Role, integers_in
from opcert.specification.model import Spec

# The least numbers of the ranges of extents and of numbers of elements.
_LEAST = (*range(5), 5, 9, 17, 33, 64, 128, 256, 257, 1024, 1 << 14, 1 << 16)
# Up to so many elements of a list have a point each; of a longer one, some have.
_MAX_PLACES = 8
_LISTED = ("0", "1", "-1")
_RANGES = [
    f"{least:,}" if end == least + 1 else f"{least:,} to {end - 1:,}"
    for least, end in pairwise(_LEAST)
]
_RANGES.append(f"{_LEAST[-1]:,} or more")
_LAYOUT_WORDS = {
    "order": "with permuted axes",
    "backwards": "backwards in memory",
    "repeated": "with a stride of 0",
    "gaps": "with gaps",
    "offset": "after other elements",
}
# The sides of -1, 0 and 1 in order.
_SIGNS = ("-2 or less", "-1", "0", "1", "2 or more")
# Integers that implementations take for special, by name: the limits of types of other widths.
_LIMITS = {
    **{f"2^{bits - 1} - 1": (1 << (bits - 1)) - 1 for bits in (16, 32, 64)},
    **{f"-2^{bits - 1}": -1 << (bits - 1) for bits in (16, 32, 64)},
}
# How even a number is, in order.
MULTIPLES = ("odd", "twice an odd number", "four times an odd number", "a multiple of 8")
# Lists of so many numbers in some order of theirs are levels themselves.
_MAX_LISTED = 4
OUTPUT_LENGTH, EQUAL_SHAPES = "output length", "equal shapes"
# What begins the level of a place that is not the first, or not the last.
NOT = "any but the "
_CONTENTS = {"no": "different elements", "some": "one repeated element", "zero": "zeros"}


def range_of(number: int) -> str:
    """Return the range of a number of elements, in words."""
    return _RANGES[max(k for k, least in enumerate(_LEAST) if least <= number)]


def number_of(level: str) -> int | None:
    """Return the number that a level is, or the first one of its range; None if it is neither."""
    match = re.match(r"(-?[\d,]+)($| to | or )", level)
    return int(match[1].replace(",", "")) if match else None


@dataclass(frozen=True)
class _Integers:
    """The integers of an argument, and the axis of data that each, or all of them, concern."""

    role: Role
    values: Sequence[int]
    axes: int | Sequence[int | None] | None


# A factor, or an aspect of an argument, and the levels that a call has of it.
_Levels = tuple[str, Iterable[str]]
# An axis of data, and the place of an element of each list that concerns it.
_Place = tuple[int | None, Mapping[str, int]]


class Properties:
    """Finds the levels of the calls of one operator.

    A call may have levels at several points, such as each axis that is sliced: levels count as
    combined only where they occur together.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        # Arguments of one symbol have one type.
        symbols = {argument.type: argument.name for argument in reversed(spec.inputs)}
        self._typed = {*symbols.values()}

    def points(self, call: Call, outputs: Sequence[Sequence[int]]) -> list[Point]:
        """Return the levels of a valid call by factor, at each of its points.

        `outputs` are the shapes of the outputs.
        """
        # An axis that is omitted is its default.
        lists = {
            role.name: _Integers(role, role.values_in(call), role.axes_in(call))
            for role in self._spec.bound_roles
            if role.name in call.arguments or isinstance(role.default, int)
        }
        whole: list[_Levels] = [(EQUAL_SHAPES, self._equal_shapes(call))]
        for argument in self._spec.arguments:
            levels = [*self._of_value(argument, call.arguments.get(argument.name))]
            if argument.name in lists:
                levels += _of_integers(call, lists[argument.name])
            whole += [(f"{argument.name} {aspect}", names) for aspect, names in levels]
        located = [own for own in lists.values() if own.axes is not None]
        data = self._data(located)
        shape = () if data is None else data.tensor_of(call).shape
        points: list[Point] = []
        of_call = _point(whole)
        for place in _places_in(located, len(shape)):
            levels = [*_of_elements(call, place, lists)]
            if data is not None:
                levels += _of_axis(data.name, shape, place, lists, outputs)
            points.append({**of_call, **_point(levels)})
        return points

    def of_changed(self, call: Call, names: Collection[str]) -> Point:
        """Return the levels of arguments of an invalid call, about which roles know nothing."""
        levels: dict[str, frozenset[str]] = {}
        for argument in self._spec.arguments:
            if argument.name in names:
                value = call.arguments.get(argument.name)
                has_integers = not isinstance(value, Tensor) or value.type in INTEGERS
                integers = integers_in(value) if has_integers else ()
                own = [*self._of_value(argument, value), *_of_list(integers)]
                if isinstance(argument, Role):
                    own += _of_invalid(call, argument, integers)
                levels |= {f"{argument.name} {aspect}": frozenset(found) for aspect, found in own}
        return levels

    def _equal_shapes(self, call: Call) -> Iterator[str]:
        """Yield the pairs of inputs with dimensions that have the same shape."""
        named = {argument.name: call.inputs.get(argument.name) for argument in self._spec.inputs}
        shapes = {n: tensor.shape for n, tensor in named.items() if tensor and tensor.shape}
        for one, other in combinations(shapes, 2):
            if shapes[one] == shapes[other]:
                yield f"{one} and {other}"

    def _data(self, located: Sequence[_Integers]) -> DataRole | None:
        """Return the data whose axes integers concern; without any, the first data."""
        related = [data for own in located if (data := getattr(own.role, "data", None)) is not None]
        own = [role for role in self._spec.bound_roles if isinstance(role, DataRole)]
        return next(iter([*related, *own]), None)

    def _of_value(self, argument: Argument, value: Any) -> Iterator[_Levels]:
        """Yield the aspects of an argument that need no role, and their levels."""
        if argument.type in ("string", "boolean"):
            yield "value", [OMITTED if value is None else str(value).lower()]
            return
        if not argument.required:
            yield "given", [OMITTED if value is None else "given"]
        if isinstance(value, list):
            yield "number", [range_of(len(value))]
        tensors = tensors_in(value) if isinstance(value, Tensor | tuple) else ()
        if not tensors:
            return
        if argument.name in self._typed:
            yield "type", [tensors[0].type]
        if argument.variadic is not None:
            yield "number", [range_of(len(tensors))]
        yield "rank", [str(tensors[0].rank)]
        yield "extents", {_extent(n) for tensor in tensors for n in tensor.shape}
        parts = [part for tensor in tensors for part in tensor.layout.parts or ["c"]]
        yield "layout", [_LAYOUT_WORDS.get(part, "in C order") for part in parts]
        for aspect in ("backwards", "repeated"):
            yield aspect, _places_of_axes(tensors, aspect)
        yield "elements", [range_of(sum(tensor.size for tensor in tensors))]
        if tensors[0].values is None:
            yield "content", [_CONTENTS[_content(tensors[0])]]


def _point(levels: Iterable[_Levels]) -> Point:
    return {factor: frozenset(names) for factor, names in levels}


def _content(tensor: Tensor) -> str:
    """Return how equal the elements are; strides of 0 alone may make them one."""
    moving = [k for k, n in enumerate(tensor.shape) if n > 1 and k not in tensor.layout.repeated]
    is_one = tensor.size > 1 and not moving
    return "some" if is_one and tensor.uniform == "no" else tensor.uniform


def multiple_of(number: int) -> str:
    """Return how even a positive number is."""
    return MULTIPLES[min(3, (number & -number).bit_length() - 1)]


def _extent(n: int) -> str:
    return str(n) if n < 2 else "2 or more"


def _places_of_axes(tensors: Sequence[Tensor], part: str) -> Iterator[str]:
    """Yield the places of the axes that a part of a layout concerns."""
    for tensor in tensors:
        for axis in getattr(tensor.layout, part):
            yield from names_of_place(axis, tensor.rank)


def _of_integers(call: Call, own: _Integers) -> Iterator[_Levels]:
    """Yield the aspects of the integers of an argument as a whole, and their levels."""
    values = own.values
    if len(values) == 1 and own.axes is None:
        yield "value", _values(values[0], own.role.extent_in(call, 0), "i64")
        yield "sign", [_sign(values[0])]
    yield from _of_list(values)


def _of_list(values: Sequence[int]) -> Iterator[_Levels]:
    """Yield the aspects of a list of integers that need no role, and their levels."""
    if len(values) > 1:
        yield "order", [*_orders(values)]
    if 1 < len(values) <= _MAX_LISTED and sorted(values) == [*range(len(values))]:
        yield "list", [str([*values])]
    if values:
        negative = "below 0" if max(values) < 0 else "with some below 0"
        signs = [negative] if min(values) < 0 else []
        yield "signs", [*signs, *(f"with {k}" for k in _LISTED if int(k) in values)]


def _of_invalid(call: Call, role: Role, integers: Sequence[int]) -> Iterator[_Levels]:
    """Yield the levels of any of the integers of an argument, as far as axes are known."""
    yield "sign", {_sign(value) for value in integers}
    # What is invalid may concern no axis, or more than there are.
    with suppress(LookupError, TypeError, ValueError):
        axes = role.axes_in(call)
        each = axes if isinstance(axes, Sequence) else [axes] * len(integers)
        sizes = [role.extent_in(call, axis or 0) for axis in each]
        yield "region", {_region(*pair) for pair in zip(integers, sizes, strict=False)}


def _places_in(located: Sequence[_Integers], rank: int) -> Iterator[_Place]:
    """Yield each axis that integers concern, with the places of elements that concern it.

    Where each element of a list has an axis of its own, that of the element is its point. Where all
    concern one axis, some elements have a point each.
    """
    tested = [own.axes for own in located if isinstance(own.axes, int)]
    axes: list[int | None] = [*tested[:1]]
    if not tested:
        each = [axis for own in located if isinstance(own.axes, Sequence) for axis in own.axes]
        axes = [axis for axis in dict.fromkeys(each) if axis is not None]
        axes = axes or ([None] if each else [*range(rank)])
    along = {
        own.role.name: _places(own.values)
        for own in located
        if isinstance(own.axes, int) and own.values
    }
    for axis in axes or [None]:
        elements = {
            own.role.name: [*own.axes].index(axis)
            for own in located
            if isinstance(own.axes, Sequence) and axis is not None and axis in own.axes
        }
        for places in product(*along.values()):
            yield axis, {**elements, **dict(zip(along, places, strict=True))}


def _of_elements(call: Call, place: _Place, lists: Mapping[str, _Integers]) -> Iterator[_Levels]:
    """Yield the levels of the elements at a place."""
    axis, elements = place
    for name, k in elements.items():
        own = lists[name]
        if k >= len(own.values):
            continue
        value, n = own.values[k], own.role.extent_in(call, axis or 0)
        element_type = call.inputs[name].type if name in call.inputs else "i64"
        if element_type not in INTEGERS:
            element_type = "i64"
        yield f"{name} value", _values(value, n, element_type)
        yield f"{name} region", [_region(value, n)]
        yield f"{name} sign", [_sign(value)]
        if len(own.values) > 1:
            others = {*own.values[:k], *own.values[k + 1 :]}
            alike = ["alike"] if others == {value} else []
            alike += [f"all {number}" for number in _LISTED if others == {int(number)}]
            yield f"{name} others", alike or ["different"]
            # Where each element has the axis of its own place, the axis says it.
            each = own.axes if isinstance(own.axes, Sequence) else ()
            if [*each] != [*range(len(own.values))]:
                yield f"{name} place", _place_names(k, len(own.values))


def _of_axis(
    data: str,
    shape: Sequence[int],
    place: _Place,
    lists: Mapping[str, _Integers],
    outputs: Sequence[Sequence[int]],
) -> Iterator[_Levels]:
    """Yield the levels of an axis of data, and how much of it an output has."""
    axis, elements = place
    if axis is None or not outputs:
        return
    length = shape[axis]
    others = [extent for k, extent in enumerate(shape) if k != axis]
    yield f"{data} axis", _place_names(axis, len(shape))
    yield f"{data} length", [range_of(length)]
    yield f"{data} multiple", [multiple_of(length)] if length else []
    yield f"{data} neighbours", extent_kinds(others, length)
    # Of a list with an element for each output, the element says which output.
    numbers = [
        k
        for name, k in elements.items()
        if isinstance(lists[name].axes, int) and len(lists[name].values) == len(outputs)
    ]
    output = outputs[numbers[0] if numbers else 0]
    if len(output) == len(shape):
        yield OUTPUT_LENGTH, [_taken(output[axis], length)]


def _place_names(place: int, count: int) -> list[str]:
    """Return the names of a place, and of those that it is not."""
    others = {"first": place > 0, "last": place < count - 1}
    return [
        *names_of_place(place, count),
        *(f"{NOT}{end}" for end, is_so in others.items() if is_so),
    ]


def _orders(integers: Sequence[int]) -> Iterator[str]:
    """Yield what describes the order of several integers."""
    count = len(integers)
    steps = {b - a for a, b in pairwise(integers)}
    if steps == {0}:
        yield "all alike"
    elif min(steps) > 0:
        yield "rising"
    elif max(steps) < 0:
        yield "falling"
    if steps in ({1}, {-1}) and 0 in (integers[0], integers[-1]):
        yield "in order from 0" if steps == {1} else "in order down to 0"
    if sorted(integers) == [*range(count)]:
        if sum(k != value for k, value in enumerate(integers)) == 2:
            yield "with two exchanged"
        if len({(value - k) % count for k, value in enumerate(integers)}) == 1 and integers[0]:
            yield "rotated"


def _values(value: int, n: int, element_type: str) -> list[str]:
    """Return the names of an integer next to a size `n`."""
    small = [str(value)] if 2 < abs(value) < 10 else []
    limits = [name for name, limit in _LIMITS.items() if limit == value]
    return [*small, *limits, *names_near(value, n, element_type)]


def _sign(value: int) -> str:
    """Return on which side of -1, 0 and 1 an integer is."""
    return _SIGNS[max(-2, min(value, 2)) + 2]


def _region(value: int, n: int) -> str:
    """Return where an integer lies next to a size."""
    if value < 0:
        return "below -n" if value < -n else "from -n to -1"
    return "from 0 to n - 1" if value < n else "of n or more"


def _taken(extent: int, length: int) -> str:
    """Return how much of an axis an output has."""
    if extent > length:
        return "more than an axis has"
    share = (
        "none" if not extent else "all" if extent == length else "one" if extent == 1 else "some"
    )
    return f"{share} of an axis"


def _places(integers: Sequence[int]) -> list[int]:
    """Return the places of elements that have a point of their own."""
    count = len(integers)
    if count <= _MAX_PLACES:
        return [*range(count)]
    ends = integers.index(min(integers)), integers.index(max(integers))
    return sorted({0, 1, count // 2, count - 2, count - 1, *ends})
