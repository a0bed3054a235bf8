"""Wrong ways to tile."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, right
from tests.operators.planted import with_output

OPERATOR = "openvino/Tile-1"
# Returns the output for data, the repeats as a list, and the output of the reference.
Fault = Callable[[Array, list[int], Array], Array]


def _valid(fault: Fault) -> Compute:
    return with_output(OPERATOR, lambda call, right: fault(call.data, call.ints("repeats"), right))


def _unchecked(call: Call) -> Outputs:
    counts = [max(int(count), 0) for count in call["repeats"].ravel()]
    return [np.array(np.tile(call["data"], counts))]


def _omitted(call: Call) -> Outputs:
    return right(OPERATOR, call) if "repeats" in call else [call["data"].copy()]


def _element_by_element(data: Array, repeats: list[int], expected: Array) -> Array:
    output = data.reshape((1,) * (expected.ndim - data.ndim) + data.shape)
    for axis, count in enumerate([1] * (expected.ndim - len(repeats)) + repeats):
        output = np.repeat(output, count, axis)
    return output


def _aligned_at_the_front(data: Array, repeats: list[int], expected: Array) -> Array:
    if len(repeats) >= data.ndim:
        return expected
    return np.tile(data, repeats + [1] * (data.ndim - len(repeats)))


def _new_axes_at_the_end(data: Array, repeats: list[int], expected: Array) -> Array:
    if len(repeats) <= data.ndim:
        return expected
    return np.tile(data.reshape(data.shape + (1,) * (len(repeats) - data.ndim)), repeats)


def _tiled(change: Callable[[list[int]], list[int]]) -> Fault:
    return lambda data, repeats, _: np.tile(data, change(repeats))


_MOST_ELEMENTS = 1 << 24


def _stale_for(key: Callable[[list[int]], object]) -> Fault:
    counts: dict[Any, list[int]] = {}

    def tile(data: Array, repeats: list[int], expected: Array) -> Array:
        known = (data.shape, data.dtype, len(repeats), key(repeats))
        kept = counts.setdefault(known, repeats)
        # Outputs of gigabytes would end the process; NumPy makes them even if an axis is empty.
        is_small = data.size * prod(max(1, number) for number in kept) <= _MOST_ELEMENTS
        return np.tile(data, kept) if is_small else expected

    return tile


def _kept_for_output() -> Fault:
    """Return a fault that keeps the shape of data for each shape of the output."""
    shapes: dict[Any, tuple[int, ...]] = {}

    def tile(data: Array, _: list[int], expected: Array) -> Array:
        known = shapes.setdefault(expected.shape, data.shape)
        return expected if known == data.shape else np.flip(expected)

    return tile


def _doubled(data: Array, repeats: list[int], _: Array) -> Array:
    """Double the copies as long as they fit, and forget the rest."""
    return np.tile(data, [1 << n.bit_length() - 1 if n else 0 for n in repeats])


def _last_copy_reversed(data: Array, repeats: list[int], expected: Array) -> Array:
    if not repeats or repeats[-1] < 2 or not data.ndim or not expected.size:
        return expected
    output = expected.copy()
    output[..., -data.shape[-1] :] = output[..., -data.shape[-1] :][..., ::-1]
    return output


WRONG: dict[str, Fault] = {
    "elements-repeated": _element_by_element,
    "repeats-aligned-at-the-front": _aligned_at_the_front,
    "new-axes-at-the-end": _new_axes_at_the_end,
    "repeats-reversed": _tiled(lambda repeats: repeats[::-1]),
    "zero-is-one": _tiled(lambda repeats: [max(1, n) for n in repeats]),
    "zero-in-front-is-one": _tiled(lambda repeats: [n or 1 for n in repeats[:1]] + repeats[1:]),
    "low-byte": _tiled(lambda repeats: [n & 255 for n in repeats]),
    "signed-byte": _tiled(lambda repeats: [max(0, (n + 128) % 256 - 128) for n in repeats]),
    "one-axis-only": _tiled(lambda repeats: [1] * (len(repeats) - 1) + repeats[-1:]),
    "last-two-axes-only": _tiled(lambda repeats: [1] * (len(repeats) - 2) + repeats[-2:]),
    "first-axis-ignored": _tiled(lambda repeats: [1] * len(repeats[:1]) + repeats[1:]),
    "up-to-four": _tiled(lambda repeats: [1] * (len(repeats) - 4) + repeats[-4:]),
    "no-new-axes": lambda data, repeats, right: np.tile(data, repeats[-data.ndim :])
        if 0 < data.ndim < len(repeats) else right,
    "new-axes-of-one-copy": lambda data, repeats, right:
        np.tile(data, [1] * (len(repeats) - data.ndim) + repeats[len(repeats) - data.ndim :])
        if data.ndim < len(repeats) else right,
    "scalar-stays": lambda data, _, right: data if data.ndim == 0 else right,
    "without-repeats-empty": lambda _, repeats, right: right if repeats else right[..., :0],
    "empty-data-stays": lambda data, _, right: right if data.size else data,
    "copies-of-zeros":
        lambda data, repeats, right:
        np.where(np.arange(right.size).reshape(right.shape) < data.size, right,
        0).astype(right.dtype) if repeats and repeats[-1] > 1 else right,
    "last-copy-reversed": _last_copy_reversed,
    "repeats-for-its-shape": _stale_for(lambda _: None),
    "shape-multiplied-elements-cut":
        lambda data, _, right: np.resize(data, right.shape) if data.size else right,
    "three-is-two": lambda _, repeats, right: right[..., ::-1] if 3 in repeats else right,
    "copies-doubled-only": _doubled,
    "product-kept": _stale_for(lambda repeats: int(np.prod(repeats))),
    "last-kept": _stale_for(lambda repeats: repeats[-1:]),
    "four-fewer-at-the-front": lambda data, repeats, right: np.tile(data, repeats + [1] * 4)
        if data.ndim - len(repeats) == 4 and repeats else right,
    "four-new-axes-at-the-end": lambda data, repeats, right:
        np.tile(data.reshape(data.shape + (1,) * 4), repeats) if len(repeats) - data.ndim == 4
        else right,
    "signed-byte-of-u8":
        lambda _, repeats, right: right[..., :0] if any(127 < n < 256 for n in repeats) else right,
    "up-to-16-copies": _tiled(lambda repeats: [min(n, 16) for n in repeats]),
    "up-to-255-copies": _tiled(lambda repeats: [min(n, 255) for n in repeats]),
    "last-zero-is-one": _tiled(lambda repeats: [*repeats[:-1], *(n or 1 for n in repeats[-1:])]),
    "one-new-axis-at-the-end": lambda data, repeats, right: np.tile(data[..., None], repeats)
        if len(repeats) == data.ndim + 1 else right,
    "two-new-axes-at-the-end": lambda data, repeats, right: np.tile(data[..., None, None], repeats)
        if len(repeats) == data.ndim + 2 else right,
    "one-fewer-at-the-front": lambda data, repeats, right: np.tile(data, [*repeats, 1])
        if 0 < len(repeats) == data.ndim - 1 else right,
    "first-axis-element-by-element": lambda data, repeats, right: np.repeat(np.tile(data,
        [1, *repeats[1:]]), repeats[0], 0) if 0 < len(repeats) == data.ndim else right,
    "scalar-flat": lambda data, _, right: right.ravel() if data.ndim == 0 else right,
    "kept-for-the-output": _kept_for_output(),
    "second-of-four-ignored":
        _tiled(lambda repeats: [*repeats[:1], 1, *repeats[2:]] if len(repeats) == 4 else repeats),
    "sum-kept": _stale_for(sum),
    "low-16-bits": _tiled(lambda repeats: [n & 65535 for n in repeats]),
    "axis-past-16-bits":
        lambda data, _, right: right[..., ::-1] if max(data.shape, default=0) > 65535 else right,
    "copies-mirrored": lambda data, repeats, right: np.concatenate([data, data[..., ::-1]], -1)
        if data.ndim and len(repeats) == data.ndim and repeats == [1] * (data.ndim - 1) + [2]
        else right,
    "bf16-nan": lambda _, __, right: right.astype(np.float32).astype(right.dtype)
        if right.dtype.name == "bfloat16" else right,
    "negative-zero":
        lambda _, __, right: right + np.float32(0) if right.dtype == np.float32 else right,
}  # fmt: skip
FAULTS = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    "repeats-of-any-type": _unchecked,
    "repeats-omitted": _omitted,
}
