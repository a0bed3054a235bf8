"""The operators' own formulas, worked out one element at a time on raw bit patterns.

Nothing here slices, takes, splits or broadcasts an array: an output element is found by computing
the index tuple it comes from. The arguments are taken to be valid calls.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    """What describes an array: its type, its shape, its elements' bits in C order."""

    dtype: str
    shape: Index
    bits: tuple[int, ...]


def described(array: object) -> Tensor:
    """Describe an array, whatever its memory layout."""
    assert type(array) is np.ndarray, f"{type(array).__name__} where an ndarray is due"
    bits = _bits(array)
    return Tensor(str(array.dtype), array.shape, tuple(map(bits, _positions(array.shape))))


def variadic_split_1(data: Array, axis: Array, split_lengths: Array) -> list[Tensor]:
    """VariadicSplit-1, "Detailed Description" and "Inputs"."""
    where = _normalized(axis.item(), data.ndim)
    stated = _elements(split_lengths)
    rest = data.shape[where] - sum(length for length in stated if length != -1)
    return _parts(data, where, [rest if length == -1 else length for length in stated])


def dml_split(
    InputTensor: Array, OutputCount: int, OutputTensors: Sequence[Mapping[str, Any]], Axis: int
) -> list[Tensor]:
    """DML_SPLIT_OPERATOR_DESC, the pseudocode and "Members"."""
    lengths = [OutputTensors[output]["Sizes"][Axis] for output in range(OutputCount)]
    return _parts(InputTensor, Axis, lengths)


def slice_8(
    data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
) -> list[Tensor]:
    """Slice-8, "Detailed Description", and the Python language reference for slicings."""
    listed = range(start.size) if axes is None else _elements(axes)
    visited: list[list[int]] = [list(range(extent)) for extent in data.shape]
    for axis, *bounds in zip(listed, *map(_elements, (start, stop, step)), strict=True):
        where = _normalized(axis, data.ndim)
        visited[where] = list(_walk(data.shape[where], *bounds))
    shape = tuple(map(len, visited))

    def source(index: Index) -> Index:
        return tuple(seen[at] for seen, at in zip(visited, index, strict=True))

    return [_moved(data, shape, source)]


def broadcast_1(
    data: Array, target_shape: Array, axes_mapping: Array | None = None, mode: str = "numpy"
) -> list[Tensor]:
    """Broadcast-1, "mode" and the inputs."""
    target = _elements(target_shape)
    if mode == "explicit" and axes_mapping is not None:
        mapping = _elements(axes_mapping)
    else:
        mapping = [len(target) - data.ndim + axis for axis in range(data.ndim)]

    def source(index: Index) -> Index:
        return tuple(
            0 if extent == 1 else index[onto]
            for extent, onto in zip(data.shape, mapping, strict=True)
        )

    return [_moved(data, tuple(target), source)]


def gather_8(data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> list[Tensor]:
    """Gather-8, the formula, the attribute and the inputs; `where` is the erratum's axis'."""
    where = _normalized(axis.item(), data.ndim)
    batch = _normalized(batch_dims, indices.ndim)
    extent, picked = data.shape[where], indices.ndim - batch
    shape = data.shape[:where] + indices.shape[batch:] + data.shape[where + 1 :]

    def source(index: Index) -> Index | None:
        before, chosen, after = _cut(index, where, picked)
        at: int = indices.item(*before[:batch], *chosen)
        return (*before, _normalized(at, extent), *after) if -extent <= at < extent else None

    return [_moved(data, shape, source)]


def _moved(data: Array, shape: Index, source: Callable[[Index], Index | None]) -> Tensor:
    """The tensor whose element at each index is data's at `source`, or zero where that is None."""
    bits = _bits(data)
    origins = map(source, _positions(shape))
    return Tensor(
        str(data.dtype), shape, tuple(0 if origin is None else bits(origin) for origin in origins)
    )


def _parts(data: Array, axis: int, lengths: Sequence[int]) -> list[Tensor]:
    """The tensors that follow one another along `axis`, `lengths[i]` long."""
    return [
        _part(data, axis, sum(lengths[:before]), length) for before, length in enumerate(lengths)
    ]


def _part(data: Array, axis: int, offset: int, length: int) -> Tensor:
    """The tensor that starts `offset` into `axis` and is `length` long."""

    def source(index: Index) -> Index:
        return (*index[:axis], index[axis] + offset, *index[axis + 1 :])

    shape = (*data.shape[:axis], length, *data.shape[axis + 1 :])
    return _moved(data, shape, source)


def _walk(extent: int, start: int, stop: int, step: int) -> Iterator[int]:
    """The positions from `start` up or down to, not including, `stop`."""
    at, end = (_clamped(bound, extent, step) for bound in (start, stop))
    while at < end if step > 0 else at > end:
        yield at
        at += step


def _clamped(bound: int, extent: int, step: int) -> int:
    """The bound counted from the front, held to the places where a walk may begin or end."""
    least, most = (0, extent) if step > 0 else (-1, extent - 1)
    from_front = bound + extent if bound < 0 else bound
    return min(max(from_front, least), most)


def _cut(index: Index, before: int, middle: int) -> tuple[Index, Index, Index]:
    """The first `before` entries of an index, the next `middle`, and all others."""
    return index[:before], index[before : before + middle], index[before + middle :]


def _normalized(place: int, count: int) -> int:
    """A place counted from the front."""
    return place + count if place < 0 else place


def _positions(shape: Index) -> Iterator[Index]:
    """Every index tuple of `shape`, in C order."""
    return product(*map(range, shape))


def _elements(vector: Array) -> list[int]:
    """The elements of a vector of integers."""
    return [vector.item(position) for position in range(vector.size)]


def _bits(array: Array) -> Callable[[Index], int]:
    """The look-up of an element's bit pattern by its index."""
    patterns = array.view(f"u{array.dtype.itemsize}")
    return lambda index: int(patterns.item(*index))
