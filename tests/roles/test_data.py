"""The role `data`: extents, layouts and types of a tensor, with each axis as the tested one."""

from pathlib import Path

import pytest

from opcert.cases.input_space import InputSpace
from opcert.cases.level_constraints import levels_by_factor
from tests.roles.made_up import SPECS, assert_observed, mistakes, read

SPEC = SPECS["data"]


@pytest.mark.parametrize(
    "profile", ["core", "full", pytest.param("stress", marks=pytest.mark.slow)]
)
def test_built_calls_exhibit_their_levels(profile: str, tmp_path: Path) -> None:
    for call in assert_observed(read(tmp_path, SPEC), profile):
        assert call.inputs["data"].rank <= 5


def test_each_axis_of_each_rank_has_one_name(tmp_path: Path) -> None:
    space = InputSpace(read(tmp_path, SPEC))
    feasible, _ = space.feasible_rows()
    order = [*space.factors]
    pairs = feasible.pairs[order.index("data_rank"), order.index("data_axis")]
    ranks = [level.name for level in space.factors["data_rank"]]
    counts = dict(zip(ranks, pairs.sum(axis=1).tolist(), strict=True))
    assert counts == {"0": 1, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5}


def test_without_empty_data_no_extent_is_0(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("rank: [0, 5]", "rank: [1, 3], empty: false"))
    levels = levels_by_factor(spec, "core")
    assert "zero" not in {level.name for level in (*levels["data_length"], *levels["data_others"])}
    assert all(0 not in call.inputs["data"].shape for call in assert_observed(spec))


def test_the_full_profile_has_four_bit_types(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("[f32, u8, boolean]", "any"))
    full, core = (levels_by_factor(spec, profile)["data_type"] for profile in ("full", "core"))
    assert {level.name for level in full} - {level.name for level in core} == {"i4", "u4"}


def test_a_spec_adds_levels_to_its_factors(tmp_path: Path) -> None:
    text = SPEC + "cases:\n  additional:\n    data_length: {prime: 97}\n"
    spec = read(tmp_path, text)
    calls = assert_observed(spec, rows=200)
    assert any(97 in call.inputs["data"].shape for call in calls)


@pytest.mark.parametrize(
    ("added", "text"),
    [
        ("data_lenght: {prime: 97}", "unknown factor of a role 'data_lenght'"),
        ("data_length: {six: 97}", "duplicate level 'six' of factor 'data_length'"),
    ],
)
def test_a_level_that_cannot_be_added_is_a_mistake(added: str, text: str, tmp_path: Path) -> None:
    marker = "cases: {additional: {}}\n"
    (mistake,) = mistakes(tmp_path, SPEC + marker, marker, f"cases:\n  additional:\n    {added}\n")
    assert text in mistake
