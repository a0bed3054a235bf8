"""VariadicSplit: lengths, offsets and axes that are taken for others."""

from itertools import accumulate
from math import prod

import numpy as np

from tests.faults.calls import data, split_call
from tests.faults.fault import SPLIT, Call, Outputs, Writer

_arithmetic = Writer(SPLIT, "index arithmetic")
_axis = Writer(SPLIT, "axis order")
_sign = Writer(SPLIT, "sign")
_size = Writer(SPLIT, "size threshold")


def lengths(call: Call) -> list[int]:
    """Return the lengths as they are given."""
    return call.ints("split_lengths")


def axis_of(call: Call) -> int:
    """Return the axis, counted from the front."""
    return int(call["axis"].item()) % call.data.ndim


def extent_of(call: Call) -> int:
    """Return the size of the axis."""
    extent: int = call.data.shape[axis_of(call)]
    return extent


def _from_the_first(call: Call, outputs: Outputs) -> Outputs:
    """Take every part from the beginning of the axis."""
    before = (slice(None),) * axis_of(call)
    return [call.data[(*before, slice(each.shape[axis_of(call)]))].copy() for each in outputs]


def _equal_parts(call: Call, outputs: Outputs) -> Outputs:
    """Split evenly, as an operator with a number of parts does."""
    parts = np.array_split(call.data, len(outputs), axis_of(call)) if outputs else []
    return [part.copy() for part in parts]


def _rest_last(call: Call, outputs: Outputs) -> Outputs:
    """Take the rest from the end, wherever the -1 stands."""
    if -1 not in lengths(call):
        return outputs
    where, axis = lengths(call).index(-1), axis_of(call)
    sizes = [each.shape[axis] for each in outputs]
    order = [*(i for i in range(len(sizes)) if i != where), where]
    ends = list(accumulate(sizes[i] for i in order))
    parts = dict(zip(order, np.split(call.data, ends[:-1], axis), strict=True))
    return [parts[i].copy() for i in range(len(sizes))]


def _in_memory_order(call: Call, outputs: Outputs) -> Outputs:
    """Take the parts from the buffer one after the other, as is right on the first axis."""
    ends = list(accumulate(prod(each.shape) for each in outputs))
    chunks = np.split(call.data.ravel(), ends[:-1]) if outputs else []
    return [c.reshape(each.shape).copy() for c, each in zip(chunks, outputs, strict=True)]


def _at(call: Call, position: int) -> bool:
    """Whether a -1 among several lengths is at a position."""
    return len(lengths(call)) > 1 and lengths(call)[position] == -1


def _with_axis(call: Call, axis: int) -> Call:
    return call.given(axis=np.array(axis))


_THREE = split_call(data(6, 2), 0, [3, 2, 1])
_LAST = split_call(data(2, 6), 1, [2, 4])

FAULTS = [
    _arithmetic.returns("offset-not-advanced", "takes every part from the beginning of the axis",
                        _from_the_first, _THREE),
    _arithmetic.returns("equal-parts", "splits evenly", _equal_parts, _THREE),
    _arithmetic.returns("rest-last", "takes the rest from the end, wherever -1 stands",
                        _rest_last, split_call(data(6), 0, [1, -1, 2])),
    _arithmetic.returns("in-memory-order", "cuts the buffer, not the axis",
                        _in_memory_order, _LAST),
    _arithmetic.returns("order-reversed", "returns the parts last to first",
                        lambda _, out: out[::-1], _THREE),
    _arithmetic.spoils("rest-first", "is wrong where -1 is first", lambda c, out: out and _at(c, 0),
                       split_call(data(6), 0, [-1, 2])),
    _arithmetic.spoils("rest-at-the-end", "is wrong where -1 is last",
                       lambda c, out: out and _at(c, -1), split_call(data(6), 0, [2, -1])),
    _arithmetic.spoils("rest-in-the-middle", "is wrong where -1 is between others",
                       lambda c, _: -1 in lengths(c)[1:-1], split_call(data(6), 0, [1, -1, 2])),
    _arithmetic.spoils("rest-alone", "is wrong where -1 is the one length",
                       lambda c, _: lengths(c) == [-1], split_call(data(6), 0, [-1])),
    _arithmetic.spoils("rest-first-on-the-last-axis", "is wrong where -1 is first, last axis",
                       lambda c, out: out and _at(c, 0) and axis_of(c) == c.data.ndim - 1,
                       split_call(data(2, 6), 1, [-1, 2])),
    _arithmetic.spoils("zero-beside-rest", "is wrong where lengths are 0 and -1",
                       lambda c, _: {0, -1} <= set(lengths(c)), split_call(data(6), 0, [0, 2, -1])),
    _arithmetic.spoils("two-zeros", "is wrong where two lengths are 0",
                       lambda c, _: lengths(c).count(0) > 1, split_call(data(6), 0, [0, 0, 6])),
    _axis.changes("first-axis", "splits the first axis where its size is that of the axis",
                  lambda c: _with_axis(c, 0) if c.data.shape[0] == extent_of(c) else c,
                  split_call(data(4, 4), 1, [1, 3])),
    _axis.changes("last-axis", "splits the last axis where its size is that of the axis",
                  lambda c: _with_axis(c, -1) if c.data.shape[-1] == extent_of(c) else c,
                  split_call(data(4, 4), 0, [1, 3])),
    _axis.spoils("middle-axis", "is wrong on axes between the first and the last",
                 lambda c, _: 0 < axis_of(c) < c.data.ndim - 1,
                 split_call(data(2, 4, 2), 1, [1, 3])),
    _axis.spoils("one-element-axis", "is wrong with an axis of shape [1]",
                 lambda c, _: c["axis"].ndim == 1, split_call(data(4), [0], [1, 3])),
    _sign.rejects("negative-axis-rejected", "rejects a negative axis",
                  lambda c, _: int(c["axis"].item()) < 0, split_call(data(4), -1, [1, 3])),
    _sign.spoils("axis-below-minus-one", "is wrong with an axis below -1",
                 lambda c, _: int(c["axis"].item()) < -1, split_call(data(4, 2), -2, [1, 3])),
    _sign.spoils("axis-minus-rank", "is wrong with an axis of -rank",
                 lambda c, _: int(c["axis"].item()) == -c.data.ndim,
                 split_call(data(4, 2), -2, [1, 3])),
    _sign.changes("negative-axis-mirrored", "counts a negative axis from the front: -1 is 0",
                  lambda c: c if int(c["axis"].item()) >= 0 or len(set(c.data.shape)) > 1
                  else _with_axis(c, -1 - int(c["axis"].item())),
                  split_call(data(4, 4), -1, [1, 3])),
    _sign.rejects("rest-rejected", "rejects -1 as a length", lambda c, _: -1 in lengths(c),
                  split_call(data(4), 0, [1, -1])),
    _size.spoils("nine-parts", "is wrong with more than eight parts", lambda _, out: len(out) > 8,
                 split_call(data(9), 0, [1] * 9)),
    _size.spoils("seventeen-parts", "is wrong with more than 16 parts",
                 lambda _, out: len(out) > 16, split_call(data(17), 0, [1] * 17)),
    _size.spoils("four-to-eight-parts", "is wrong with four to eight parts",
                 lambda _, out: 4 <= len(out) <= 8, split_call(data(4), 0, [1] * 4)),
    _size.spoils("length-128", "is wrong with a length past 127",
                 lambda c, _: max(lengths(c), default=0) > 127, split_call(data(128), 0, [128])),
    _size.spoils("rest-128", "is wrong where the rest is past 127",
                 lambda c, out: -1 in lengths(c)
                 and out[lengths(c).index(-1)].shape[axis_of(c)] > 127,
                 split_call(data(130), 0, [1, -1])),
]  # fmt: skip
