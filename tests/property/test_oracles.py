"""The formulas' evaluations against the examples that the documents work out."""

from typing import Any

import numpy as np
import pytest

from tests.property import oracles
from tests.property.oracles import described

TEN = np.arange(10, dtype=np.int32)
FIVE = np.arange(1, 6, dtype=np.int32)


def ints(values: object) -> oracles.Array:
    """An i32 array."""
    return np.array(values, np.int32)


def inputs(**arguments: object) -> dict[str, oracles.Array]:
    """Inputs as i32 arrays, by name."""
    return {name: ints(value) for name, value in arguments.items()}


@pytest.mark.parametrize(("lengths", "expected"), [([1, 2, 3], [1, 2, 3]), ([-1, 2], [4, 2])])
def test_variadic_split_has_the_documents_shapes(lengths: list[int], expected: list[int]) -> None:
    data = np.zeros((6, 12, 10, 24), np.int8)
    outputs = oracles.variadic_split_1(data, ints(0), ints(lengths))
    assert [output.shape for output in outputs] == [(length, 12, 10, 24) for length in expected]


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (2, [[[1, 2], [3, 4]], [[5, 6]], [[7, 8], [9, 10], [11, 12]]]),
        (3, [[[1], [3], [5], [7], [9], [11]], [[2], [4], [6], [8], [10], [12]]]),
    ],
)
def test_dml_split_gives_the_documents_outputs(axis: int, expected: list[Any]) -> None:
    data = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 6, 2)
    parts = [np.array([[part]], np.float32) for part in expected]
    descriptions = [{"Sizes": list(part.shape), "DataType": "FLOAT32"} for part in parts]
    outputs = oracles.dml_split(data, len(parts), descriptions, axis)
    assert outputs == [*map(described, parts)]


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"),
    [
        (1, 8, 1, [1, 2, 3, 4, 5, 6, 7]),
        (1, 8, 2, [1, 3, 5, 7]),
        (-100, 100, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (9, -11, -1, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        (9, 0, -1, [9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (9, -10, -1, [9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (9, -11, -2, [9, 7, 5, 3, 1]),
        (100, -100, -1, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    ],
)
@pytest.mark.parametrize("axes", [{}, {"axes": ints([0])}], ids=["default axes", "axes"])
def test_slice_gives_the_documents_rows(
    start: int, stop: int, step: int, expected: list[int], axes: dict[str, oracles.Array]
) -> None:
    bounds = inputs(start=[start], stop=[stop], step=[step])
    assert oracles.slice_8(TEN, **bounds, **axes) == [described(ints(expected))]


def test_slice_gives_the_documents_matrix() -> None:
    call = inputs(start=[0, 1], stop=[2, 4], step=[1, 2], axes=[0, 1])
    assert oracles.slice_8(TEN.reshape(2, 5), **call) == [described(ints([[1, 3], [6, 8]]))]


@pytest.mark.parametrize("axes", [[0, 1], None], ids=["axes", "default axes"])
def test_slice_keeps_axes_that_are_not_listed(axes: list[int] | None) -> None:
    call = inputs(start=[0, 0], stop=[4, 10], step=[1, 1], **({"axes": axes} if axes else {}))
    assert oracles.slice_8(np.zeros((20, 10, 5)), **call)[0].shape == (4, 10, 5)


@pytest.mark.parametrize(
    ("shape", "target", "mode"),
    [
        ((16, 1, 1), [1, 16, 50, 50], {}),
        ((16,), [1, 16, 50, 50], {"mode": "explicit", "axes_mapping": ints([1])}),
        ((50, 50), [1, 50, 50, 16], {"mode": "explicit", "axes_mapping": ints([1, 2])}),
    ],
)
def test_broadcast_has_the_documents_shapes(
    shape: tuple[int, ...], target: list[int], mode: dict[str, Any]
) -> None:
    (output,) = oracles.broadcast_1(np.zeros(shape, np.int8), ints(target), **mode)
    assert output.shape == tuple(target)


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [(0, [[1, 1], [2, 2]]), (1, [[1, 2], [1, 2]])],
)
def test_broadcast_repeats_along_what_is_not_mapped(mapping: int, expected: list[Any]) -> None:
    output = oracles.broadcast_1(ints([1, 2]), ints([2, 2]), ints([mapping]), "explicit")
    assert output == [described(ints(expected))]


BATCHES = np.arange(1, 21, dtype=np.int32)
TWO_BATCHES = [[0, 0, 4], [4, 0, 0]]
FOUR_BATCHES = [TWO_BATCHES, [[1, 2, 4], [4, 3, 2]]]


@pytest.mark.parametrize(
    ("data", "indices", "axis", "batch_dims", "expected"),
    [
        (FIVE, [0, 0, 4], 0, 0, [1, 1, 5]),
        (TEN.reshape(2, 5) + 1, TWO_BATCHES, 1, 1, [[1, 1, 5], [10, 6, 6]]),
        (
            BATCHES.reshape(2, 2, 5),
            FOUR_BATCHES,
            2,
            2,
            [[[1, 1, 5], [10, 6, 6]], [[12, 13, 15], [20, 19, 18]]],
        ),
        (
            np.arange(1, 41, dtype=np.int32).reshape(2, 1, 5, 4),
            [[1, 2, 4], [4, 3, 2]],
            2,
            1,
            [
                [[[5, 6, 7, 8], [9, 10, 11, 12], [17, 18, 19, 20]]],
                [[[37, 38, 39, 40], [33, 34, 35, 36], [29, 30, 31, 32]]],
            ],
        ),
        (TEN.reshape(2, 5) + 1, TWO_BATCHES, 1, -1, [[1, 1, 5], [10, 6, 6]]),
        (FIVE, [0, -2, -1], 0, 0, [1, 4, 5]),
        (FIVE, [3, 10, -20], 0, 0, [4, 0, 0]),
    ],
    ids=[f"example {number}" for number in range(1, 8)],
)
def test_gather_gives_the_documents_outputs(
    data: oracles.Array, indices: object, axis: int, batch_dims: int, expected: object
) -> None:
    output = oracles.gather_8(data, ints(indices), ints(axis), batch_dims)
    assert output == [described(ints(expected))]


def test_gather_has_the_documents_shape() -> None:
    indices = np.zeros((2, 32, 21), np.int32)
    (output,) = oracles.gather_8(np.zeros((2, 64, 128), np.int8), indices, ints(1), 1)
    assert output.shape == (2, 32, 21, 128)
