"""The functions on tensors that expressions of specs can call: to build, to change, to compare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, prod
from typing import Any

import numpy as np

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    FLOATS,
    INTEGERS,
    Array,
    fits,
    highest,
    lowest,
    same_bytes,
    type_name,
)
from opcert.arrays.patterns import materialize
from opcert.errors import Inapplicable, did_you_mean

# A larger tensor would take gigabytes, or have more dimensions than NumPy supports.
MAX_DIMENSIONS = 32
MAX_ELEMENTS = 1 << 25
# The values that a message lists.
_LISTED = 64
# The least and the greatest value of each type that is not an integer type.
_LIMITS = {"boolean": (0, 1), **{name: (lowest(name), highest(name)) for name in FLOATS}}


# -- to build


def filled(element_type: str, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor that a data pattern fills.

    Raises:
        ValueError: the type is unknown, or the shape cannot be generated.
    """
    if element_type not in ELEMENT_TYPES:
        near = did_you_mean(str(element_type), list(ELEMENT_TYPES))
        raise ValueError(f"unknown type '{element_type}'{near}")
    are_sizes = all(isinstance(extent, int) and extent >= 0 for extent in shape)
    if not are_sizes or len(shape) > MAX_DIMENSIONS or prod(shape) > MAX_ELEMENTS:
        limits = f"{MAX_DIMENSIONS} sizes and {MAX_ELEMENTS} elements"
        raise ValueError(f"shape {list(shape)}; expected up to {limits}")
    return Tensor(element_type, tuple(shape))


def tensor(element_type: str, shape: tuple[int, ...], values: tuple[int, ...]) -> Tensor:
    """Return a tensor of `values`, which are flat, in C order.

    Raises:
        ValueError: as for `filled`.
        Inapplicable: a value does not fit an integer type, or the values do not fill the shape.
    """
    empty = filled(element_type, shape)
    # Of whole numbers, the least and the greatest decide: a tensor may have millions of them.
    is_whole = {*map(type, values)} <= {int, bool}
    decisive = (min(values), max(values)) if values and is_whole else values
    if element_type in INTEGERS and not all(fits(element_type, value) for value in decisive):
        raise Inapplicable(f"{_listed(values)} does not fit {element_type}")
    if len(values) != empty.size:
        raise Inapplicable(f"{len(values)} values for the shape {list(shape)}")
    return Tensor(element_type, empty.shape, tuple(values))


def vector(element_type: str, values: tuple[int, ...]) -> Tensor:
    """Return a 1-D tensor of `values`."""
    return tensor(element_type, (len(values),), values)


def scalar(element_type: str, value: int) -> Tensor:
    """Return a tensor of rank 0."""
    return tensor(element_type, (), (value,))


def _listed(values: tuple[float, ...]) -> str:
    """Return values for a message: all, or the first of many."""
    if len(values) <= _LISTED:
        return str([*values])
    return f"[{', '.join(map(str, values[:_LISTED]))}, ...]"


# -- to change


def with_values(original: Tensor, values: tuple[int, ...]) -> Tensor:
    """Return a 1-D or one-element tensor like `original` with other values."""
    shape = original.shape if prod(original.shape) == len(values) else (len(values),)
    return replace(tensor(original.type, shape, values), layout=original.layout)


def with_type(original: Tensor, element_type: str) -> Tensor:
    """Return `original` with another type.

    Raises:
        Inapplicable: a value is not whole, or does not fit the type.
    """
    if original.values is None:
        return replace(original, type=element_type)
    least, most = _LIMITS.get(element_type, (-inf, inf))
    if any(value % 1 or not least <= value <= most for value in original.values):
        raise Inapplicable(f"{_listed(original.values)} does not fit {element_type}")
    values = tuple(map(int, original.values))
    return replace(tensor(element_type, original.shape, values), layout=original.layout)


def with_shape(original: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return `original` in another shape.

    Raises:
        Inapplicable: its values do not fill the shape, or an extent is negative.
    """
    if original.values is not None and len(original.values) != prod(shape):
        raise Inapplicable(f"{len(original.values)} values for the shape {list(shape)}")
    if any(extent < 0 for extent in shape):
        raise Inapplicable(f"no tensor has the shape {list(shape)}")
    return replace(original, shape=tuple(shape))


# -- to compare whole arrays, in laws


@dataclass(frozen=True)
class ArrayTensor(Tensor):
    """A tensor with its elements."""

    array: Array | None = field(default=None, compare=False, repr=False)


def tensor_of_array(
    array: Array, values: tuple[bool | int | float, ...] | None = None
) -> ArrayTensor:
    """Return `array` as a tensor for expressions, which can read only `values` of its elements."""
    return ArrayTensor(type_name(array.dtype), array.shape, values, array=array)


def elements_of(tensor: Tensor) -> Array:
    """Return the elements of a tensor."""
    if isinstance(tensor, ArrayTensor) and tensor.array is not None:
        return tensor.array
    return materialize(tensor)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors agree in type, shape and every bit."""
    if (one.type, one.shape) != (other.type, other.shape):
        return False
    return same_bytes(elements_of(one), elements_of(other))


def concatenated(tensors: Sequence[Tensor], axis: int) -> ArrayTensor:
    """Return `tensors` concatenated along `axis`."""
    return tensor_of_array(np.concatenate([elements_of(tensor) for tensor in tensors], axis))


def part(original: Tensor, start: Sequence[int], stop: Sequence[int]) -> ArrayTensor:
    """Return the elements from `start` to before `stop`, each with a position for every axis."""
    region = tuple(slice(*ends) for ends in zip(start, stop, strict=True))
    return tensor_of_array(elements_of(original)[region])


def reshaped(original: Tensor, shape: Sequence[int]) -> ArrayTensor:
    """Return the same elements, in C order, in another shape."""
    return tensor_of_array(elements_of(original).reshape(tuple(shape)))


TENSOR_BUILDERS = {function.__name__: function for function in (filled, tensor, vector, scalar)}
TENSOR_CHANGES = {function.__name__: function for function in (with_values, with_type, with_shape)}
LAW_FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (same, concatenated, part, reshaped)
}
