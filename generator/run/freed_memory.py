"""Memory that is handed out again: no longer zero, so that an output never written to shows."""

import ctypes
from collections.abc import Iterable

import numpy as np

FILL = 0xA5
# The sizes around an output's that are dirtied too: allocators round up, and add what aligns.
_AROUND = range(0, 160, 16)
# glibc and NumPy each keep seven freed blocks of a small size, the last of which comes first.
_EACH = 8
_SMALL = 1 << 16

_malloc = ctypes.pythonapi.PyMem_RawMalloc
_malloc.argtypes, _malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
_free = ctypes.pythonapi.PyMem_RawFree
_free.argtypes, _free.restype = [ctypes.c_void_p], None


def dirty_freed_memory(sizes: Iterable[int]) -> None:
    """Write to blocks of about these `sizes`, in bytes, and free them.

    The next ones that malloc or NumPy gives this thread are then these; other allocators, and
    other threads, are out of reach.
    """
    for size in sorted(set(sizes), reverse=True):
        if size < _SMALL:
            arrays = [np.full(size, FILL, np.uint8) for _ in range(_EACH)]
            _write_and_free([size + more for more in _AROUND] * _EACH)
            del arrays
            continue
        # What glibc has mapped apart it gives back; from then on it keeps blocks of that size.
        for _ in range(2):
            _write_and_free([size + _AROUND[-1]])


def _write_and_free(sizes: Iterable[int]) -> None:
    blocks = [(_malloc(size), size) for size in sizes]
    for block, size in blocks:
        if block is not None:
            ctypes.memset(block, FILL, size)
    for block, _ in blocks:
        _free(block)
