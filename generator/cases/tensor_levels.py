"""The levels of tensors: types, extents, layouts, and what is among their numbers."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, SIGNED_INTEGERS, UNSIGNED_INTEGERS
from opcert.arrays.notable_numbers import numbers_of_note
from opcert.cases.integer_levels import Levels, multiple_of, range_of
from opcert.roles.drawing import names_of_place

LAYOUT_WORDS = {
    "order": "with permuted axes",
    "backwards": "backwards in memory",
    "repeated": "with a stride of 0",
    "gaps": "with gaps",
    "offset": "after other elements",
}
_FAMILIES = {
    "floats": FLOATS,
    "signed integers": SIGNED_INTEGERS,
    "unsigned integers": UNSIGNED_INTEGERS,
}
_CONTENTS = {"no": "different elements", "some": "one repeated element", "zero": "zeros"}
# The ends of ranges of numbers that are computed with: 88 is about the greatest for exp of f32.
_MAGNITUDES: Mapping[str, float] = {
    **{"0": 0, **{f"2^-{bits}": 2.0**-bits for bits in (24, 14, 8, 4)}},
    **{str(end): end for end in (1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64, 80, 88, 96, 128, 256)},
    **{f"2^{bits}": 1 << bits for bits in (11, 15, 16, 24, 31, 32, 53, 63)},
}


def levels_of_tensors(tensors: Sequence[Tensor], *, is_variadic: bool) -> Iterator[Levels]:
    """Yield the aspects of the tensors of an argument, and their levels."""
    if is_variadic:
        yield "number", [range_of(len(tensors))]
        empty = [k for k, tensor in enumerate(tensors) if not tensor.size]
        yield "empty", {name for k in empty for name in names_of_place(k, len(tensors))}
    yield "rank", [str(tensors[0].rank)]
    extents = {n for tensor in tensors for n in tensor.shape}
    yield "extents", {str(n) if n < 2 else "2 or more" for n in extents}
    layouts = [[*tensor.layout.parts] or ["c"] for tensor in tensors]
    words = {LAYOUT_WORDS.get(part, "in C order") for parts in layouts for part in parts}
    words |= {"after other elements, otherwise in C order"} if ["offset"] in layouts else set()
    places = {part for tensor in tensors for part in _gaps(tensor)}
    words |= {f"with gaps between {part}" for part in places}
    words |= {"in Fortran order"} if any(map(_is_in_fortran_order, tensors)) else set()
    yield "layout", words
    for aspect in ("backwards", "repeated"):
        yield aspect, _places_of_axes(tensors, aspect)
    yield "elements", [range_of(sum(tensor.size for tensor in tensors))]
    if tensors[0].values is None and tensors[0].size > 1:
        yield "content", [_CONTENTS[_content(tensors[0])]]
    if len(shape := tensors[0].shape) > 1:
        yield "leading", [range_of(shape[0])]
        yield "trailing", [range_of(shape[-1])]
        yield "tail", [multiple_of(shape[-1])] if shape[-1] else []
        is_square = len({*shape[-2:]}) == 1
        yield "matrices", ["square" if is_square else "rectangular"]


def levels_of_numbers(tensor: Tensor) -> Iterator[Levels]:
    """Yield what is among the numbers of a tensor of the data's type, and how great they are."""
    if tensor.values is not None:
        with np.errstate(invalid="ignore"):
            numbers = np.array(tensor.values).astype(ELEMENT_TYPES[tensor.type])
        yield "special", numbers_of_note(numbers, computed=True)
        yield "within", {magnitude_of(x) for x in {*tensor.values} if x and math.isfinite(x)}


def levels_of_type(name: object) -> Iterator[Levels]:
    """Yield what kernels of several element types share, if this is the name of one."""
    if isinstance(name, str) and name in ELEMENT_TYPES:
        yield "family", [family for family, names in _FAMILIES.items() if name in names]
        size = ELEMENT_TYPES[name].itemsize
        yield "width", [f"elements of {size} byte{'s' * (size > 1)}"]


def magnitude_of(number: float) -> str:
    """Return the range of a number that is computed with, and is not 0, in words."""
    names, ends = [*_MAGNITUDES], [*_MAGNITUDES.values()]
    place, sign = bisect_right(ends, abs(number)), "-" if number < 0 else ""
    if place == len(ends):
        return f"{sign}{names[-1]} or {'less' if sign else 'more'}"
    first, last = names[place - 1 : place + 1][:: -1 if sign else 1]
    return f"{sign}{first} to {sign}{last}".replace("-0", "0")


def _content(tensor: Tensor) -> str:
    """Return how equal the elements are; strides of 0 alone may make them one."""
    moving = [k for k, n in enumerate(tensor.shape) if n > 1 and k not in tensor.layout.repeated]
    is_one = tensor.size > 1 and not moving
    return "some" if is_one and tensor.uniform == "no" else tensor.uniform


def _places_of_axes(tensors: Sequence[Tensor], part: str) -> Iterator[str]:
    """Yield the places of the axes that a part of a layout concerns."""
    for tensor in tensors:
        for axis in getattr(tensor.layout, part):
            yield from names_of_place(axis, tensor.rank)


def _gaps(tensor: Tensor) -> Iterator[str]:
    """Yield between what of a tensor there are gaps."""
    elements, *rows = tensor.layout.gaps or (0,)
    yield from ["elements"] if elements else []
    yield from ["rows"] if any(rows) else []


def _is_in_fortran_order(tensor: Tensor) -> bool:
    moving = [axis for axis, extent in enumerate(tensor.shape) if extent > 1]
    return tensor.layout.parts == {"order": (*reversed(moving),)}
