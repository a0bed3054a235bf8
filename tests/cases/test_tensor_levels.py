"""The levels of tensors: their extents, their layouts, and what is among their numbers."""

import math
from dataclasses import replace

import pytest

from opcert.arrays.calls import Tensor
from opcert.arrays.layouts import Layout
from opcert.arrays.tensor_functions import filled
from opcert.cases.tensor_levels import levels_of_numbers, levels_of_tensors

PAST = [f"a number past 2^{bits}" for bits in (11, 24, 31, 53)]


def levels_of(tensor: Tensor) -> dict[str, set[str]]:
    found = [*levels_of_tensors([tensor], is_variadic=False), *levels_of_numbers(tensor)]
    return {aspect: {*names} for aspect, names in found}


@pytest.mark.parametrize(("order", "expected"), [((2, 1, 0), True), ((0, 2, 1), False)])
def test_the_order_of_fortran_is_a_level(order: tuple[int, ...], expected: bool) -> None:
    tensor = replace(filled("f32", (2, 3, 4)), layout=Layout(order=order))
    assert ("in Fortran order" in levels_of(tensor)["layout"]) is expected


@pytest.mark.parametrize(
    ("gaps", "parts"), [((2,), {"elements"}), ((0, 1), {"rows"}), ((1, 2), {"elements", "rows"})]
)
def test_between_what_gaps_are_is_a_level(gaps: tuple[int, ...], parts: set[str]) -> None:
    words = levels_of(replace(filled("f32", (2, 3)), layout=Layout(gaps=gaps)))["layout"]
    found = {part for part in ("elements", "rows") if f"with gaps between {part}" in words}
    assert found == parts


@pytest.mark.parametrize(("order", "expected"), [((), True), ((1, 0), False)])
def test_elements_in_c_order_may_begin_after_others(order: tuple[int, ...], expected: bool) -> None:
    tensor = replace(filled("f32", (5, 3)), layout=Layout(offset=1, order=order))
    words = levels_of(tensor)["layout"]
    assert "after other elements" in words
    assert ("after other elements, otherwise in C order" in words) is expected


def test_the_first_and_the_last_extent_are_levels() -> None:
    found = levels_of(filled("i32", (2, 5, 12)))
    assert found["leading"] == {"2"}
    assert found["trailing"] == {"9 to 16"}
    assert found["tail"] == {"four times an odd number"}


@pytest.mark.parametrize(
    ("numbers", "ranges"),
    [
        ((0.0, 88.5, -20.0), {"88 to 96", "-24 to -20"}),
        ((math.inf, math.nan, -math.inf), set()),
        ((0.25, 2.0**100, -0.25), {"2^-4 to 1", "2^63 or more", "-1 to -2^-4"}),
        ((1.0, 2.0, -(2.0**70)), {"1 to 2", "2 to 4", "-2^63 or less"}),
    ],
)
def test_how_great_numbers_are_is_a_level(numbers: tuple[float, ...], ranges: set[str]) -> None:
    assert levels_of(Tensor("f32", (3,), values=numbers))["within"] == ranges


@pytest.mark.parametrize(("element_type", "expected"), [("f16", True), ("f32", False)])
def test_a_subnormal_number_is_a_level_of_its_type(element_type: str, expected: bool) -> None:
    special = levels_of(Tensor(element_type, (2,), values=(2.0**-20, 1.0)))["special"]
    assert ("a subnormal number" in special) is expected


@pytest.mark.parametrize(
    ("element_type", "numbers", "levels"),
    [
        ("f32", (0.0, 1.0, 2048.0), set()),
        ("f32", (-0.0, math.nan), {"-0.0", "NaN"}),
        ("f16", (0.5, -math.inf), {"a fraction", "infinity", "a number below 0"}),
        ("i32", (-(1 << 31), 2), {"a number below 0", *PAST[:2]}),
        ("u64", ((1 << 64) - 1,), {"a number with its top bit set", *PAST}),
    ],
)
def test_numbers_that_a_kernel_may_compute_wrongly_are_levels(
    element_type: str, numbers: tuple[float, ...], levels: set[str]
) -> None:
    tensor = Tensor(element_type, (len(numbers),), numbers)
    assert levels_of(tensor)["special"] == levels
