"""VariadicSplit: requirements that go unchecked, in part too, and valid calls that are rejected."""

import numpy as np

from tests.faults.axis import axis_of, extent_of, given_axis
from tests.faults.calls import data, ints, split_call
from tests.faults.fault import SPLIT, Call, Writer
from tests.faults.unchecked import Unchecked, accepted, axis_outside, left_out, of_floats
from tests.faults.variadic_split import lengths

_lax = Writer(SPLIT, "missing validation")
_strict = Writer(SPLIT, "over-strict")

_TWO = split_call(data(6, 2), 0, [2, 4])


def _over(call: Call) -> int:
    """Return by how much the lengths other than a -1 exceed the axis."""
    return sum(length for length in lengths(call) if length > 0) - extent_of(call)


def _first_rest(call: Call) -> int:
    return lengths(call).index(-1)


def _with_lengths(*values: int) -> Call:
    return _TWO.given(split_lengths=ints(values))


_UNCHECKED: tuple[Unchecked, ...] = (
    *left_out(_TWO, "data", "axis", "split_lengths"),
    *of_floats(_TWO, axis="axis-type", split_lengths="lengths-type"),
    ("axis-shape", "matrix", "an axis of shape [1, 1]", lambda c: c["axis"].shape == (1, 1),
     _TWO.given(axis=ints([[0]]))),
    ("axis-shape", "two", "two axes, of which it takes the first",
     lambda c: c["axis"].shape == (2,), _TWO.given(axis=ints([0, 1]))),
    ("axis-shape", "none", "an empty axis", lambda c: c["axis"].size == 0,
     _TWO.given(axis=ints([]))),
    *axis_outside(_TWO),
    ("axis-range", "scalar-data", "a scalar as data", lambda c: c.data.ndim == 0,
     split_call(data(), 0, [1])),
    ("lengths-rank", "scalar", "a scalar as split_lengths",
     lambda c: c["split_lengths"].ndim == 0, _TWO.given(split_lengths=ints(6))),
    ("lengths-rank", "row", "split_lengths of shape [1, n]",
     lambda c: c["split_lengths"].ndim == 2 and c["split_lengths"].shape[0] == 1,
     _TWO.given(split_lengths=ints([[2, 4]]))),
    ("lengths-rank", "column", "split_lengths of shape [n, 1]",
     lambda c: c["split_lengths"].ndim == 2 and c["split_lengths"].shape[0] > 1,
     _TWO.given(split_lengths=ints([[2], [4]]))),
    ("lengths-not-below-minus-one", "below-minus-two", "a length below -2",
     lambda c: min(lengths(c)) < -2, _with_lengths(9, -3)),
    ("lengths-not-below-minus-one", "sum-right", "negative lengths where the sum is right",
     lambda c: sum(lengths(c)) == extent_of(c), _with_lengths(8, -2)),
    ("lengths-not-below-minus-one", "last", "a last length below -1",
     lambda c: len(lengths(c)) > 1 and lengths(c)[-1] < -1, _with_lengths(8, -2)),
    ("lengths-not-below-minus-one", "with-rest", "a length below -1 together with a -1",
     lambda c: -1 in lengths(c), _with_lengths(-2, -1, 2)),
    ("one-minus-one", "three", "three -1 and more", lambda c: lengths(c).count(-1) > 2,
     _with_lengths(-1, -1, -1)),
    ("one-minus-one", "neighbours", "two -1 in a row",
     lambda c: lengths(c)[_first_rest(c) + 1] == -1, _with_lengths(-1, -1, 6)),
    ("one-minus-one", "apart", "two -1 with others between",
     lambda c: lengths(c)[_first_rest(c) + 1] != -1, _with_lengths(-1, 6, -1)),
    ("lengths-sum", "below", "lengths that sum to less", lambda c: _over(c) < 0,
     _with_lengths(2, 3)),
    ("lengths-sum", "above", "lengths that sum to more", lambda c: _over(c) > 0,
     _with_lengths(2, 5)),
    ("lengths-sum", "alone", "a length alone that is not the axis'",
     lambda c: len(lengths(c)) == 1, _with_lengths(5)),
    ("lengths-sum", "none", "no lengths at all", lambda c: not lengths(c), _with_lengths()),
    ("lengths-sum", "in-8-bits", "lengths whose sum is right in 8 bits",
     lambda c: _over(c) % 256 == 0, _with_lengths(2, 260)),
    ("lengths-sum", "in-32-bits", "lengths whose sum is right in 32 bits",
     lambda c: _over(c) % 2**32 == 0, _with_lengths(2, 4 + 2**32)),
    ("lengths-sum", "empty-data", "any lengths where data is empty", lambda c: c.data.size == 0,
     split_call(data(0), 0, [2])),
    ("lengths-sum", "negative-axis", "any lengths where axis is negative",
     lambda c: given_axis(c) < 0, split_call(data(6), -1, [2])),
    ("lengths-leave-rest", "by-one", "lengths that are one too long together with -1",
     lambda c: _over(c) == 1, _with_lengths(7, -1)),
    ("lengths-leave-rest", "first", "too long lengths where -1 is first",
     lambda c: lengths(c)[0] == -1, _with_lengths(-1, 9)),
    ("lengths-leave-rest", "last", "too long lengths where -1 is last",
     lambda c: lengths(c)[-1] == -1, _with_lengths(9, -1)),
)  # fmt: skip

_STRICT = [
    _strict.rejects("one-element-axis-rejected", "rejects an axis of shape [1]",
                    lambda c, _: c["axis"].ndim == 1, split_call(data(4), [0], [4])),
    _strict.rejects("scalar-axis-rejected", "rejects a scalar axis",
                    lambda c, _: c["axis"].ndim == 0, split_call(data(4), 0, [4])),
    _strict.rejects("one-part-rejected", "rejects a single part", lambda _, out: len(out) == 1,
                    split_call(data(4), 0, [4])),
    _strict.rejects("unequal-parts-rejected", "rejects parts of unequal sizes",
                    lambda c, out: len({each.shape[axis_of(c)] for each in out}) > 1,
                    split_call(data(4), 0, [1, 3])),
    _strict.rejects("unsigned-axis-rejected", "rejects an axis of u64",
                    lambda c, _: c["axis"].dtype == np.uint64, split_call(data(4), 0, [4], "u64")),
    _strict.rejects("narrow-lengths-rejected", "rejects lengths of 8 bits",
                    lambda c, _: c["split_lengths"].itemsize == 1,
                    split_call(data(4), 0, [4], "i8")),
]  # fmt: skip

FAULTS = [
    *accepted(_lax, _UNCHECKED),
    *_STRICT,
]
