"""The comparison of outputs: count, type, dtype, shape, bytes, in that order."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.arrays.golden import Allowance, with_allowance, with_alternatives
from opcert.run.comparison import Difference, compare_outputs, share_a_zero


def payload(bits: int) -> Array:
    return np.array([bits], np.uint32).view(np.float32)


def difference(golden: Any, outputs: Any) -> Difference:
    found = compare_outputs(golden, outputs)
    assert found is not None
    return found


F32 = np.array([1.0, 2.0], np.float32)


def stray(bits: int, dtype: Any) -> Array:
    """Return one element whose byte is not one of its type."""
    return np.array([bits], np.uint8).view(dtype)


def computed(element: Array) -> Array:
    """Return an output of which an arithmetic allows this element alone."""
    bounds, flags = element[None], np.zeros(1, np.uint8)
    allowance = Allowance(("correctly rounded",), bounds, bounds, flags, "correctly rounded")
    return with_allowance(element, allowance)


@pytest.mark.parametrize("form", [np.asarray, computed])
def test_one_element_is_in_the_singular(form: Callable[[Array], Array]) -> None:
    found = difference([form(np.array([1], np.int8))], [np.array([2], np.int8)])
    assert found.text.startswith("output 0 differs in 1 of 1 element; first at [0]: 2")


@pytest.mark.parametrize(
    ("golden", "outputs", "kind"),
    [
        ([F32], None, "type"),
        ([F32], np.zeros(2, np.float32), "type"),
        ([F32], (each for each in [1]), "type"),
        ([F32], [[1.0, 2.0]], "type"),
        ([F32], [1.0], "type"),
        ([F32], [], "count"),
        ([F32], [F32] * 2, "count"),
        ([F32], [F32.astype(np.float64)], "dtype"),
        ([F32], [np.array([1, 2], object)], "dtype"),
        ([F32], [F32[None]], "shape"),
        ([np.array(1.0)], [np.array([1.0])], "shape"),
        ([F32], [F32 + 1], "value"),
        ([np.array([-0.0, 1.0])], [np.array([0.0, 1.0])], "bits"),
        ([payload(0x7FC00005)], [payload(0x7FC00000)], "bits"),
        ([np.array([True])], [np.array([2], np.uint8).view(np.bool_)], "bits"),
        # An element of less than a byte, in a byte with other bits as well.
        *(
            ([form(stray(right, dtype))], [stray(bits, dtype)], kind)
            for form in (np.asarray, computed)
            for right, bits, dtype, kind in (
                (1, 0xFF, np.bool_, "bits"),
                (0, 0xFF, np.bool_, "value"),
                (0xF, 0xFF, ml_dtypes.int4, "bits"),
                (0x5, 0xF5, ml_dtypes.uint4, "bits"),
                (0x5, 0xF4, ml_dtypes.uint4, "value"),
            )
        ),
        *(
            ([np.array([-0.0], dtype)], [np.array([0.0], dtype)], "bits")
            for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
        ),
        # A wrong value outweighs wrong bits in an earlier output.
        ([np.array([-0.0]), F32], [np.array([0.0]), F32 + 1], "value"),
        # A candidate of an open element in other bits.
        ([with_alternatives(F32[:1], [payload(0x7FC00005)])], [payload(0x7FC00000)], "bits"),
    ],
)
def test_each_difference_has_its_kind(golden: Any, outputs: Any, kind: str) -> None:
    assert difference(golden, outputs).kind == kind


def test_equal_bytes_pass_whatever_the_memory_layout() -> None:
    golden = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert compare_outputs([golden], (np.asfortranarray(golden),)) is None


def test_other_bits_are_printed() -> None:
    text = difference([payload(0x7FC00005)], [payload(0x7FC00000)]).text
    assert "0x7fc00000" in text
    assert "0x7fc00005" in text


def test_the_text_has_the_number_of_differing_elements_and_the_first() -> None:
    golden, output = np.array([[1, 2], [3, 4]], np.int16), np.array([[1, 2], [5, 6]], np.int16)
    assert difference([golden], [output]).text == (
        "output 0 differs in 2 of 4 elements; first at [1, 0]: 5 (0x0005), expected 3 (0x0003)"
    )


def test_a_zero_is_shared_where_no_bit_is_set_in_either() -> None:
    one, other = np.array([0.0, -0.0, 2.0]), np.array([1.0, 0.0, 0.0])
    assert not share_a_zero([one, one[:0]], [other, one[:0]])
    assert share_a_zero([one, other], [other, other])
    assert share_a_zero([np.array(0, np.int8)], [np.array(0, np.int8)])


def test_an_open_element_is_one_of_its_candidates() -> None:
    others = [np.array([1.0, 5.0, 3.0]), np.array([1.0, np.nan, 3.0])]
    golden = with_alternatives(np.array([1.0, 2.0, 3.0]), others)
    for candidate in (2.0, 5.0, np.nan):
        assert compare_outputs([golden], [np.array([1.0, candidate, 3.0])]) is None
    found = difference([golden], [np.array([1.0, 4.0, 3.0])])
    assert found.kind == "value"
    assert found.text.endswith("; nor is it another candidate: 5.0, nan")
    assert "candidate" not in difference([golden], [np.array([1.0, 5.0, 4.0])]).text


def test_a_message_lists_few_candidates() -> None:
    golden = with_alternatives(np.array([0]), [np.array([n]) for n in range(1, 9)])
    text = difference([golden], [np.array([99])]).text
    assert text.endswith("another candidate: 1, 2, 3, 4 and 4 more")
