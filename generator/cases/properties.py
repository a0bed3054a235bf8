"""Properties of finished calls, the same for all operators: causes of failures name them.

A role says which axis of data each of its integers concerns, and what it may be near to. All else
follows from the call: types, ranks, extents, orders, and what the outputs have of an axis.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from opcert.arrays.calls import (
    Call,
    Tensor,
    extent_kinds,
    tensors_in,
)
from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS
from opcert.arrays.notable_numbers import numbers_of_note
from opcert.cases.comparisons import EQUAL_SIZES, FEWER, comparisons, equal_sizes, shorter_lists
from opcert.cases.conditions import Conditions
from opcert.cases.integer_levels import (
    Integers,
    Levels,
    Place,
    levels_of_elements,
    levels_of_integers,
    levels_of_invalid,
    levels_of_order,
    levels_of_values,
    multiple_of,
    place_names,
    places_of,
    range_of,
)
from opcert.cases.tensor_levels import (
    LAYOUT_WORDS,
    levels_of_numbers,
    levels_of_tensors,
    levels_of_type,
    magnitude_of,
)
from opcert.diagnosis.table import Point
from opcert.roles.argument import Argument, integers_in
from opcert.roles.axes import AxesRole, PermutationRole
from opcert.roles.data import DataRole
from opcert.roles.role import OMITTED, ListRole, Role

OUTPUT_LENGTH, OUTPUT_EXTENTS = "output length", "output extents"
# On how many axes an output differs from the data: on none, one or several.
_OTHER_EXTENTS = (
    "the extents of the data",
    "another extent than the data on one axis",
    "other extents than the data on several axes",
)


class Properties:
    """Finds the levels of the calls of one operator.

    A call may have levels at several points, such as each axis that is sliced: levels count as
    combined only where they occur together.
    """

    def __init__(self, conditions: Conditions) -> None:
        self._spec, self._conditions = conditions.spec, conditions
        spec = conditions.spec
        # Arguments of one symbol have one type.
        symbols = {argument.type: argument.name for argument in reversed(spec.inputs)}
        self._typed = {*symbols.values()}
        roles = (role for role in spec.bound_roles if isinstance(role, DataRole))
        self._of_data = {role.type for role in roles}

    def points(self, call: Call, outputs: Sequence[Sequence[int]]) -> list[Point]:
        """Return the levels of a valid call by factor, at each of its points.

        `outputs` are the shapes of the outputs.
        """
        # An axis that is omitted is its default.
        lists = {
            role.name: Integers(role, role.values_in(call), role.axes_in(call))
            for role in self._spec.bound_roles
            if role.name in call.arguments or isinstance(role.default, int)
        }
        whole: list[Levels] = []
        for argument in self._spec.arguments:
            levels = [*self._of_value(argument, call.arguments.get(argument.name))]
            if argument.name in lists:
                levels += levels_of_integers(call, lists[argument.name])
            whole += [(f"{argument.name} {aspect}", names) for aspect, names in levels]
        located = [own for own in lists.values() if own.axes is not None]
        data = self._data(located)
        tensor = None if data is None else data.tensor_of(call)
        shape = () if tensor is None else tensor.shape
        whole += self._of_names(call)
        whole += comparisons(self._spec, call, tensor, [*lists.values()], outputs)
        whole += _of_all_axes(shape, located, outputs)
        roles = self._spec.bound_roles
        selected: dict[int | None, range] = {
            axis: indices for role in roles for axis, indices in role.selected_in(call).items()
        }
        points: list[Point] = []
        of_call = _point(whole)
        for place in _places_in(call, located, len(shape)):
            levels = [*levels_of_elements(call, place, lists)]
            if data is not None and tensor is not None:
                own = selected.get(place[0])
                levels += _of_axis(data.name, tensor, place, lists, outputs, own)
            points.append({**of_call, **_point(levels)})
        return points

    def of_changed(self, call: Call, names: Collection[str]) -> Point:
        """Return the levels of arguments of an invalid call, about which roles know nothing."""
        lists = [
            Integers(role, integers_in(call.arguments[role.name]), None)
            for role in self._spec.bound_roles
            if isinstance(role, ListRole) and role.name in call.arguments
        ]
        sizes = equal_sizes(self._spec, call)
        levels = {FEWER: frozenset(shorter_lists(lists)), EQUAL_SIZES: frozenset(sizes)}
        for argument in self._spec.arguments:
            if argument.name in names:
                value = call.arguments.get(argument.name)
                has_integers = not isinstance(value, Tensor) or value.type in INTEGERS
                has_integers &= not (isinstance(argument, DataRole) and argument.computed)
                integers = integers_in(value) if has_integers else ()
                own = [*self._of_value(argument, value)]
                is_list = isinstance(argument, ListRole) or len(integers) > 1
                own += [*levels_of_values(integers, is_list=is_list), *levels_of_order(integers)]
                if isinstance(argument, Role) and integers:
                    own += levels_of_invalid(call, argument, integers)
                levels |= {f"{argument.name} {aspect}": frozenset(found) for aspect, found in own}
        return levels

    def _of_names(self, call: Call) -> Iterator[Levels]:
        """Yield the sizes that the spec names, such as over how many products a sum goes.

        Of a list, such as what is added on each axis, it yields what is among its elements.
        """
        for name, value in self._conditions.values(call).items():
            if type(value) is int and value >= 0:
                yield f"{name} range", [range_of(value)]
                yield f"{name} evenness", [multiple_of(value)] if value else []
            elif isinstance(value, tuple) and {*map(type, value)} == {bool}:
                yield f"{name} special", {str(item).lower() for item in value}
            elif isinstance(value, tuple) and {*map(type, value)} == {int}:
                among = {"0": 0 in value, "an odd number": any(item % 2 for item in value)}
                among |= {"a number above 0": max(value) > 0, "a number above 1": max(value) > 1}
                yield f"{name} special", [words for words, is_so in among.items() if is_so]

    def _data(self, located: Sequence[Integers]) -> DataRole | None:
        """Return the data whose axes integers concern; without any, the first data."""
        related = [data for own in located if (data := getattr(own.role, "data", None)) is not None]
        own = [role for role in self._spec.bound_roles if isinstance(role, DataRole)]
        return next(iter([*related, *own]), None)

    def _of_value(self, argument: Argument, value: Any) -> Iterator[Levels]:
        """Yield the aspects of an argument that need no role, and their levels."""
        if argument.type in ("string", "boolean"):
            yield "value", [OMITTED if value is None else str(value).lower()]
            yield from levels_of_type(value)
            return
        if not argument.required:
            yield "given", [OMITTED if value is None else "given"]
        if isinstance(value, float):
            yield "special", numbers_of_note(np.array([value]), computed=True)
            yield "range", [magnitude_of(value)] if value and math.isfinite(value) else []
        if isinstance(value, list):
            yield "number", [range_of(len(value))]
        if tensors := tensors_in(value) if isinstance(value, Tensor | tuple) else ():
            if argument.name in self._typed:
                yield "type", [tensors[0].type]
                yield from levels_of_type(tensors[0].type)
            yield from levels_of_tensors(tensors, is_variadic=argument.variadic is not None)
            if argument.type in self._of_data:
                yield from levels_of_numbers(tensors[0])


def _point(levels: Iterable[Levels]) -> Point:
    return {factor: frozenset(names) for factor, names in levels}


def _places_in(call: Call, located: Sequence[Integers], rank: int) -> Iterator[Place]:
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
        own.role.name: places_of(own.values, own.role.extent_in(call, own.axes))
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


def _of_all_axes(
    shape: Sequence[int], located: Sequence[Integers], outputs: Sequence[Sequence[int]]
) -> Iterator[Levels]:
    """Yield whether an argument lists all axes of the data, and on how many an output differs."""
    for own in located:
        if isinstance(own.role, AxesRole) and isinstance(own.axes, Sequence) and own.axes:
            name, axes = own.role.name, {axis for axis in own.axes if axis is not None}
            yield f"{name} listed", ["every axis" if len(axes) == len(shape) else "some axes"]
            has_gap = max(axes) - min(axes) >= len(axes)
            yield f"{name} between", ["another axis" if has_gap else "no other axis"]
        if isinstance(own.role, PermutationRole) and isinstance(own.axes, Sequence):
            # An empty one reverses the axes.
            order = own.axes or range(len(shape))[::-1]
            long = [axis for axis in order if axis is not None and shape[axis] > 1]
            moved = "no axis" if long == sorted(long) else "an axis"
            yield f"{own.role.name} moved", [f"{moved} of several elements"]
    if outputs and len(outputs[0]) == len(shape):
        other = sum(m != n for m, n in zip(outputs[0], shape, strict=True))
        yield OUTPUT_EXTENTS, [_OTHER_EXTENTS[min(other, 2)]]


def _of_axis(
    data: str,
    tensor: Tensor,
    place: Place,
    lists: Mapping[str, Integers],
    outputs: Sequence[Sequence[int]],
    selected: range | None,
) -> Iterator[Levels]:
    """Yield the levels of an axis of data, what is selected of it, and what an output has of it."""
    axis, elements = place
    if axis is None or not outputs:
        return
    shape = tensor.shape
    length = shape[axis]
    others = [extent for k, extent in enumerate(shape) if k != axis]
    parts = [part for part in ("backwards", "repeated") if axis in getattr(tensor.layout, part)]
    yield f"{data} axis", place_names(axis, len(shape))
    yield f"{data} along", [LAYOUT_WORDS[part] for part in parts]
    yield f"{data} length", [range_of(length)]
    yield f"{data} multiple", [multiple_of(length)] if length else []
    yield f"{data} neighbours", extent_kinds(others, length)
    # Kernels move the elements after an axis as one block, once for each place before it.
    inner = math.prod(shape[axis + 1 :])
    size = inner * ELEMENT_TYPES[tensor.type].itemsize
    yield f"{data} outer", [range_of(math.prod(shape[:axis]))]
    yield f"{data} inner", [range_of(inner)]
    yield f"{data} bytes", [multiple_of(size)] if size else []
    if selected is not None and length:
        ends = {"first": 0, "last": length - 1}
        how = {name: "with" if end in selected else "without" for name, end in ends.items()}
        yield f"{data} slice", [f"{how[name]} the {name} element" for name in ends]
    # Of a list with an element for each output, the element says which output.
    numbers = [
        k
        for name, k in elements.items()
        if isinstance(lists[name].axes, int) and len(lists[name].values) == len(outputs)
    ]
    output = outputs[numbers[0] if numbers else 0]
    if selected is not None:
        yield OUTPUT_LENGTH, [_taken(len(selected), length)]
    elif len(output) == len(shape):
        yield OUTPUT_LENGTH, [_taken(output[axis], length)]


def _taken(extent: int, length: int) -> str:
    """Return how much of an axis an output has."""
    if extent > length:
        return "more than an axis has"
    # One element is in no order, also where the axis has no other.
    share = (
        "none" if not extent else "one" if extent == 1 else "all" if extent == length else "some"
    )
    return f"{share} of an axis"
