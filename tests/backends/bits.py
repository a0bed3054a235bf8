"""Data whose bits an adapter must preserve, in a call of each operator that moves it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype
from opcert.arrays.layouts import C_ORDER, Layout, copy_in_layout
from opcert.backends.contract import Backend
from tests.backends.calls import described


def bit_patterns(name: str) -> Array:
    """Return six elements in which every bit is set once, with NaN payloads and -0.0."""
    dtype = ELEMENT_TYPES[name]
    if name == "boolean":
        return np.array([True, False, False, True, True, False])
    width = 8 * dtype.itemsize
    ones = (1 << width) - 1
    patterns = [1 << width - 1, ones, ones >> 1, ones ^ 2, 1, 0b10110]
    return np.array(patterns, bits_dtype(dtype)).view(dtype)


MOVES: list[tuple[str, dict[str, Any], Callable[[Array], list[Array]]]] = [
    (
        "openvino/VariadicSplit-1",
        {"axis": -1, "split_lengths": [2, -1]},
        lambda data: [data[:2], data[2:]],
    ),
    ("openvino/Slice-8", {"start": [-1], "stop": [-9], "step": [-2]}, lambda data: [data[::-2]]),
    ("openvino/Slice-8", {"start": [0], "stop": [9], "step": [1]}, lambda data: [data]),
    ("openvino/Broadcast-1", {"target_shape": [2, 6]}, lambda data: [np.stack([data, data])]),
    (
        "openvino/Gather-8",
        {"indices": [5, -6, 1, 2], "axis": 0},
        lambda data: [data[[5, 0, 1, 2]]],
    ),
]


def assert_moves_bits(backend: Backend, name: str, *layouts: Layout) -> None:
    """Check the outputs of each operator for such data in layouts, by default in C order."""
    arrays = [copy_in_layout(bit_patterns(name), layout) for layout in layouts or (C_ORDER,)]
    # Where XLA fuses, it computes with narrow floats in wider ones, and may quiet them.
    fused = backend.name == "jax" and name in ("bf16", "f8e5m2")
    # All layouts of an operator come together, for which a runtime compiles once.
    for operator, inputs, move in MOVES:
        others = {key: np.array(value) for key, value in inputs.items()}
        for data in arrays:
            plain = data.copy()
            outputs = list(backend.run(operator, {"data": data, **others}, {}))
            assert data.tobytes() == plain.tobytes()
            assert not any(np.shares_memory(output, data) for output in outputs)
            if not (fused and operator in ("openvino/Broadcast-1", "openvino/Gather-8")):
                assert described(outputs) == described(move(plain)), (operator, name)
