"""Properties of the draw functions, except `dims`, for any seed."""

import random
from typing import Any, NoReturn

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from opcert.arrays.element_types import INTEGERS, fits, highest
from opcert.errors import Inapplicable
from tests.seeds import MANY, SEEDS, seeded

ITEMS = st.lists(st.integers(0, 9), unique=True, max_size=7)
INDEX_TYPES = st.sampled_from(INTEGERS)
EXTENTS = st.one_of(st.integers(1, 12), st.sampled_from((100, 128, 129, 131, 259, 1000)))

CALLS: dict[str, tuple[Any, ...]] = {
    "between": (-3, 40),
    "pick": ((2, 3, 5, 7, 11, 13, 17),),
    "sample": (range(20), 7),
    "disordered": (range(12),),
    "subset_with": (range(12), 4),
    "dims": (5,),
    "parts": (100, 7, 60),
    "position_in": (1000, "i32"),
    "span": (1000, "i32"),
}


def draws(seed: str) -> dict[str, Any]:
    """Return a draw of every function, one after the other from one seed."""
    sampler = seeded(seed)
    return {name: getattr(sampler, name)(*arguments) for name, arguments in CALLS.items()}


def test_the_same_seed_gives_the_same_draws() -> None:
    assert draws("slice/a|axis") == draws("slice/a|axis")


@pytest.mark.parametrize("name", CALLS)
def test_other_seeds_give_other_draws(name: str) -> None:
    values = {repr(getattr(seeded(str(i)), name)(*CALLS[name])) for i in range(40)}
    assert len(values) > 4


def test_only_random_is_used_since_python_may_change_other_methods(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("an algorithm that Python may change")

    kept = ("random", "seed")
    for name in dir(random.Random):
        if name not in kept and (not name.startswith("_") or name.startswith("_randbelow")):
            monkeypatch.setattr(random.Random, name, refuse)
    draws("any")


def test_draws_follow_the_random_of_the_seed() -> None:
    floats = random.Random("a|b")
    sampler = seeded("a|b")
    assert [sampler.between(5, 14) for _ in range(50)] == [
        5 + int(floats.random() * 10) for _ in range(50)
    ]


@MANY
@given(SEEDS, st.integers(-50, 50), st.integers(0, 60))
def test_between_stays_within_its_bounds(seed: str, low: int, span: int) -> None:
    assert low <= seeded(seed).between(low, low + span) <= low + span


def test_between_reaches_both_bounds() -> None:
    assert {seeded(str(i)).between(-1, 1) for i in range(60)} == {-1, 0, 1}


@MANY
@given(SEEDS, ITEMS.filter(bool))
def test_pick_draws_one_of_the_items(seed: str, items: list[int]) -> None:
    assert seeded(seed).pick(items) in items


@MANY
@given(SEEDS, ITEMS, st.data())
def test_sample_draws_that_many_items_in_their_order(
    seed: str, items: list[int], data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, len(items)))
    chosen = seeded(seed).sample(items, count)
    assert len(chosen) == count
    assert list(chosen) == [item for item in items if item in chosen]


@MANY
@given(SEEDS, st.lists(st.integers(0, 4), max_size=7))
def test_disordered_is_never_the_original_order(seed: str, items: list[int]) -> None:
    order = list(seeded(seed).disordered(items))
    assert sorted(order) == sorted(items)
    assert order != items or len(set(items)) < 2


@MANY
@given(SEEDS, st.integers(2, 8))
def test_a_disordered_range_is_never_sorted(seed: str, n: int) -> None:
    order = list(seeded(seed).disordered(range(n)))
    assert order != sorted(order)


@MANY
@given(SEEDS, ITEMS.filter(lambda items: len(items) > 1), st.data())
def test_subset_with_contains_its_item_and_not_all(
    seed: str, items: list[int], data: st.DataObject
) -> None:
    item = data.draw(st.sampled_from(items))
    least = data.draw(st.integers(1, len(items) - 1))
    chosen = seeded(seed).subset_with(items, item, least)
    assert item in chosen
    assert least <= len(chosen) < len(items)
    assert list(chosen) == [item for item in items if item in chosen]


def test_a_subset_of_one_item_is_that_item() -> None:
    assert seeded("any").subset_with([3], 3) == (3,)


@MANY
@given(SEEDS, st.integers(0, 40), st.integers(1, 12), st.integers(0, 40))
def test_parts_sum_to_their_total_and_are_not_zero_if_possible(
    seed: str, total: int, count: int, most: int
) -> None:
    assume(count * most >= total)
    lengths = seeded(seed).parts(total, count, most)
    assert sum(lengths) == total
    assert len(lengths) == count
    assert all((count <= total) <= length <= most for length in lengths)


@pytest.mark.parametrize(("total", "count", "most"), [(9, 2, 4), (1, 1, 0), (5, 0, 5)])
def test_parts_that_cannot_sum_to_their_total_are_inapplicable(
    total: int, count: int, most: int
) -> None:
    with pytest.raises(Inapplicable, match=f"sum to {total}"):
        seeded("any").parts(total, count, most)


def test_a_total_of_zero_can_have_no_parts() -> None:
    assert seeded("any").parts(0, 0, 3) == ()


@MANY
@given(SEEDS, EXTENTS, INDEX_TYPES)
def test_position_in_is_an_index_that_fits_its_type(seed: str, n: int, index_type: str) -> None:
    position = seeded(seed).position_in(n, index_type)
    assert -n <= position < n
    assert fits(index_type, position)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
@pytest.mark.parametrize("index_type", ["i8", "i64"])
def test_position_in_has_both_signs_if_its_type_has(n: int, index_type: str) -> None:
    positions = [seeded(str(i)).position_in(n, index_type) for i in range(60)]
    assert min(positions) < 0 <= max(positions)


def test_position_in_reaches_both_ends() -> None:
    assert {seeded(str(i)).position_in(3, "i16") for i in range(200)} == set(range(-3, 3))


@MANY
@given(SEEDS, INDEX_TYPES)
def test_position_in_an_empty_dimension_is_near_0(seed: str, index_type: str) -> None:
    position = seeded(seed).position_in(0, index_type)
    assert position in (-1, 0)
    assert fits(index_type, position)


@MANY
@given(SEEDS, EXTENTS, INDEX_TYPES)
def test_span_selects_something_and_fits_its_type(seed: str, n: int, index_type: str) -> None:
    start, stop, step = seeded(seed).span(n, index_type)
    assert list(range(n))[start:stop:step]
    assert all(fits(index_type, value) for value in (start, stop, step))
    assert -n <= start <= min(n - 1, highest(index_type))


def test_a_span_of_an_empty_dimension_is_empty() -> None:
    assert seeded("any").span(0, "u8") == (0, 0, 1)


def test_many_integers_at_once_are_those_of_single_draws() -> None:
    one, many = seeded("seed"), seeded("seed")
    for count in (3, 5000, 4):
        assert many.several(-9, 1 << 40, count) == [one.between(-9, 1 << 40) for _ in range(count)]
