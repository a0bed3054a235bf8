"""Conditions over levels as masks, against Python's own evaluation on one choice at a time."""

from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.cases.input_space import InputSpace
from opcert.cases.level_constraints import FactorLevels, constraint_from_expression
from opcert.combinatorics.tables import BoolArray, LevelColumns
from opcert.errors import ExpressionError
from opcert.specification.expressions import evaluate_condition
from tests.cases.test_input_space import made_up
from tests.shipped import each_spec, spec

CHOICES = 200
ALL = np.ones(CHOICES, bool)


def some_rows(factors: FactorLevels, seed: str) -> list[dict[str, int]]:
    random = Random(seed)
    return [
        {name: random.randrange(len(levels)) for name, levels in factors.levels.items()}
        for _ in range(CHOICES)
    ]


def columns_of(factors: FactorLevels, rows: list[dict[str, int]]) -> LevelColumns:
    return {i: np.array([row[name] for row in rows]) for i, name in enumerate(factors.levels)}


def names_of(factors: FactorLevels, row: dict[str, int]) -> dict[str, Any]:
    return {**factors.fixed, **{name: factors.value(name, row) for name in row}}


def forbidden(factors: FactorLevels, text: str, rows: list[dict[str, int]]) -> list[bool]:
    return [evaluate_condition(text, names_of(factors, row)) for row in rows]


@each_spec
def test_a_mask_forbids_what_its_condition_does(name: str) -> None:
    factors = FactorLevels(spec(name).spec, "core")
    table = spec(name).spec.cases
    for text in table.constraints:
        rows = some_rows(factors, text)
        constraint = constraint_from_expression(factors, text)
        assert constraint.masks, text
        allowed = constraint.evaluate(columns_of(factors, rows), ALL)
        assert (~allowed).tolist() == forbidden(factors, text, rows), text
        # Asked as a whole, it is the same.
        assert constraint.allows(columns_of(factors, rows), ALL).tolist() == allowed.tolist()


def test_a_condition_splits_at_or_into_masks_over_fewer_factors() -> None:
    factors = FactorLevels(made_up(), "core")
    text = "type == 'i8' and (n == 1 or layout == 1) or not (n > 1 or at < 2)"
    about = [
        {[*factors.levels][i] for i in part.factors}
        for part in constraint_from_expression(factors, text).masks
    ]
    assert about == [{"type", "n"}, {"type", "layout", "at", "n"}, {"n", "at"}]


def test_a_literal_is_evaluated_only_where_those_before_it_hold() -> None:
    factors = FactorLevels(made_up(), "core")
    constraint = constraint_from_expression(factors, "n > 0 and 5 // n == 1")
    rows = some_rows(factors, "")
    assert constraint.masks
    assert (~constraint.evaluate(columns_of(factors, rows), ALL)).tolist() == forbidden(
        factors, "n == 5", rows
    )


def test_a_condition_that_can_fail_is_evaluated_only_on_reached_rows() -> None:
    factors = FactorLevels(made_up(), "core")
    rows = some_rows(factors, "")
    columns = columns_of(factors, rows)
    reached: BoolArray = np.array([names_of(factors, row)["n"] != 0 for row in rows])
    constraint = constraint_from_expression(factors, "5 // n == 1")
    assert constraint.masks == ()
    allowed = constraint.evaluate(columns, reached)
    assert allowed[reached].any()
    assert not allowed[reached].all()
    with pytest.raises(ExpressionError, match="'5 // n == 1' cannot be evaluated"):
        constraint.evaluate(columns, ALL)


def test_a_condition_is_not_evaluated_on_rows_that_another_forbids() -> None:
    possible = InputSpace(made_up(constraints=["n == 0", "5 // n == 1"])).feasible_rows()[0]
    sizes = [len(table.assignments) for table in possible.tables]
    assert min(sizes) > 0
    with pytest.raises(ExpressionError, match="'5 // n == 1' cannot be evaluated"):
        InputSpace(made_up(constraints=["5 // n == 1"])).feasible_rows()


@pytest.mark.parametrize("text", ["n", "n and type == 'i8'", "type == 'i8' and n"])
def test_a_condition_that_is_no_bool_is_an_error_with_its_whole_text(text: str) -> None:
    with pytest.raises(ExpressionError, match=f"'{text}' is [05]; expected true or false"):
        InputSpace(made_up(constraints=[text])).feasible_rows()


def test_a_condition_of_very_many_terms_is_not_split() -> None:
    factors = FactorLevels(made_up(), "core")
    pair = "(n == 1 or at == 1)"
    text = " and ".join([pair] * 20)
    rows = some_rows(factors, "")
    constraint = constraint_from_expression(factors, text)
    assert constraint.masks == ()
    allowed = constraint.evaluate(columns_of(factors, rows), ALL)
    assert (~allowed).tolist() == forbidden(factors, pair, rows)
