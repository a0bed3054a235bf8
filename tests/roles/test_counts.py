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
    if repeats.min(initial=0) < 0:
        raise ValueError(repeats)  # as np.tile does once it has repeated the axes before
    return [np.tile(data, repeats).copy()]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SPEC), rows=120)
    counts = {count for call in calls for count in call.inputs["repeats"].values or ()}
    assert counts == {0, 1, 2, 3, 257, 65537}
    assert all(call.inputs["repeats"].size == call.inputs["data"].rank for call in calls)


@pytest.mark.parametrize(
    ("zero", "expected"),
    [
        ("empties", {0, 1, 2, 3, 257, 65537}),
        ("keeps", {0, 1, 2, 3, 257, 65537}),
        ("invalid", {1, 2, 3, 257, 65537}),
    ],
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
        ('require((repeats >= 0).all(), "up-1/least", f"{repeats}")', "repeats = repeats.clip(0)"),
    ],
)  # fmt: skip
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


ALIGNED = (
    SPEC.replace("rank: [1, 5]", "rank: [0, 5]")
    .replace("zero: empties", "zero: empties, aligned: true")
    .replace("  - {id: length, from: repeats.length, clause: R}\n", "")
)


def test_aligned_counts_may_be_fewer_or_more_than_the_axes(tmp_path: Path) -> None:
    spec = read(tmp_path, ALIGNED)
    assert holds(spec)["least"][1] == ("type", "rank")
    calls = assert_observed(spec, rows=300)
    surplus = {call.inputs["repeats"].size - call.inputs["data"].rank for call in calls}
    assert surplus >= {-2, -1, 0, 1, 2}
    assert any(call.inputs["repeats"].size == 0 < call.inputs["data"].rank for call in calls)
    assert max(call.inputs["repeats"].size for call in calls) == 5


LIMITED = """\
types: {T: [f32, u8], N: [i8, u32]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 5], text: Data.}
  - {name: pads, role: counts, of: data, zero: keeps, mode: how, limits: {inner: -1, whole: 0},
     type: N, text: Pads.}
attributes:
  - {name: how, role: mode, type: string, required: false, default: inner,
     one_of: [free, inner, whole], text: How.}
outputs: [{name: padded, type: T, shape: data.shape, text: Data.}]
rules:
  - {id: word, from: how.word, clause: H}
  - {id: type, from: pads.type, clause: P}
  - {id: rank, from: pads.rank, clause: P}
  - {id: length, from: pads.length, clause: P}
  - {id: least, from: pads.least, clause: P}
  - {id: inner, from: pads.limit-inner, clause: H}
  - {id: whole, from: pads.limit-whole, clause: H}
"""


def test_a_mode_limits_counts(tmp_path: Path) -> None:
    spec = read(tmp_path, LIMITED)
    condition, prerequisites = holds(spec)["inner"]
    assert condition == "all(count <= n - 1 for count, n in zip(pads.values, data.shape))"
    assert prerequisites == ("type", "rank", "length", "word")
    assert spec.requirements["whole"].when == "how == 'whole' and True"
    at_limit = set()
    for call in assert_observed(spec, rows=300):
        word = call.attributes.get("how", "inner")
        offset = {"free": 1 << 17, "inner": -1, "whole": 0}[word]
        room = [
            n + offset - count
            for count, n in zip(
                call.inputs["pads"].values or (), call.inputs["data"].shape, strict=True
            )
        ]
        assert min(room) >= 0
        at_limit |= {word} if 0 in room else set()
    assert at_limit == {"inner", "whole"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{inner: -1, whole: 0}", "{iner: -1}", "unknown word 'iner' of 'how'; did you mean 'inner'?"),  # noqa: E501
        ("mode: how, ", "", "missing key 'mode'; expected it together with 'limits'"),
    ],
)  # fmt: skip
def test_wrong_limits_are_mistakes(old: str, new: str, expected: str, tmp_path: Path) -> None:
    spec = LIMITED.replace("  - {id: inner, from: pads.limit-inner, clause: H}\n", "")
    spec = spec.replace("  - {id: whole, from: pads.limit-whole, clause: H}\n", "")
    assert any(m.endswith(f": {expected}") for m in mistakes(tmp_path, spec, old, new))


OPEN = (
    SPEC.replace("  - {id: least, from: repeats.least, clause: R}\n", "")
    + """\
ambiguities:
  - id: negative
    from: repeats.least
    clause: R
    text: What a negative number of repetitions means.
    readings: {valid: As often as 0., invalid: It cannot be.}
"""
)


def test_a_requirement_that_the_document_leaves_open_is_an_ambiguity(tmp_path: Path) -> None:
    (ambiguity,) = read(tmp_path, OPEN).ambiguities
    assert ambiguity.touches == (
        "(repeats.type in ['i32', 'i64']) and (repeats.rank == 1) and (repeats.size == data.rank)"
        " and not (all(count >= 0 for count in repeats.values))"
    )


def test_an_unknown_meaning_is_reported_at_its_place(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, "zero: empties", "zero: empty")
    assert mistake.startswith("empty")
