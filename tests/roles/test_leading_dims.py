"""The role `leading_dims`, tried with a made-up operator."""

from pathlib import Path

import pytest

from opcert.arrays.calls import Call
from opcert.arrays.tensor_functions import filled, tensor
from opcert.cases.conditions import Conditions
from opcert.specification.files import read_spec
from opcert.specification.role_rules import derived_requirements
from tests.roles.gathers import FOLDER, mistakes, write_changed
from tests.roles.made_up import random_calls

SPEC = FOLDER / "pick_in_batches.yaml"
ATTRIBUTE = "    at_most: axis\n    type: int\n"
# A negative number is relative to the rank of indices, and the number may be omitted.
FROM_END = (
    "    at_most: axis\n    negative_from: indices\n"
    "    required: false\n    default: -1\n    type: int\n"
)


def test_a_negative_number_and_a_default_are_drawn(tmp_path: Path) -> None:
    spec = read_spec(write_changed(tmp_path, "pick_in_batches", (ATTRIBUTE, FROM_END))).spec
    numbers = [call.attributes.get("batches") for call in random_calls(spec, 1500)]
    assert {*numbers} == {None, -3, -2, -1, 0, 1, 2, 3}


def test_an_omitted_number_means_the_default(tmp_path: Path) -> None:
    spec = read_spec(write_changed(tmp_path, "pick_in_batches", (ATTRIBUTE, FROM_END))).spec
    for call in random_calls(spec, 300):
        if "batches" not in call.attributes:
            count = call.inputs["indices"].rank - 1
            assert call.inputs["data"].shape[:count] == call.inputs["indices"].shape[:count]


def test_derived_requirements(tmp_path: Path) -> None:
    requirements = derived_requirements(read_spec(SPEC).spec)
    assert requirements["batches.range"].holds == "0 <= batches <= min(data.rank, indices.rank)"
    spec = read_spec(write_changed(tmp_path, "pick_in_batches", (ATTRIBUTE, FROM_END))).spec
    requirements = derived_requirements(spec)
    assert requirements["batches.range"].holds == (
        "-min(data.rank, indices.rank) <= batches <= min(data.rank, indices.rank)"
    )


def test_without_an_axis_it_is_at_most_the_smaller_rank(tmp_path: Path) -> None:
    text = SPEC.read_text()
    rule = text[text.index("  - id: batches-before-axis") : text.index("  - id: batches-alike")]
    changes = (("    at_most: axis\n", ""), (rule, ""))
    spec = read_spec(write_changed(tmp_path, "pick_in_batches", *changes)).spec
    assert "batches.at-most-axis" not in derived_requirements(spec)
    assert any(
        call.attributes["batches"] > call.attributes["axis"] for call in random_calls(spec, 300)
    )


@pytest.mark.parametrize(
    ("shape", "axis", "batches", "violated"),
    [
        ((2, 3), 1, 1, ()),
        ((2, 3), 1, 3, ("batches-range",)),
        ((2, 3), 1, -1, ("batches-range",)),
        ((2, 3), 0, 1, ("batches-before-axis",)),
        ((3, 3), 1, 1, ("batches-alike",)),
    ],
)
def test_each_requirement_is_violated_separately(
    shape: tuple[int, ...], axis: int, batches: int, violated: tuple[str, ...]
) -> None:
    inputs = {"data": filled("i16", shape), "indices": tensor("i64", (2, 2), (0, 1, 0, 1))}
    call = Call(inputs, {"axis": axis, "batches": batches})
    assert Conditions(read_spec(SPEC).spec).check(call).violated == violated


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("shared_with: indices", "shared_with: indicse", "unknown argument 'indicse'"),
        ("shared_with: indices", "shared_with: data", "'data' does not have the role indices"),
        ("at_most: axis", "at_most: data", "'data' does not have the role axis"),
        ("at_most: axis", "negative_from: axis", "'axis' does not have the role data or indices"),
        (ATTRIBUTE, "    at_most: axis\n    type: string\n", "found \"string\"; expected 'int'"),
    ],
)
def test_a_wrong_relation_is_one_error_at_its_place(
    old: str, new: str, mistake: str, tmp_path: Path
) -> None:
    (reported,) = mistakes(tmp_path, "pick_in_batches", (old, new))
    place, _, text = reported.partition(" -> ")
    assert place == new.strip().splitlines()[-1].strip()
    assert text.startswith(mistake)
