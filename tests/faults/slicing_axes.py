"""Slice: axes, listed or by default, and slices of several axes at once."""

from collections.abc import Callable

import numpy as np

from tests.faults.calls import data, slice_call
from tests.faults.fault import SLICE, Call, Writer

_arithmetic = Writer(SLICE, "index arithmetic")
_sign = Writer(SLICE, "sign")
_axes = Writer(SLICE, "axis order")
_default = Writer(SLICE, "default")


def _reordered(call: Call) -> Call:
    """Match the listed axes, sorted, with the slices as they are given."""
    if "axes" not in call.inputs:
        return call
    axes = sorted(axis % call.data.ndim for axis in call.ints("axes"))
    return call.given(axes=np.array(axes, np.int64))


def _with_axes(call: Call, change: Callable[[list[int], int], list[int]]) -> Call:
    if "axes" not in call.inputs:
        return call
    return call.given(axes=np.array(change(call.ints("axes"), call.data.ndim), np.int64))


def _last_axes(call: Call) -> Call:
    rank, count = call.data.ndim, call["start"].size
    return call if "axes" in call.inputs else call.given(axes=np.arange(rank - count, rank))


def _first_for_all(name: str) -> Callable[[Call], Call]:
    def change(call: Call) -> Call:
        values = call[name].copy()
        values[1:] = values[:1]
        return call.given(**{name: values})

    return change


def _at_most(count: int) -> Callable[[Call], Call]:
    def change(call: Call) -> Call:
        lists = {name: each[:count] for name, each in call.inputs.items() if name != "data"}
        return call.given(**lists)

    return change


def _backwards(call: Call) -> int:
    return sum(step < 0 for step in call.ints("step"))


_SQUARE = data(4, 4)
_CUBE = data(3, 3, 3)
FAULTS = [
    _axes.changes(
        "axes-sorted", "sorts axes, but not the slices with them", _reordered,
        slice_call(_SQUARE, [0, 1], [2, 4], [1, 1], [1, 0]),
    ),
    _axes.changes(
        "axes-in-order", "takes the axes for 0, 1, ... whatever is listed",
        lambda call: call.without("axes") if call["start"].size else call,
        slice_call(_SQUARE, [0], [2], [1], [1]),
    ),
    _axes.changes(
        "negative-axes-mirrored", "counts negative axes from the front: -1 is 0",
        lambda call: _with_axes(call, lambda axes, _: [a if a >= 0 else -a - 1 for a in axes]),
        slice_call(_SQUARE, [0], [2], [1], [-1]),
    ),
    _axes.changes(
        "negative-axes-off-by-one", "takes -2 and less for the axis after",
        lambda call: _with_axes(
            call, lambda axes, _: [a + 1 if a < -1 and len(axes) == 1 else a for a in axes]
        ),
        slice_call(_CUBE, [0], [2], [1], [-2]),
    ),
    _axes.changes(
        "mixed-signs-reversed", "reverses axes of both signs",
        lambda call: _with_axes(
            call, lambda axes, _: axes[::-1] if min(axes) < 0 <= max(axes) else axes
        ) if call["start"].size else call,
        slice_call(_SQUARE, [0, 1], [2, 4], [1, 1], [0, -1]),
    ),
    _axes.changes(
        "step-of-the-first", "uses the first step for all axes", _first_for_all("step"),
        slice_call(_SQUARE, [0, 0], [4, 4], [1, 2]),
    ),
    _axes.changes(
        "start-of-the-first", "uses the first start for all axes", _first_for_all("start"),
        slice_call(_SQUARE, [0, 1], [4, 4], [1, 1]),
    ),
    _axes.changes(
        "four-slices-at-most", "ignores slices after the fourth", _at_most(4),
        slice_call(data(2, 2, 2, 2, 2), [0] * 5, [1] * 5, [1] * 5),
    ),
    _axes.changes(
        "seven-slices-at-most", "ignores slices after the seventh", _at_most(7),
        slice_call(data(*[2] * 8), [0] * 8, [1] * 8, [1] * 8),
    ),
    _sign.spoils(
        "two-steps-backwards", "is wrong with two negative steps at once",
        lambda call, _: _backwards(call) == 2,
        slice_call(_SQUARE, [3, 3], [0, 0], [-1, -1]),
    ),
    _sign.spoils(
        "three-steps-backwards", "is wrong with three negative steps at once",
        lambda call, _: _backwards(call) >= 3,
        slice_call(_CUBE, [2] * 3, [0] * 3, [-1] * 3),
    ),
    _arithmetic.spoils(
        "two-steps-past-one", "is wrong with two steps past 1 at once",
        lambda call, _: sum(step > 1 for step in call.ints("step")) >= 2,
        slice_call(_SQUARE, [0, 0], [4, 4], [2, 2]),
    ),
    _default.changes(
        "default-axes-last", "takes the last axes where none are listed", _last_axes,
        slice_call(_SQUARE, [0], [2], [1]),
    ),
    _default.spoils(
        "default-axes-backwards", "is wrong backwards where no axes are listed",
        lambda call, _: "axes" not in call.inputs and _backwards(call),
        slice_call(_SQUARE, [3], [0], [-1]),
    ),
    _default.rejects(
        "default-axes-for-all-only", "rejects fewer slices than axes where none are listed",
        lambda call, _: "axes" not in call.inputs and call["start"].size < call.data.ndim,
        slice_call(_SQUARE, [0], [2], [1]),
    ),
]  # fmt: skip
