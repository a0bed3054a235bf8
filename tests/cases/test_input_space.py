"""The input space: rows that cover it, and the call that is built for a row."""

import json
from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.cases.input_space import InputSpace
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification.model import Spec

FACTORS = {
    "type": "T",
    "n": {"five": "5", "one": "1", "none": "0"},
    "at": {"first": "0", "last": "n - 1", "past": "n"},
    "layout": {"plain": "0", "odd": "at % 2"},
}
CONSTRAINTS = ["level.at == 'last' and n < 2", "at > n"]
DRAW = {"others": "dims(2)", "shape": "insert(others, 0, n)"}
INPUTS = {"data": "filled(type, shape)", "at": "scalar('i8', at)"}
ATTRIBUTES = {"axis": "pick(range(10))", "mode": "'odd' if level.layout == 'odd' else None"}


def made_up(**table: Any) -> Spec:
    """A spec of a made-up operator, with what a table of factors needs."""
    argument = {"required": True, "text": "x"}
    spec = {
        "operator": "made/Up",
        "slug": "up",
        "version": 1,
        "document": {"title": "x", "version": "1"},
        "reference": "up.py:up",
        "types": {"T": ["f32", "i8", "boolean"]},
        "constants": {"NAMES": {"f32": "FLOAT"}},
        "inputs": [
            {**argument, "name": "data", "type": "T", "rank": ["0", "8"]},
            {**argument, "name": "at", "type": "T", "rank": ["0", "0"]},
        ],
        "attributes": [
            {**argument, "name": "axis", "type": "int"},
            {**argument, "name": "mode", "type": "string"},
            {**argument, "name": "name", "type": "string"},
        ],
        "outputs": [{"name": "out", "type": "T", "shape": "data.shape", "text": "x"}],
        "rules": [{"id": "any", "kind": "behaviour", "clause": "x", "text": "x"}],
        "cases": {
            "factors": FACTORS,
            "constraints": CONSTRAINTS,
            "draw": DRAW,
            "inputs": INPUTS,
            "attributes": {"axis": "1"},
            **table,
        },
    }
    return Spec.model_validate_json(json.dumps(spec))


def levels(**table: Any) -> list[dict[str, str]]:
    drawn = InputSpace(made_up(**table))
    return [drawn.level_names(row) for row in drawn.rows(2)]


def called(seed: str = "up/a", row: int = 0, **table: Any) -> Call:
    drawn = InputSpace(made_up(**table))
    return drawn.call(drawn.rows(2)[row], seed)


def pairs_of(row_levels: Mapping[str, str]) -> set[tuple[tuple[str, str], ...]]:
    return set(combinations(row_levels.items(), 2))


N = {"five": 5, "one": 1, "none": 0}


def position(n: str, at: str) -> int:
    """The value of a level of `at`, computed independently."""
    return {"first": 0, "last": N[n] - 1, "past": N[n]}[at]


def possible(n: str, at: str) -> bool:
    """Whether CONSTRAINTS allow a row, computed independently."""
    return not (at == "last" and N[n] < 2) and position(n, at) <= N[n]


def feasible_rows() -> list[dict[str, str]]:
    every = product(("f32", "i8", "boolean"), N, FACTORS["at"], ("plain", "odd"))
    choices = [dict(zip(FACTORS, row_levels, strict=True)) for row_levels in every]
    return [each for each in choices if possible(each["n"], each["at"])]


def test_levels_that_an_expression_lists_are_named_after_their_values() -> None:
    table = InputSpace(made_up(factors={**FACTORS, "n": "[1, 2, 30]"}))
    assert [level.name for level in table.factors["n"]] == ["1", "2", "30"]
    assert [level.name for level in table.factors["type"]] == ["f32", "i8", "boolean"]


def test_every_row_has_a_level_of_each_factor() -> None:
    assert all(list(row_levels) == list(FACTORS) for row_levels in levels())


def test_no_row_violates_a_constraint() -> None:
    assert all(possible(row_levels["n"], row_levels["at"]) for row_levels in levels())


def test_a_derived_factor_has_the_level_that_the_others_determine() -> None:
    rows = levels(derived={"layout": "'odd' if at == 4 or level.type == 'i8' else 'plain'"})
    assert {row_levels["layout"] for row_levels in rows} == {"odd", "plain"}
    for row_levels in rows:
        odd = position(row_levels["n"], row_levels["at"]) == 4 or row_levels["type"] == "i8"
        assert row_levels["layout"] == ("odd" if odd else "plain")


def test_every_feasible_pair_of_levels_is_in_a_row() -> None:
    feasible = set().union(*map(pairs_of, feasible_rows()))
    assert set().union(*map(pairs_of, levels())) == feasible


def test_every_pair_of_a_discriminating_row_is_in_a_discriminating_row() -> None:
    table = InputSpace(made_up())
    rows = table.rows(2, lambda row: table.level_names(row)["n"] != "none")
    discriminating = [row_levels for row_levels in feasible_rows() if row_levels["n"] != "none"]
    covering = [
        row_levels for row_levels in map(table.level_names, rows) if row_levels["n"] != "none"
    ]
    assert set().union(*map(pairs_of, covering)) == set().union(*map(pairs_of, discriminating))
    everywhere = [*map(pairs_of, map(table.level_names, rows))]
    assert set().union(*everywhere) == set().union(*map(pairs_of, feasible_rows()))


def test_strength_three_covers_every_feasible_triple() -> None:
    table = InputSpace(made_up())
    covering = [table.level_names(row) for row in table.rows(3)]

    def triples(rows: list[dict[str, str]]) -> set[Any]:
        return {triple for row in rows for triple in combinations(row.items(), 3)}

    assert triples(covering) == triples(feasible_rows())


def test_the_same_spec_gives_the_same_rows() -> None:
    assert levels() == levels()


def test_a_level_sees_the_values_of_earlier_factors() -> None:
    for row in range(6):
        row_levels, call = levels()[row], called(row=row)
        assert call.inputs["data"].shape[0] == N[row_levels["n"]]
        assert call.inputs["at"].values == (position(row_levels["n"], row_levels["at"]),)
        assert call.inputs["data"].type == row_levels["type"]


def test_expressions_see_the_names_of_levels_and_the_constants() -> None:
    call = called(attributes={"axis": "1", "mode": "level.layout", "name": "NAMES['f32']"})
    assert call.attributes == {"axis": 1, "mode": levels()[0]["layout"], "name": "FLOAT"}


def test_an_argument_that_is_none_is_omitted() -> None:
    inputs = {**INPUTS, "at": "None"}
    call = called(inputs=inputs, attributes={"axis": "None", "mode": "None"})
    assert list(call.inputs) == ["data"]
    assert call.attributes == {}


def test_the_same_seed_builds_the_same_call() -> None:
    assert called("up/a") == called("up/a")


def test_different_seeds_build_different_calls() -> None:
    shapes = {called(f"up/{i}").inputs["data"].shape for i in range(20)}
    assert len(shapes) > 5


@pytest.mark.parametrize("place", ["before", "past"])
def test_another_draw_leaves_the_others_as_they_were(place: str) -> None:
    another = {"unrelated": "dims(3)"}
    draw = {**another, **DRAW} if place == "before" else {**DRAW, **another}
    assert called(draw=draw) == called()


def test_a_draw_is_seeded_by_its_name() -> None:
    draw = {"first": "dims(4)", "second": "dims(4)", "shape": "[*first, *second]"}
    shapes = [called(str(i), draw=draw).inputs["data"].shape for i in range(20)]
    assert any(shape[:4] != shape[4:] for shape in shapes)
    turned = {"second": "dims(4)", "first": "dims(4)", "shape": "[*first, *second]"}
    assert [called(str(i), draw=turned).inputs["data"].shape for i in range(20)] == shapes


def test_a_draw_sees_those_before_it() -> None:
    draw = {"a": "between(3, 3)", "shape": "(a, a + 1)"}
    assert called(draw=draw).inputs["data"].shape == (3, 4)


def test_each_tensor_that_a_pattern_fills_has_a_pattern_of_its_own() -> None:
    inputs = {"data": "filled(type, shape)", "at": "filled(type, ())"}
    call = called("0|up/a", inputs=inputs).patterned("0|up/a")
    assert [each.pattern for each in call.inputs.values()] == ["0|up/a|data", "0|up/a|at"]


def test_a_tensor_with_values_has_no_pattern() -> None:
    assert called("0|up/a").inputs["at"].pattern == ""


def test_new_patterns_leave_everything_else_as_it_was() -> None:
    call = Call({"x": Tensor("i8", (2,), pattern="old"), "i": Tensor("i8", (1,), (3,))}, {"a": 1})
    patterned = call.patterned("new")
    assert patterned.inputs["x"] == Tensor("i8", (2,), pattern="new|x")
    assert patterned.inputs["i"] is call.inputs["i"]
    assert patterned.attributes == {"a": 1}


@pytest.mark.parametrize(
    ("draw", "error"), [("(n).missing", ExpressionError), ("parts(9, 2, 1)", Inapplicable)]
)
def test_a_draw_that_fails_raises_an_error(draw: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        called(draw={**DRAW, "others": draw})
