"""The comparison of outputs: count, type, dtype, shape, bytes, in that order."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from opcert.arrays.open_elements import with_alternatives
from opcert.run.comparison import compare_outputs, share_a_zero


@pytest.mark.parametrize(
    ("outputs", "kind"),
    [
        (None, "type"),
        (np.zeros(2, np.float32), "type"),
        ((each for each in [1]), "type"),
        ([[1.0, 2.0]], "type"),
        ([1.0], "type"),
        ([], "count"),
        ([np.zeros(2, np.float32)] * 2, "count"),
        ([np.array([1.0, 2.0])], "dtype"),
        ([np.array([1, 2], object)], "dtype"),
        ([np.array([[1.0, 2.0]], np.float32)], "shape"),
        ([np.array([1.0, 3.0], np.float32)], "value"),
    ],
)
def test_each_difference_has_its_kind(outputs: Any, kind: str) -> None:
    difference = compare_outputs([np.array([1.0, 2.0], np.float32)], outputs)
    assert difference is not None
    assert difference.kind == kind


def test_equal_bytes_pass_whatever_the_memory_layout() -> None:
    golden = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert compare_outputs([golden], (np.asfortranarray(golden),)) is None


def test_a_scalar_is_not_an_array_of_one_element() -> None:
    difference = compare_outputs([np.array(1.0)], [np.array([1.0])])
    assert difference is not None
    assert difference.kind == "shape"


def test_negative_zero_differs_in_bits_alone() -> None:
    difference = compare_outputs([np.array([-0.0, 1.0])], [np.array([0.0, 1.0])])
    assert difference is not None
    assert difference.kind == "bits"


def test_nan_payloads_differ_in_bits_alone() -> None:
    golden = np.array([0x7FC00005], np.uint32).view(np.float32)
    difference = compare_outputs([golden], [np.array([np.nan], np.float32)])
    assert difference is not None
    assert difference.kind == "bits"
    assert "0x7fc00000" in difference.text
    assert "0x7fc00005" in difference.text


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_that_numpy_lacks_are_compared_by_bits(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    difference = compare_outputs([np.array([-0.0], dtype)], [np.array([0.0], dtype)])
    assert difference is not None
    assert difference.kind == "bits"


def test_a_bool_that_is_not_0_or_1_differs_in_bits() -> None:
    difference = compare_outputs([np.array([True])], [np.array([2], np.uint8).view(np.bool_)])
    assert difference is not None
    assert difference.kind == "bits"


def test_the_text_has_the_number_of_differing_elements_and_the_first() -> None:
    difference = compare_outputs(
        [np.array([[1, 2], [3, 4]], np.int16)], [np.array([[1, 2], [5, 6]], np.int16)]
    )
    assert difference is not None
    assert difference.text == (
        "output 0 differs in 2 of 4 elements; first at [1, 0]: 5 (0x0005), expected 3 (0x0003)"
    )


def test_a_wrong_value_outweighs_wrong_bits_in_an_earlier_output() -> None:
    golden = [np.array([-0.0]), np.array([1.0])]
    difference = compare_outputs(golden, [np.array([0.0]), np.array([2.0])])
    assert difference is not None
    assert difference.kind == "value"


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
    difference = compare_outputs([golden], [np.array([1.0, 4.0, 3.0])])
    assert difference is not None
    assert difference.kind == "value"
    assert difference.text.endswith("; nor is it another candidate: 5.0, nan")
    difference = compare_outputs([golden], [np.array([1.0, 5.0, 4.0])])
    assert difference is not None
    assert "candidate" not in difference.text


def test_a_candidate_in_other_bits_differs_in_bits_alone() -> None:
    candidate = np.array([0x7FC00005], np.uint32).view(np.float32)
    golden = with_alternatives(np.array([1.0], np.float32), [candidate])
    difference = compare_outputs([golden], [np.array([np.nan], np.float32)])
    assert difference is not None
    assert difference.kind == "bits"


def test_a_message_lists_few_candidates() -> None:
    golden = with_alternatives(np.array([0]), [np.array([n]) for n in range(1, 9)])
    difference = compare_outputs([golden], [np.array([99])])
    assert difference is not None
    assert difference.text.endswith("another candidate: 1, 2, 3, 4 and 4 more")
