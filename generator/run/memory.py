"""Memory that calls leave: freed, which is filled with a pattern, or unmapped by the backend."""

import ctypes
import os
import sys
from collections.abc import Iterable
from functools import cache

import numpy as np

from opcert.arrays.element_types import Array

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

    The memory cannot shrink: to read what another process has cut off would end this one.
    """
    if sys.platform == "linux":
        descriptor = os.memfd_create("opcert", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
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


@cache
def _scratch_file() -> int:
    return anonymous_file()
