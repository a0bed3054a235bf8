"""The role `axes`: a list of axes of data, in a made-up operator that turns data round."""

from pathlib import Path

import pytest

from opcert.certificate.certify_suite import certify
from opcert.errors import SpecError
from opcert.specification.files import read_spec
from opcert.suite.generation import generate
from tests.roles.made_up import derived_rules, unobserved_levels, write_spec

SPEC = """
operator: made/Flip
slug: flip
version: 1
document: {title: Flip, version: "1"}
reference: flip.py:flip
types: {T: [f32, i8, u16], I: [i64, i32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: What is turned round.}
  - {name: axes, role: axes, of: data, required: false, type: I, text: Which axes.}
outputs:
  - {name: flipped, type: T, shape: data.shape, text: The same backwards.}
rules:
  - {id: needed, from: required, clause: Signature}
  - id: axes-type
    from: axes.type
    clause: Signature
  - id: axes-rank
    from: axes.rank
    clause: Signature
  - id: axes-range
    from: axes.range
    clause: Signature
  - id: axes-unique
    from: axes.unique
    clause: Signature
  - {id: backwards, clause: Description, text: Each listed axis is turned round.}
"""
WITH_ATTRIBUTE = """
operator: made/Flip
slug: flip
version: 1
document: {title: Flip, version: "1"}
reference: flip.py:flip
types: {T: [f32, i8, u16]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: What is turned round.}
attributes:
  - {name: axes, role: axes, of: data, required: false, type: list, text: Which axes.}
outputs:
  - {name: flipped, type: T, shape: data.shape, text: The same backwards.}
rules:
  - {id: needed, from: required, clause: Signature}
  - id: axes-range
    from: axes.range
    clause: Signature
  - id: axes-unique
    from: axes.unique
    clause: Signature
  - {id: backwards, clause: Description, text: Each listed axis is turned round.}
"""
REFERENCE = """
import numpy as np

from opcert.reference.rules import require


def flip(data=None, axes=None):
    require(data is not None, "flip/needed", "data is omitted")
    if isinstance(axes, np.ndarray):
        known = ("int64", "int32", "uint8")
        require(str(axes.dtype) in known, "flip/axes-type", f"axes of {axes.dtype}")
        require(axes.ndim == 1, "flip/axes-rank", f"axes of rank {axes.ndim}")
        axes = axes.tolist()
    axes = range(data.ndim) if axes is None else axes
    require(all(-data.ndim <= a < data.ndim for a in axes), "flip/axes-range", f"axes {axes}")
    wrapped = {a % data.ndim for a in axes}
    require(len(wrapped) == len(axes), "flip/axes-unique", f"axes {axes}")
    return [np.flip(data, tuple(wrapped)).copy()]


class First:
    name, version = "first", "1"

    def run(self, operator, inputs, attributes):
        axes = inputs.get("axes", attributes.get("axes"))
        return flip(inputs["data"], axes if axes is None or len(axes) == 1 else axes[:1])
"""


@pytest.fixture(params=["tensor", "attribute"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    spec = SPEC if request.param == "tensor" else WITH_ATTRIBUTE
    return write_spec(tmp_path / "specs", "flip", spec, REFERENCE)


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_built_calls_exhibit_their_levels(path: Path, profile: str) -> None:
    assert unobserved_levels(read_spec(path).spec, profile) == []


def test_its_suite_fails_a_wrong_backend(path: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    generate(suite, path.parent)
    assert certify("reference", suite, isolated=False, specs=path.parent).conformant
    wrong = f"{path.with_suffix('.py')}:First"
    assert not certify(wrong, suite, isolated=False, specs=path.parent).conformant


def test_it_requires_axes_that_data_has_once_each(tmp_path: Path) -> None:
    known = derived_rules(write_spec(tmp_path, "flip", SPEC, REFERENCE))
    range_, unique = known["axes.range"], known["axes.unique"]
    assert range_.holds == "all(-data.rank <= axis < data.rank for axis in axes.values)"
    assert unique.holds == "len(set(wrap(axis, data.rank) for axis in axes.values)) == axes.size"
    assert range_.when == unique.when == "axes is not None"
    assert unique.prerequisites == ("axes-type", "axes-rank", "axes-range")


def test_an_attribute_needs_no_element_type_and_no_rank(tmp_path: Path) -> None:
    known = derived_rules(write_spec(tmp_path, "flip", WITH_ATTRIBUTE, REFERENCE))
    assert [*known] == ["required", "axes.range", "axes.unique"]
    assert known["axes.range"].holds == "all(-data.rank <= axis < data.rank for axis in axes)"


def test_axes_that_are_not_negative_are_counted_from_the_front(tmp_path: Path) -> None:
    spec = SPEC.replace("required: false", "required: false, negative: false")
    path = write_spec(tmp_path, "flip", spec, REFERENCE)
    assert (
        derived_rules(path)["axes.range"].holds
        == "all(0 <= axis < data.rank for axis in axes.values)"
    )
    assert unobserved_levels(read_spec(path).spec, "core") == []


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("of: data", "of: date", "unknown argument 'date'"),
        ("of: data", "of: axes", "'axes' does not have the role data"),
        (
            "required: false",
            "required: false, omitted: first",
            "unknown number of first axes; expected an argument with 'along: axes'",
        ),
    ],
)
def test_a_wrong_relation_is_one_error_at_its_place(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    path = write_spec(tmp_path, "flip", SPEC.replace(old, new), REFERENCE)
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    (mistake,) = caught.value.mistakes
    assert text in mistake.text
    assert mistake.line == 10
