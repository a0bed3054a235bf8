"""The role `indices`, tried with made-up operators."""

from pathlib import Path

import numpy as np
import pytest

from opcert.arrays.calls import Call
from opcert.arrays.tensor_functions import tensor, vector
from opcert.cases.conditions import Conditions
from opcert.specification.files import read_spec
from opcert.specification.role_rules import derived_requirements
from opcert.suite.suite import Suite
from tests.roles.gathers import FOLDER, NAMES, mistakes, write_changed
from tests.roles.made_up import certified_suite, random_calls


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "take_at" else pytest.mark.slow) for name in NAMES],
)
def test_the_reference_passes_the_suite_which_covers_the_levels(name: str, tmp_path: Path) -> None:
    suite = certified_suite(write_changed(tmp_path, name))
    assert len(Suite(suite, tmp_path).cases) > 100


def test_invalid_negative_indices_are_not_built() -> None:
    calls = random_calls(read_spec(FOLDER / "pick_in_batches.yaml").spec, 300)
    assert min(value for call in calls for value in call.inputs["indices"].values or ()) == 0


def test_clamped_indices_are_outside_on_both_sides() -> None:
    calls = random_calls(read_spec(FOLDER / "take_at.yaml").spec, 300)
    sides = {
        int(np.sign(value)) * (value < 0 or value >= call.inputs["data"].size)
        for call in calls
        for value in call.inputs["indices"].values or ()
    }
    assert sides == {-1, 0, 1}


def test_an_empty_axis_has_indices_if_they_give_zeros(tmp_path: Path) -> None:
    text = (FOLDER / "pick.yaml").read_text()
    start = text.index("  - id: indices-range")
    rule = text[start : text.index("  - id: picked")]
    path = write_changed(tmp_path, "pick", ("outside: reject", "outside: zeros"), (rule, ""))
    assert any(
        call.inputs["data"].shape[call.attributes["axis"]] == 0 and call.inputs["indices"].size
        for call in random_calls(read_spec(path).spec, 300)
    )


def test_some_indices_give_data_itself() -> None:
    calls = random_calls(read_spec(FOLDER / "pick.yaml").spec, 1000)
    assert any(
        call.inputs["indices"].values == tuple(range(call.inputs["data"].shape[axis]))
        for call in calls
        for axis in [call.attributes["axis"]]
        if call.inputs["indices"].size > 1
    )


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("pick", {"required", "axis.range", "indices.type", "indices.range"}),
        ("take_at", {"required", "indices.type", "indices.rank"}),
    ],
)
def test_requirements_depend_on_the_meaning_of_an_index_outside(name: str, keys: set[str]) -> None:
    assert derived_requirements(read_spec(FOLDER / f"{name}.yaml").spec).keys() == keys


@pytest.mark.parametrize("index", [-4, 3])
def test_an_index_outside_violates_the_range(index: int) -> None:
    conditions = Conditions(read_spec(FOLDER / "pick.yaml").spec)
    indices = vector("i16", (0, index))
    call = Call({"data": tensor("i8", (3,), (1, 2, 3)), "indices": indices}, {"axis": 0})
    assert conditions.check(call).violated == ("indices-range",)


def test_an_undefined_index_is_an_ambiguity() -> None:
    conditions = Conditions(read_spec(FOLDER / "pick_in_batches.yaml").spec)
    data = tensor("i16", (3,), (1, 2, 3))
    inside, outside = (
        Call({"data": data, "indices": vector("i64", (0, i))}, {"axis": 0, "batches": 0})
        for i in (2, 3)
    )
    assert conditions.ambiguity(inside) is None
    assert conditions.ambiguity(outside) == "beyond"


def test_an_ambiguity_without_a_statement_is_a_mistake(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "take_at", ("outside: clamp", "outside: undefined"))
    assert found == [
        "inputs: -> missing ambiguity for 'indices.range' (What an index of indices outside of the "
        "axis gives); expected one with 'from: indices.range' and its readings"
    ]


def test_an_ambiguity_that_no_role_derives_is_a_mistake(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "pick_in_batches", ("outside: undefined", "outside: clamp"))
    assert found == ["from: indices.range -> no role has the ambiguity 'indices.range'"]


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("into: data", "into: dat", "into: dat -> unknown argument 'dat'; did you mean 'data'?"),
        ("into: data", "into: axis", "into: axis -> 'axis' does not have the role data"),
        ("along: axis", "along: data", "along: data -> 'data' does not have the role axis"),
        (
            "outside: reject",
            "outside: ignore",
            'outside: ignore -> found "ignore"; '
            "expected 'zeros', 'clamp', 'reject' or 'undefined'",
        ),
    ],
)
def test_a_wrong_relation_is_one_error_at_its_place(
    old: str, new: str, mistake: str, tmp_path: Path
) -> None:
    assert mistakes(tmp_path, "pick", (old, new)) == [mistake]
