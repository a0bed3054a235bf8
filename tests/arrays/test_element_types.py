"""Element types: their names, their bits, their ranges."""

import ml_dtypes
import numpy as np
import pytest

from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    FLOATS,
    FOUR_BIT_TYPES,
    INTEGERS,
    TYPE_SETS,
    bit_width,
    bits_dtype,
    bits_of,
    fits,
    highest,
    invert_bits,
    lowest,
    stored_dtype,
    type_name,
)


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_a_type_has_one_name_and_one_dtype(name: str) -> None:
    assert type_name(ELEMENT_TYPES[name]) == name


def test_a_dtype_without_a_name_of_ours_keeps_that_of_numpy() -> None:
    assert type_name(np.dtype(np.complex64)) == "complex64"


def test_every_type_is_boolean_integer_or_float() -> None:
    assert set(ELEMENT_TYPES) == {"boolean", *FOUR_BIT_TYPES, *INTEGERS, *FLOATS}
    assert set(TYPE_SETS["any"]) == set(ELEMENT_TYPES) - set(FOUR_BIT_TYPES)
    assert TYPE_SETS["integer"] == INTEGERS


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name != "boolean"])
def test_the_width_is_that_of_the_name(name: str) -> None:
    width = 8 if name.startswith("f8") else int(name.lstrip("biuf"))
    assert bit_width(name) == width
    assert ELEMENT_TYPES[name].itemsize * 8 == max(width, 8)


def test_a_boolean_uses_one_bit_of_its_byte() -> None:
    assert bit_width("boolean") == ELEMENT_TYPES["boolean"].itemsize == 1


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_inverted_data_differs_in_exactly_the_bits_of_the_type(name: str) -> None:
    array = np.arange(2).astype(ELEMENT_TYPES[name]).reshape(1, 2)
    other = invert_bits(array)
    assert (other.dtype, other.shape) == (array.dtype, array.shape)
    changed = bits_of(array) ^ bits_of(other)
    assert {int(bits) for bits in changed.flat} == {2 ** bit_width(name) - 1}
    assert invert_bits(other).tobytes() == array.tobytes()


@pytest.mark.parametrize("name", FOUR_BIT_TYPES)
def test_a_four_bit_element_is_the_low_half_of_its_byte(name: str) -> None:
    elements = np.arange(16, dtype=np.uint8).view(ELEMENT_TYPES[name])
    assert sorted(int(element) for element in elements) == list(
        range(-8, 8) if name == "i4" else range(16)
    )
    assert bits_of(invert_bits(elements)).tolist() == list(reversed(range(16)))


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_bits_are_little_endian_unsigned_and_as_wide_as_the_type(name: str) -> None:
    dtype = bits_dtype(ELEMENT_TYPES[name])
    assert dtype == np.dtype(f"<u{ELEMENT_TYPES[name].itemsize}")


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_a_pack_stores_types_of_numpy_unchanged_and_others_as_bits(name: str) -> None:
    dtype, stored = ELEMENT_TYPES[name], stored_dtype(name)
    assert stored == (bits_dtype(dtype) if dtype.type.__module__ == "ml_dtypes" else dtype)
    assert stored.str[0] in "<|"


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_bits_of_an_array_are_a_fresh_copy_in_the_order_of_its_elements(name: str) -> None:
    array = np.arange(6).astype(np.uint8).astype(ELEMENT_TYPES[name]).reshape(2, 3).T
    bits = bits_of(array)
    assert bits.shape == array.shape
    assert bits.flags.c_contiguous
    assert bits.flags.writeable
    assert bits.tobytes() == array.tobytes()
    assert not np.shares_memory(bits, array)


def test_bits_distinguish_signed_zeros_and_nans() -> None:
    floats = np.array([0.0, -0.0, np.nan, -np.nan], np.float32)
    assert bits_of(floats).tolist() == [0, 0x8000_0000, 0x7FC0_0000, 0xFFC0_0000]
    assert bits_of(np.array(-0.0, ml_dtypes.bfloat16)).tolist() == 0x8000


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_bits_of_scalars_and_empty_arrays_keep_their_shape(shape: tuple[int, ...]) -> None:
    assert bits_of(np.zeros(shape, np.float16)).shape == shape


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_type_holds_exactly_the_values_between_its_extremes(name: str) -> None:
    width, signed = int(name[1:]), name.startswith("i")
    least, most = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    assert (lowest(name), highest(name)) == (least, most)
    assert type(lowest(name)) is type(highest(name)) is int
    assert [fits(name, value) for value in (least - 1, least, most, most + 1)] == [
        False,
        True,
        True,
        False,
    ]
