"""What laws say of whole arrays: the functions that their expressions can call beside others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import Array, type_name
from opcert.arrays.patterns import materialize


@dataclass(frozen=True)
class ArrayTensor(Tensor):
    """A tensor with its elements."""

    array: Array | None = field(default=None, compare=False, repr=False)


def tensor_of_array(
    array: Array, values: tuple[bool | int | float, ...] | None = None
) -> ArrayTensor:
    """Return `array` as expressions see it; they can read `values` alone."""
    return ArrayTensor(type_name(array.dtype), array.shape, values, array=array)


def elements_of(tensor: Tensor) -> Array:
    """Return the elements of a tensor."""
    if isinstance(tensor, ArrayTensor) and tensor.array is not None:
        return tensor.array
    return materialize(tensor)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors agree in type, shape and every bit."""
    alike = (one.type, one.shape) == (other.type, other.shape)
    return alike and elements_of(one).tobytes() == elements_of(other).tobytes()


def concatenated(tensors: Sequence[Tensor], axis: int) -> ArrayTensor:
    """Return `tensors` one behind the other along `axis`."""
    return tensor_of_array(np.concatenate([elements_of(each) for each in tensors], axis))


def part(original: Tensor, start: Sequence[int], stop: Sequence[int]) -> ArrayTensor:
    """Return the elements from `start` to before `stop`, each with a position for every axis."""
    region = tuple(slice(*ends) for ends in zip(start, stop, strict=True))
    return tensor_of_array(elements_of(original)[region])


def reshaped(original: Tensor, shape: Sequence[int]) -> ArrayTensor:
    """Return the same elements, in C order, in another shape."""
    return tensor_of_array(elements_of(original).reshape(tuple(shape)))


LAW_FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (same, concatenated, part, reshaped)
}
