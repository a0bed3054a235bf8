"""Data with the shape or the type of another argument, and optional arguments in groups."""

from pathlib import Path

from opcert.arrays.layouts import C_ORDER
from opcert.cases.generation import generate_cases
from opcert.specification.files import read_spec
from tests.roles.made_up import HEAD, SPECS, random_calls, read, write_spec

# Of one shape, but of two types: mask chooses between the elements of data and those of other.
SELECT = SPECS["select"]
# Of one type, but of two shapes.
APPEND = SPECS["append"]
# Both ends are given, or neither is.
BORDER = SPECS["border"]
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


def test_data_of_one_shape_has_a_type_and_a_layout_of_its_own(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, SELECT))
    inputs = [call.inputs for call in calls]
    assert all(len({tensor.shape for tensor in tensors.values()}) == 1 for tensors in inputs)
    assert {tensors["mask"].type for tensors in inputs} == {"boolean"}
    assert all(tensors["other"].type == tensors["data"].type for tensors in inputs)
    layouts = {(tensors["mask"].layout, tensors["data"].layout) for tensors in inputs}
    assert layouts > {(C_ORDER, C_ORDER)}


def test_data_of_one_type_has_a_shape_of_its_own(tmp_path: Path) -> None:
    inputs = [call.inputs for call in random_calls(read(tmp_path, APPEND))]
    assert all(tensors["more"].type == tensors["data"].type for tensors in inputs)
    assert any(tensors["more"].shape != tensors["data"].shape for tensors in inputs)


def test_a_group_is_given_or_omitted_as_a_whole(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, BORDER), 150)
    given = {("front" in call.inputs, "back" in call.inputs) for call in calls}
    assert given == {(True, True), (False, False)}


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
    neighbours = [case for case in cases if "/other-front-given-" in case.id]
    assert neighbours
    for case in neighbours:
        calls = case.call, by_id[str(case.baseline)].call
        assert {*map(len, (call.inputs for call in calls))} == {1, 3}
