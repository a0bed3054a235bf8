"""Outputs of a type of their own: declared by name or by an expression, and computed as numbers."""

from pathlib import Path

import pytest

from opcert.arrays.element_types import type_name
from opcert.suite.suite import Suite
from tests.command_line import opcert
from tests.roles.made_up import HEAD, assert_certified, assert_fails, mistakes, write_spec

pytestmark = pytest.mark.usefixtures("few_calls")

SPEC = """\
types: {T: [f32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [0, 4], text: D.}
attributes:
  - {name: kind, role: mode, type: string, one_of: [i64, i32], required: false, default: i64,
     text: K.}
outputs:
  - {name: sizes, type: kind, shape: "[data.rank]", element: "data.shape[at[0]]", text: S.}
  - {name: is_empty, type: boolean, shape: "[]", element: data.size == 0, text: E.}
  - {name: least, type: u8, shape: "[2]", element: "min(data.size, 255) + at[0] * 0", text: L.}
  - {name: same, type: T, shape: data.shape, element: "data[at]", text: D.}
rules:
  - {id: kind-word, from: kind.word, clause: K}
  - {id: shape, clause: S, text: The sizes of data.}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, kind="i64"):
    require(kind in ("i64", "i32"), "up-1/kind-word", kind)
    sizes = np.array(data.shape, {"i64": np.int64, "i32": np.int32}[kind])
    least = np.array([min(data.size, 255)] * 2, np.uint8)
    return [sizes, np.array(data.size == 0), least, data.copy()]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_an_attribute_chooses_the_type(suite: Path) -> None:
    operator = Suite(suite, specs=suite.parent).operators["made/Up-1"]
    valid = [case for case in operator.cases.values() if case.expects == "outputs"]
    types = {
        (
            case.attributes.get("kind", "i64"),
            *(type_name(array.dtype) for array in operator.outputs(case)[:3]),
        )
        for case in valid
        if case.ambiguity is None
    }
    assert types == {("i64", "i64", "boolean", "u8"), ("i32", "i32", "boolean", "u8")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[kind])", "['i64'])"),
        ('kind="i64"', 'kind="i32"'),
        ("np.array(data.shape, ", "np.array(data.shape[::-1], "),
        ("data.size == 0", "data.ndim == 0"),
        ("data.size == 0)", "int(data.size == 0))"),
        ("min(data.size, 255)", "(data.size % 256)"),
    ],
)
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("element: data.size == 0", "element: data.size == 1", "the formula gives"),
        ("element: data.size == 0", "element: data.size", "the formula gives"),
        ("shape[at[0]]", "shape[at[0] + 9]", "index out of range in "),
        (
            'element: "data.shape[at[0]]"',
            'element: "data[0, 0, 0, 0, 0]"',
            "5 indices into 'data' of rank ",
        ),
        ("type: kind", "type: data", "expected an element type"),
        (
            "type: kind",
            "type: \"'i16' if kind == 'i32' else kind\"",
            "the spec declares i16",
        ),
    ],
)
def test_a_contradiction_of_the_reference(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert SPEC.count(old) == 1
    path = write_spec(tmp_path, "up", HEAD + SPEC.replace(old, new), REFERENCE)
    checked = opcert("check", "--no-strength", path)
    assert checked.exit_code == 2
    assert message in checked.output


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("type: i65", "no required input has the type symbol 'i65'; expected one of T"),
        ("type: kid", "no required input has the type symbol 'kid'; expected one of T"),
        ("type: data.tipe", "unknown name 'data.tipe' in 'data.tipe'; did you mean 'type'?"),
    ],
)
def test_an_unknown_type_is_a_mistake(new: str, message: str, tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, "type: kind", new)
    assert mistake.endswith(message)
