"""What wrong elements have in common: places and numbers that right elements lack."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.run.wrong_elements import ONLY, WrongElements, words_of_elements

SHAPES = [(7,), (67,), (3, 9), (5, 70), (2, 3, 11), (1, 6, 13), (4, 1, 2, 5), (9, 8)]
Marks = Callable[[Array, Array], Array]


def positions(array: Array, axis: int) -> Array:
    own = [array.shape[axis] if k == axis % array.ndim else 1 for k in range(array.ndim)]
    return np.broadcast_to(np.arange(array.shape[axis]).reshape(own), array.shape)


def tail(array: Array) -> Array:
    n = array.shape[-1]
    return np.asarray(positions(array, -1) >= n - n % 4)


def last(array: Array) -> Array:
    return np.asarray(positions(array, -1) == array.shape[-1] - 1)


def after(array: Array, count: int) -> Array:
    return np.asarray(np.arange(array.size).reshape(array.shape) >= count)


def numbers(shape: tuple[int, ...], seed: int) -> Array:
    """Return random numbers, and special ones among them."""
    random = np.random.default_rng(seed)
    # Half of them, so that each output has some.
    special = random.choice([np.nan, -0.0, np.inf, 1e-42, -200.0, 200.0, 0.5, -3.0], shape)
    return np.where(random.random(shape) < 0.5, special, random.normal(0, 40, shape)).astype("f4")


def words(marks: Marks, *, computed: bool) -> str:
    """Return what is stated of elements that are wrong where `marks` of expected and data says."""
    found = []
    for seed, shape in enumerate(SHAPES * 3):
        data = numbers(shape, seed)
        # Results from which the numbers of data do not follow.
        expected = numbers(shape, seed + 1000) if computed else data
        wrong = marks(expected, data)
        if wrong.any():
            actual = np.where(wrong, np.float32(7.5), expected)
            inputs = {"data": data} if computed else {}
            found.append(WrongElements.of(expected, actual, wrong, inputs))
    return words_of_elements(found)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("after the last whole block of 4 along the last axis", lambda e, _: tail(e)),
        ("at the last position along the last axis", lambda e, _: last(e)),
        ("at the first position along the last axis", lambda e, _: positions(e, -1) == 0),
        ("at odd positions along the last axis", lambda e, _: positions(e, -1) % 2 == 1),
        ("where the position in C order is 8 or more", lambda e, _: after(e, 8)),
        ("where the result is NaN", lambda e, _: np.isnan(e)),
        ("where the result is infinity", lambda e, _: np.isinf(e)),
        ("where the result is a number below 0", lambda e, _: e < 0),
        ("where the result is a subnormal number", lambda e, _: (e != 0) & (np.abs(e) < 1e-38)),
    ],
)
def test_a_place_or_a_number_of_all_wrong_elements_alone_is_named(text: str, marks: Marks) -> None:
    assert words(marks, computed=False) == f"{ONLY} {text} are wrong"


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("where data is a number below 0", lambda _, d: np.asarray(d < 0)),
        (r"where data is (8[89]|9\d)(\.\d)? or more", lambda _, d: np.asarray(d > 88)),
        (r"where \|data\| is (88|89|9\d)(\.\d)? or more", lambda _, d: np.asarray(np.abs(d) > 88)),
        (r"where \|data\| is (1|0\.9\d*) or less", lambda _, d: np.asarray(np.abs(d) <= 1)),
    ],
)
def test_elements_are_named_by_the_numbers_that_they_are_computed_from(
    text: str, marks: Marks
) -> None:
    assert re.fullmatch(f"{ONLY} {text} are wrong", words(marks, computed=True))


@pytest.mark.parametrize("computed", [False, True])
def test_elements_that_are_wrong_at_random_have_nothing_in_common(computed: bool) -> None:
    random = np.random.default_rng(7)
    assert words(lambda e, _: np.asarray(random.random(e.shape) < 0.3), computed=computed) == ""


def test_a_bug_that_spoils_everything_says_nothing_of_elements() -> None:
    assert words(lambda e, _: np.ones(e.shape, bool), computed=False) == ""


def test_a_wrong_order_says_nothing_of_the_first_element() -> None:
    assert words(lambda e, _: after(e, 1), computed=False) == ""
    assert "C order is 2 or more" in words(lambda e, _: after(e, 2), computed=False)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("are 0", np.zeros_like),
        ("are NaN", lambda e: np.full_like(e, np.nan)),
        ("have the other sign", np.negative),
        ("have the value of the element before", lambda e: np.roll(e.ravel(), 1).reshape(e.shape)),
        ("have the value of the element after", lambda e: np.roll(e.ravel(), -1).reshape(e.shape)),
    ],
)
def test_what_all_wrong_elements_are_is_stated(text: str, result: Callable[[Array], Array]) -> None:
    found = []
    for seed, shape in enumerate(SHAPES):
        expected = np.random.default_rng(seed).normal(0, 40, shape)
        wrong = np.random.default_rng(seed + 100).random(shape) < 0.5
        found.append(
            WrongElements.of(expected, np.where(wrong, result(expected), expected), wrong, {})
        )
    assert words_of_elements(found) == f"wrong elements {text}"


def test_what_few_cases_show_is_not_stated() -> None:
    one = WrongElements(only={"at the last position along the last axis": 0})
    assert words_of_elements([one] * 4) == ""
    assert words_of_elements([one] * 5).startswith(f"{ONLY} at the last position")
    # Where every element is wrong, the place says nothing.
    whole = WrongElements(every=(*one.only,))
    assert words_of_elements([whole] * 50 + [one] * 5) == ""
    assert words_of_elements([WrongElements()] * 50 + [one] * 5) == ""


def test_an_exception_is_stated() -> None:
    one = WrongElements(only={"where the result is NaN": 0}, found=("are 0",))
    text = words_of_elements([one] * 19 + [WrongElements()])
    assert text == f"nearly {ONLY} where the result is NaN are wrong, and are 0"


@pytest.mark.parametrize("name", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 0, 3), (2, 3, 2, 2)])
def test_elements_of_every_type_and_shape_can_be_looked_at(
    name: str, shape: tuple[int, ...]
) -> None:
    bits = bytes(Random(1).choices((0, 1), k=8 * int(np.prod(shape, dtype=int))))
    dtype = ELEMENT_TYPES[name]
    expected = np.frombuffer(bits[: dtype.itemsize * int(np.prod(shape, dtype=int))], dtype)
    expected = expected.reshape(shape)
    wrong = np.ones(shape, bool)
    elements = WrongElements.of(expected, expected[...], wrong, {"data": expected})
    assert elements is not None
    assert elements.only == {}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
@example([5e-324])
@example([float(np.finfo(np.float64).max)])
def test_a_stated_range_has_all_wrong_elements(found: list[float]) -> None:
    least, greatest = min(found), max(found)
    # Right elements are at both ends of all numbers.
    ends = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))
    ranges = {"x": (least, greatest, *ends)}
    text = words_of_elements([WrongElements(count=1, ranges=ranges)] * 9)
    bounds = [float(number) for number in re.findall(r"-?[\d.]+(?:e[+-]\d+)?|-?inf", text)]
    if "to" in text.split():
        assert bounds[0] <= least <= greatest <= bounds[1]
    elif "more" in text:
        assert bounds[0] <= least
    elif text:
        assert bounds[0] >= greatest


@pytest.mark.parametrize("ends", [[], [1.0], [1.0, 2.0, 3.0], ["1", "2"]])
def test_a_certificate_has_no_range_without_ends(ends: list[Any]) -> None:
    stored = json.dumps({"ranges": {"x": ends}})
    with pytest.raises(ValidationError):
        TypeAdapter(WrongElements).validate_json(stored)


def test_large_outputs_are_not_looked_at() -> None:
    large = np.zeros(1 << 17, np.uint8)
    assert WrongElements.of(large, large, large == 0, {}) is None
