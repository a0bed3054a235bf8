"""VariadicSplit: lengths, offsets and axes that are taken for others, and wrong checks."""

from itertools import accumulate

import numpy as np

from tests.faults.fault import SPLIT, Call, Outputs, Writer, axis_of, extent_of, given_axis
from tests.faults.splitting import (
    equal_parts,
    from_the_first,
    in_memory_order,
    lengths,
    wrong_by_number,
)
from tests.faults.unchecked import AXIS_OUTSIDE, Unchecked, accepted, left_out, of_floats

_arithmetic = Writer(SPLIT, "index arithmetic")
_axis = Writer(SPLIT, "axis order")
_sign = Writer(SPLIT, "sign")
_size = Writer(SPLIT, "size threshold")


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


_OWN = [
    _arithmetic.returns("offset-not-advanced", from_the_first),
    _arithmetic.returns("equal-parts", equal_parts),
    _arithmetic.returns("equal-by-the-first", lambda c, out: equal_parts(c, out) if len(out) > 2
        and lengths(c)[0] * len(out) == extent_of(c) else out),
    _arithmetic.returns("rest-last", _rest_last),
    _arithmetic.returns("in-memory-order", in_memory_order),
    _arithmetic.returns("order-reversed", lambda _, out: out[::-1]),
    _arithmetic.spoils("rest-first", lambda c, out: out and _at(c, 0)),
    _arithmetic.spoils("rest-at-the-end", lambda c, out: out and _at(c, -1)),
    _arithmetic.spoils("rest-in-the-middle", lambda c, _: -1 in lengths(c)[1:-1]),
    _arithmetic.spoils("rest-alone", lambda c, _: lengths(c) == [-1]),
    _arithmetic.spoils("rest-first-on-the-last-axis",
        lambda c, out: out and _at(c, 0) and axis_of(c) == c.data.ndim - 1),
    _arithmetic.spoils("zero-with-rest", lambda c, _: {0, -1} <= set(lengths(c))),
    _arithmetic.spoils("two-zeros", lambda c, _: lengths(c).count(0) > 1),
    _axis.changes("first-axis",
        lambda c: _with_axis(c, 0) if c.data.shape[0] == extent_of(c) else c),
    _axis.changes("last-axis",
        lambda c: _with_axis(c, -1) if c.data.shape[-1] == extent_of(c) else c),
    _axis.spoils("middle-axis", lambda c, _: 0 < axis_of(c) < c.data.ndim - 1),
    _axis.spoils("one-element-axis", lambda c, _: c["axis"].ndim == 1),
    _sign.rejects("negative-axis-rejected", lambda c, _: given_axis(c) < 0),
    _sign.spoils("axis-below-minus-one", lambda c, _: given_axis(c) < -1),
    _sign.spoils("axis-minus-rank", lambda c, _: given_axis(c) == -c.data.ndim),
    _sign.changes("negative-axis-mirrored", lambda c: c if given_axis(c) >= 0
        or len(set(c.data.shape)) > 1 else _with_axis(c, -1 - given_axis(c))),
    _sign.rejects("rest-rejected", lambda c, _: -1 in lengths(c)),
    *wrong_by_number(_size),
    _size.spoils("length-128", lambda c, _: max(lengths(c), default=0) > 127),
    _size.spoils("rest-128",
        lambda c, out: -1 in lengths(c) and out[lengths(c).index(-1)].shape[axis_of(c)] > 127),
    _size.spoils("rest-past-its-type", lambda c, out: -1 in lengths(c)
        and out[lengths(c).index(-1)].shape[axis_of(c)] > np.iinfo(c["split_lengths"].dtype).max),
]  # fmt: skip


_lax = Writer(SPLIT, "missing validation")
_strict = Writer(SPLIT, "over-strict")


def _over(call: Call) -> int:
    """Return by how much the lengths other than a -1 exceed the axis."""
    return sum(length for length in lengths(call) if length > 0) - extent_of(call)


def _first_rest(call: Call) -> int:
    return lengths(call).index(-1)


_UNCHECKED: tuple[Unchecked, ...] = (
    *left_out("data", "axis", "split_lengths"),
    *of_floats(axis="axis-type", split_lengths="lengths-type"),
    ("axis-shape", "matrix", lambda c: c["axis"].shape == (1, 1)),
    ("axis-shape", "two", lambda c: c["axis"].shape == (2,)),
    ("axis-shape", "none", lambda c: c["axis"].size == 0),
    *AXIS_OUTSIDE,
    ("axis-range", "scalar-data", lambda c: c.data.ndim == 0),
    ("lengths-rank", "scalar", lambda c: c["split_lengths"].ndim == 0),
    ("lengths-rank", "row",
        lambda c: c["split_lengths"].ndim == 2 and c["split_lengths"].shape[0] == 1),
    ("lengths-rank", "column",
        lambda c: c["split_lengths"].ndim == 2 and c["split_lengths"].shape[0] > 1),
    ("lengths-not-below-minus-one", "below-minus-two", lambda c: min(lengths(c)) < -2),
    ("lengths-not-below-minus-one", "sum-right", lambda c: sum(lengths(c)) == extent_of(c)),
    ("lengths-not-below-minus-one", "last", lambda c: len(lengths(c)) > 1 and lengths(c)[-1] < -1),
    ("lengths-not-below-minus-one", "with-rest", lambda c: -1 in lengths(c)),
    ("one-minus-one", "three", lambda c: lengths(c).count(-1) > 2),
    ("one-minus-one", "neighbours", lambda c: lengths(c)[_first_rest(c) + 1] == -1),
    ("one-minus-one", "apart", lambda c: lengths(c)[_first_rest(c) + 1] != -1),
    ("lengths-sum", "below", lambda c: _over(c) < 0),
    ("lengths-sum", "above", lambda c: _over(c) > 0),
    ("lengths-sum", "alone", lambda c: len(lengths(c)) == 1),
    ("lengths-sum", "none", lambda c: not lengths(c)),
    ("lengths-sum", "in-8-bits", lambda c: _over(c) % 256 == 0),
    ("lengths-sum", "in-32-bits", lambda c: _over(c) % 2**32 == 0),
    ("lengths-sum", "empty-data", lambda c: c.data.size == 0),
    ("lengths-sum", "negative-axis", lambda c: given_axis(c) < 0),
    ("lengths-leave-rest", "by-one", lambda c: _over(c) == 1),
    ("lengths-leave-rest", "first", lambda c: lengths(c)[0] == -1),
    ("lengths-leave-rest", "last", lambda c: lengths(c)[-1] == -1),
)  # fmt: skip

_STRICT = [
    _strict.rejects("one-element-axis-rejected", lambda c, _: c["axis"].ndim == 1),
    _strict.rejects("scalar-axis-rejected", lambda c, _: c["axis"].ndim == 0),
    _strict.rejects("one-part-rejected", lambda _, out: len(out) == 1),
    _strict.rejects("unequal-parts-rejected",
        lambda c, out: len({each.shape[axis_of(c)] for each in out}) > 1),
    _strict.rejects("unsigned-axis-rejected", lambda c, _: c["axis"].dtype == np.uint64),
    _strict.rejects("narrow-lengths-rejected", lambda c, _: c["split_lengths"].itemsize == 1),
]  # fmt: skip

FAULTS = [
    *_OWN,
    *accepted(_lax, _UNCHECKED),
    *_STRICT,
]
