"""Properties of `Sampler.dims` for any seed: extents have their kind and stay within the budget."""

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.arrays.calls import HUGE_EXTENT, LONG_EXTENT, WIDE_EXTENT, extent_kinds
from opcert.roles.factors import MAX_DRAWN_ELEMENTS
from tests.seeds import MANY, SEEDS, seeded

# The elements that a kind takes in any case.
LEAST = {"varied": 2, "equal": 4, "zero": 0}
KINDS = ("varied", "ones", "equal", "zero", "long", "wide", "tall", "huge")
DIMS = (SEEDS, st.integers(0, 8), st.one_of(st.integers(0, 40), st.sampled_from((259, 1024, 9999))))


@MANY
@given(*DIMS, st.sampled_from(("varied", "equal", "zero")))
def test_dims_stay_within_the_budget(seed: str, count: int, taken: int, kind: str) -> None:
    extents = seeded(seed).dims(count, kind, taken)
    assert len(extents) == count
    assert not count or prod(extents) <= max(LEAST[kind], MAX_DRAWN_ELEMENTS // max(1, taken))


@MANY
@given(*DIMS)
def test_varied_dims_are_never_all_ones(seed: str, count: int, taken: int) -> None:
    assert not count or max(seeded(seed).dims(count, "varied", taken)) > 1


@MANY
@given(*DIMS)
def test_varied_dims_have_no_zero(seed: str, count: int, taken: int) -> None:
    assert all(extent > 0 for extent in seeded(seed).dims(count, "varied", taken))


@MANY
@given(*DIMS)
def test_dims_of_ones_are_ones(seed: str, count: int, taken: int) -> None:
    assert seeded(seed).dims(count, "ones", taken) == (1,) * count


@MANY
@given(*DIMS)
def test_equal_dims_are_equal_or_two_of_them_among_ones(seed: str, count: int, taken: int) -> None:
    extents = seeded(seed).dims(count, "equal", taken)
    past_one = [extent for extent in extents if extent > 1]
    assert len(set(extents)) <= 1 or past_one == [2, 2]


@MANY
@given(*DIMS, st.sampled_from(KINDS[1:]))
def test_dims_have_the_kind_that_was_drawn(seed: str, count: int, taken: int, kind: str) -> None:
    assert kind in extent_kinds(seeded(seed).dims(count, kind, taken), taken) or not count


def test_most_varied_dims_are_observed_as_varied() -> None:
    observed = [extent_kinds(seeded(str(i)).dims(3), 1) for i in range(100)]
    assert sum("varied" in kinds for kinds in observed) > 80


@MANY
@given(*DIMS, st.sampled_from(("long", "wide", "tall", "huge")))
def test_large_dims_have_one_large_extent_among_ones(
    seed: str, count: int, taken: int, kind: str
) -> None:
    extents = seeded(seed).dims(count, kind, taken)
    least = {"long": LONG_EXTENT, "wide": WIDE_EXTENT, "tall": WIDE_EXTENT, "huge": HUGE_EXTENT}[
        kind
    ]
    large, ones = (0, slice(1, None)) if kind == "tall" else (-1, slice(-1))
    assert len(extents) == count
    assert not count or (extents[large] >= least and set(extents[ones]) <= {1})


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown kind of extents 'wid'; did you mean 'wide'"):
        seeded("any").dims(2, "wid")


@MANY
@given(*DIMS)
def test_dims_with_a_zero_have_one(seed: str, count: int, taken: int) -> None:
    assert seeded(seed).dims(count, "zero", taken).count(0) == min(count, 1)


@MANY
@given(SEEDS, st.integers(1, 8))
def test_equal_dims_of_any_rank_are_longer_than_one(seed: str, count: int) -> None:
    assert min(seeded(seed).dims(count, "equal")) > 1
