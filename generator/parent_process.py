"""Ends the processes that opcert starts when opcert ends, however it ends."""

import ctypes
import signal
import sys

# Of Linux's prctl.
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Have Linux kill this process with the thread that started it, even in the middle of a call.

    Elsewhere, this process ends when it next waits for its parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
