"""The role `indices`, tried with made-up operators."""

from pathlib import Path

import numpy as np
import pytest

from opcert.arrays import Call, tensor, vector
from opcert.cases import Conditions
from opcert.certificate import certify
from opcert.specification import read_spec
from opcert.specification.role_rules import derived_requirements
from opcert.suite import check_specs
from tests.roles.gathers import FOLDER, NAMES, drawn, mistakes, unobserved, written


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_is_made_of_a_spec_and_its_reference_certified(name: str, tmp_path: Path) -> None:
    written(tmp_path, name)
    certificate = certify("reference", specs=tmp_path)
    assert certificate.conformant
    assert len(certificate.verdicts) > 100


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("profile", ["core", "stress"])
def test_what_is_built_for_levels_shows_them(name: str, profile: str) -> None:
    assert unobserved(read_spec(FOLDER / f"{name}.yaml").spec, profile) == []


def test_a_suite_covers_what_roles_ask_for() -> None:
    checked = check_specs([FOLDER / f"{name}.yaml" for name in NAMES])
    assert [each.spec_file.spec.operator for each in checked] == [
        "example/Pick-1",
        "example/PickInBatches-1",
        "example/TakeAt-1",
    ]


def test_no_index_is_outside_where_that_is_rejected() -> None:
    spec = read_spec(FOLDER / "pick.yaml").spec
    conditions = Conditions(spec)
    calls = drawn(spec)
    assert all("indices-range" in conditions.check(call).satisfied for call in calls)
    values = {value for call in calls for value in call.inputs["indices"].values or ()}
    assert min(values) < 0
    assert max(values) > 127


def test_no_index_counts_from_the_end_where_it_may_not() -> None:
    calls = drawn(read_spec(FOLDER / "pick_in_batches.yaml").spec)
    assert min(value for call in calls for value in call.inputs["indices"].values or ()) == 0


def test_indices_are_outside_on_both_sides_where_the_nearer_end_is_taken() -> None:
    calls = drawn(read_spec(FOLDER / "take_at.yaml").spec)
    sides = {
        int(np.sign(value)) * (value < 0 or value >= call.inputs["data"].size)
        for call in calls
        for value in call.inputs["indices"].values or ()
    }
    assert sides == {-1, 0, 1}


def test_an_empty_axis_is_not_pointed_into_but_where_zeros_are_given() -> None:
    for name in ("pick", "pick_in_batches"):
        for call in drawn(read_spec(FOLDER / f"{name}.yaml").spec):
            axis = call.attributes["axis"]
            assert call.inputs["data"].shape[axis] > 0 or call.inputs["indices"].size == 0


def test_zeros_for_an_index_outside_let_an_empty_axis_be_pointed_into(tmp_path: Path) -> None:
    text = (FOLDER / "pick.yaml").read_text()
    start = text.index("  - id: indices-range")
    rule = text[start : text.index("  - id: picked")]
    path = written(tmp_path, "pick", ("outside: reject", "outside: zeros"), (rule, ""))
    assert any(
        call.inputs["data"].shape[call.attributes["axis"]] == 0 and call.inputs["indices"].size
        for call in drawn(read_spec(path).spec)
    )


def test_indices_in_order_give_data_itself() -> None:
    calls = drawn(read_spec(FOLDER / "pick.yaml").spec, 1000)
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
def test_what_indices_require_follows_from_what_is_outside(name: str, keys: set[str]) -> None:
    assert derived_requirements(read_spec(FOLDER / f"{name}.yaml").spec).keys() == keys


@pytest.mark.parametrize("index", [-4, 3])
def test_a_call_with_an_index_outside_breaks_the_range(index: int) -> None:
    conditions = Conditions(read_spec(FOLDER / "pick.yaml").spec)
    indices = vector("i16", (0, index))
    call = Call({"data": tensor("i8", (3,), (1, 2, 3)), "indices": indices}, {"axis": 0})
    assert conditions.check(call).violated == ("indices-range",)


def test_what_is_undefined_is_an_ambiguity() -> None:
    conditions = Conditions(read_spec(FOLDER / "pick_in_batches.yaml").spec)
    data = tensor("i16", (3,), (1, 2, 3))
    inside, outside = (
        Call({"data": data, "indices": vector("i64", (0, i))}, {"axis": 0, "batches": 0})
        for i in (2, 3)
    )
    assert conditions.ambiguity(inside) is None
    assert conditions.ambiguity(outside) == "beyond"


def test_what_is_undefined_has_to_be_stated(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "take_at", ("outside: clamp", "outside: undefined"))
    assert found == [
        "inputs: -> missing ambiguity for 'indices.range' (What an index of indices outside of the "
        "axis gives); expected one with 'from: indices.range' and its readings"
    ]


def test_an_ambiguity_from_a_role_that_leaves_nothing_open_is_a_mistake(tmp_path: Path) -> None:
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
def test_a_mistaken_relation_is_one_error_with_its_place(
    old: str, new: str, mistake: str, tmp_path: Path
) -> None:
    assert mistakes(tmp_path, "pick", (old, new)) == [mistake]
