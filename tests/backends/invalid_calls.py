"""Invalid calls, many of which libraries would compute if their adapters did not check them."""

from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.backends.calls import (
    SQUARE,
    Call,
    broadcast,
    gather,
    int64s,
    joined,
    padded,
    scattered,
    sliced,
    split,
    windowed,
)

BATCH = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
AXIS: dict[str, Any] = {"axis": 0}
SLICED = sliced(SQUARE, 0, 1, 1, axes=int64s(0))[1]
# Calls of four operators, which every runtime rejects by itself or by its adapter.
OF_FOUR: dict[str, Call] = {
    "sum of lengths": split(SQUARE, 1, 1),
    "axis of split": split(SQUARE, 1, 2, axis=2),
    "step 0": sliced(SQUARE, 0, 2, 0),
    "axes": sliced(SQUARE, 0, 2, 1, axes=int64s(5)),
    "target": broadcast(SQUARE, 5, 5),
    "mode": broadcast(SQUARE, 2, 3, mode="none at all"),
    "axis of gather": gather(SQUARE.astype(np.int32), 0, axis=7),
    "batches": gather(SQUARE, 0, batch_dims=3),
    # Inputs go by position.
    "no input in the middle": (
        "openvino/Slice-8",
        {name: array for name, array in SLICED.items() if name != "start"},
        {},
    ),
}
MOVES: dict[str, Call] = {
    "parts": ("openvino/Split-1", {"data": SQUARE, "axis": np.array(1)}, {"num_splits": 2}),
    "no parts": ("openvino/Split-1", {"data": SQUARE, "axis": np.array(1)}, {"num_splits": 0}),
    "axis": ("openvino/Split-1", {"data": SQUARE, "axis": int64s(1)}, {"num_splits": 3}),
    "types": ("openvino/Concat-1", {"inputs": [SQUARE, SQUARE.astype(np.float64)]}, AXIS),
    "ranks": ("openvino/Concat-1", {"inputs": [SQUARE, np.zeros(0, np.float32)]}, AXIS),
    "order": ("openvino/Transpose-1", {"arg": SQUARE, "input_order": int64s(0, -1)}, {}),
    "sizes": ("openvino/Reshape-1", {"data": SQUARE, "shape": int64s(6)}, {"special_zero": 1}),
    "indices": (
        "openvino/GatherElements-6",
        {"data": SQUARE, "indices": np.zeros((1, 2), np.int64)},
        {"axis": 1},
    ),
    "updates": scattered(SQUARE, np.zeros((2, 1), np.int64), SQUARE[:, :2], 1),
    "more updates": scattered(SQUARE, np.zeros((2, 4), np.int64), np.zeros((2, 4), "f4"), 1),
    "float indices": scattered(SQUARE, np.zeros((0, 1), "f4"), np.zeros((0, 1), "f4"), 1),
    "described": joined(BATCH, BATCH, axis=3, DataType="INT32"),
    "empty": joined(BATCH, BATCH[..., :0], axis=3),
    "negative axis": joined(BATCH, BATCH, axis=-1),
    "window": windowed(SQUARE, [2, 3], (0, 2, 1), (1, 3, 1)),
    "stride": windowed(SQUARE, [2, 1], (0, 2, 1), (0, 3, 0)),
    "wide stride": windowed(SQUARE, [2, 1], (0, 2, 1), (0, 3, 2**32)),
    "too many": windowed(SQUARE, [2, 2], (0, 2, 1), (0, 3, 3)),
    "wrap": padded(SQUARE, (0, 0), (0, 0), "wrap"),
    "negative pads": padded(SQUARE, (0, -1), (0, 0), "constant"),
    "ranks of pads": padded(SQUARE, (0, 0), (0,), "edge"),
    "reflect": padded(SQUARE, (0, 0), (2, 0), "reflect"),
    "symmetric": padded(SQUARE, (0, 4), (0, 0), "symmetric"),
}
STRETCHED = {"a": SQUARE[:1], "b": SQUARE}
ROWS = SQUARE[None]
WINDOWS = {"strides": [1], "pads_begin": [0], "pads_end": [0], "dilations": [1]}
FILTERED: dict[str, tuple[Array, Array, dict[str, Any]]] = {
    "channels": (ROWS, ROWS[:, :1], {}),
    "types": (ROWS, ROWS.astype(np.float64), {}),
    "ranks": (ROWS, ROWS[None], {}),
    "dimensions": (ROWS, SQUARE[None, :, :, None], {name: 2 * n for name, n in WINDOWS.items()}),
    "no batch": (ROWS[0], ROWS[0], {}),
    "strides": (ROWS, ROWS, {"strides": [-1], "auto_pad": "valid"}),
    "dilations": (ROWS, ROWS, {"dilations": [-1]}),
    "pads": (ROWS, ROWS, {"pads_end": [-1]}),
    "auto_pad": (ROWS, ROWS, {"auto_pad": "same"}),
}
FUNCTIONS: dict[str, Call] = {
    "none": ("openvino/Add-1", STRETCHED, {"auto_broadcast": "none"}),
    "pdpd": ("openvino/Add-1", STRETCHED, {"auto_broadcast": "pdpd"}),
    "neither": ("openvino/Add-1", STRETCHED, {"auto_broadcast": "neither"}),
    "shapes": ("openvino/Add-1", {"a": SQUARE, "b": SQUARE[:, :2]}, {}),
    "types of operands": ("openvino/Add-1", {"a": SQUARE, "b": SQUARE.astype(np.float64)}, {}),
    "no operand": ("openvino/Less-1", {"a": SQUARE}, {}),
    "condition": ("openvino/Select-1", {"cond": SQUARE, "then": SQUARE, "else_": SQUARE}, {}),
    "type": ("openvino/Convert-1", {"data": SQUARE}, {"destination_type": "f33"}),
    "axis of a sum": ("openvino/ReduceSum-1", {"data": SQUARE, "axes": np.array([2])}, {}),
    "matrices": ("openvino/MatMul-1", {"a": SQUARE, "b": SQUARE}, {}),
    "axis of a softmax": ("openvino/Softmax-8", {"data": SQUARE}, {"axis": 2}),
    **{
        f"{name} of a filter": (
            "openvino/Convolution-1",
            {"data": data, "filter": weights},
            WINDOWS | changed,
        )
        for name, (data, weights, changed) in FILTERED.items()
    },
}
ALL = [*OF_FOUR.items(), *MOVES.items(), *FUNCTIONS.items()]
