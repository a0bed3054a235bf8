"""Random feasible rows."""

from itertools import product
from random import Random

from opcert.cases.input_space import InputSpace
from opcert.combinatorics.feasible_rows import RowSampler, solve_constraints
from opcert.combinatorics.tables import LevelConstraint
from opcert.specification.files import read_specs_in
from tests.constraints import constraint


def sampler_of(levels: list[int], *constraints: LevelConstraint) -> RowSampler:
    return RowSampler(solve_constraints(levels, constraints))


def test_exactly_the_feasible_rows_can_be_drawn() -> None:
    distinct = constraint((0, 2), lambda row: row[0] != row[1])
    rising = constraint((1, 2), lambda row: row[0] <= row[1])
    sampler = sampler_of([3, 2, 3, 2], distinct, rising)
    random = Random(0)
    rows = {sampler.sample(random.randrange) for _ in range(500)}
    every = product(range(3), range(2), range(3), range(2))
    assert rows == {row for row in every if row[0] != row[2] and row[1] <= row[2]}


def test_the_least_draws_give_the_first_levels() -> None:
    assert sampler_of([3, 2, 4]).sample(lambda _: 0) == (0, 0, 0)
    distinct = constraint((0, 2), lambda row: row[0] != row[1])
    assert sampler_of([3, 2, 4], distinct).sample(lambda _: 0) == (0, 0, 1)


def test_a_level_is_drawn_among_those_that_are_still_feasible() -> None:
    counts: list[int] = []

    def first(count: int) -> int:
        counts.append(count)
        return 0

    single = constraint((0, 1), lambda row: row == (1, 1))
    assert sampler_of([3, 2], single).sample(first) == (1, 1)
    assert counts == [1, 1]


def test_a_sampler_without_feasible_rows_is_false() -> None:
    assert not sampler_of([2, 2], constraint((0, 1), lambda _: False))
    assert sampler_of([2, 2])


def test_rows_of_the_shipped_specs_are_feasible() -> None:
    random = Random(0)
    for file in read_specs_in(None, "directml/*"):
        feasible, _ = InputSpace(file.spec).feasible_rows()
        sampler = RowSampler(feasible)
        for _ in range(50):
            row = sampler.sample(random.randrange)
            assert feasible.consistent_with(dict(enumerate(row))) is not None
