"""Covering arrays against a recount that lists every row and every tuple there is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.combinatorics import (
    FeasibleRows,
    LevelConstraint,
    Row,
    covering_array,
    solve_constraints,
)
from tests.asked_constraints import constraint

Tuple = tuple[tuple[int, int], ...]

MANY = settings(max_examples=120, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Forbidden:
    """Choices of levels that a few factors must not have together."""

    factors: tuple[int, ...]
    choices: frozenset[Row]

    def hits(self, row: Row) -> bool:
        return tuple(row[factor] for factor in self.factors) in self.choices

    def constraint(self) -> LevelConstraint:
        return constraint(self.factors, lambda chosen: chosen not in self.choices)


@dataclass(frozen=True)
class Space:
    """A table of factors, by the number of levels of each, with what cannot be in it."""

    sizes: tuple[int, ...]
    forbidden: tuple[Forbidden, ...] = ()

    def rows(self) -> list[Row]:
        every = product(*map(range, self.sizes))
        return [row for row in every if not any(each.hits(row) for each in self.forbidden)]

    def tuples(self, t: int) -> set[Tuple]:
        return tuples_in(product(*map(range, self.sizes)), t)

    def choices(self) -> FeasibleRows:
        return solve_constraints(self.sizes, [each.constraint() for each in self.forbidden])

    def covered(self, t: int, rows: Sequence[Row] = ()) -> list[Row]:
        return covering_array(self.choices(), t, rows)


def tuples_in(rows: Iterable[Row], t: int) -> set[Tuple]:
    return {chosen for row in rows for chosen in combinations(enumerate(row), t)}


@st.composite
def bans(draw: st.DrawFn, sizes: tuple[int, ...]) -> Forbidden:
    order = draw(st.permutations(range(len(sizes))))
    factors = tuple(order[: draw(st.integers(1, min(3, len(sizes))))])
    every = list(product(*(range(sizes[factor]) for factor in factors)))
    return Forbidden(factors, draw(st.frozensets(st.sampled_from(every))))


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    return Space(sizes, tuple(draw(st.lists(bans(sizes), max_size=4))))


STRENGTHS = st.integers(1, 3)


@MANY
@given(spaces(), STRENGTHS)
def test_every_possible_tuple_stands_in_a_row(space: Space, t: int) -> None:
    t = min(t, len(space.sizes))
    assert tuples_in(space.covered(t), t) == tuples_in(space.rows(), t)


@MANY
@given(spaces(), STRENGTHS)
def test_every_row_is_allowed_and_stands_once(space: Space, t: int) -> None:
    rows = space.covered(t)
    assert set(rows) <= set(space.rows())
    assert len(rows) == len(set(rows))


@MANY
@given(spaces(), st.data())
def test_choices_keep_what_further_constraints_allow(space: Space, data: st.DataObject) -> None:
    more = data.draw(bans(space.sizes))
    ties = [more.constraint()]
    forbidden = [each.constraint() for each in space.forbidden]
    choices = solve_constraints(space.sizes, forbidden, ties).restricted_to(ties)
    rows = covering_array(choices, len(space.sizes))
    assert set(rows) == set(Space(space.sizes, (*space.forbidden, more)).rows())


@MANY
@given(spaces(), st.data())
def test_tables_agree_on_exactly_what_stands_in_an_allowed_row(
    space: Space, data: st.DataObject
) -> None:
    some = data.draw(st.sets(st.integers(0, len(space.sizes) - 1)))
    wanted = {factor: data.draw(st.integers(0, space.sizes[factor] - 1)) for factor in some}
    rows = [row for row in space.rows() if all(row[f] == level for f, level in wanted.items())]
    choices = space.choices()
    lines = choices.consistent_with(wanted)
    assert (lines is None) == (not rows)
    for table, kept in zip(choices.tables, lines or [], strict=lines is not None):
        found = {tuple(choice) for choice in table.choices[kept].tolist()}
        assert found == {tuple(row[factor] for factor in table.factors) for row in rows}


@MANY
@given(spaces())
def test_pairs_are_those_of_the_allowed_rows(space: Space) -> None:
    found = {
        ((f, int(a)), (g, int(b)))
        for (f, g), table in space.choices().pairs.items()
        for a, b in zip(*table.nonzero(), strict=True)
    }
    assert found == (tuples_in(space.rows(), 2) if len(space.sizes) > 1 else set())


@MANY
@given(spaces(), STRENGTHS)
def test_every_row_brings_a_tuple_that_those_before_it_lack(space: Space, t: int) -> None:
    t = min(t, len(space.sizes))
    seen: set[Tuple] = set()
    for row in space.covered(t):
        assert tuples_in([row], t) - seen
        seen |= tuples_in([row], t)


@MANY
@given(spaces(), STRENGTHS, st.data())
def test_extension_keeps_the_given_rows_first(space: Space, t: int, data: st.DataObject) -> None:
    t = min(t, len(space.sizes))
    allowed = space.rows()
    given_rows = data.draw(st.lists(st.sampled_from(allowed), max_size=6)) if allowed else []
    grown = space.covered(t, given_rows)
    assert grown[: len(given_rows)] == given_rows
    assert tuples_in(grown, t) == tuples_in(allowed, t)
    seen = tuples_in(given_rows, t)
    for row in grown[len(given_rows) :]:
        assert tuples_in([row], t) - seen
        seen |= tuples_in([row], t)


@MANY
@given(spaces(), STRENGTHS)
def test_the_same_table_gives_the_same_rows(space: Space, t: int) -> None:
    assert space.covered(t) == space.covered(t)


@MANY
@given(spaces(), STRENGTHS)
def test_complete_rows_are_not_extended(space: Space, t: int) -> None:
    rows = space.covered(t)
    assert space.covered(t, rows) == rows


def test_more_strength_than_factors_lists_every_allowed_row() -> None:
    space = Space((2, 3), (Forbidden((1, 0), frozenset({(2, 0)})),))
    assert sorted(space.covered(3)) == space.rows()


def test_a_table_that_forbids_everything_has_no_rows() -> None:
    space = Space((2, 2), (Forbidden((0,), frozenset({(0,), (1,)})),))
    found = space.covered(2)
    assert found == []


def test_a_conflict_that_shows_only_through_a_third_factor_is_found_impossible() -> None:
    # 0 asks 1 to be 0, and 2 asks it to be 1: no constraint names 0 and 2 together.
    asks = (Forbidden((0, 1), frozenset({(0, 1)})), Forbidden((1, 2), frozenset({(0, 0)})))
    rows = Space((2, 2, 2), asks).covered(2)
    assert rows
    assert ((0, 0), (2, 0)) not in tuples_in(rows, 2)


def test_too_many_choices_that_hang_together_are_told() -> None:
    every = constraint(tuple(range(12)), lambda _: True)
    with pytest.raises(ValueError, match="expected conditions that tie fewer factors"):
        solve_constraints([4] * 12, [every])


@pytest.mark.parametrize(("factors", "levels", "most"), [(8, 3, 24), (12, 2, 12), (10, 5, 60)])
def test_pairwise_rows_are_few(factors: int, levels: int, most: int) -> None:
    space = Space((levels,) * factors)
    assert len(space.covered(2)) <= most
