"""What becomes of memory that is freed, if the C library is glibc."""

import ctypes
import sys
from typing import Any

# Of glibc's mallopt.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# Larger than any array that a suite has.
_KEPT_BYTES = 1 << 30


def reuse_freed_memory() -> None:
    """Have the memory of freed arrays reused for new ones.

    glibc would give that of each large array back to the system. To get it again, page by page,
    takes two fifths of the time of a suite with large data.
    """
    if mallopt := _function_of_glibc("mallopt"):
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def return_freed_memory(least: int = 0) -> None:
    """Give freed memory back to the system, if it is `least` bytes or more.

    To parse an index takes more memory than the index, and large arrays leave gaps. glibc would
    keep what is freed.
    """
    if least and (mallinfo := _function_of_glibc("mallinfo2")):
        mallinfo.restype = _MallInfo
        if mallinfo().fordblks < least:
            return
    if malloc_trim := _function_of_glibc("malloc_trim"):
        malloc_trim(0)


class _MallInfo(ctypes.Structure):
    """What glibc's mallinfo2 returns; `fordblks` is how many bytes are free."""

    _fields_ = [
        ("others", 8 * ctypes.c_size_t),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    ]


def _function_of_glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
