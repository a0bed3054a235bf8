"""The role `counts`: an operator that repeats data along axes, and wrong implementations of it."""

from pathlib import Path

import pytest

from tests.roles.made_up import (
    assert_certified,
    assert_fails,
    assert_observed,
    holds,
    mistakes,
    read,
)

SPEC = """\
types: {T: [f32, u8], N: [i32, i64]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 5], text: Data.}
  - {name: repeats, role: counts, of: data, zero: empties, type: N, text: Repeats.}
outputs:
  - name: tiled
    type: T
    shape: "[size * count for size, count in zip(data.shape, repeats.values)]"
    text: Repeated data.
rules:
  - {id: type, from: repeats.type, clause: R}
  - {id: rank, from: repeats.rank, clause: R}
  - {id: length, from: repeats.length, clause: R}
  - {id: least, from: repeats.least, clause: R}
  - {id: tiled, clause: D, text: Data is repeated along each axis., when: data.size > 0}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, repeats):
    require(repeats.dtype in (np.int32, np.int64), "up-1/type", f"{repeats.dtype}")
    require(repeats.ndim == 1, "up-1/rank", f"{repeats.ndim}")
    require(repeats.size == data.ndim, "up-1/length", f"{repeats}")
    require((repeats >= 0).all(), "up-1/least", f"{repeats}")
    return [np.tile(data, repeats).copy()]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SPEC), rows=120)
    counts = {count for call in calls for count in call.inputs["repeats"].values or ()}
    assert counts == {0, 1, 2, 3, 257}
    assert all(call.inputs["repeats"].size == call.inputs["data"].rank for call in calls)


@pytest.mark.parametrize(
    ("zero", "expected"),
    [("empties", {0, 1, 2, 3, 257}), ("keeps", {0, 1, 2, 3, 257}), ("invalid", {1, 2, 3, 257})],
)
def test_zeros_are_built_unless_they_are_invalid(
    zero: str, expected: set[int], tmp_path: Path
) -> None:
    spec = read(tmp_path, SPEC.replace("zero: empties", f"zero: {zero}"))
    calls = assert_observed(spec, rows=120)
    assert {n for call in calls for n in call.inputs["repeats"].values or ()} == expected
    least = 1 if zero == "invalid" else 0
    condition = f"all(count >= {least} for count in repeats.values)"
    assert holds(spec)["least"] == (condition, ("type", "rank", "length"))


def test_negative_counts_have_no_least(tmp_path: Path) -> None:
    text = SPEC.replace("zero: empties", "zero: keeps, negative: crops")
    lines = [line for line in text.splitlines(keepends=True) if "id: least" not in line]
    spec = read(tmp_path, "".join(lines))
    assert "least" not in holds(spec)
    cropped = [
        (count, size)
        for call in assert_observed(spec, rows=120)
        for count, size in zip(
            call.inputs["repeats"].values or (), call.inputs["data"].shape, strict=True
        )
        if count < 0
    ]
    assert cropped
    assert all(size + 2 * count > 0 for count, size in cropped)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.tile(data, repeats)", "np.tile(data, repeats[::-1])"),
        ("np.tile(data, repeats)", "np.tile(data, repeats.astype(np.uint8))"),
        ("np.tile(data, repeats)", "np.tile(data, np.maximum(repeats, 1))"),
        ("np.tile(data, repeats)", "np.repeat(data, repeats[0], 0) if data.ndim == 1 else np.tile(data, repeats)"),  # noqa: E501
        ('require(repeats.size == data.ndim, "up-1/length", f"{repeats}")', "repeats = repeats[: data.ndim]"),  # noqa: E501
        ('require((repeats >= 0).all(), "up-1/least", f"{repeats}")', "repeats = abs(repeats)"),
    ],
)  # fmt: skip
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_an_unknown_meaning_is_reported_at_its_place(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, "zero: empties", "zero: empty")
    assert mistake.startswith("empty")
