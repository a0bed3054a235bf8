"""Memory layouts: the same elements, with the strides that each layout promises."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    LAYOUTS,
    Array,
    Layout,
    bit_width,
    bits_of,
    copy_in_layout,
)
from opcert.arrays.patterns import pattern_array
from opcert.arrays.tensor_functions import filled
from opcert.arrays.tensor_functions import with_layout as laid

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
    """Every element of the memory of `array`, as bits."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return bits_of(base).ravel()


@MANY
@given(TYPES, SHAPES, st.sampled_from(LAYOUTS))
def test_a_copy_in_any_layout_has_the_same_elements_in_memory_of_its_own(
    element_type: str, shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array(element_type, shape)
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
    c, fortran = copy_in_layout(array, "c"), copy_in_layout(array, "fortran")
    assert c.flags.c_contiguous
    assert steps(c) == in_c
    assert fortran.flags.f_contiguous
    assert steps(fortran) == list(reversed(c_steps(list(reversed(extents)))))
    assert steps(copy_in_layout(array, "reversed")) == [-step for step in in_c]
    # A gap as long as an element follows each of a row.
    gapped = copy_in_layout(array, "gapped")
    doubled = [extent * (1 + (i == last)) for i, extent in enumerate(extents)]
    assert steps(gapped) == [step * (1 + (i == last)) for i, step in enumerate(c_steps(doubled))]
    assert not extents or memory(gapped).size == 2 * gapped.size


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(2,), (3, 4), (4, 3, 1), (1, 2, 1, 1)])
def test_gaps_hold_other_valid_bits_of_the_type(element_type: str, shape: tuple[int, ...]) -> None:
    copy = copy_in_layout(an_array(element_type, shape), "gapped")
    gaps, elements = memory(copy)[::2], memory(copy)[1::2]
    assert elements.tolist() == bits_of(copy).ravel().tolist()
    assert np.all(gaps != elements)
    assert int(gaps.max()) < 1 << bit_width(element_type)


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
@pytest.mark.parametrize("source_layout", LAYOUTS)
def test_the_layout_of_the_source_does_not_matter(source_layout: Layout, layout: Layout) -> None:
    array = an_array("u16", (3, 1, 4, 2))
    copy = copy_in_layout(copy_in_layout(array, source_layout), layout)
    assert copy.strides == copy_in_layout(array, layout).strides
    assert copy.tobytes() == array.tobytes()


@MANY
@given(SHAPES, st.sampled_from(LAYOUTS[1:]))
def test_a_tensor_reports_layout_c_where_its_strides_are_those_of_c(
    shape: tuple[int, ...], layout: Layout
) -> None:
    array = an_array("i16", shape)
    same = 0 in shape or steps(copy_in_layout(array, layout)) == steps(copy_in_layout(array, "c"))
    assert laid(filled("i16", shape), layout).layout == ("c" if same else layout)


def test_an_unknown_layout_is_rejected() -> None:
    with pytest.raises(ValueError, match="unknown layout 'gaped'; did you mean 'gapped'"):
        laid(filled("i16", (2,)), "gaped")  # type: ignore[arg-type]
