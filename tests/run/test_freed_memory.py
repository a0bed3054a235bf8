"""Dirtied blocks are what the next allocations return."""

import numpy as np
import pytest

from opcert.arrays.layouts import dirty_freed_memory

SIZES = [1, 8, 24, 100, 1000, 1024, 5000, 70_000, 200_000, 1 << 20]


@pytest.mark.parametrize("size", SIZES)
def test_the_next_memory_of_that_size_is_not_zero(size: int) -> None:
    zero = [np.zeros(size, np.uint8) for _ in range(8)]
    del zero
    dirty_freed_memory([size])
    assert np.empty(size, np.uint8).any()


def test_memory_of_several_sizes_is_dirtied_at_once() -> None:
    dirty_freed_memory([16, 3000, 3000, 0, 16])
    assert np.empty(3000, np.uint8).any()
    assert np.empty(16, np.uint8).any()
