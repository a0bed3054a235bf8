"""VariadicSplit: lengths, offsets and axes that are taken for others."""

from itertools import accumulate

import numpy as np

from tests.faults import splitting
from tests.faults.axis import axis_of, extent_of, given_axis
from tests.faults.calls import data, split_call
from tests.faults.fault import SPLIT, Call, Outputs, Writer

_arithmetic = Writer(SPLIT, "index arithmetic")
_axis = Writer(SPLIT, "axis order")
_sign = Writer(SPLIT, "sign")
_size = Writer(SPLIT, "size threshold")


def lengths(call: Call) -> list[int]:
    """Return the lengths as they are given."""
    return call.ints("split_lengths")


def _rest_last(call: Call, outputs: Outputs) -> Outputs:
    """Take the rest from the end, wherever the -1 is."""
    if -1 not in lengths(call):
        return outputs
    where, axis = lengths(call).index(-1), axis_of(call)
    sizes = [each.shape[axis] for each in outputs]
    order = [*(i for i in range(len(sizes)) if i != where), where]
    ends = list(accumulate(sizes[i] for i in order))
    parts = dict(zip(order, np.split(call.data, ends[:-1], axis), strict=True))
    return [parts[i].copy() for i in range(len(sizes))]


def _at(call: Call, position: int) -> bool:
    """Whether a -1 among several lengths is at a position."""
    return len(lengths(call)) > 1 and lengths(call)[position] == -1


def _with_axis(call: Call, axis: int) -> Call:
    return call.given(axis=np.array(axis))


_THREE = split_call(data(6, 2), 0, [3, 2, 1])
_LAST = split_call(data(2, 6), 1, [2, 4])

FAULTS = [
    _arithmetic.returns("offset-not-advanced", "takes every part from the beginning of the axis",
                        splitting.from_the_first, _THREE),
    _arithmetic.returns("equal-parts", "splits evenly", splitting.equal_parts, _THREE),
    _arithmetic.returns("equal-by-the-first", "splits evenly where the first part is the mean",
                        lambda c, out: splitting.equal_parts(c, out) if len(out) > 2
                        and lengths(c)[0] * len(out) == extent_of(c) else out,
                        split_call(data(6), 0, [2, 1, 3])),
    _arithmetic.returns("rest-last", "takes the rest from the end, wherever -1 is",
                        _rest_last, split_call(data(6), 0, [1, -1, 2])),
    _arithmetic.returns("in-memory-order", "cuts the buffer, not the axis",
                        splitting.in_memory_order, _LAST),
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
    _arithmetic.spoils("zero-with-rest", "is wrong where lengths are 0 and -1",
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
                  lambda c, _: given_axis(c) < 0, split_call(data(4), -1, [1, 3])),
    _sign.spoils("axis-below-minus-one", "is wrong with an axis below -1",
                 lambda c, _: given_axis(c) < -1, split_call(data(4, 2), -2, [1, 3])),
    _sign.spoils("axis-minus-rank", "is wrong with an axis of -rank",
                 lambda c, _: given_axis(c) == -c.data.ndim,
                 split_call(data(4, 2), -2, [1, 3])),
    _sign.changes("negative-axis-mirrored", "counts a negative axis from the front: -1 is 0",
                  lambda c: c if given_axis(c) >= 0 or len(set(c.data.shape)) > 1
                  else _with_axis(c, -1 - given_axis(c)),
                  split_call(data(4, 4), -1, [1, 3])),
    _sign.rejects("rest-rejected", "rejects -1 as a length", lambda c, _: -1 in lengths(c),
                  split_call(data(4), 0, [1, -1])),
    *splitting.wrong_by_number(_size, "parts", split_call),
    _size.spoils("length-128", "is wrong with a length past 127",
                 lambda c, _: max(lengths(c), default=0) > 127, split_call(data(128), 0, [128])),
    _size.spoils("rest-128", "is wrong where the rest is past 127",
                 lambda c, out: -1 in lengths(c)
                 and out[lengths(c).index(-1)].shape[axis_of(c)] > 127,
                 split_call(data(130), 0, [1, -1])),
    _size.spoils("rest-past-its-type", "is wrong where the rest is past the type of the lengths",
                 lambda c, out: -1 in lengths(c) and out[lengths(c).index(-1)].shape[axis_of(c)]
                 > np.iinfo(c["split_lengths"].dtype).max,
                 split_call(data(130), 0, [1, -1], "i8")),
]  # fmt: skip
