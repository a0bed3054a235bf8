"""The table of factors: rows of levels, and the call that a row draws."""

import json
from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import pytest

from opcert.arrays import Call, Tensor
from opcert.cases import InputSpace
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification import Spec

FACTORS = {
    "type": "T",
    "n": {"five": "5", "one": "1", "none": "0"},
    "at": {"first": "0", "last": "n - 1", "behind": "n"},
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


def pairs_of(chosen: Mapping[str, str]) -> set[tuple[tuple[str, str], ...]]:
    return set(combinations(chosen.items(), 2))


N = {"five": 5, "one": 1, "none": 0}


def position(n: str, at: str) -> int:
    """The value of a level of `at`, said once more."""
    return {"first": 0, "last": N[n] - 1, "behind": N[n]}[at]


def possible(n: str, at: str) -> bool:
    """What CONSTRAINTS leaves, said once more."""
    return not (at == "last" and N[n] < 2) and position(n, at) <= N[n]


def every_choice() -> list[dict[str, str]]:
    every = product(("f32", "i8", "boolean"), N, FACTORS["at"], ("plain", "odd"))
    choices = [dict(zip(FACTORS, chosen, strict=True)) for chosen in every]
    return [each for each in choices if possible(each["n"], each["at"])]


def test_levels_that_an_expression_lists_are_named_after_their_values() -> None:
    table = InputSpace(made_up(factors={**FACTORS, "n": "[1, 2, 30]"}))
    assert [level.name for level in table.factors["n"]] == ["1", "2", "30"]
    assert [level.name for level in table.factors["type"]] == ["f32", "i8", "boolean"]


def test_every_row_says_the_level_of_each_factor() -> None:
    assert all(list(chosen) == list(FACTORS) for chosen in levels())


def test_no_row_is_a_choice_that_cannot_be() -> None:
    assert all(possible(chosen["n"], chosen["at"]) for chosen in levels())


def test_a_factor_that_follows_has_the_level_that_the_others_decide() -> None:
    found = levels(derived={"layout": "'odd' if at == 4 or level.type == 'i8' else 'plain'"})
    assert {chosen["layout"] for chosen in found} == {"odd", "plain"}
    for chosen in found:
        odd = position(chosen["n"], chosen["at"]) == 4 or chosen["type"] == "i8"
        assert chosen["layout"] == ("odd" if odd else "plain")


def test_every_possible_pair_of_levels_is_in_a_row() -> None:
    wanted = set().union(*map(pairs_of, every_choice()))
    assert set().union(*map(pairs_of, levels())) == wanted


def test_every_pair_of_rows_that_discriminate_is_in_one_of_them() -> None:
    table = InputSpace(made_up())
    rows = table.rows(2, lambda row: table.level_names(row)["n"] != "none")
    discriminating = [chosen for chosen in every_choice() if chosen["n"] != "none"]
    found = [chosen for chosen in map(table.level_names, rows) if chosen["n"] != "none"]
    assert set().union(*map(pairs_of, found)) == set().union(*map(pairs_of, discriminating))
    everywhere = [*map(pairs_of, map(table.level_names, rows))]
    assert set().union(*everywhere) == set().union(*map(pairs_of, every_choice()))


def test_a_stronger_cover_has_every_possible_triple() -> None:
    table = InputSpace(made_up())
    found = [table.level_names(row) for row in table.rows(3)]

    def triples(rows: list[dict[str, str]]) -> set[Any]:
        return {triple for row in rows for triple in combinations(row.items(), 3)}

    assert triples(found) == triples(every_choice())


def test_the_same_spec_gives_the_same_rows() -> None:
    assert levels() == levels()


def test_a_level_sees_the_values_of_earlier_factors() -> None:
    for row in range(6):
        chosen, call = levels()[row], called(row=row)
        assert call.inputs["data"].shape[0] == N[chosen["n"]]
        assert call.inputs["at"].values == (position(chosen["n"], chosen["at"]),)
        assert call.inputs["data"].type == chosen["type"]


def test_expressions_see_the_names_of_levels_and_the_constants() -> None:
    call = called(attributes={"axis": "[level.layout, NAMES['f32']]"})
    assert call.attributes == {"axis": [levels()[0]["layout"], "FLOAT"]}


def test_what_is_drawn_as_none_is_left_out() -> None:
    inputs = {**INPUTS, "at": "None"}
    call = called(inputs=inputs, attributes={"axis": "None", "mode": "None"})
    assert list(call.inputs) == ["data"]
    assert call.attributes == {}


def test_the_same_seed_draws_the_same_call() -> None:
    assert called("up/a") == called("up/a")


def test_each_seed_draws_a_call_of_its_own() -> None:
    shapes = {called(f"up/{i}").inputs["data"].shape for i in range(20)}
    assert len(shapes) > 5


@pytest.mark.parametrize("place", ["before", "behind"])
def test_another_draw_moves_no_other(place: str) -> None:
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
    found = call.patterned("new")
    assert found.inputs["x"] == Tensor("i8", (2,), pattern="new|x")
    assert found.inputs["i"] is call.inputs["i"]
    assert found.attributes == {"a": 1}


@pytest.mark.parametrize(
    ("draw", "error"), [("(n).missing", ExpressionError), ("parts(9, 2, 1)", Inapplicable)]
)
def test_a_draw_that_fails_says_so(draw: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        called(draw={**DRAW, "others": draw})
