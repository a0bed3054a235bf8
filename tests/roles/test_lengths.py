"""The role `lengths`: for each element of an axis, how many elements of another axis count."""

from pathlib import Path

import pytest

from tests.roles.made_up import assert_certified, assert_fails, assert_observed, mistakes, read

SPEC = """\
types: {T: [f32, u8], T_LEN: [i32, f16, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [2, 4], text: Data.}
  - {name: lengths, role: lengths, each: row, along: column, type: T_LEN, text: Lengths.}
attributes:
  - {name: row, role: axis, of: data, other_than: column, negative: false, type: int, text: Row.}
  - {name: column, role: axis, of: data, type: int, required: false, default: -1, text: Another.}
outputs:
  - {name: out, type: T, shape: data.shape, text: Kept beginnings.,
     element: "data[at] if at[wrap(column, data.rank)] < lengths[at[row]] else 0"}
rules:
  - {id: row-range, from: row.range, clause: A}
  - {id: column-range, from: column.range, clause: A}
  - {id: rank, from: lengths.rank, clause: A}
  - {id: count, from: lengths.length, clause: A}
  - {id: whole, from: lengths.whole, clause: A}
  - {id: range, from: lengths.range, clause: A}
ambiguities:
  - {id: one-axis, clause: A, text: One axis for both., touches: "row == column % data.rank",
     readings: {valid: No sentence forbids it., invalid: There are two axes.}}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, lengths, row, column=-1):
    require(0 <= row < data.ndim, "up-1/row-range", f"{row}")
    require(-data.ndim <= column < data.ndim, "up-1/column-range", f"{column}")
    require(lengths.ndim == 1, "up-1/rank", f"{lengths.ndim}")
    require(lengths.size == data.shape[row], "up-1/count", f"{lengths.size}")
    require(bool((lengths % 1 == 0).all()), "up-1/whole", f"{lengths}")
    n = data.shape[column]
    require(all(1 <= k <= n for k in lengths.tolist()), "up-1/range", f"{lengths}")
    column %= data.ndim
    places = np.arange(n).reshape([n if d == column else 1 for d in range(data.ndim)])
    ends = lengths.astype(np.int64).reshape([-1 if d == row else 1 for d in range(data.ndim)])
    return [np.where(places < ends, data, np.zeros((), data.dtype))]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SPEC))
    assert {call.inputs["lengths"].type for call in calls} == {"i32", "f16", "u8"}
    assert {"column" in call.attributes for call in calls} == {False, True}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("column=-1", "column=1"),
        ("ends = lengths.", "ends = lengths[::-1]."),
        ("ends = lengths.", "ends = np.maximum(lengths, 2)."),
        ("lengths % 1 == 0", "lengths == lengths"),
        ("1 <= k <= n", "0 <= k <= n"),
        ("1 <= k <= n", "1 <= k <= n + 1"),
        ("lengths.size == data.shape[row]", "lengths.size >= data.shape[row]"),
        ("lengths.astype(np.int64)", "lengths.astype(np.uint8)"),
        ("require(0 <= row < data.ndim", "require(row < data.ndim"),
    ],
)
def test_its_suite_fails_wrong_lengths(suite: Path, old: str, new: str) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_the_axis_of_the_lengths_is_another_one(tmp_path: Path) -> None:
    assert mistakes(tmp_path, SPEC, "other_than: column, ", "") == [
        "row, along: column, type: T_LEN, text: Lengths.}: "
        "'row' is not declared as another axis than 'column'; "
        "expected an axis with 'other_than: column'"
    ]


def test_an_axis_that_may_be_omitted_has_a_default(tmp_path: Path) -> None:
    assert mistakes(tmp_path, SPEC, "default: -1, ", "") == [
        "false, text: Another.}: an axis that may be omitted has no default; "
        "expected an attribute with a default"
    ]
