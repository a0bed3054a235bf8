"""Data with the shape or the type of another argument, and optional arguments in groups."""

from pathlib import Path

import pytest

from opcert.cases.generation import generate_cases
from opcert.specification.files import read_spec
from tests.roles.made_up import (
    HEAD,
    assert_certified,
    assert_fails,
    assert_observed,
    holds,
    mistakes,
    read,
    write_spec,
)

# Of one shape, but of two types: mask chooses between the elements of data and those of other.
SELECT = """\
types: {T: [f32, i8], T_MASK: [boolean]}
inputs:
  - {name: mask, role: data, type: T_MASK, shape_of: data, text: M.}
  - {name: data, role: data, type: T, rank: [0, 3], text: D.}
  - {name: other, role: data, type: T, type_of: data, shape_of: data, text: O.}
outputs:
  - {name: out, type: T, shape: data.shape, element: "data[at] if mask[at] else other[at]",
     text: X.}
rules:
  - {id: mask-shape, from: mask.shape, clause: M}
  - {id: other-type, from: other.type, clause: O}
  - {id: other-shape, from: other.shape, clause: O}
  - {id: selects, clause: D, text: Mask selects.}
"""
SELECT_REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(mask, data, other):
    require(mask.shape == data.shape, "up-1/mask-shape", f"{mask.shape}")
    require(other.dtype == data.dtype, "up-1/other-type", f"{other.dtype}")
    require(other.shape == data.shape, "up-1/other-shape", f"{other.shape}")
    return [np.where(mask, data, other)]
"""
# Of one type, but of two shapes.
APPEND = """\
types: {T: [f32, i8, u16]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 2], text: D.}
  - {name: more, role: data, type: T, type_of: data, rank: [1, 1], text: M.}
outputs:
  - name: out
    type: T
    shape: "[data.size + more.size]"
    element: >-
      (data[at] if data.rank == 1 else data[(at[0] // max(data.shape[-1], 1), at[0] %
      max(data.shape[-1], 1))]) if at[0] < data.size else more[at[0] - data.size]
    text: X.
rules:
  - {id: more-type, from: more.type, clause: M}
  - {id: appended, clause: D, text: More follows data.}
"""
APPEND_REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, more):
    require(more.dtype == data.dtype, "up-1/more-type", f"{more.dtype}")
    return [np.concatenate([data.reshape(-1), more])]
"""
# Both ends are given, or neither is.
BORDER = """\
types: {T: [f32, i8]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 2], text: D.}
  - {name: front, role: fill, like: data, type: T, required: false, text: F.}
  - {name: back, role: fill, like: data, type: T, required: false, with: [front], text: B.}
outputs:
  - name: out
    type: T
    shape: "[data.size + 2 * (front is not None)]"
    text: X.
rules:
  - {id: front-type, from: front.type, clause: F}
  - {id: front-shape, from: front.shape, clause: F}
  - {id: back-type, from: back.type, clause: B}
  - {id: back-shape, from: back.shape, clause: B}
  - {id: together, from: back.with, clause: B}
  - {id: bordered, clause: D, text: Data has a border., when: front is not None}
"""
BORDER_REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, front=None, back=None):
    for end, name in ((front, "front"), (back, "back")):
        if end is not None:
            require(end.dtype == data.dtype, f"up-1/{name}-type", f"{end.dtype}")
            require(end.shape == (), f"up-1/{name}-shape", f"{end.shape}")
    require((front is None) == (back is None), "up-1/together", "one end")
    flat = data.reshape(-1)
    return [flat.copy() if front is None or back is None else np.hstack([front, flat, back])]
"""


@pytest.fixture(scope="module")
def select_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of Select, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("select"), SELECT, SELECT_REFERENCE)


@pytest.fixture(scope="module")
def append_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of Append, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("append"), APPEND, APPEND_REFERENCE)


@pytest.fixture(scope="module")
def border_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of Border, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("border"), BORDER, BORDER_REFERENCE)


def test_data_of_one_shape_has_a_type_and_a_layout_of_its_own(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SELECT))
    inputs = [call.inputs for call in calls]
    assert all(len({tensor.shape for tensor in tensors.values()}) == 1 for tensors in inputs)
    assert {tensors["mask"].type for tensors in inputs} == {"boolean"}
    assert all(tensors["other"].type == tensors["data"].type for tensors in inputs)
    assert {(tensors["mask"].layout, tensors["data"].layout) for tensors in inputs} > {("c", "c")}


def test_data_of_one_type_has_a_shape_of_its_own(tmp_path: Path) -> None:
    inputs = [call.inputs for call in assert_observed(read(tmp_path, APPEND))]
    assert all(tensors["more"].type == tensors["data"].type for tensors in inputs)
    assert any(tensors["more"].shape != tensors["data"].shape for tensors in inputs)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.where(mask", "np.where(~mask"),
        ("np.where(mask", "np.where(mask.ravel(order='K').reshape(mask.shape)"),
        ("np.where(mask", "np.where(mask.any(axis=-1, keepdims=True) if mask.ndim else mask"),
        ("data, other)]", "data, other[..., :1])]"),
        ('require(mask.shape == data.shape, "up-1/mask-shape", f"{mask.shape}")', ""),
        ('require(other.dtype == data.dtype, "up-1/other-type", f"{other.dtype}")', ""),
        ('require(other.shape == data.shape, "up-1/other-shape", f"{other.shape}")', ""),
    ],
)
def test_a_wrong_selection_fails(old: str, new: str, select_suite: Path) -> None:
    assert_fails(select_suite, SELECT_REFERENCE, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("data.reshape(-1), more]", "more, data.reshape(-1)]"),
        ("data.reshape(-1), more]", "data.reshape(-1, order='F'), more]"),
        ('require(more.dtype == data.dtype, "up-1/more-type", f"{more.dtype}")', ""),
    ],
)
def test_a_wrong_concatenation_fails(old: str, new: str, append_suite: Path) -> None:
    assert_fails(append_suite, APPEND_REFERENCE, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[front, flat, back]", "[back, flat, front]"),
        ('require((front is None) == (back is None), "up-1/together", "one end")', ""),
        ("if front is None or back is None else", "if data.ndim == 2 else"),
    ],
)
def test_a_wrong_border_fails(old: str, new: str, border_suite: Path) -> None:
    assert_fails(border_suite, BORDER_REFERENCE, old, new)


def test_a_group_is_given_or_omitted_as_a_whole(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, BORDER), rows=100)
    given = {("front" in call.inputs, "back" in call.inputs) for call in calls}
    assert given == {(True, True), (False, False)}


def test_a_group_has_a_requirement(tmp_path: Path) -> None:
    assert holds(read(tmp_path, BORDER))["together"] == (
        "any(name not in omitted for name in ['back', 'front']) == "
        "all(name not in omitted for name in ['back', 'front'])",
        (),
    )


def test_one_of_a_group_is_omitted_or_added_alone_and_all_by_a_neighbour(tmp_path: Path) -> None:
    spec = read_spec(write_spec(tmp_path, "up", HEAD + BORDER, BORDER_REFERENCE))
    cases = generate_cases(spec, "core", 0)
    by_id = {case.id: case for case in cases}
    alone = {
        (*(name for name in ("front", "back") if name in case.call.inputs),)
        for case in cases
        if case.violated_rule == "up-1/together"
    }
    assert alone == {("front",), ("back",)}
    neighbours = [case for case in cases if "without-" in case.id and case.violated_rule is None]
    assert neighbours
    for case in neighbours:
        assert {*case.call.inputs} == {"data"}
        assert {*by_id[str(case.baseline)].call.inputs} == {"data", "front", "back"}


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("with: [fornt]", "unknown argument with a role 'fornt'; did you mean 'front'?"),
        ("with: [back]", "unknown argument with a role 'back'; expected one of data, front"),
        ("with: [data]", "'data' is required; expected arguments that may be omitted"),
    ],
)
def test_a_mistake_in_a_group(new: str, message: str, tmp_path: Path) -> None:
    assert any(text.endswith(message) for text in mistakes(tmp_path, BORDER, "with: [front]", new))


def test_the_type_symbol_of_another_type_is_a_mistake(tmp_path: Path) -> None:
    new = "shape_of: data, type_of: data,"
    (mistake,) = mistakes(tmp_path, SELECT, "T_MASK, shape_of: data,", f"T_MASK, {new}")
    assert mistake.endswith("type symbol 'T_MASK' differs from that of 'data'; expected 'T'")
