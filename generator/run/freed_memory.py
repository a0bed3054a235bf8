"""Fills freed memory with a pattern, so that outputs that are never written to are not zero."""

import ctypes
from collections.abc import Iterable

import numpy as np

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
