"""Conditions in words: each level, and several of them."""

import pytest

from opcert.diagnosis.table import LevelTable
from opcert.verdicts.condition_text import level_text, terms_of

FACTORS = {
    "step value": ["2^16 + 1", "2^15 - 1", "0"],
    "step sign": ["-2 or less", "-1", "0", "1", "2 or more"],
    "data axis": ["first", "last", "any but the last"],
    "data rank": ["1", "2", "3", "4", "5", "6"],
    "data extents": ["0", "1", "2 or more"],
    "data elements": ["0", "1", "2", "3", "4", "5 to 8", "9 to 16"],
    "data layout": ["in C order", "with gaps", "with a stride of 0"],
}
# One call has two extents and two parts of a layout.
POINT = {
    **{name: frozenset(levels[:1]) for name, levels in FACTORS.items()},
    "data extents": frozenset(["0", "1"]),
    "data layout": frozenset(["with gaps", "with a stride of 0"]),
}


@pytest.mark.parametrize(
    ("factor", "levels", "text"),
    [
        ("step value", ("2^16 + 1", "2^15 - 1"), "step = 2^16 + 1 or 2^15 - 1"),
        ("step sign", ("1", "2 or more"), "step of 1 or more"),
        ("step sign", ("-2 or less", "-1"), "step of -1 or less"),
        ("data axis", ("any but the last",), "an axis of data other than the last"),
        ("data rank", ("3", "4"), "data of rank 3 or 4"),
        ("data rank", ("3", "4", "5"), "data of rank 3 to 5"),
        ("data rank", ("1", "3", "4", "5", "6"), "anything but data of rank 2"),
        ("data extents", ("0", "1"), "data without elements or with an extent of 1"),
        ("data elements", ("4", "5 to 8"), "4 to 8 elements of data"),
        ("data elements", ("1", "2"), "1 or 2 elements of data"),
        ("data elements", ("0", "1", "5 to 8"), "0, 1 or 5 to 8 elements of data"),
        ("data layout", ("in C order", "with gaps"), "data in C order or with gaps"),
    ],
)
def test_several_levels_are_one_phrase(factor: str, levels: tuple[str, ...], text: str) -> None:
    (term,) = terms_of(((factor, levels),), LevelTable(FACTORS, [[POINT]]))
    assert term.text == text


@pytest.mark.parametrize(
    ("factor", "level", "text"),
    [
        ("violated rule", "slice-8/step-not-zero", "a violation of step-not-zero"),
        ("comparison", "count > rows // 2", "count > rows // 2"),
        ("output elements", "1", "outputs of size 1"),
        ("data elements", "1", "1 element of data"),
        ("stop value", "greatest", "stop = the greatest of its type"),
        ("stop axis", "any but the last", "an axis of stop other than the last"),
        (
            "b shorter",
            "any but the first",
            "b shorter than the data on an axis other than the first",
        ),
        ("b shorter", "last", "b shorter than the data on the last axis"),
    ],
)
def test_a_level_is_what_a_call_has(factor: str, level: str, text: str) -> None:
    assert level_text(factor, level) == text
