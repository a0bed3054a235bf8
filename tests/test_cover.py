"""Covering arrays against a recount that lists every row and every tuple there is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.generator.cover import Constraint, Cover, Row, Tuple, covering_array

MANY = settings(max_examples=120, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Forbidden:
    """Choices of levels that a few factors must not have together."""

    factors: tuple[int, ...]
    choices: frozenset[Row]

    def hits(self, row: Row) -> bool:
        return tuple(row[factor] for factor in self.factors) in self.choices

    def constraint(self) -> Constraint:
        return Constraint(self.factors, lambda chosen: chosen not in self.choices)


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

    def covered(self, t: int, rows: Sequence[Row] = ()) -> Cover:
        constraints = [each.constraint() for each in self.forbidden]
        return covering_array(self.sizes, constraints, t, rows)


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
    assert tuples_in(space.covered(t).rows, t) == tuples_in(space.rows(), t)


@MANY
@given(spaces(), STRENGTHS)
def test_every_row_is_allowed_and_stands_once(space: Space, t: int) -> None:
    rows = space.covered(t).rows
    assert set(rows) <= set(space.rows())
    assert len(rows) == len(set(rows))


@MANY
@given(spaces(), STRENGTHS)
def test_impossible_tuples_are_exactly_those_that_no_allowed_row_has(space: Space, t: int) -> None:
    t = min(t, len(space.sizes))
    impossible = space.covered(t).impossible
    assert len(impossible) == len(set(impossible))
    assert set(impossible) == space.tuples(t) - tuples_in(space.rows(), t)


@MANY
@given(spaces(), STRENGTHS)
def test_every_row_brings_a_tuple_that_those_before_it_lack(space: Space, t: int) -> None:
    t = min(t, len(space.sizes))
    seen: set[Tuple] = set()
    for row in space.covered(t).rows:
        assert tuples_in([row], t) - seen
        seen |= tuples_in([row], t)


@MANY
@given(spaces(), STRENGTHS, st.data())
def test_extension_keeps_the_given_rows_first(space: Space, t: int, data: st.DataObject) -> None:
    t = min(t, len(space.sizes))
    allowed = space.rows()
    given_rows = data.draw(st.lists(st.sampled_from(allowed), max_size=6)) if allowed else []
    grown = space.covered(t, given_rows)
    assert grown.rows[: len(given_rows)] == given_rows
    assert tuples_in(grown.rows, t) == tuples_in(allowed, t)
    seen = tuples_in(given_rows, t)
    for row in grown.rows[len(given_rows) :]:
        assert tuples_in([row], t) - seen
        seen |= tuples_in([row], t)


@MANY
@given(spaces(), STRENGTHS)
def test_the_same_table_gives_the_same_rows(space: Space, t: int) -> None:
    assert space.covered(t) == space.covered(t)


@MANY
@given(spaces(), STRENGTHS)
def test_complete_rows_are_not_extended(space: Space, t: int) -> None:
    rows = space.covered(t).rows
    assert space.covered(t, rows).rows == rows


def test_more_strength_than_factors_lists_every_allowed_row() -> None:
    space = Space((2, 3), (Forbidden((1, 0), frozenset({(2, 0)})),))
    assert sorted(space.covered(3).rows) == space.rows()


def test_a_table_that_forbids_everything_has_no_rows() -> None:
    space = Space((2, 2), (Forbidden((0,), frozenset({(0,), (1,)})),))
    found = space.covered(2)
    assert found.rows == []
    assert set(found.impossible) == space.tuples(2)


def test_a_conflict_that_shows_only_through_a_third_factor_is_found_impossible() -> None:
    # 0 asks 1 to be 0, and 2 asks it to be 1: no constraint names 0 and 2 together.
    asks = (Forbidden((0, 1), frozenset({(0, 1)})), Forbidden((1, 2), frozenset({(0, 0)})))
    assert ((0, 0), (2, 0)) in Space((2, 2, 2), asks).covered(2).impossible


@pytest.mark.parametrize(("factors", "levels", "most"), [(8, 3, 24), (12, 2, 12), (10, 5, 60)])
def test_pairwise_rows_are_few(factors: int, levels: int, most: int) -> None:
    space = Space((levels,) * factors)
    assert len(space.covered(2).rows) <= most
