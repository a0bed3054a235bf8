"""The role `counts`: an operator that repeats data along axes, and wrong implementations of it."""

from pathlib import Path

import pytest

from tests.roles.made_up import SPECS, holds, mistakes, random_calls, read

SPEC = SPECS["counts"]


@pytest.mark.parametrize("zero", ["empties", "keeps", "invalid"])
def test_zeros_are_drawn_unless_they_are_invalid(zero: str, tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("zero: empties", f"zero: {zero}"))
    calls = random_calls(spec, 400)
    assert all(call.inputs["repeats"].size == call.inputs["data"].rank for call in calls)
    counts = {n for call in calls for n in call.inputs["repeats"].values or ()}
    assert counts >= {1, 2, 3, 257, 65537}
    assert (0 in counts) == (zero != "invalid")
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
        for call in random_calls(spec, 300)
        for count, size in zip(
            call.inputs["repeats"].values or (), call.inputs["data"].shape, strict=True
        )
        if count < 0
    ]
    assert cropped
    assert all(size + count > 0 for count, size in cropped)


ALIGNED = (
    SPEC.replace("rank: [1, 5]", "rank: [0, 5]")
    .replace("zero: empties", "zero: empties, aligned: true")
    .replace("  - {id: length, from: repeats.length, clause: R}\n", "")
)


def test_aligned_counts_may_be_fewer_or_more_than_the_axes(tmp_path: Path) -> None:
    spec = read(tmp_path, ALIGNED)
    assert holds(spec)["least"][1] == ("type", "rank")
    calls = random_calls(spec, 300)
    surplus = {call.inputs["repeats"].size - call.inputs["data"].rank for call in calls}
    assert surplus >= {-2, -1, 0, 1, 2}
    assert any(call.inputs["repeats"].size == 0 < call.inputs["data"].rank for call in calls)
    assert max(call.inputs["repeats"].size for call in calls) == 5


LIMITED = SPECS["counts_with_limits"]


def test_a_mode_limits_counts(tmp_path: Path) -> None:
    spec = read(tmp_path, LIMITED)
    condition, prerequisites = holds(spec)["inner"]
    assert condition == "all(count <= n - 1 for count, n in zip(pads.values, data.shape))"
    assert prerequisites == ("type", "rank", "length", "word")
    assert spec.requirements["whole"].when == "how == 'whole' and True"
    at_limit = set()
    for call in random_calls(spec, 300):
        word = call.attributes.get("how", "inner")
        offset = {"free": 1 << 20, "inner": -1, "whole": 0}[word]
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
