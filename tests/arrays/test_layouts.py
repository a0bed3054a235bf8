"""Memory layouts: the same elements, in the order in memory that each layout promises."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays import (
    ELEMENT_TYPES,
    LAYOUTS,
    Array,
    Layout,
    Tensor,
    bit_width,
    bits_of,
    copy_in_layout,
    filled,
)
from opcert.arrays import with_layout as laid
from opcert.arrays.patterns import pattern_array

MANY = settings(max_examples=250, deadline=None, derandomize=True)
SHAPES = st.lists(st.sampled_from((0, 1, 1, 2, 2, 3, 5)), max_size=6).map(tuple)
FULL = SHAPES.filter(lambda shape: 0 not in shape)
TYPES = st.sampled_from(tuple(ELEMENT_TYPES))
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def an_array(element_type: str, shape: tuple[int, ...]) -> Array:
    array = pattern_array(Tensor(element_type, shape, pattern="any"))
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
    """Every element of the memory behind `array`, as bits."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return bits_of(base).ravel()


@MANY
@given(TYPES, SHAPES, st.sampled_from(LAYOUTS))
def test_every_layout_has_the_same_elements(
    element_type: str, shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array(element_type, shape)
    found = copy_in_layout(array, layout)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    assert type(found) is np.ndarray


@MANY
@given(TYPES, SHAPES, st.sampled_from(LAYOUTS))
def test_the_copy_is_writeable_and_its_own(
    element_type: str, shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array(element_type, shape)
    before = array.tobytes()
    found = copy_in_layout(array, layout)
    assert found.flags.writeable
    assert not np.shares_memory(found, array)
    found[...] = np.zeros((), array.dtype)
    assert array.tobytes() == before


@MANY
@given(TYPES, FULL)
def test_in_c_order_the_last_dimension_is_contiguous(
    element_type: str, shape: tuple[int, ...]
) -> None:
    found = copy_in_layout(an_array(element_type, shape), "c")
    assert found.flags.c_contiguous
    assert steps(found) == c_steps(longer(shape))


@MANY
@given(TYPES, FULL)
def test_in_fortran_order_the_first_dimension_is_contiguous(
    element_type: str, shape: tuple[int, ...]
) -> None:
    found = copy_in_layout(an_array(element_type, shape), "fortran")
    assert found.flags.f_contiguous
    assert steps(found) == list(reversed(c_steps(list(reversed(longer(shape))))))


@MANY
@given(TYPES, FULL)
def test_reversed_runs_backwards_along_every_dimension(
    element_type: str, shape: tuple[int, ...]
) -> None:
    found = copy_in_layout(an_array(element_type, shape), "reversed")
    assert steps(found) == [-step for step in c_steps(longer(shape))]


@MANY
@given(TYPES, FULL)
def test_gapped_steps_over_as_many_elements_as_it_has(
    element_type: str, shape: tuple[int, ...]
) -> None:
    found = copy_in_layout(an_array(element_type, shape), "gapped")
    extents = longer(shape)
    last = len(extents) - 1
    doubled = [extent * (1 + (i == last)) for i, extent in enumerate(extents)]
    assert steps(found) == [step * (1 + (i == last)) for i, step in enumerate(c_steps(doubled))]
    assert not extents or memory(found).size == 2 * found.size


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(2,), (3, 4), (4, 3, 1), (1, 2, 1, 1)])
def test_gaps_hold_other_bits_that_the_type_can_have(
    element_type: str, shape: tuple[int, ...]
) -> None:
    found = copy_in_layout(an_array(element_type, shape), "gapped")
    gaps, elements = memory(found)[::2], memory(found)[1::2]
    assert elements.tolist() == bits_of(found).ravel().tolist()
    assert np.all(gaps != elements)
    assert int(gaps.max()) < 1 << bit_width(element_type)


@each_layout
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1, 1)])
def test_rank_0_empty_and_ones_keep_their_shape(
    element_type: str, shape: tuple[int, ...], layout: Layout
) -> None:
    found = copy_in_layout(an_array(element_type, shape), layout)
    assert (found.dtype, found.shape) == (ELEMENT_TYPES[element_type], shape)
    assert found.flags.writeable
    assert steps(found) == c_steps(longer(shape)) or 0 in shape


@each_layout
@pytest.mark.parametrize("given_as", LAYOUTS)
def test_how_the_given_array_lies_does_not_matter(given_as: Layout, layout: Layout) -> None:
    array = an_array("u16", (3, 1, 4, 2))
    found = copy_in_layout(copy_in_layout(array, given_as), layout)
    assert found.strides == copy_in_layout(array, layout).strides
    assert found.tobytes() == array.tobytes()


@MANY
@given(SHAPES, st.sampled_from(LAYOUTS[1:]))
def test_a_tensor_says_c_just_where_its_layout_comes_to_the_same(
    shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array("i16", shape)
    same = 0 in shape or steps(copy_in_layout(array, layout)) == steps(copy_in_layout(array, "c"))
    assert laid(filled("i16", shape), layout).layout == ("c" if same else layout)


def test_an_unknown_layout_is_told() -> None:
    with pytest.raises(ValueError, match="unknown layout 'gaped'; did you mean 'gapped'"):
        laid(filled("i16", (2,)), "gaped")  # type: ignore[arg-type]
