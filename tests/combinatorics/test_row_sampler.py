"""Rows of levels, read off their tables by a few draws."""

from itertools import product
from random import Random

from opcert.cases import InputSpace
from opcert.combinatorics import LevelConstraint, Row, RowSampler, solve_constraints
from opcert.specification import read_specs_in
from tests.asked_constraints import constraint


def rows_of(levels: list[int], *constraints: LevelConstraint) -> RowSampler:
    return RowSampler(solve_constraints(levels, constraints))


def test_every_row_that_can_be_is_within_reach_and_no_other() -> None:
    apart = constraint((0, 2), lambda row: row[0] != row[1])
    rising = constraint((1, 2), lambda row: row[0] <= row[1])
    rows = rows_of([3, 2, 3, 2], apart, rising)
    random = Random(0)
    read = {rows.read(random.randrange) for _ in range(500)}
    possible = product(range(3), range(2), range(3), range(2))
    assert read == {row for row in possible if row[0] != row[2] and row[1] <= row[2]}


def test_the_least_draws_read_the_first_levels() -> None:
    assert rows_of([3, 2, 4]).read(lambda _: 0) == (0, 0, 0)
    apart = constraint((0, 2), lambda row: row[0] != row[1])
    assert rows_of([3, 2, 4], apart).read(lambda _: 0) == (0, 0, 1)


def test_a_draw_is_among_as_many_levels_as_can_still_be() -> None:
    asked: list[int] = []

    def first(n: int) -> int:
        asked.append(n)
        return 0

    only = constraint((0, 1), lambda row: row == (1, 1))
    assert rows_of([3, 2], only).read(first) == (1, 1)
    assert asked == [1, 1]


def test_where_no_row_can_be_there_is_none() -> None:
    assert not rows_of([2, 2], constraint((0, 1), lambda _: False))
    assert rows_of([2, 2])


def test_rows_of_the_shipped_specs_can_be() -> None:
    random = Random(0)
    for file in read_specs_in(None, "directml/*"):
        space = InputSpace(file.spec)
        choices = space.choices()[0]
        rows = RowSampler(choices)
        for _ in range(50):
            row: Row = rows.read(random.randrange)
            assert choices.consistent_with(dict(enumerate(row))) is not None
