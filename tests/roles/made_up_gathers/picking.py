"""The references of the made-up operators that pick by indices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from opcert.reference.rules import is_integer, require

Array = npt.NDArray[Any]


def pick(data: Array, indices: Array, axis: int) -> list[Array]:
    """Pick slices of `data` along `axis`."""
    require(-data.ndim <= axis < data.ndim, "pick-1/axis-range", f"axis {axis}")
    require(is_integer(indices), "pick-1/indices-type", f"indices of {indices.dtype}")
    extent = data.shape[axis]
    inside = [-extent <= index < extent for index in _numbers(indices)]
    require(all(inside), "pick-1/indices-range", f"{indices} for {extent} elements")
    return [_picked(data, indices, axis)]


def take_at(data: Array, indices: Array) -> list[Array]:
    """Take elements, the first or the last for an index beyond the ends."""
    require(is_integer(indices), "take-at-1/indices-type", f"indices of {indices.dtype}")
    require(indices.ndim == 1, "take-at-1/indices-rank", f"indices of rank {indices.ndim}")
    return [data.take(indices.clip(0, len(data) - 1))]


def pick_in_batches(data: Array, indices: Array, axis: int, batches: int) -> list[Array]:
    """Pick slices of each batch of `data` by its batch of `indices`."""
    rank = min(data.ndim, indices.ndim)
    require(0 <= axis < data.ndim, "pick-in-batches-1/axis-range", f"axis {axis}")
    require(is_integer(indices), "pick-in-batches-1/indices-type", f"indices of {indices.dtype}")
    require(0 <= batches <= rank, "pick-in-batches-1/batches-range", f"{batches} of {rank}")
    require(batches <= axis, "pick-in-batches-1/batches-before-axis", f"{batches} batches")
    shapes = data.shape[:batches], indices.shape[:batches]
    require(shapes[0] == shapes[1], "pick-in-batches-1/batches-alike", f"batches {shapes}")
    shape = (*data.shape[:axis], *indices.shape[batches:], *data.shape[axis + 1 :])
    output = np.empty(shape, data.dtype)
    for batch in np.ndindex(*shapes[0]):
        output[batch] = _picked(data[batch], indices[batch], axis - batches)
    return [output]


def _picked(data: Array, indices: Array, axis: int) -> Array:
    return np.asarray(data.take(np.asarray(indices).astype(np.intp), axis, mode="clip"))


def _numbers(array: Array) -> Sequence[int]:
    numbers: list[int] = array.ravel().tolist()
    return numbers
