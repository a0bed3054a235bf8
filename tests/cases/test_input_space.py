"""The input space: rows that cover it, and the call that is built for a row."""

import json
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any, Literal

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.tensor_functions import filled
from opcert.cases.input_space import InputSpace
from opcert.errors import ExpressionError
from opcert.roles.factors import BuildContext, DerivedFactor, Factor, LevelName
from opcert.roles.role import Role
from opcert.specification.model import Spec

N = {"five": 5, "one": 1, "none": 0}
FACTORS: dict[str, dict[str, Any]] = {
    "type": {"f32": "f32", "i8": "i8", "boolean": "boolean"},
    "n": N,
    "at": {"first": 0, "last": lambda n: n - 1, "past": lambda n: n},
    "layout": {"plain": 0, "odd": lambda at: at % 2},
}
DEPENDS_ON = {"at": ("n",), "layout": ("at",)}
CONSTRAINTS = ["at == n - 1 and n < 2", "at > n"]


class Table(Role):
    """A tensor with an element marked; the factors of a table above."""

    role: Literal["table"]

    def factors(self, _profile: str) -> Iterator[Factor]:
        for name, levels in FACTORS.items():
            yield Factor(name, levels, DEPENDS_ON.get(name, ()))

    def build(self, context: BuildContext) -> Any:
        others = context.draw("others", lambda sampler: sampler.dims(2))
        return filled(context.choice["type"], (context.choice["n"], *others))


class Derived(Table):
    """The same, with a factor that the others determine."""

    def derived_factors(self) -> Iterator[DerivedFactor]:
        def layout(at: int, type_name: str) -> str:
            return "odd" if at == 4 or type_name == "i8" else "plain"

        yield DerivedFactor("layout", layout, ("at", LevelName("type")))


def made_up(kind: type[Role] = Table, **cases: Any) -> Spec:
    """A spec of a made-up operator with these keys of `cases`."""
    argument = {"required": True, "text": "x"}
    spec = {
        "operator": "made/Up",
        "slug": "up",
        "version": 1,
        "document": {"title": "x", "version": "1"},
        "reference": "up.py:up",
        "types": {"T": ["f32", "i8", "boolean"]},
        "constants": {"NAMES": {"f32": "FLOAT"}},
        "inputs": [{**argument, "name": "data", "role": "table", "type": "T", "rank": ["0", "8"]}],
        "attributes": [
            {**argument, "name": "axis", "type": "int"},
            {**argument, "name": "name", "type": "string"},
        ],
        "outputs": [{"name": "out", "type": "T", "shape": "data.shape", "text": "x"}],
        "rules": [{"id": "any", "kind": "behaviour", "clause": "x", "text": "x"}],
        "cases": {"constraints": CONSTRAINTS, "attributes": {"axis": "at"}, **cases},
    }
    return Spec.model_validate_json(json.dumps(spec), context={"roles": {"table": kind}})


def levels(kind: type[Role] = Table) -> list[dict[str, str]]:
    drawn = InputSpace(made_up(kind))
    return [drawn.level_names(row) for row in drawn.rows(2)]


def called(seed: str = "up/a", row: int = 0, **cases: Any) -> Call:
    drawn = InputSpace(made_up(**cases))
    return drawn.call(drawn.rows(2)[row], seed)


def pairs_of(row_levels: Mapping[str, str]) -> set[tuple[tuple[str, str], ...]]:
    return set(combinations(row_levels.items(), 2))


def position(n: str, at: str) -> int:
    """The value of a level of `at`, computed independently."""
    return {"first": 0, "last": N[n] - 1, "past": N[n]}[at]


def possible(n: str, at: str) -> bool:
    """Whether CONSTRAINTS allow a row, computed independently."""
    return not (position(n, at) == N[n] - 1 and N[n] < 2) and position(n, at) <= N[n]


def feasible_rows() -> list[dict[str, str]]:
    every = product(("f32", "i8", "boolean"), N, FACTORS["at"], ("plain", "odd"))
    choices = [dict(zip(FACTORS, row_levels, strict=True)) for row_levels in every]
    return [each for each in choices if possible(each["n"], each["at"])]


def test_every_row_has_a_level_of_each_factor() -> None:
    assert all(list(row_levels) == list(FACTORS) for row_levels in levels())


def test_no_row_violates_a_constraint() -> None:
    assert all(possible(row_levels["n"], row_levels["at"]) for row_levels in levels())


def test_a_derived_factor_has_the_level_that_the_others_determine() -> None:
    rows = levels(Derived)
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
        assert call.attributes["axis"] == position(row_levels["n"], row_levels["at"])
        assert call.inputs["data"].type == row_levels["type"]


def test_an_attribute_without_a_role_sees_values_constants_and_arguments() -> None:
    call = called(attributes={"axis": "data.rank + n", "name": "NAMES['f32']"})
    assert call.attributes == {"axis": 3 + N[levels()[0]["n"]], "name": "FLOAT"}


def test_an_attribute_that_is_none_is_omitted() -> None:
    assert called(attributes={"axis": "None", "name": "None"}).attributes == {}


def test_an_attribute_of_another_type_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="1; expected a value of type string"):
        called(attributes={"name": "1"})


def test_the_same_seed_builds_the_same_call() -> None:
    assert called("up/a") == called("up/a")


def test_different_seeds_build_different_calls() -> None:
    shapes = {called(f"up/{i}").inputs["data"].shape for i in range(20)}
    assert len(shapes) > 5


def test_new_patterns_leave_everything_else_as_it_was() -> None:
    call = Call({"x": Tensor("i8", (2,), pattern="old"), "i": Tensor("i8", (1,), (3,))}, {"a": 1})
    patterned = call.patterned("new")
    assert patterned.inputs["x"] == Tensor("i8", (2,), pattern="new|x")
    assert patterned.inputs["i"] is call.inputs["i"]
    assert patterned.attributes == {"a": 1}
