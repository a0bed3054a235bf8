"""Wrong ways to split."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, axis_of, changing, rejecting, right
from tests.operators.planted import misreading

OPERATOR = "openvino/Split-1"
# Returns the parts of data along an axis, counted from the front; the last argument has the right
# ones.
Fault = Callable[[Array, int, int, list[Array]], Sequence[Array]]


def _valid(fault: Fault) -> Compute:
    """Return a backend that rejects invalid calls, and computes the outputs of valid ones."""

    def change(call: Call, parts: Outputs) -> Outputs:
        wrong = fault(call.data, axis_of(call), call["num_splits"], parts)
        return [np.array(part, order="C") for part in wrong]

    return changing(OPERATOR, change)


def _unchecked(repair: Callable[[int, int, int, int], tuple[int, int]]) -> Compute:
    """Return a backend that splits whatever `repair` makes of axis and number."""

    def compute(call: Call) -> Outputs:
        data, axis = call["data"], call["axis"]
        if axis.dtype.kind not in "iu":
            raise TypeError(axis.dtype)
        number = call["num_splits"]
        value = int(axis.reshape(-1)[0])
        dimension, number = repair(value, data.ndim, number, axis.ndim)
        return [part.copy() for part in np.array_split(data, number, dimension)]

    return compute


def _strict(value: int, rank: int, number: int, form: int) -> tuple[int, int]:
    if form or not -rank <= value < rank or number < 1:
        raise ValueError(value)
    return value, number


def _kept() -> Fault:
    """Return a fault that keeps the first axis for each shape and number."""
    axes: dict[Any, int] = {}

    def split(data: Array, axis: int, number: int, _: list[Array]) -> Sequence[Array]:
        axis = axes.setdefault((data.shape, number), axis)
        return np.array_split(data, number, axis)

    return split


def _kept_by_size() -> Fault:
    """Return a fault that keeps the first shape for each rank and number of elements."""
    shapes: dict[Any, tuple[int, ...]] = {}

    def split(data: Array, axis: int, number: int, _: list[Array]) -> Sequence[Array]:
        shape = shapes.setdefault((data.ndim, data.size, axis, number), data.shape)
        return np.array_split(data.reshape(shape), number, axis)

    return split


def _many_parts(most: int) -> Fault:
    """Return a fault that has room for the pointers of `most` parts."""
    return lambda _, __, number, parts: [parts[i % most] for i in range(number)]


def _offset_in(bits: int) -> Fault:
    """Return a fault whose parts begin at an offset of so many bits."""

    def split(data: Array, axis: int, _: int, parts: list[Array]) -> Sequence[Array]:
        size = parts[0].shape[axis]
        offsets = [k * size % (1 << bits) for k in range(len(parts))]
        return [data.take(range(first, first + size), axis) for first in offsets]

    return split


def _on_last(data: Array, axis: int, number: int, _: list[Array]) -> Sequence[Array]:
    return np.split(data.swapaxes(axis, -1).copy(), number, -1)


def _of_scalars(axis: int) -> Compute:
    """Return a backend that takes a scalar for its only part, along some axis."""

    def compute(call: Call) -> Outputs:
        if call["data"].ndim == 0 and call["num_splits"] == 1 and call.get("axis") == axis:
            return [call.data.copy()]
        return right(OPERATOR, call)

    return compute


def _without_sign(call: Call) -> Array:
    axis: Array = call["axis"]
    least = axis.dtype.kind == "i" and axis.ndim == 0 and axis == np.iinfo(axis.dtype).min
    return axis * 0 if least else axis


WRONG: dict[str, Fault] = {
    "reversed-parts": lambda _, __, ___, parts: parts[::-1],
    "one-too-few": lambda _, __, ___, parts: parts[:-1] or parts,
    "interleaved": lambda data, axis, number, _:
        [data[(*(slice(None),) * axis, slice(i, None, number))] for i in range(number)],
    "first-for-all": lambda _, __, ___, parts: [parts[0]] * len(parts),
    "axis-left-transposed": _on_last,
    "always-axis-0": lambda data, _, number, parts: parts if data.shape[0] % number
        else np.split(data, number, 0),
    "more-than-16-parts": lambda _, __, number, parts: [*parts[:16], *parts[:1] * (number - 16)]
        if number > 16 else parts,
    "parts-of-one-dropped": lambda _, axis, __, parts:
        ([part.squeeze(axis) for part in parts] if parts[0].shape[axis] == 1 else parts),
    "one-part-is-empty":
        lambda _, __, number, parts: [np.zeros_like(parts[0])] if number == 1 else parts,
    "rank-6": lambda data, _, __, parts:
        ([np.zeros_like(part) for part in parts] if data.ndim == 6 else parts),
    "axis-past-8-bits": lambda data, axis, _, parts:
        ([np.zeros_like(part) for part in parts] if data.shape[axis] > 256 else parts),
    "strides-ignored": lambda data, axis, number, _:
        np.split(np.ravel(data, order="K").reshape(data.shape), number, axis),
    "f64-through-f32": lambda data, _, __, parts: ([part.astype(np.float32).astype(part.dtype)
        for part in parts] if data.dtype == np.float64 else parts),
    "booleans-as-bytes": lambda data, _, __, parts:
        ([part.astype(np.uint8) for part in parts] if data.dtype == np.bool_ else parts),
    "axis-kept": _kept(),
    "parts-named-in-text-order":
        lambda _, __, number, parts: [parts[i] for i in sorted(range(number), key=str)],
    "more-than-64-parts": _many_parts(64),
    "more-than-255-parts": _many_parts(255),
    "colours-reversed": lambda data, axis, number, parts: parts[::-1]
        if number == data.shape[axis] == 3 and axis == data.ndim - 1 else parts,
    "axis-past-16-bits": lambda data, axis, _, parts:
        ([np.zeros_like(part) for part in parts] if data.shape[axis] > 65535 else parts),
    "length-in-half-precision": lambda data, axis, _, parts:
        (parts if float(np.float16(data.shape[axis])) == data.shape[axis]
        else [part.take(range(part.shape[axis] // 2), axis) for part in parts]),
    "kept-for-the-size": _kept_by_size(),
    **{f"parts-past-{most}-repeat": _many_parts(most) for most in (8, 16, 128, 256)},
    **{f"offset-in-{bits}-bits": _offset_in(bits) for bits in (8, 16)},
    "interleaved-on-the-last-axis": lambda data, axis, number, parts:
        ([data[..., i::number] for i in range(number)] if axis == data.ndim - 1 else parts),
    "interleaved-channels": lambda data, axis, number, parts:
        ([data[:, i::number] for i in range(number)] if axis == 1 and data.ndim == 4 else parts),
    "two-parts-exchanged": lambda _, __, number, parts: parts[::-1] if number == 2 else parts,
    "three-parts-reversed": lambda _, __, number, parts: parts[::-1] if number == 3 else parts,
    "cut-in-memory": lambda data, _, number, parts: ([chunk.reshape(part.shape) for chunk,
        part in zip(np.split(data.ravel(), number), parts, strict=True)] if data.size else parts),
    "parts-of-one-squeezed": lambda data, axis, number, parts: ([part.squeeze(axis)
        for part in parts] if 1 < number == data.shape[axis] and data.ndim > 1 else parts),
    "empty-as-one-part": lambda data, _, __, parts: parts if data.size else parts[:1],
}  # fmt: skip
FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    "uneven": _unchecked(_strict),
    "axis-clamped": _unchecked(lambda value, rank, number, form: _strict(max(-rank,
        min(value, rank - 1)), rank, number, form)),
    "axis-modulo":
        _unchecked(lambda value, rank, number, form: _strict(value % rank, rank, number, form)),
    "axis-of-one-element":
        _unchecked(lambda value, rank, number, _: _strict(value, rank, number, 0)),
    "number-raised":
        _unchecked(lambda value, rank, number, form: _strict(value, rank, max(number, 1), form)),
    "number-without-sign":
        # A number of billions would fill the memory.
        _unchecked(lambda value, rank, number, form:
            _strict(value, rank, min(abs(number), 4096) or 1, form)),
    "scalars": _of_scalars(0),
    "scalars-from-the-end": _of_scalars(-1),
    "least-axis-is-0": misreading(OPERATOR, "axis", _without_sign),
    "strict-on-one-part": rejecting(OPERATOR, lambda c, _: c["num_splits"] == 1),
    "strict-on-more-than-64-parts": rejecting(OPERATOR, lambda c, _: c["num_splits"] > 64),
    "strict-on-vectors": rejecting(OPERATOR, lambda c, _: c.data.ndim == 1),
}  # fmt: skip
RIGHT = {"the-right-parts": _valid(lambda _, __, ___, parts: parts)}
