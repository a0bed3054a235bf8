"""DirectML's split: sizes, offsets and axes that are taken for others."""

import numpy as np

from tests.faults import splitting
from tests.faults.axis import axis_of
from tests.faults.calls import data, dml_call
from tests.faults.fault import DML, Call, Fault, Outputs, Writer

_arithmetic = Writer(DML, "index arithmetic")
_axis = Writer(DML, "axis order")
_size = Writer(DML, "size threshold")


def _as_the_first(call: Call, outputs: Outputs) -> Outputs:
    """Take the first part's size for the distance from part to part."""
    axis, step = axis_of(call), outputs[0].shape[axis_of(call)]
    found = []
    for i, each in enumerate(outputs):
        size = each.shape[axis]
        start = min(i * step, call.data.shape[axis] - size)
        found.append(call.data.take(np.arange(start, start + size), axis))
    return found


def _on_axis(name: str, text: str, axis: int, rank: int) -> Fault:
    shape = [2] * rank
    return _axis.spoils(
        name,
        f"is wrong {text}",
        lambda call, _: call.data.ndim == rank and axis_of(call) == axis,
        dml_call(data(*shape), axis, [1, 1]),
    )


def _other_axis(call: Call, other: int) -> Call:
    """Split another axis of the same size, into parts of the same sizes."""
    shape, axis = call.data.shape, axis_of(call)
    if shape[other] != shape[axis]:
        return call
    outputs = call.attributes["OutputTensors"]
    return dml_call(call.data, other % len(shape), [each["Sizes"][axis] for each in outputs])


_THREE = dml_call(data(6, 2), 0, [3, 2, 1])

FAULTS = [
    _arithmetic.returns("offset-not-advanced", "takes every part from the beginning of the axis",
                        splitting.from_the_first, _THREE),
    _arithmetic.returns("distance-of-the-first", "advances by the first part's size",
                        _as_the_first, dml_call(data(6, 2), 0, [2, 3, 1])),
    _arithmetic.returns("equal-parts", "splits evenly", splitting.equal_parts, _THREE),
    _arithmetic.returns("in-memory-order", "cuts the buffer, not the axis",
                        splitting.in_memory_order, dml_call(data(2, 6), 1, [2, 4])),
    _arithmetic.returns("order-reversed", "returns the parts last to first",
                        lambda _, out: out[::-1], _THREE),
    _arithmetic.spoils("single-output", "is wrong where there is one output",
                       lambda _, out: len(out) == 1, dml_call(data(3), 0, [3])),
    _arithmetic.spoils("all-ones", "is wrong where all parts are of size 1",
                       lambda c, out: len(out) > 1
                       and {each.shape[axis_of(c)] for each in out} == {1},
                       dml_call(data(3), 0, [1, 1, 1])),
    _axis.changes("first-axis", "splits the first axis where its size is that of the axis",
                  lambda c: _other_axis(c, 0), dml_call(data(4, 4), 1, [1, 3])),
    _axis.changes("last-axis", "splits the last axis where its size is that of the axis",
                  lambda c: _other_axis(c, -1), dml_call(data(4, 4), 0, [1, 3])),
    _axis.spoils("middle-axis", "is wrong on axes between the first and the last",
                 lambda c, _: 0 < axis_of(c) < c.data.ndim - 1,
                 dml_call(data(2, 4, 2), 1, [1, 3])),
    _axis.spoils("axis-5", "is wrong on the sixth axis and after", lambda c, _: axis_of(c) >= 5,
                 dml_call(data(1, 1, 1, 1, 1, 2), 5, [1, 1])),
    _on_axis("axis-1-of-8", "on the second axis of eight", 1, 8),
    _on_axis("axis-3-of-5", "on the fourth axis of five", 3, 5),
    _on_axis("channel-axis-of-4", "on the second axis of four", 1, 4),
    *splitting.wrong_by_number(_size, "outputs", dml_call),
    _size.spoils("part-128", "is wrong with a part past 127",
                 lambda c, out: max(each.shape[axis_of(c)] for each in out) > 127,
                 dml_call(data(128), 0, [128])),
]  # fmt: skip
