"""What laws say of whole arrays: the functions that their expressions can call beside others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import Array, name_of
from opcert.arrays.patterns import array_of


@dataclass(frozen=True)
class Held(Tensor):
    """A tensor with its elements."""

    array: Array | None = field(default=None, compare=False, repr=False)


def held(array: Array, values: tuple[bool | int | float, ...] | None = None) -> Held:
    """Return `array` as expressions see it; they can read `values` alone."""
    return Held(name_of(array.dtype), array.shape, values, array=array)


def array_in(tensor: Tensor) -> Array:
    """Return the elements of a tensor."""
    if isinstance(tensor, Held) and tensor.array is not None:
        return tensor.array
    return array_of(tensor)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors agree in type, shape and every bit."""
    alike = (one.type, one.shape) == (other.type, other.shape)
    return alike and array_in(one).tobytes() == array_in(other).tobytes()


def concatenated(tensors: Sequence[Tensor], axis: int) -> Held:
    """Return `tensors` one behind the other along `axis`."""
    return held(np.concatenate([array_in(each) for each in tensors], axis))


def part(original: Tensor, start: Sequence[int], stop: Sequence[int]) -> Held:
    """Return the elements from `start` to before `stop`, each with a position for every axis."""
    region = tuple(slice(*ends) for ends in zip(start, stop, strict=True))
    return held(array_in(original)[region])


def reshaped(original: Tensor, shape: Sequence[int]) -> Held:
    """Return the same elements, in C order, in another shape."""
    return held(array_in(original).reshape(tuple(shape)))


ARRAYS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (same, concatenated, part, reshaped)
}
