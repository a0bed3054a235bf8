"""Data that distinguishes positions, and special values that reach an output."""

from itertools import permutations
from math import prod

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, INTEGERS, Array, bits_of
from opcert.arrays.patterns import (
    is_large,
    materialize,
    pattern_array,
    special_bits,
    with_special_values,
)
from opcert.arrays.tensor_functions import vector

MANY = settings(max_examples=200, deadline=None, derandomize=True)
TYPES = st.sampled_from(tuple(ELEMENT_TYPES))
WIDTHS = {
    **{name: 8 * dtype.itemsize for name, dtype in ELEMENT_TYPES.items()},
    **{"boolean": 1, "i4": 4, "u4": 4},
}
WITH_SPECIALS = (*INTEGERS, *FLOATS)
WIDE = tuple(name for name in WITH_SPECIALS if WIDTHS[name] >= 32)


@st.composite
def tensors(draw: st.DrawFn, types: st.SearchStrategy[str] = TYPES, most: int = 1024) -> Tensor:
    shape: tuple[int, ...] = ()
    for _ in range(draw(st.integers(0, 6))):
        shape += (draw(st.integers(1, max(1, min(20, most // prod(shape))))),)
    return Tensor(draw(types), shape, pattern=f"case-{draw(st.integers(0, 10**6))}|data")


def injective(tensor: Tensor) -> bool:
    """Whether all elements must differ; a recipe may repeat elements of narrow types."""
    by_chance = is_large(tensor) and WIDTHS[tensor.type] < 32
    return tensor.size <= 1 << WIDTHS[tensor.type] and not by_chance


def distinct(array: Array) -> int:
    return len(set(bits_of(array).ravel().tolist()))


@MANY
@given(tensors())
def test_a_pattern_has_the_requested_type_and_shape_and_always_the_same_bytes(
    tensor: Tensor,
) -> None:
    array = pattern_array(tensor)
    assert (array.dtype, array.shape) == (ELEMENT_TYPES[tensor.type], tensor.shape)
    assert array.flags.c_contiguous
    again = Tensor(tensor.type, tensor.shape, pattern=tensor.pattern)
    assert pattern_array(again).tobytes() == array.tobytes()


@MANY
@given(tensors().filter(injective))
def test_no_two_elements_are_equal_where_the_type_has_enough_values(tensor: Tensor) -> None:
    assert distinct(pattern_array(tensor)) == tensor.size


@MANY
@given(tensors().filter(lambda tensor: tensor.size > 1))
def test_no_axis_can_be_shifted_by_one_unnoticed(tensor: Tensor) -> None:
    bits = bits_of(pattern_array(tensor))
    for axis, extent in enumerate(tensor.shape):
        for by in (1, -1):
            assert extent == 1 or not np.array_equal(bits, np.roll(bits, by, axis))


@pytest.mark.parametrize("shape", [(3,), (2, 2), (1, 4), (2, 2, 2), (2,) * 8])
def test_no_axis_of_few_booleans_can_be_shifted_unnoticed(shape: tuple[int, ...]) -> None:
    for pattern in map(str, range(100)):
        array = pattern_array(Tensor("boolean", shape, pattern=pattern))
        for axis in (axis for axis, extent in enumerate(shape) if extent > 1):
            assert not np.array_equal(array, np.roll(array, 1, axis))


@MANY
@given(tensors(most=256).filter(injective))
def test_no_axes_can_be_swapped_unnoticed(tensor: Tensor) -> None:
    bits = bits_of(pattern_array(tensor)).squeeze()
    for axes in [*permutations(range(bits.ndim))][1:120]:
        assert bits.transpose(axes).tobytes() != bits.tobytes()


@pytest.mark.parametrize("element_type", [name for name, width in WIDTHS.items() if width == 8])
def test_more_elements_than_values_are_scattered_over_all_of_them(element_type: str) -> None:
    array = pattern_array(Tensor(element_type, (40, 40), pattern="any"))
    assert distinct(array) > 240
    bits = bits_of(array)
    assert not np.array_equal(bits, bits.T)


def test_booleans_are_both_values_in_no_simple_order() -> None:
    array = pattern_array(Tensor("boolean", (1000,), pattern="any"))
    assert 400 < np.count_nonzero(array) < 600
    assert set(bits_of(array).tolist()) == {0, 1}
    for period in range(1, 17):
        assert not np.array_equal(array[period:], array[:-period])


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_another_pattern_gives_other_bytes(element_type: str) -> None:
    fillings = {
        pattern_array(Tensor(element_type, (24,), pattern=str(i))).tobytes() for i in range(20)
    }
    assert len(fillings) == 20
    assert pattern_array(Tensor(element_type, (2, 0, 3), pattern="any")).shape == (2, 0, 3)
    assert pattern_array(Tensor(element_type, (), pattern="any")).shape == ()


def test_the_pattern_is_the_same_on_every_machine() -> None:
    distinct_ones = pattern_array(Tensor("u16", (4,), pattern="pinned|x"))
    scattered = bits_of(pattern_array(Tensor("boolean", (24,), pattern="pinned|x")))
    assert distinct_ones.tolist() == [27203, 51746, 10753, 35296]
    assert "".join(map(str, scattered)) == "111010001010011010111001"


def specials_in(array: Array, element_type: str) -> set[int]:
    return set(special_bits(element_type)) & set(bits_of(array).ravel().tolist())


def finfo(element_type: str) -> ml_dtypes.finfo:
    return ml_dtypes.finfo(ELEMENT_TYPES[element_type])  # type: ignore[no-untyped-call]


def special_values(element_type: str) -> Array:
    dtype = ELEMENT_TYPES[element_type]
    bits = np.array(special_bits(element_type), f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):  # widening a signalling NaN
        return bits.view(dtype).astype(np.float64)


@pytest.mark.parametrize("element_type", FLOATS)
def test_special_floats_are_nans_signed_zero_infinities_and_subnormals(element_type: str) -> None:
    values = special_values(element_type)
    smallest_normal = float(finfo(element_type).smallest_normal)
    subnormal = (np.abs(values) < smallest_normal) & (values != 0)
    assert np.count_nonzero(np.isnan(values)) >= 2
    assert np.any((values == 0) & np.signbit(values))
    assert np.any(subnormal & np.signbit(values))
    assert np.any(subnormal & ~np.signbit(values))
    if element_type != "f8e4m3":
        assert {-np.inf, np.inf} <= set(values.tolist())


@pytest.mark.parametrize("element_type", [name for name in FLOATS if name != "f8e4m3"])
def test_special_nans_are_signalling_and_quiet_with_a_payload_of_either_sign(
    element_type: str,
) -> None:
    values = special_values(element_type)
    bits = zip(special_bits(element_type), np.isnan(values), strict=True)
    nans = [value for value, is_nan in bits if is_nan]
    fraction_bits = finfo(element_type).nmant
    quiet, fraction = 1 << (fraction_bits - 1), (1 << fraction_bits) - 1
    payloads = [nan & fraction for nan in nans]
    assert any(not payload & quiet for payload in payloads)
    assert sum(payload & quiet != 0 and payload != quiet for payload in payloads) == 2
    assert len({nan >> (WIDTHS[element_type] - 1) for nan in nans}) == 2


@pytest.mark.parametrize("element_type", INTEGERS)
def test_special_integers_are_the_extremes(element_type: str) -> None:
    dtype = ELEMENT_TYPES[element_type]
    values = np.array(special_bits(element_type), f"u{dtype.itemsize}").view(dtype).tolist()
    info = np.iinfo(dtype)
    assert {int(info.min), int(info.max)} - {0} <= set(values)


def test_booleans_have_no_special_values() -> None:
    array = np.array([True, False])
    assert special_bits("boolean") == ()
    assert with_special_values({"x": array}, {"x": Tensor("boolean", (2,))}, [array])["x"] is array


@st.composite
def reaching(draw: st.DrawFn, types: tuple[str, ...] = WITH_SPECIALS) -> tuple[Tensor, list[int]]:
    """A tensor that a pattern fills without repetition, and the positions that reach an output."""
    tensor = draw(tensors(st.sampled_from(types), 190))
    reached = draw(st.lists(st.integers(0, tensor.size - 1), max_size=60))
    return tensor, reached


def outputs_of(array: Array, reached: list[int]) -> list[Array]:
    """Two outputs, the second of which repeats the first, after one of another type."""
    picked = array.ravel()[reached]
    return [np.zeros(3, np.complex64), picked, picked[::-1]]


@MANY
@given(reaching())
def test_special_values_replace_half_of_the_elements_that_reach_an_output(
    sample: tuple[Tensor, list[int]],
) -> None:
    tensor, reached = sample
    array = pattern_array(tensor)
    before = array.tobytes()
    changed = with_special_values({"x": array}, {"x": tensor}, outputs_of(array, reached))["x"]
    assert array.tobytes() == before
    assert (changed.dtype, changed.shape) == (array.dtype, array.shape)
    assert distinct(changed) == tensor.size
    least = min(len(special_bits(tensor.type)), (len(set(reached)) + 1) // 2)
    assert len(specials_in(changed.ravel()[reached], tensor.type)) >= least
    for outputs in ([], outputs_of(array, [])):
        assert with_special_values({"x": array}, {"x": tensor}, outputs)["x"].tobytes() == before


@MANY
@given(reaching(WIDE))
def test_special_values_are_only_at_elements_that_reach_an_output(
    sample: tuple[Tensor, list[int]],
) -> None:
    tensor, reached = sample
    array = pattern_array(tensor)
    changed = with_special_values({"x": array}, {"x": tensor}, outputs_of(array, reached))["x"]
    moved = np.flatnonzero(bits_of(changed).ravel() != bits_of(array).ravel())
    assert set(moved.tolist()) <= set(reached)
    assert len(moved) <= (len(set(reached)) + 1) // 2


@pytest.mark.parametrize(
    "tensor",
    [Tensor("u8", (300,), pattern="any"), Tensor("f32", (5000,), pattern="any")],
    ids=["repeating", "large"],
)
def test_repeating_and_large_data_get_no_special_values(tensor: Tensor) -> None:
    array = pattern_array(tensor)
    assert with_special_values({"x": array}, {"x": tensor}, [array])["x"] is array


def test_fixed_values_are_materialized_in_order() -> None:
    array = materialize(Tensor("bf16", (2, 2), (1, 2, 3, 4)))
    assert array.dtype == ELEMENT_TYPES["bf16"]
    assert array.astype(int).tolist() == [[1, 2], [3, 4]]
    assert materialize(vector("u64", (2**64 - 1,))).tolist() == [2**64 - 1]
    assert materialize(Tensor("boolean", (), (True,))).shape == ()
