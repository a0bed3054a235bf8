"""Functions of indices, axes and extents."""

import pytest

from opcert.arrays.calls import (
    HUGE_EXTENT,
    LONG_EXTENT,
    WIDE_EXTENT,
    broadcasts,
    extent_kinds,
    insert,
    python_slice,
    replace,
    wrap,
)
from opcert.errors import Inapplicable


def test_an_axis_wraps_from_the_end() -> None:
    assert [wrap(axis, 3) for axis in (-3, -1, 0, 2)] == [0, 2, 0, 2]


@pytest.mark.parametrize(
    ("shape", "target", "stretches"),
    [
        *[((), (2,), True), ((3,), (2, 3), True), ((1, 3), (2, 3), True), ((1,), (0,), True)],
        *[((2,), (2, 3), False), ((1, 2, 3), (2, 3), False), ((2,), (1,), False)],
    ],
)
def test_a_shape_broadcasts_in_one_direction(
    shape: tuple[int, ...], target: tuple[int, ...], stretches: bool
) -> None:
    assert broadcasts(shape, target) is stretches


def test_a_slice_is_that_of_python() -> None:
    assert list(python_slice(5, -2, -100, -2)) == list(range(5))[-2:-100:-2]


def test_insert_puts_an_item_before_a_position() -> None:
    assert insert([1, 2], 1, 9) == (1, 9, 2)


@pytest.mark.parametrize(("position", "replaced"), [(0, (9, 2)), (1, (1, 9)), (-1, (1, 9))])
def test_replace_counts_from_either_end(position: int, replaced: tuple[int, ...]) -> None:
    assert replace([1, 2], position, 9) == replaced


@pytest.mark.parametrize("position", [2, -3])
def test_replace_does_not_apply_past_the_ends(position: int) -> None:
    with pytest.raises(Inapplicable, match=f"no element {position}"):
        replace([1, 2], position, 9)


@pytest.mark.parametrize(
    ("extents", "expected"),
    [
        ((), {"varied"}),
        ((2, 0, 5), {"zero"}),
        ((0,), {"zero"}),
        ((1, 1, 1), {"ones"}),
        ((1,), {"ones"}),
        ((4, 4), {"equal"}),
        ((2, 1, 2), {"varied", "equal"}),
        ((2, 3, 1), {"varied"}),
        ((3,), {"varied", "equal"}),
        ((1, LONG_EXTENT), {"varied", "long"}),
        ((1, LONG_EXTENT - 1), {"varied"}),
        ((LONG_EXTENT, 1), {"varied"}),
        ((1, WIDE_EXTENT), {"varied", "long", "wide"}),
        ((WIDE_EXTENT, 1), {"varied", "tall"}),
        ((WIDE_EXTENT - 1, 1), {"varied"}),
        ((1, HUGE_EXTENT, 1), {"varied", "huge"}),
        ((1, HUGE_EXTENT), {"varied", "long", "wide", "huge"}),
        ((1, HUGE_EXTENT - 1), {"varied", "long", "wide"}),
    ],
)
def test_the_kinds_of_extents_are_those_that_dims_could_have_drawn(
    extents: tuple[int, ...], expected: set[str]
) -> None:
    assert set(extent_kinds(extents, 0)) == expected
