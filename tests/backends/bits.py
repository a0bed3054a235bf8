"""Data whose bits an adapter has to keep, in a call of each operator that moves it."""

from typing import Any

import numpy as np

from opcert.arrays import ELEMENT_TYPES, Array, Layout, bits_dtype, copy_in_layout
from opcert.backends import Backend


def telling(name: str) -> Array:
    """Return six elements: every bit in turn, so NaNs with a payload and -0.0 among the floats."""
    dtype = ELEMENT_TYPES[name]
    if name == "boolean":
        return np.array([True, False, False, True, True, False])
    width = 8 * dtype.itemsize
    ones = (1 << width) - 1
    patterns = [1 << width - 1, ones, ones >> 1, ones ^ 2, 1, 0b10110]
    return np.array(patterns, bits_dtype(dtype)).view(dtype)


def moved(backend: Backend, name: str, layout: Layout = "c") -> list[tuple[Array, Array]]:
    """Return what the backend makes of such data by each operator, beside what it has to be."""
    data = copy_in_layout(telling(name), layout)
    plain = data.copy()

    def run(operator: str, **inputs: Any) -> list[Array]:
        arrays = {key: np.array(each) for key, each in inputs.items()}
        return list(backend.run(operator, {"data": data, **arrays}, {}))

    parts = run("openvino/VariadicSplit-1", axis=-1, split_lengths=[2, -1])
    found = [(parts[0], plain[:2]), (parts[1], plain[2:])]
    found += [(run("openvino/Slice-8", start=[-1], stop=[-9], step=[-2])[0], plain[::-2])]
    found += [(run("openvino/Slice-8", start=[0], stop=[9], step=[1])[0], plain)]
    target = run("openvino/Broadcast-1", target_shape=[2, 6])[0]
    picked = run("openvino/Gather-8", indices=[5, -6, 1, 2], axis=0)[0]
    found += [(target, np.stack([plain, plain])), (picked, plain[[5, 0, 1, 2]])]
    assert data.tobytes() == plain.tobytes()
    assert not any(np.shares_memory(output, data) for output, _ in found)
    return found


def same(pairs: list[tuple[Array, Array]]) -> bool:
    """Whether each output has the type, the shape and the bits that it has to have."""
    return all(
        (output.dtype, output.shape, output.tobytes())
        == (right.dtype, right.shape, right.tobytes())
        for output, right in pairs
    )
