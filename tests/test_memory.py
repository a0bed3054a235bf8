"""Memory that is freed is reused, or goes back to the system."""

import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="the C library is not glibc"
)
BEGIN = """
import resource
import numpy as np
import psutil
from opcert.memory import return_freed_memory, reuse_freed_memory

def new_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(100 << 20, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    return psutil.Process().memory_info().rss >> 20

"""


def printed(program: str) -> list[int]:
    """Return the numbers that a program prints."""
    command = [sys.executable, "-c", BEGIN + program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return [*map(int, result.stdout.split())]


def test_a_second_large_array_has_the_memory_of_the_first() -> None:
    first, second = printed("reuse_freed_memory(); print(new_pages(), new_pages())")
    assert first > 40
    assert second < first / 10


def test_freed_memory_goes_back() -> None:
    program = "reuse_freed_memory(); new_pages(); print(resident()); return_freed_memory()"
    before, after = printed(f"{program}; print(resident())")
    assert after < before - 80


def test_freed_memory_goes_back_only_if_it_is_enough() -> None:
    program = "reuse_freed_memory(); new_pages(); print(resident())"
    program += "; return_freed_memory(1 << 30); print(resident())"
    program += "; return_freed_memory(1 << 26); print(resident())"
    before, kept, after = printed(program)
    assert kept > before - 10
    assert after < before - 80
