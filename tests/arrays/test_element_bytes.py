"""Bytes of arrays are compared part by part, and have a digest."""

from hashlib import sha256

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES, digest_of, same_bytes

LARGE = (3 << 18) + 1


@pytest.mark.parametrize("size", [1, 7, LARGE])
@pytest.mark.parametrize("position", [0, 0.5, 1])
def test_one_byte_makes_a_difference(size: int, position: float) -> None:
    one = np.zeros(size, np.uint8)
    other = one.copy()
    assert same_bytes(one, other)
    other[int((size - 1) * position)] = 1
    assert not same_bytes(one, other)


@pytest.mark.parametrize("size", [3, LARGE])
def test_the_beginning_of_an_array_is_another_array(size: int) -> None:
    longer = np.zeros(size, np.uint8)
    assert not same_bytes(longer, longer[:-1])
    assert not same_bytes(longer[:-1], longer)


def test_equal_values_of_other_bits_differ() -> None:
    zeros = np.zeros(LARGE, np.float32)
    assert not same_bytes(zeros, -zeros)


@pytest.mark.parametrize("shape", [(), (0, 3), (4, 5), (600, 700)])
def test_the_order_in_memory_does_not_matter(shape: tuple[int, ...]) -> None:
    one = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
    other = np.asfortranarray(one)
    assert same_bytes(one, other)
    assert digest_of(one) == digest_of(other) == sha256(one.tobytes()).hexdigest()


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_type_has_a_digest(name: str) -> None:
    array = np.ones((2, 3), ELEMENT_TYPES[name])
    assert digest_of(array) == sha256(array.tobytes()).hexdigest()
