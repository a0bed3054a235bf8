"""Whether memory can still be read: a backend may unmap the outputs that it returned."""

import ctypes
import os
import sys
from functools import cache

import numpy as np

from opcert.arrays.element_types import Array

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
