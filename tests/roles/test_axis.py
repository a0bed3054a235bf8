"""The role `axis`: a tensor of one element in several forms, or an attribute."""

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
types: {T: [f32, u8], T_AXIS: integer}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: Data.}
  - {name: axis, role: axis, of: data, type: T_AXIS, form: [scalar, one_element], text: Axis.}
outputs:
  - {name: out, type: T, shape: data.shape, text: Reversed.,
     element: "data[replace(at, k, data.shape[k] - 1 - at[k])]", where: {k: "axis.values[0]"}}
rules:
  - {id: kind, from: axis.type, clause: A}
  - {id: form, from: axis.shape, clause: A}
  - {id: in-range, from: axis.range, clause: A}
  - {id: reversed, clause: D, text: The elements along the axis change places.}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, axis):
    require(axis.dtype.kind in "iu", "up-1/kind", f"{axis.dtype}")
    require(axis.shape in [(), (1,)], "up-1/form", f"{axis.shape}")
    k = int(axis.ravel()[0])
    require(-data.ndim <= k < data.ndim, "up-1/in-range", f"{k}")
    return [np.flip(data, k).copy()]
"""
ATTRIBUTE = """\
types: {T: [f32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: Data.}
attributes:
  - {name: axis, role: axis, of: data, type: int, negative: false, text: Axis.}
outputs:
  - {name: out, type: T, shape: data.shape, text: Reversed.}
rules:
  - {id: in-range, from: axis.range, clause: A}
  - {id: reversed, clause: D, text: The elements along the axis change places.}
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


@pytest.mark.parametrize("spec", [SPEC, ATTRIBUTE], ids=["tensor", "attribute"])
def test_built_calls_exhibit_their_levels(spec: str, tmp_path: Path) -> None:
    assert_observed(read(tmp_path, spec))


def test_derived_requirements(tmp_path: Path) -> None:
    assert holds(read(tmp_path, SPEC)) == {
        "kind": ("axis.type in INTEGERS", ()),
        "form": ("axis.rank <= 1 and axis.size == 1", ()),
        "in-range": ("-data.rank <= axis.values[0] < data.rank", ("kind", "form")),
    }
    assert holds(read(tmp_path, ATTRIBUTE)) == {"in-range": ("0 <= axis < data.rank", ())}


def test_calls_have_both_forms_and_both_signs(tmp_path: Path) -> None:
    axes = [call.inputs["axis"] for call in assert_observed(read(tmp_path, SPEC))]
    assert {axis.rank for axis in axes} == {0, 1}
    assert {(axis.values or (0,))[0] < 0 for axis in axes} == {False, True}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = int(axis.ravel()[0])", "k = int(axis.ravel()[0]) % data.ndim"),
        ("k = int(axis.ravel()[0])", "k = min(int(axis.ravel()[0]), data.ndim - 1)"),
        ("np.flip(data, k)", "np.flip(data, k if k >= 0 else k + data.ndim - 1)"),
        ("np.flip(data, k)", "np.flip(data, k) if data.ndim < 4 else data"),
        ("int(axis.ravel()[0])", "int(axis.ravel()[0].astype('i1'))"),
    ],
)
def test_its_suite_fails_a_wrong_axis(suite: Path, old: str, new: str) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_an_axis_of_an_unknown_argument_is_a_mistake(tmp_path: Path) -> None:
    reported = mistakes(tmp_path, SPEC, "of: data, type: T_AXIS", "of: dat, type: T_AXIS")
    assert reported == [
        f"dat, type: T_AXIS{SPEC.split('T_AXIS', 2)[2].splitlines()[0]}: "
        "unknown argument 'dat'; did you mean 'data'?"
    ]
