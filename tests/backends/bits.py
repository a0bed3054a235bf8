"""Data whose bits an adapter must preserve, in a call of each operator that moves it."""

from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype
from opcert.arrays.layouts import C_ORDER, Layout, copy_in_layout
from opcert.backends.contract import Backend


def bit_patterns(name: str) -> Array:
    """Return six elements in which every bit is set once, with NaN payloads and -0.0."""
    dtype = ELEMENT_TYPES[name]
    if name == "boolean":
        return np.array([True, False, False, True, True, False])
    width = 8 * dtype.itemsize
    ones = (1 << width) - 1
    patterns = [1 << width - 1, ones, ones >> 1, ones ^ 2, 1, 0b10110]
    return np.array(patterns, bits_dtype(dtype)).view(dtype)


def move_bits(backend: Backend, name: str, layout: Layout = C_ORDER) -> list[tuple[Array, Array]]:
    """Return pairs of actual and expected outputs of each operator for such data."""
    data = copy_in_layout(bit_patterns(name), layout)
    plain = data.copy()

    def run(operator: str, **inputs: Any) -> list[Array]:
        arrays = {key: np.array(value) for key, value in inputs.items()}
        return list(backend.run(operator, {"data": data, **arrays}, {}))

    parts = run("openvino/VariadicSplit-1", axis=-1, split_lengths=[2, -1])
    (backwards,) = run("openvino/Slice-8", start=[-1], stop=[-9], step=[-2])
    (whole,) = run("openvino/Slice-8", start=[0], stop=[9], step=[1])
    (broadcast,) = run("openvino/Broadcast-1", target_shape=[2, 6])
    (gathered,) = run("openvino/Gather-8", indices=[5, -6, 1, 2], axis=0)
    pairs = [
        (parts[0], plain[:2]),
        (parts[1], plain[2:]),
        (backwards, plain[::-2]),
        (whole, plain),
        (broadcast, np.stack([plain, plain])),
        (gathered, plain[[5, 0, 1, 2]]),
    ]
    assert data.tobytes() == plain.tobytes()
    assert not any(np.shares_memory(output, data) for output, _ in pairs)
    return pairs


def are_identical(pairs: list[tuple[Array, Array]]) -> bool:
    """Whether the arrays of each pair have the same type, shape and bits."""
    return all(
        (output.dtype, output.shape, output.tobytes())
        == (expected.dtype, expected.shape, expected.tobytes())
        for output, expected in pairs
    )
