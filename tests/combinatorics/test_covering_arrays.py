"""Covering arrays, checked against a recount of every row and every tuple."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.combinatorics.covering_arrays import alternative_rows, covering_array
from opcert.combinatorics.feasible_rows import FeasibleRows, solve_constraints
from opcert.combinatorics.tables import LevelConstraint, Row
from tests.constraints import constraint

# Factors with their levels.
Tuple = tuple[tuple[int, int], ...]

MANY = settings(max_examples=40, deadline=None, derandomize=True)


@dataclass(frozen=True)
class ForbiddenTuples:
    """Assignments that a few factors must not have."""

    factors: tuple[int, ...]
    assignments: frozenset[Row]

    def forbids(self, row: Row) -> bool:
        return tuple(row[factor] for factor in self.factors) in self.assignments

    def constraint(self) -> LevelConstraint:
        return constraint(self.factors, lambda assignment: assignment not in self.assignments)


@dataclass(frozen=True)
class Space:
    """The number of levels of each factor, and the forbidden tuples."""

    sizes: tuple[int, ...]
    forbidden: tuple[ForbiddenTuples, ...] = ()

    def rows(self) -> list[Row]:
        rows = product(*map(range, self.sizes))
        return [row for row in rows if not any(each.forbids(row) for each in self.forbidden)]

    def feasible(self) -> FeasibleRows:
        return solve_constraints(self.sizes, [each.constraint() for each in self.forbidden])

    def covering_array(self, strength: int, rows: Sequence[Row] = ()) -> list[Row]:
        return covering_array(self.feasible(), strength, rows)


def tuples_in(rows: Iterable[Row], strength: int) -> set[Tuple]:
    return {levels for row in rows for levels in combinations(enumerate(row), strength)}


@st.composite
def forbidden_tuples(draw: st.DrawFn, sizes: tuple[int, ...]) -> ForbiddenTuples:
    order = draw(st.permutations(range(len(sizes))))
    factors = tuple(order[: draw(st.integers(1, min(3, len(sizes))))])
    assignments = list(product(*(range(sizes[factor]) for factor in factors)))
    return ForbiddenTuples(factors, draw(st.frozensets(st.sampled_from(assignments))))


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    return Space(sizes, tuple(draw(st.lists(forbidden_tuples(sizes), max_size=4))))


STRENGTHS = st.integers(1, 3)


@MANY
@given(spaces(), STRENGTHS)
def test_every_feasible_tuple_is_covered(space: Space, strength: int) -> None:
    strength = min(strength, len(space.sizes))
    covered = tuples_in(space.covering_array(strength), strength)
    assert covered == tuples_in(space.rows(), strength)


@MANY
@given(spaces(), STRENGTHS)
def test_every_row_is_feasible_and_unique(space: Space, strength: int) -> None:
    rows = space.covering_array(strength)
    assert set(rows) <= set(space.rows())
    assert len(rows) == len(set(rows))


@MANY
@given(spaces(), st.data())
def test_a_restriction_keeps_the_rows_that_it_allows(space: Space, data: st.DataObject) -> None:
    further = data.draw(forbidden_tuples(space.sizes))
    restrictions = [further.constraint()]
    constraints = [each.constraint() for each in space.forbidden]
    feasible = solve_constraints(space.sizes, constraints, restrictions)
    allowed = covering_array(feasible.restricted_to(restrictions), len(space.sizes))
    assert set(allowed) == set(Space(space.sizes, (*space.forbidden, further)).rows())
    violating = feasible.restricted_to([], violating=restrictions[0])
    forbidden = covering_array(violating, len(space.sizes))
    assert set(forbidden) == {row for row in space.rows() if further.forbids(row)}


@MANY
@given(spaces(), st.data())
def test_consistent_lines_are_exactly_those_of_feasible_rows(
    space: Space, data: st.DataObject
) -> None:
    factors = data.draw(st.sets(st.integers(0, len(space.sizes) - 1)))
    assignment = {f: data.draw(st.integers(0, space.sizes[f] - 1)) for f in factors}
    rows = [row for row in space.rows() if all(row[f] == n for f, n in assignment.items())]
    feasible = space.feasible()
    lines = feasible.consistent_with(assignment)
    assert (lines is None) == (not rows)
    for table, kept in zip(feasible.tables, lines or [], strict=lines is not None):
        consistent = {tuple(line) for line in table.assignments[kept].tolist()}
        assert consistent == {tuple(row[factor] for factor in table.factors) for row in rows}


@MANY
@given(spaces())
def test_pairs_are_those_of_the_feasible_rows(space: Space) -> None:
    pairs = {
        ((f, int(a)), (g, int(b)))
        for (f, g), grid in space.feasible().pairs.items()
        for a, b in zip(*grid.nonzero(), strict=True)
    }
    assert pairs == (tuples_in(space.rows(), 2) if len(space.sizes) > 1 else set())


@MANY
@given(spaces(), STRENGTHS)
def test_every_row_covers_a_new_tuple(space: Space, strength: int) -> None:
    strength = min(strength, len(space.sizes))
    covered: set[Tuple] = set()
    for row in space.covering_array(strength):
        assert tuples_in([row], strength) - covered
        covered |= tuples_in([row], strength)


@MANY
@given(spaces(), STRENGTHS, st.data())
def test_extension_keeps_the_given_rows_first(
    space: Space, strength: int, data: st.DataObject
) -> None:
    strength = min(strength, len(space.sizes))
    feasible = space.rows()
    seeds = data.draw(st.lists(st.sampled_from(feasible), max_size=6)) if feasible else []
    array = space.covering_array(strength, seeds)
    assert array[: len(seeds)] == seeds
    assert tuples_in(array, strength) == tuples_in(feasible, strength)
    covered = tuples_in(seeds, strength)
    for row in array[len(seeds) :]:
        assert tuples_in([row], strength) - covered
        covered |= tuples_in([row], strength)


@MANY
@given(spaces(), STRENGTHS)
def test_the_same_arguments_give_the_same_rows(space: Space, strength: int) -> None:
    assert space.covering_array(strength) == space.covering_array(strength)


@MANY
@given(spaces(), STRENGTHS)
def test_a_complete_array_is_not_extended(space: Space, strength: int) -> None:
    rows = space.covering_array(strength)
    assert space.covering_array(strength, rows) == rows


def test_full_combinations_are_covered_exhaustively() -> None:
    feasible = Space((2, 2, 3, 2)).feasible()
    rows = covering_array(feasible, 2, full_combinations=[(0, 2, 3)])
    assert {(row[0], row[2], row[3]) for row in rows} == {*product(range(2), range(3), range(2))}


def test_a_row_that_does_not_count_covers_nothing() -> None:
    rows = covering_array(Space((3, 3)).feasible(), 1, counts=lambda row: row[0] != row[1])
    assert all(first != second for first, second in rows)
    assert tuples_in(rows, 1) == tuples_in(product(range(3), repeat=2), 1)


def test_alternative_rows_have_the_assignment() -> None:
    space = Space((2, 3, 3), (ForbiddenTuples((0, 1), frozenset({(1, 0)})),))
    rows = [*alternative_rows(space.feasible(), {0: 1, 2: 2})]
    assert rows
    assert all(row in space.rows() and (row[0], row[2]) == (1, 2) for row in rows)
    assert not [*alternative_rows(space.feasible(), {0: 1, 1: 0})]


def test_more_strength_than_factors_lists_every_feasible_row() -> None:
    space = Space((2, 3), (ForbiddenTuples((1, 0), frozenset({(2, 0)})),))
    assert sorted(space.covering_array(3)) == space.rows()


def test_a_space_that_forbids_everything_has_no_rows() -> None:
    space = Space((2, 2), (ForbiddenTuples((0,), frozenset({(0,), (1,)})),))
    assert space.covering_array(2) == []


def test_a_conflict_through_a_third_factor_is_detected() -> None:
    # With level 0, factor 0 requires level 0 of factor 1, and factor 2 requires level 1: no
    # constraint names the factors 0 and 2 together.
    conflict = (
        ForbiddenTuples((0, 1), frozenset({(0, 1)})),
        ForbiddenTuples((1, 2), frozenset({(0, 0)})),
    )
    rows = Space((2, 2, 2), conflict).covering_array(2)
    assert rows
    assert ((0, 0), (2, 0)) not in tuples_in(rows, 2)


def test_conditions_that_connect_too_many_levels_are_an_error() -> None:
    anything = constraint(tuple(range(12)), lambda _: True)
    with pytest.raises(ValueError, match="expected conditions that connect fewer factors"):
        solve_constraints([4] * 12, [anything])


@pytest.mark.parametrize(("factors", "levels", "most"), [(8, 3, 24), (12, 2, 12), (10, 5, 60)])
def test_pairwise_rows_are_few(factors: int, levels: int, most: int) -> None:
    space = Space((levels,) * factors)
    assert len(space.covering_array(2)) <= most
