"""Memory: layouts of arrays, as recipes of strides, and what calls leave."""

import ctypes
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from opcert.arrays.element_types import Array, bits_dtype

# A damaged index must not make opcert allocate all memory.
_GAPS, _OFFSETS = range(4), range(65)


@dataclass(frozen=True)
class Layout:
    """Where the elements of an array of any shape lie in memory, by default in C order.

    `order` are axes, the outermost first; those that it does not list are further out. Axes in
    `backwards` have negative strides. Along `repeated` axes elements are equal, and the strides are
    0. `gaps` are the numbers of foreign elements before each element, each row, each slab, and so
    on; `offset` is that before all of them. Axes of extent 1 do not count.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True}

    order: tuple[int, ...] = ()
    backwards: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    gaps: tuple[int, ...] = ()
    offset: int = 0

    def __post_init__(self) -> None:
        if not {*self.gaps} <= {*_GAPS} or self.offset not in _OFFSETS:
            raise ValueError(f"gaps up to {max(_GAPS)}, an offset up to {max(_OFFSETS)}")

    @property
    def parts(self) -> dict[str, Any]:
        """What differs from C order, by the names of an index."""
        return {name: value for name, value in vars(self).items() if value}

    def __str__(self) -> str:
        return " ".join(f"{k} {[*v] if k != 'offset' else v}" for k, v in self.parts.items())

    def of(self, array: Array) -> "Layout":
        """Return the layout without what makes no difference to an array."""
        if not self.repeated:
            return self.of_shape(array.shape)
        bits = array.view(bits_dtype(array.dtype))
        axes = (axis for axis in self.repeated if axis in range(array.ndim))
        equal = (axis for axis in axes if (bits == np.roll(bits, 1, axis)).all())
        return replace(self, repeated=tuple(equal)).of_shape(array.shape)

    def of_shape(self, shape: Sequence[int]) -> "Layout":
        """Return the layout without what makes no difference to any array of a shape."""
        if self is C_ORDER or 0 in shape:
            return C_ORDER
        axes = [axis for axis, extent in enumerate(shape) if extent > 1]
        repeated = tuple(axis for axis in self.repeated if axis in axes)
        moving = tuple(axis for axis in axes if axis not in repeated)
        backwards = tuple(axis for axis in self.backwards if axis in moving)
        order, gaps = tuple(_ordered(moving, self.order)), self.gaps[: len(moving)]
        order, gaps = () if order == moving else order, gaps if any(gaps) else ()
        return Layout(order, backwards, repeated, gaps, self.offset)

    def placement(self, shape: Sequence[int]) -> tuple[list[int], int, int]:
        """Return the strides, the place of the first element, and the size of the buffer.

        All count elements. Along the repeated axes, elements are to be equal.
        """
        axes = [axis for axis, n in enumerate(shape) if n > 1 and axis not in self.repeated]
        order, gaps = _ordered(axes, self.order), iter(self.gaps[: len(axes)])
        step = 1 + next(gaps, 0)
        start, strides = self.offset + step - 1, [0] * len(shape)
        # Axes that do not move are the outer ones, but in the order of C they keep their place.
        for axis in reversed(_ordered(range(len(shape)), () if order == axes else order)):
            if axis in self.repeated:
                continue
            strides[axis] = step
            if shape[axis] > 1:
                if axis in self.backwards:
                    start += step * (shape[axis] - 1)
                    strides[axis] = -step
                gap = next(gaps, 0)
                start, step = start + gap, step * shape[axis] + gap
        # Who reads on where a stride is 0 reads foreign elements.
        size = start + prod(shape) if self.repeated else 0
        return strides, start, max(size, self.offset + step)


C_ORDER = Layout()


def _ordered(axes: Sequence[int], order: Sequence[int]) -> list[int]:
    inner = dict.fromkeys(axis for axis in order if axis in axes)
    return [*(axis for axis in axes if axis not in inner), *inner]


def copy_in_layout(array: Array, layout: Layout) -> Array:
    """Return a fresh, writeable copy of `array` in a memory layout."""
    layout = layout.of(array)
    if layout == C_ORDER:
        return array.copy(order="C")
    strides, start, size = layout.placement(array.shape)
    bits = np.asarray(array, order="C").reshape(-1).view(bits_dtype(array.dtype))
    buffer = np.empty(size, bits.dtype)
    if size > array.size or layout.repeated:
        # A foreign element differs from the one that a reader in C order, from `start` on, expects.
        buffer = np.roll(np.resize(bits ^ bits.dtype.type(1), size), start)
    steps = [step * array.itemsize for step in strides]
    copy: Array = np.ndarray(array.shape, array.dtype, buffer, start * array.itemsize, steps)
    copy[...] = array
    return copy


def underlying_buffer(array: Array) -> Array:
    """Return the whole buffer of an array that `copy_in_layout` made, foreign elements included."""
    return array if array.base is None else array.base


def start_of(array: Array) -> int:
    """Return where the first element lies in the underlying buffer, in bytes."""
    first, begin = (a.__array_interface__["data"][0] for a in (array, underlying_buffer(array)))
    return int(first - begin)


def array_properties(array: Array) -> tuple[object, ...]:
    """Return what a caller relies on besides the elements: dtype, shape, strides, writeability."""
    return array.dtype, array.shape, array.strides, array.flags.writeable


def fill_buffer(buffer: Array | None, array: Array, layout: Layout) -> Array:
    """Return `buffer` with the elements of `array`, or a new buffer if it is None or differs."""
    is_alike = buffer is not None and start_of(buffer) == start_of(array)
    if buffer is None or not is_alike or array_properties(buffer) != array_properties(array):
        return copy_in_layout(array, layout)
    underlying_buffer(buffer)[...] = underlying_buffer(array)
    return buffer


FILL = 0xA5
# Allocators round sizes up and add padding, so that larger sizes must be dirtied too.
_PADDINGS = range(0, 160, 16)
# glibc and NumPy each cache seven freed blocks of a small size, and reuse the last one first.
_BLOCKS = 8
_MAX_SMALL = 1 << 16
_malloc = ctypes.pythonapi.PyMem_RawMalloc
_malloc.argtypes, _malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
_free = ctypes.pythonapi.PyMem_RawFree
_free.argtypes, _free.restype = [ctypes.c_void_p], None


def dirty_freed_memory(sizes: Iterable[int]) -> None:
    """Write to memory blocks of about these `sizes`, in bytes, and free them.

    malloc and NumPy reuse them for the next allocations of this thread. Other allocators and other
    threads are not affected.
    """
    for size in sorted(set(sizes), reverse=True):
        if size < _MAX_SMALL:
            arrays = [np.full(size, FILL, np.uint8) for _ in range(_BLOCKS)]
            _write_and_free([size + padding for padding in _PADDINGS] * _BLOCKS)
            del arrays
            continue
        # glibc unmaps the first large block that is freed, and caches later ones of the same size.
        for _ in range(2):
            _write_and_free([size + _PADDINGS[-1]])


def _write_and_free(sizes: Iterable[int]) -> None:
    blocks = [(_malloc(size), size) for size in sizes]
    for block, size in blocks:
        if block is not None:
            ctypes.memset(block, FILL, size)
    for block, _ in blocks:
        _free(block)


if sys.platform == "linux":
    import fcntl
# How many bytes are copied at a time.
_CHUNK = 1 << 20
_ChunkBytes = ctypes.c_char * _CHUNK


def anonymous_file() -> int:
    """Return a descriptor of anonymous memory, or of an unlinked file where that is missing.

    The memory cannot shrink: to read what another process has cut off would end this one. Nor can
    another process forbid that it grows.
    """
    if sys.platform == "linux":
        descriptor = os.memfd_create("opcert", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        return descriptor
    # A worker starts faster without it.
    from tempfile import TemporaryFile  # noqa: PLC0415

    with TemporaryFile() as file:
        return os.dup(file.fileno())


class ArrayMemory:
    """The memory from the first to the last element of an array."""

    def __init__(self, array: Array) -> None:
        self._start = self._size = 0
        if _is_of_numpy(array):
            return
        offsets = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
        address: int = array.__array_interface__["data"][0]
        self._start = address + sum(min(offset, 0) for offset in offsets)
        self._size = sum(map(abs, offsets)) + array.itemsize if array.size else 0

    @property
    def is_readable(self) -> bool:
        """Whether all of it can be read.

        To read memory that is gone would end this process. The system copies it instead, and
        refuses to where it is gone. Where there is no such copy, as on Windows, the answer is yes.
        """
        if not hasattr(os, "pwrite"):
            return True
        for position in range(0, self._size, _CHUNK):
            count = min(_CHUNK, self._size - position)
            # The view may extend beyond the array: only `count` bytes of it are copied.
            chunk = memoryview(_ChunkBytes.from_address(self._start + position))[:count]
            try:
                if os.pwrite(_scratch_file(), chunk, 0) < count:
                    return False
            except OSError:
                return False
        return True


def _is_of_numpy(array: Array) -> bool:
    """Whether NumPy owns the memory of an array, and keeps it as long as the array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.flags.owndata


_scratch_file = cache(anonymous_file)
