"""Memory that is free goes back to the system."""

import ctypes
import sys


def return_freed_memory() -> None:
    """Return freed memory to the system, if the C library is glibc.

    To parse an index takes more memory than the index, and large arrays leave gaps. glibc would
    keep what is freed.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
