"""The levels of integers: how a list is ordered, and the numbers that levels are."""

import pytest

from opcert.cases.integer_levels import levels_of_order, number_of


@pytest.mark.parametrize(
    ("integers", "expected"),
    [
        ((1, 0), []),
        ((1, 0, 1), ["", ", none of them side by side"]),
        ((1, 1, 0), ["", " side by side"]),
    ],
)
def test_equal_elements_are_a_level_and_whether_they_are_neighbours(
    integers: tuple[int, ...], expected: list[str]
) -> None:
    (_, words), *_ = levels_of_order(integers)
    equal = "with equal elements"
    assert [word.removeprefix(equal) for word in words if word.startswith(equal)] == expected


def test_ranges_of_numbers_are_in_order() -> None:
    ranges = ["-2^63 or less", "-2^63 to -2^53", "-1 to -2^-4", "-2^-24 to 0", "0 to 2^-24"]
    ranges += ["2^-24 to 2^-14", "1 to 2", "5 to 8", "1,024 to 16,383", "2^24 to 2^31"]
    numbers = [number_of(text) for text in ranges]
    assert None not in numbers
    assert numbers == sorted(numbers, key=lambda number: number or 0)
    assert number_of("odd") is None
