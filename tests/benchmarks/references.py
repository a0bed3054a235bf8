"""The reference functions on 16 MB, against NumPy's calls for the same moves."""

from collections.abc import Iterator

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference.broadcasting import broadcast_1
from opcert.reference.dml_split import dml_split
from opcert.reference.gathering import gather_8
from opcert.reference.slicing import slice_8
from opcert.reference.variadic_split import variadic_split_1
from tests.benchmarks.measuring import Row, Work, measured


def references() -> Iterator[Row]:
    """Time of each reference function on 16 MB of f32, against NumPy's call for the same move."""
    data = np.arange(1 << 22, dtype=np.float32).reshape(2048, 2048)
    row = data[0].copy()

    def ints(*values: int) -> Array:
        return np.array(values, np.int64)

    lengths, halves = ints(1000, -1), [{"Sizes": [2048, 1024], "DataType": "FLOAT32"}] * 2
    picked = np.random.default_rng(0).integers(-2048, 2048, 2048)
    bounds = {"start": ints(0, 2047), "stop": ints(2048, -2049), "step": ints(1, -1)}
    moves: list[tuple[str, str, Work, Work]] = [
        (
            "VariadicSplit-1",
            "np.split and copy",
            lambda: variadic_split_1(data=data, axis=np.array(1), split_lengths=lengths),
            lambda: [part.copy() for part in np.split(data, [1000], 1)],
        ),
        (
            "DML_OPERATOR_SPLIT",
            "np.split and copy",
            lambda: dml_split(InputTensor=data, OutputCount=2, OutputTensors=halves, Axis=1),
            lambda: [part.copy() for part in np.split(data, 2, 1)],
        ),
        (
            "Slice-8",
            "basic indexing and copy",
            lambda: slice_8(data=data, **bounds),
            lambda: np.copy(data[:, ::-1]),
        ),
        (
            "Broadcast-1",
            "np.broadcast_to and copy",
            lambda: broadcast_1(data=row, target_shape=ints(2048, 2048)),
            lambda: np.broadcast_to(row, (2048, 2048)).copy(),
        ),
        (
            "Gather-8, rows",
            "np.take",
            lambda: gather_8(data=data, indices=picked, axis=np.array(0)),
            lambda: np.take(data, picked, 0),
        ),
        (
            "Gather-8, columns",
            "np.take",
            lambda: gather_8(data=data, indices=picked, axis=np.array(1)),
            lambda: np.take(data, picked, 1),
        ),
    ]
    for name, floor_is, work, floor in moves:
        yield Row(f"reference, {name}, 16 MB", *_swap(floor_is, measured(work, floor)), 1.5)


def _swap(floor_is: str, times: tuple[float, float]) -> tuple[float, str, float]:
    return times[0], floor_is, times[1]
