"""A function that opcert calls within limits of time, memory and the size of its outputs."""

import resource
import signal
import sys
from collections.abc import Callable

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.system import MAX_OUTPUT_BYTES, limited
from tests.command_line import python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory and time")


def zeros(*sizes: int) -> Callable[[], list[Array]]:
    return limited(lambda: [np.zeros(size, np.int8) for size in sizes])


def limits() -> list[object]:
    handlers = map(signal.getsignal, (signal.SIGVTALRM, signal.SIGALRM))
    timers = map(signal.getitimer, (signal.ITIMER_VIRTUAL, signal.ITIMER_REAL))
    return [resource.getrlimit(resource.RLIMIT_AS), *handlers, *timers]


def test_a_small_call_returns_and_leaves_no_limit() -> None:
    before = limits()
    assert [output.size for output in zeros(3, 4)()] == [3, 4]
    with pytest.raises(MemoryError):
        zeros(1 << 36)()
    assert before == limits()


def test_outputs_have_a_size() -> None:
    assert zeros(MAX_OUTPUT_BYTES)()
    with pytest.raises(MemoryError, match=r"outputs of 268,435,457 bytes; expected 268,435,456 at"):
        zeros(MAX_OUTPUT_BYTES, 1)()


ENDLESS = """
import time

from opcert import system

begun = 0

def endless():
    global begun
    begun += 1
    while True:
        {work}

system.MAX_SECONDS = 0.02
call = system.limited(endless)
for _ in range(6):
    try:
        call()
    except TimeoutError as error:
        print(begun, error)
"""


@pytest.mark.parametrize("work", ["pass", "time.sleep(1000)"])
def test_calls_without_end_are_stopped_and_after_several_not_begun(work: str) -> None:
    # In a process of its own: pytest's faulthandler sets up a stack for signals, which is too small
    # for a handler in a process that has used AMX.
    result = python("-c", ENDLESS.format(work=work))
    assert result.stdout.splitlines() == [
        *(f"{k} more than 0.02 s for one call" for k in range(1, 6)),
        "5 more than 0.02 s for each of 5 calls",
    ], result.stderr
