"""Excerpts of outputs: they contain the first difference, and decode to the elements."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_of, invert_bits
from opcert.run.comparison import Excerpt, excerpt_around, excerpt_rows

SHAPES = [(), (1,), (31,), (32,), (33,), (100,), (3, 5), (2, 3, 4, 5), (1, 64, 1), (7, 1, 9)]


def random(name: str, shape: tuple[int, ...], seed: int) -> Array:
    values = np.random.default_rng(seed).integers(0, 2, (*shape, 64), np.uint8)
    dtype = ELEMENT_TYPES[name]
    if name == "boolean":
        return values[..., 0].astype(bool)
    parts = np.packbits(values, axis=-1)[..., : dtype.itemsize]
    masked = parts & 0x0F if name in ("i4", "u4") else parts
    return np.ascontiguousarray(masked).view(dtype).reshape(shape)


@settings(deadline=None)
@given(st.sampled_from(list(ELEMENT_TYPES)), st.sampled_from(SHAPES), st.data())
def test_an_excerpt_has_the_first_difference_and_decodes_to_the_elements(
    name: str, shape: tuple[int, ...], data: st.DataObject
) -> None:
    expected = random(name, shape, data.draw(st.integers(0, 99)))
    first = data.draw(st.integers(0, expected.size - 1))
    actual = expected.copy()
    flat = actual.reshape(-1)
    flat[first] = invert_bits(flat[first : first + 1])[0]
    part = excerpt_around(0, expected, actual, first)
    rows = list(excerpt_rows(part))
    assert len(rows) == min(expected.size, 32)
    for number, row in enumerate(rows, part.start):
        assert row.position == str([int(each) for each in np.unravel_index(number, shape)])
        assert row.expected == str(expected.reshape(-1)[number])
        assert row.actual == str(flat[number])
        assert int(row.expected_bits, 16) == bits_of(expected).reshape(-1)[number]
        assert int(row.actual_bits, 16) == bits_of(actual).reshape(-1)[number]
        assert row.differs == (number == first)
    assert [row.differs for row in rows].count(True) == 1
    assert Excerpt.model_validate_json(part.model_dump_json()) == part


@pytest.mark.parametrize(
    ("size", "summary"), [(32, "f32[32], whole."), (33, "f32[33], 32 of its 33 elements.")]
)
def test_the_summary_says_whether_it_is_the_whole_output(size: int, summary: str) -> None:
    zeros = np.zeros(size, np.float32)
    assert excerpt_around(1, zeros, zeros + 1, 0).summary == f"Output 1, {summary}"


def test_nans_that_differ_in_bits_differ() -> None:
    one = np.array([0x7FC00000], np.uint32).view(np.float32)
    other = np.array([0x7FC00001], np.uint32).view(np.float32)
    (row,) = excerpt_rows(excerpt_around(0, one, other, 0))
    assert (row.expected, row.actual, row.differs) == ("nan", "nan", True)
    assert (row.expected_bits, row.actual_bits) == ("0x7fc00000", "0x7fc00001")


@pytest.mark.parametrize(
    "change",
    [
        {"expected": "0"},
        {"expected": "zz000000"},
        {"expected": "000000"},
        {"expected": "", "actual": ""},
        {"actual": "0000000000000000"},
        {"start": 2},
        {"shape": [0]},
        {"type": "f3"},
        {"output": -1},
    ],
    ids=str,
)
def test_an_inconsistent_excerpt_is_invalid(change: dict[str, Any]) -> None:
    right = {"output": 0, "type": "f32", "shape": [2], "start": 1}
    right |= {"expected": "00000000", "actual": "0000803f"}
    assert Excerpt.model_validate(right, strict=False).start == 1
    with pytest.raises(ValidationError):
        Excerpt.model_validate({**right, **change}, strict=False)
