"""Wrong ways to gather elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, accepting, rejecting, right
from tests.operators.planted import misreading, stale, with_output

OPERATOR = "openvino/GatherElements-6"
# Returns the output for data, indices of intp, and the axis counted from the front.
Fault = Callable[[Array, Array, int], Array]


def take(data: Array, indices: Array, axis: int) -> Array:
    """Return the output; an index outside gives the nearest element."""
    if not data.size:
        return np.zeros(indices.shape, data.dtype)
    return np.take_along_axis(data, np.clip(indices, 0, data.shape[axis] - 1), axis)


def _valid(fault: Fault) -> Compute:
    """Return a backend that rejects invalid calls, and computes the outputs of valid ones."""

    def output(call: Call, _: Array) -> Array:
        return fault(call.data, call["indices"].astype(np.intp), call["axis"] % call.data.ndim)

    return with_output(OPERATOR, output)


def _reads_index(change: Callable[[Array, int], Any]) -> Fault:
    return lambda data, indices, axis: take(
        data, np.asarray(change(indices, data.shape[axis])), axis
    )


def one_line(indices: Array, axis: int) -> Array:
    """Return the indices of the first line for all lines, as Gather has them."""
    if not indices.size:
        return indices
    shape = [1] * indices.ndim
    shape[axis] = indices.shape[axis]
    line = np.moveaxis(indices, axis, 0).reshape(shape[axis], -1)[:, 0]
    return np.broadcast_to(line.reshape(shape), indices.shape)


# What is made of indices, given the size of the axis.
MISREAD: dict[str, Callable[[Array, int], Any]] = {
    "next-element": lambda indices, n: (indices + 1) % max(n, 1),
    "last-element-unreachable": lambda indices, n: np.minimum(indices, n - 2),
    "index-cut-to-i8": lambda indices, _: indices.astype(np.int8).astype(np.intp),
    "index-cut-to-u8": lambda indices, _: indices % 256,
    "index-of-zero-skipped": lambda indices, _: np.maximum(indices, 1),
}


def _as_many_as_data(data: Array, indices: Array, axis: int) -> Array:
    """Forget the indices past the length of the axis."""
    output = take(data, indices, axis)
    part: list[Any] = [slice(None)] * data.ndim
    part[axis] = slice(data.shape[axis], None)
    output[tuple(part)] = 0
    return output


def _data_strides(data: Array, indices: Array, axis: int) -> Array:
    """Read indices in the order of data in memory."""
    return take(data, np.ravel(indices, "F").reshape(indices.shape), axis)


def _outer_strides_of_indices(data: Array, indices: Array, axis: int) -> Array:
    """Step over the axes before the tested one as if data were as long as indices."""
    if not data.size or not indices.size:
        return np.zeros(indices.shape, data.dtype)
    places: list[Array] = [*np.indices(indices.shape)]
    places[axis] = np.clip(indices, 0, data.shape[axis] - 1)
    inner = int(np.prod(data.shape[axis + 1 :]))
    block = inner * indices.shape[axis]
    outer = np.indices(indices.shape)[:axis]
    rows = np.ravel_multi_index(tuple(outer), indices.shape[:axis]) if axis else 0
    within = np.ravel_multi_index(tuple(places[axis:]), data.shape[axis:])
    result: Array = data.ravel()[(rows * block + within) % data.size]
    return result


def _offsets(most: int) -> Fault:
    """Return a fault that keeps positions in data below `most`."""

    def fault(data: Array, indices: Array, axis: int) -> Array:
        if not data.size:
            return np.zeros(indices.shape, data.dtype)
        places: list[Array] = [*np.indices(indices.shape)]
        places[axis] = np.clip(indices, 0, data.shape[axis] - 1)
        return data.ravel()[np.ravel_multi_index(tuple(places), data.shape) % most % data.size]

    return fault


WRONG: dict[str, Fault] = {
    "one-line-for-all": lambda data, indices, axis: take(data, one_line(indices, axis), axis),
    "indices-past-the-axis-ignored": _as_many_as_data,
    "indices-in-fortran-order": _data_strides,
    "outer-strides-of-indices": _outer_strides_of_indices,
    "offsets-of-a-byte": _offsets(1 << 8),
    "offsets-of-15-bits": _offsets(1 << 15),
    "offsets-of-16-bits": _offsets(1 << 16),
    "indices-sorted": lambda data, indices, axis: take(data, np.sort(indices, axis), axis),
    **{name: _reads_index(change) for name, change in MISREAD.items()},
    "axis-0-for-rank-4": lambda data, indices, axis: take(data, indices, 0)
        if data.ndim == 4 and data.shape == indices.shape else take(data, indices, axis),
    "neighbouring-axis-where-square": lambda data, indices, axis:
        take(data, indices, (axis + 1) % data.ndim)
        if data.shape == indices.shape and len({*data.shape}) == 1 else take(data, indices, axis),
    "slices-of-the-first-axis": lambda data, indices, axis:
        take(data, np.broadcast_to(indices[:, :1], indices.shape), axis)
        if axis == 0 and data.ndim == 2 and indices.shape[1] else take(data, indices, axis),
    "rank-8-copies-the-first": lambda data, indices, axis: take(data, indices * 0, axis)
        if data.ndim == 8 else take(data, indices, axis),
    "data-as-it-is-where-shapes-agree": lambda data, indices, axis: data
        if data.shape == indices.shape else take(data, indices, axis),
    "more-than-256-indices-wrap": lambda data, indices, axis:
        take(data, np.take(indices, np.arange(indices.shape[axis]) % 256, axis), axis),
    "one-index-for-the-whole-line": lambda data, indices, axis:
        take(data, np.broadcast_to(np.take(indices, [0], axis), indices.shape) if indices.size
        else indices, axis),
}  # fmt: skip


def _broadcast(call: Call) -> Outputs:
    """Broadcast indices off the axis, instead of rejecting other extents."""
    indices, axis = call["indices"], call["axis"]
    shape = [*call.data.shape]
    shape[axis] = indices.shape[axis]
    return right(OPERATOR, call.given(indices=np.broadcast_to(indices, shape)))


def _smaller(call: Call) -> Outputs:
    """Take fewer indices off the axis, as ScatterElementsUpdate does."""
    part = [slice(extent) for extent in call["indices"].shape]
    part[call["axis"] % call.data.ndim] = slice(None)
    return right(OPERATOR, call.moving(call.data[tuple(part)]))


def _of_i64(call: Call) -> Array:
    indices: Array = call["indices"]
    return indices.astype(np.int64) if indices.dtype.kind in "iu" else indices


FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    "stale-indices": stale(OPERATOR,
        lambda c: (c.data.shape, c["indices"].shape, c["axis"] % c.data.ndim), "indices"),
    "negative-axis-rejected": rejecting(OPERATOR, lambda c, _: c["axis"] < 0),
    "equal-shapes-only": rejecting(OPERATOR, lambda c, _: c.data.shape != c["indices"].shape),
    "more-indices-rejected": rejecting(OPERATOR, lambda c, _: c["indices"].size > c.data.size > 0),
    "broadcasts-indices": accepting(OPERATOR, "indices-extents", _broadcast),
    "smaller-extents-accepted": accepting(OPERATOR, "indices-extents", _smaller),
    "other-index-types-accepted": misreading(OPERATOR, "indices", _of_i64),
}  # fmt: skip
# Any element is right for an index outside.
RIGHT = {"nearest-outside": _valid(take)}
