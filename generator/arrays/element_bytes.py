"""The bytes of arrays: whether they are equal, and their digest."""

from hashlib import sha256
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array

# How many bytes are compared at once: few enough for a processor's cache.
_CHUNK = 1 << 18


def same_bytes(one: Array, other: Array) -> bool:
    """Whether arrays have the same bytes in C order; copies only parts of large ones."""
    if one.nbytes != other.nbytes or one.nbytes <= _CHUNK:
        return one.tobytes() == other.tobytes()
    first, second = _bytes_of(one), _bytes_of(other)
    starts = range(0, one.nbytes, _CHUNK)
    return all(first[k : k + _CHUNK].tobytes() == second[k : k + _CHUNK].tobytes() for k in starts)


def digest_of(array: Array) -> str:
    """Return the SHA-256 of the elements in C order, as hexadecimal digits."""
    return sha256(_bytes_of(array).data).hexdigest()


def _bytes_of(array: Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes in C order; those of a contiguous array are not copied."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
