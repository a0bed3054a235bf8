"""The role `parts`: an operator that divides an axis equally, and wrong implementations of it."""

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
attributes:
  - {name: axis, role: axis, of: data, type: int, text: Axis.}
  - {name: number, role: parts, of: data, along: axis, type: int, text: Parts.}
outputs:
  - name: part
    type: T
    count: number
    shape: replace(data.shape, axis, data.shape[axis] // number)
    text: Part i.
rules:
  - {id: in-range, from: axis.range, clause: A}
  - {id: least, from: number.least, clause: N}
  - {id: divides, from: number.divides, clause: N}
  - {id: consecutive, clause: D, text: Part follows part., holds: len(outputs) == number}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, axis, number):
    require(-data.ndim <= axis < data.ndim, "up-1/in-range", f"{axis}")
    require(number >= 1, "up-1/least", f"{number}")
    require(data.shape[axis] % number == 0, "up-1/divides", f"{number}")
    return [part.copy() for part in np.split(data, number, axis)]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_built_calls_exhibit_their_levels(profile: str, tmp_path: Path) -> None:
    for call in assert_observed(read(tmp_path, SPEC), profile):
        number, axis = call.attributes["number"], call.attributes["axis"]
        assert call.inputs["data"].shape[axis] % number == 0


def test_derived_requirements(tmp_path: Path) -> None:
    size = "data.shape[wrap(axis, data.rank)]"
    spec = read(tmp_path, SPEC)
    assert holds(spec)["least"] == ("number >= 1", ())
    assert holds(spec)["divides"] == (f"{size} % number == 0", ("in-range", "least"))
    assert spec.attributes[1].range == ("1", f"{size} or number")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.split(data, number, axis)]", "np.split(data, number, axis)][::-1]"),
        ("np.split(data, number, axis)", "np.split(data, number, abs(axis))"),
        ("np.split(data, number, axis)", "np.split(data, number % 17 or 1, axis)"),
        ('require(data.shape[axis] % number == 0, "up-1/divides", f"{number}")', "number -= data.shape[axis] % number > 0"),  # noqa: E501
        ('require(number >= 1, "up-1/least", f"{number}")', "number = max(1, number)"),
    ],
)  # fmt: skip
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("along: axis", "along: data", "'data' does not have the role axis"),
        ("parts, of: data", "parts, of: dat", "unknown argument 'dat'; did you mean 'data'?"),
    ],
)
def test_a_wrong_relation_is_reported_at_its_place(
    old: str, new: str, text: str, tmp_path: Path
) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, old, new)
    assert mistake.startswith(new.rpartition(" ")[2])
    assert mistake.endswith(f": {text}")
