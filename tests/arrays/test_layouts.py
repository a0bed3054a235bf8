"""Memory layouts: the same elements, with the strides that each layout promises."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, Array, bit_width, bits_of
from opcert.arrays.layouts import C_ORDER, Layout, copy_in_layout, start_of, underlying_buffer
from opcert.arrays.patterns import pattern_array
from tests.layouts import LAYOUTS

MANY = settings(max_examples=250, deadline=None, derandomize=True)
SHAPES = st.lists(st.sampled_from((0, 1, 1, 2, 2, 3, 5)), max_size=6).map(tuple)
FULL = SHAPES.filter(lambda shape: 0 not in shape)
TYPES = st.sampled_from(tuple(ELEMENT_TYPES))
AXES = st.lists(st.integers(0, 7), unique=True, max_size=8).map(tuple)
GAPS = st.lists(st.integers(0, 3), max_size=4).map(tuple)
ANY = st.builds(Layout, AXES, AXES, AXES, GAPS, st.integers(0, 64))
each_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def an_array(element_type: str, shape: tuple[int, ...], layout: Layout = C_ORDER) -> Array:
    array = pattern_array(Tensor(element_type, shape, pattern="any", layout=layout))
    array.flags.writeable = False
    return array


def steps(array: Array) -> list[int]:
    """The strides in elements, of the dimensions that have any."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [stride // array.itemsize for extent, stride in pairs if extent > 1]


def longer(shape: tuple[int, ...]) -> list[int]:
    return [extent for extent in shape if extent > 1]


def c_steps(extents: list[int]) -> list[int]:
    return [prod(extents[i + 1 :]) for i in range(len(extents))]


def memory(array: Array) -> Array:
    """Every element of the memory of `array`, as bits."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return bits_of(base).ravel()


@MANY
@given(TYPES, SHAPES, ANY)
def test_a_copy_in_any_layout_has_the_same_elements_in_memory_of_its_own(
    element_type: str, shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array(element_type, shape, layout)
    copy = copy_in_layout(array, layout)
    assert (copy.dtype, copy.shape) == (array.dtype, array.shape)
    assert copy.tobytes() == array.tobytes()
    assert type(copy) is np.ndarray
    before = array.tobytes()
    assert copy.flags.writeable
    assert not np.shares_memory(copy, array)
    copy[...] = np.zeros((), array.dtype)
    assert array.tobytes() == before


@MANY
@given(TYPES, FULL)
def test_each_layout_has_the_strides_of_its_name(element_type: str, shape: tuple[int, ...]) -> None:
    array, extents = an_array(element_type, shape), longer(shape)
    in_c, last = c_steps(extents), len(extents) - 1
    # The last dimension is contiguous, then the first.
    made = {name: copy_in_layout(array, layout) for name, layout in LAYOUTS.items()}
    assert made["c"].flags.c_contiguous
    assert steps(made["c"]) == steps(made["offset"]) == in_c
    assert not extents or start_of(made["offset"]) == 3 * array.itemsize
    assert made["fortran"].flags.f_contiguous
    assert steps(made["fortran"]) == list(reversed(c_steps(list(reversed(extents)))))
    assert steps(made["reversed"]) == [-step for step in in_c]
    assert steps(made["gapped"]) == [2 * step for step in in_c]
    assert not extents or memory(made["gapped"]).size == 2 * array.size
    if last > 0:
        pitch = [*extents[:-1], extents[-1] + 1]
        assert steps(made["pitched"]) == c_steps(pitch)
        assert start_of(made["pitched"]) == array.itemsize


@MANY
@given(TYPES, FULL, st.integers(0, 5))
def test_a_repeated_axis_has_the_stride_0_where_its_elements_are_equal(
    element_type: str, shape: tuple[int, ...], axis: int
) -> None:
    layout = Layout(repeated=(axis,))
    array = an_array(element_type, shape, layout)
    copy = copy_in_layout(array, layout)
    is_long = axis < len(shape) and shape[axis] > 1
    assert (layout.of(array) == layout) == is_long
    assert not is_long or copy.strides[axis] == 0
    # A reader in C order stays within memory, and reads a foreign element.
    start = start_of(copy) // copy.itemsize
    read = memory(copy)[start:][: copy.size]
    assert (read.tobytes() == array.tobytes()) != is_long
    different = np.arange(24, dtype=np.int16).reshape(4, 6)
    assert Layout(repeated=(0, 1)).of(different) == C_ORDER


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(2,), (3, 4), (4, 3, 1), (1, 2, 1, 1)])
def test_gaps_hold_other_valid_bits_of_the_type(element_type: str, shape: tuple[int, ...]) -> None:
    copy = copy_in_layout(an_array(element_type, shape), LAYOUTS["gapped"])
    packed, elements = memory(copy)[1:][: copy.size], bits_of(copy).ravel()
    # Every second element that a reader from the first one on finds is foreign.
    assert np.all(packed[1::2] != elements[1::2])
    assert int(memory(copy).max()) < 1 << bit_width(element_type)


@each_layout
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1, 1)])
def test_rank_0_empty_dimensions_and_ones_keep_their_shape(
    element_type: str, shape: tuple[int, ...], layout: Layout
) -> None:
    copy = copy_in_layout(an_array(element_type, shape), layout)
    assert (copy.dtype, copy.shape) == (ELEMENT_TYPES[element_type], shape)
    assert copy.flags.writeable
    assert steps(copy) == c_steps(longer(shape)) or 0 in shape


@each_layout
@pytest.mark.parametrize("source", LAYOUTS.values(), ids=LAYOUTS)
def test_the_layout_of_the_source_does_not_matter(source: Layout, layout: Layout) -> None:
    array = an_array("u16", (3, 1, 4, 2))
    copy = copy_in_layout(copy_in_layout(array, source), layout)
    expected = copy_in_layout(array, layout)
    assert (copy.strides, copy.tobytes()) == (expected.strides, array.tobytes())
    assert underlying_buffer(copy).tobytes() == underlying_buffer(expected).tobytes()


@MANY
@given(SHAPES, ANY)
def test_a_layout_has_no_part_that_makes_no_difference(
    shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array("i16", shape, layout)
    visible = layout.of(array)
    assert visible.of(array) == visible
    one, other = (copy_in_layout(array, each) for each in (visible, layout))
    assert (one.strides, start_of(one)) == (other.strides, start_of(other))
    copy = copy_in_layout(array, C_ORDER)
    same = steps(one) == steps(copy) and start_of(one) == 0 and memory(one).size == copy.size
    assert (visible == C_ORDER) == (same or 0 in shape)


@pytest.mark.parametrize("parts", [{"gaps": (4,)}, {"gaps": (-1,)}, {"offset": 65}, {"offset": -1}])
def test_a_layout_that_would_take_much_memory_is_rejected(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="gaps up to 3"):
        Layout(**parts)


def test_a_layout_says_what_differs_from_c_order() -> None:
    assert str(C_ORDER) == ""
    assert str(Layout((1, 0), gaps=(0, 1), offset=2)) == "order [1, 0] gaps [0, 1] offset 2"
