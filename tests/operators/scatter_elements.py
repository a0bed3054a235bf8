"""Wrong ways to scatter elements."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, accepting, right
from tests.operators.gather_elements import MISREAD, one_line
from tests.operators.planted import misreading, stale, with_output

OPERATOR = "openvino/ScatterElementsUpdate-3"
# Returns the output for data, indices of intp, updates, and the axis counted from the front.
Fault = Callable[[Array, Array, Array, int], Array]


def put(data: Array, indices: Array, updates: Array, axis: int, order: int = 1) -> Array:
    """Return the output, with the updates in C order or, if `order` is -1, from the last on."""
    output = data.copy(order="C")
    places: list[Array] = [place.ravel()[::order] for place in np.indices(indices.shape)]
    places[axis] = indices.ravel()[::order]
    for *place, update in zip(*places, updates.ravel()[::order], strict=True):
        output[tuple(place)] = update
    return output


def _axis(call: Call) -> int:
    return int(call["axis"].ravel()[0]) % call.data.ndim


def _valid(fault: Fault) -> Compute:
    """Return a backend that rejects invalid calls, and computes the outputs of valid ones."""

    def output(call: Call, _: Array) -> Array:
        return fault(call.data, call["indices"].astype(np.intp), call["updates"], _axis(call))

    return with_output(OPERATOR, output)


def _reads_index(change: Callable[[Array, int], Any]) -> Fault:
    def fault(data: Array, indices: Array, updates: Array, axis: int) -> Array:
        changed = np.asarray(change(indices, data.shape[axis]))
        return put(data, np.clip(changed, 0, max(data.shape[axis] - 1, 0)), updates, axis)

    return fault


def _zeros(data: Array, indices: Array, updates: Array, axis: int) -> Array:
    return put(np.zeros_like(data), indices, updates, axis)


def _repeated(choose: Callable[[Array], Any]) -> Fault:
    """Return a fault that gives elements with several updates the chosen value, or none."""

    def fault(data: Array, indices: Array, updates: Array, axis: int) -> Array:
        output = put(data, indices, updates, axis)
        counts = np.zeros(data.shape, np.intp)
        places: list[Array] = list(np.indices(indices.shape))
        places[axis] = indices
        np.add.at(counts, tuple(places), 1)
        output[counts > 1] = choose(data)[counts > 1]
        return output

    return fault


def _offset_by_data(data: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Read updates with the strides of data, which differ where updates are smaller."""
    if updates.shape == data.shape or not updates.size:
        return put(data, indices, updates, axis)
    places = np.ravel_multi_index(np.indices(updates.shape), data.shape) % updates.size
    return put(data, indices, updates.ravel()[places], axis)


def _skipped(condition: Callable[[Array, Array, int], Array]) -> Fault:
    """Return a fault that keeps data where a condition on indices, updates, and n is true."""

    def fault(data: Array, indices: Array, updates: Array, axis: int) -> Array:
        output = data.copy(order="C")
        places: list[Array] = list(np.indices(indices.shape))
        places[axis] = indices
        is_done = ~condition(indices, updates, data.shape[axis])
        output[tuple(place[is_done] for place in places)] = updates[is_done]
        return output

    return fault


def _only(condition: Callable[[Array, Array, int], bool], fault: Fault) -> Fault:
    """Return a fault of the calls for whose data, updates and axis a condition is true."""
    return lambda data, indices, updates, axis: (
        fault(data, indices, updates, axis)
        if condition(data, updates, axis)
        else put(data, indices, updates, axis)
    )


def _kept(data: Array, *_: Any) -> Array:
    return data


WRONG: dict[str, Fault] = {
    "data-forgotten": _zeros,
    "updates-forgotten": _kept,
    "updates-with-strides-of-data": _offset_by_data,
    "one-line-for-all": lambda data, indices, updates, axis:
        put(data, one_line(indices, axis), updates, axis),
    "index-zero-skipped": _skipped(lambda indices, *_: indices == 0),
    "greatest-index-skipped": _skipped(lambda indices, _, n: indices == n - 1),
    "updates-of-zero-skipped": _skipped(lambda _, updates, __: updates == 0),
    **{name: _reads_index(change) for name, change in MISREAD.items()},
    "repeated-become-zero": _repeated(np.zeros_like),
    "repeated-keep-data": _repeated(lambda data: data),
    "last-update-lost": _only(lambda _, updates, axis: updates.shape[axis] > 1,
        lambda data, indices, updates, axis: put(data, np.delete(indices, -1, axis),
        np.delete(updates, -1, axis), axis)),
    "smaller-updates-at-the-end": lambda data, indices, updates, axis:
        np.flip(put(np.flip(data), indices, updates, axis)) if updates.shape != data.shape
        else put(data, indices, updates, axis),
    "rank-8": _only(lambda data, *_: data.ndim == 8, _kept),
    "last-axis-of-rank-3": _only(lambda data, _, axis: data.ndim == 3 and axis == 2, _kept),
    "whole-updates-replace-data": _only(lambda data, updates, _: data.shape == updates.shape,
        lambda _data, _indices, updates, _axis: updates),
    "one-update": _only(lambda _, updates, __: updates.size == 1, _kept),
    "more-than-256-updates": _only(lambda _, updates, axis: updates.shape[axis] > 256, _kept),
    "neighbouring-axis-where-square": _only(lambda data, updates, _: data.shape == updates.shape
        and len({*data.shape}) == 1,
        lambda data, indices, updates, axis: put(data, indices, updates, (axis + 1) % data.ndim)),
}  # fmt: skip


def _unchecked(rule: str, name: str, change: Callable[[Call], Array]) -> Compute:
    """Return a backend that reads an argument so that a call which breaks `rule` is a valid one."""
    return accepting(OPERATOR, rule, misreading(OPERATOR, name, change))


def _in_orders(*orders: int) -> Compute:
    """Return a backend that writes updates in one order after the other, call by call."""
    calls = count()
    return _valid(
        lambda data, indices, updates, axis: put(
            data, indices, updates, axis, orders[next(calls) % len(orders)]
        )
    )


def _any_index(change: Callable[[Array, int], Any]) -> Compute:
    """Return a backend that changes an index outside of the axis instead of rejecting it."""
    return _unchecked(
        "indices-range",
        "indices",
        lambda call: change(call["indices"].astype(np.int64), call.data.shape[_axis(call)]),
    )


def _cropped(call: Call) -> Outputs:
    part = tuple(map(slice, call.data.shape))
    cropped = {name: call[name][part] for name in ("indices", "updates")}
    return right(OPERATOR, call.given(**cropped))


def _negative_from_end(indices: Array, n: int) -> Array:
    if ((indices >= -n) & (indices < n)).all():
        return indices % n
    raise ValueError(indices)


FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    "stale-indices":
        stale(OPERATOR, lambda c: (c.data.shape, c["indices"].shape, _axis(c)), "indices"),
    "negative-indices-from-the-end": _any_index(_negative_from_end),
    "indices-clamped": _any_index(lambda indices, n: np.clip(indices, 0, n - 1)),
    "indices-wrapped": _any_index(lambda indices, n: indices % n),
    "larger-updates-cropped": accepting(OPERATOR, "indices-extents", _cropped),
    "updates-cast":
        _unchecked("updates-type", "updates", lambda c: c["updates"].astype(c.data.dtype)),
    "updates-reshaped":
        _unchecked("updates-shape", "updates", lambda c: c["updates"].reshape(c["indices"].shape)),
}  # fmt: skip
# Any order of updates is right.
RIGHT = {
    f"updates-in-orders-{orders}": _in_orders(*orders)
    for orders in ((1,), (-1,), (1, -1), (-1, 1, 1))
}
