"""The role `fill`: an operator that pads data with a value, and wrong implementations of it."""

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
types: {T: [f32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: Data.}
  - {name: value, role: fill, like: data, form: [scalar, one_element], required: false,
     type: T, text: V.}
attributes:
  - {name: before, role: counts, of: data, zero: keeps, negative: crops, type: list, text: B.}
  - {name: after, role: counts, of: data, zero: keeps, type: list, text: A.}
outputs:
  - name: padded
    type: T
    shape: "[sum(sizes) for sizes in zip(before, data.shape, after)]"
    text: Data with value around it.
rules:
  - {id: type, from: value.type, clause: V}
  - {id: form, from: value.shape, clause: V}
  - {id: before-length, from: before.length, clause: B}
  - {id: after-length, from: after.length, clause: A}
  - {id: after-least, from: after.least, clause: A}
  - {id: padded, clause: D, text: Data is surrounded by value., when: data.size > 0}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, before, after, value=None):
    value = np.zeros((), data.dtype) if value is None else value
    require(value.dtype == data.dtype, "up-1/type", f"{value.dtype}")
    require(value.shape in ((), (1,)), "up-1/form", f"{value.shape}")
    require(len(before) == data.ndim, "up-1/before-length", f"{before}")
    require(len(after) == data.ndim, "up-1/after-length", f"{after}")
    require(min(after) >= 0, "up-1/after-least", f"{after}")
    kept = data[tuple(slice(max(0, -count), None) for count in before)]
    pads = [*zip((max(0, count) for count in before), after)]
    pads += [(0, 0)] * (data.ndim - len(pads))  # unchecked, a single one would be that of each axis
    return [np.pad(kept, pads, constant_values=value.ravel()[0])]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    values = [
        (call.inputs["data"].type, call.inputs.get("value"))
        for call in assert_observed(read(tmp_path, SPEC), rows=120)
    ]
    assert all(value is None or value.type == element_type for element_type, value in values)
    assert {value and value.shape for _, value in values} == {None, (), (1,)}
    assert {value and value.uniform for _, value in values} == {None, "no", "zero"}


def test_derived_requirements(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC)
    assert holds(spec)["type"] == ("value.type == data.type", ())
    assert holds(spec)["form"] == ("value.shape in [(), (1,)]", ())
    assert {spec.requirements[rule].when for rule in ("type", "form")} == {"value is not None"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value.ravel()[0]", "0"),
        ("value.ravel()[0]", "value if value.ndim == 0 else 0"),
        ("np.zeros((), data.dtype) if", "np.ones((), data.dtype) if"),
        ("kept, pads", "kept, [(b, a) if d else (a, b) for d, (b, a) in enumerate(pads)]"),
        ("max(0, -count)", "0"),
        ("value.shape in ((), (1,))", "value.size"),
        ('require(value.dtype == data.dtype, "up-1/type", f"{value.dtype}")', "value = value.astype(data.dtype)"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_another_type_symbol_is_reported_at_its_place(tmp_path: Path) -> None:
    spec = SPEC.replace("types: {T: [f32, u8]}", "types: {T: [f32, u8], V: [f32]}")
    (mistake,) = mistakes(tmp_path, spec, "type: T, text: V.", "type: V, text: V.")
    assert mistake.startswith("V")
    assert mistake.endswith(": type symbol 'V' differs from that of 'data'; expected 'T'")


OF_ONE_MODE = """\
types: {T: [f32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: Data.}
  - {name: value, role: fill, like: data, mode: how, mode_is: plain, required: false,
     type: T, text: V.}
attributes:
  - {name: how, role: mode, type: string, required: false, default: plain, one_of: [plain, edge],
     text: H.}
outputs: [{name: padded, type: T, shape: data.shape, text: Data.}]
rules:
  - {id: word, from: how.word, clause: H}
  - {id: type, from: value.type, clause: V}
  - {id: form, from: value.shape, clause: V}
"""


def test_a_fill_of_one_mode_is_omitted_in_the_others(tmp_path: Path) -> None:
    spec = read(tmp_path, OF_ONE_MODE)
    assert spec.requirements["type"].when == "how == 'plain' and value is not None"
    assert holds(spec)["form"][1] == ("word",)
    calls = assert_observed(spec, rows=120)
    given = {(call.attributes.get("how"), "value" in call.inputs) for call in calls}
    assert given == {
        (None, True),
        (None, False),
        ("plain", True),
        ("plain", False),
        ("edge", False),
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (" mode_is: plain,", "", "missing key 'mode_is'; expected plain or edge"),
        ("mode_is: plain", "mode_is: plan", "unknown word 'plan' of 'how'; did you mean 'plain'?"),
        (" mode: how,", "", "missing key 'mode'; expected it together with 'mode_is'"),
    ],
)
def test_wrong_keys_of_a_mode_are_mistakes(
    old: str, new: str, expected: str, tmp_path: Path
) -> None:
    (mistake,) = mistakes(tmp_path, OF_ONE_MODE, old, new)
    assert mistake.endswith(f": {expected}")
