"""Gather: requirements that go unchecked, whole or in part, and valid calls that are rejected."""

from math import prod

import numpy as np

from tests.faults.axis import axis_of, given_axis
from tests.faults.calls import data, gather_call, ints
from tests.faults.fault import GATHER, Call, Writer
from tests.faults.gathering import batch_of
from tests.faults.unchecked import Unchecked, accepted, axis_outside, left_out, of_floats

_lax = Writer(GATHER, "missing validation")
_strict = Writer(GATHER, "over-strict")

_ONE = gather_call(data(4, 4), [0, 1], 0)
_BATCHED = gather_call(data(2, 3, 4), [[[0], [1], [2]]] * 2, 2, 2)


def _batch(call: Call) -> int:
    given: int = call.attributes.get("batch_dims", 0)
    return given


def _least_rank(call: Call) -> int:
    return min(call.data.ndim, call["indices"].ndim)


def _pairs(call: Call) -> list[tuple[int, int]]:
    """Return the sizes of each batch dimension, of data and of indices."""
    return list(zip(call.data.shape[: batch_of(call)], call["indices"].shape, strict=False))


_UNCHECKED: tuple[Unchecked, ...] = (
    *left_out(_ONE, "data", "indices", "axis"),
    *of_floats(_ONE, indices="indices-type", axis="axis-type"),
    ("axis-shape", "matrix", "an axis of shape [1, 1]", lambda c: c["axis"].shape == (1, 1),
     _ONE.given(axis=ints([[0]]))),
    ("axis-shape", "any-rank", "an axis of rank 2 and more",
     lambda c: c["axis"].ndim >= 2, _ONE.given(axis=ints([[[0]]]))),
    *axis_outside(_ONE),
    ("axis-range", "scalar-data", "a scalar as data", lambda c: c.data.ndim == 0,
     gather_call(data(), 0)),
    ("batch-dims-range", "above", "a batch_dims past the smaller rank",
     lambda c: _batch(c) > _least_rank(c), gather_call(data(2), [0, 0], 0, 2)),
    ("batch-dims-range", "below", "a batch_dims below the negated smaller rank",
     lambda c: _batch(c) < -_least_rank(c), gather_call(data(2), [0, 0], 0, -2)),
    ("batch-dims-range", "below-yet-legal", "a batch_dims below that is legal when normalized",
     lambda c: -c["indices"].ndim <= _batch(c) < -_least_rank(c),
     gather_call(data(4), [[0, 1]], 0, -2)),
    ("batch-dims-range", "data-only", "a batch_dims that data alone has",
     lambda c: c["indices"].ndim < _batch(c) <= c.data.ndim,
     gather_call(data(2, 2), [0, 0], 1, 2)),
    ("batch-dims-range", "indices-only", "a batch_dims that indices alone has",
     lambda c: c.data.ndim < _batch(c) <= c["indices"].ndim,
     gather_call(data(2), [[0], [0]], 0, 2)),
    ("batch-dims-at-most-axis", "any", "a batch_dims beyond axis", lambda _: True,
     gather_call(data(2, 2), [0, 0], 0, 1)),
    ("batch-dims-at-most-axis", "negative-batch", "a negative batch_dims that comes beyond axis",
     lambda c: _batch(c) < 0, gather_call(data(2, 2), [[0], [0]], 0, -1)),
    ("batch-dims-at-most-axis", "negative-axis", "a batch_dims beyond a negative axis",
     lambda c: given_axis(c) < 0, gather_call(data(2, 2), [0, 0], -2, 1)),
    ("batch-dims-at-most-axis", "by-two", "a batch_dims two or more beyond axis",
     lambda c: batch_of(c) > axis_of(c) + 1, gather_call(data(2, 2), [[0, 0], [0, 0]], 0, 2)),
    ("batch-shapes-equal", "data-stretched", "data with a batch of 1, stretched",
     lambda c: all(x in (1, y) for x, y in _pairs(c)),
     gather_call(data(1, 3), [[0], [1]], 1, 1)),
    ("batch-shapes-equal", "indices-stretched", "indices with a batch of 1, stretched",
     lambda c: all(y in (1, x) for x, y in _pairs(c)),
     gather_call(data(2, 3), [[0]], 1, 1)),
    ("batch-shapes-equal", "indices-fewer", "fewer batches of indices than of data",
     lambda c: all(x >= y for x, y in _pairs(c)), gather_call(data(3, 3), [[0], [1]], 1, 1)),
    ("batch-shapes-equal", "indices-more", "more batches of indices than of data",
     lambda c: all(x <= y for x, y in _pairs(c)), gather_call(data(2, 3), [[0]] * 3, 1, 1)),
    ("batch-shapes-equal", "same-product", "batches that are as many in another shape",
     lambda c: prod(x for x, _ in _pairs(c)) == prod(y for _, y in _pairs(c)),
     gather_call(data(2, 3, 4), [[[0]] * 2] * 3, 2, 2)),
    ("batch-shapes-equal", "first-only", "batches that agree in the first dimension",
     lambda c: len(set(_pairs(c)[0])) == 1,
     _BATCHED.given(data=data(2, 2, 4))),
    ("batch-shapes-equal", "last-only", "batches that agree in the last dimension",
     lambda c: batch_of(c) > 1 and len(set(_pairs(c)[-1])) == 1,
     _BATCHED.given(data=data(3, 3, 4))),
    ("batch-shapes-equal", "negative-batch", "other batches where batch_dims is negative",
     lambda c: _batch(c) < 0, _BATCHED.given(data=data(2, 2, 4)).with_attributes(batch_dims=-1)),
)  # fmt: skip

_STRICT = [
    _strict.rejects("negative-index-rejected", "rejects negative indices",
                    lambda c, _: min(c.ints("indices"), default=0) < 0,
                    gather_call(data(4), [-1])),
    _strict.rejects("negative-axis-rejected", "rejects a negative axis",
                    lambda c, _: given_axis(c) < 0, gather_call(data(4), [0], -1)),
    _strict.rejects("one-element-axis-rejected", "rejects an axis of shape [1]",
                    lambda c, _: c["axis"].ndim == 1, gather_call(data(4), [0], [0])),
    _strict.rejects("scalar-axis-rejected", "rejects a scalar axis",
                    lambda c, _: c["axis"].ndim == 0, gather_call(data(4), [0], 0)),
    _strict.rejects("scalar-index-rejected", "rejects scalar indices",
                    lambda c, _: c["indices"].ndim == 0, gather_call(data(4), 0)),
    _strict.rejects("batches-of-all-rejected", "rejects a batch_dims of the rank of indices",
                    lambda c, _: batch_of(c) == c["indices"].ndim > 0,
                    gather_call(data(2, 2), [0, 1], 1, 1)),
    _strict.rejects("batches-before-axis-only", "rejects an axis beyond batch_dims",
                    lambda c, _: 0 < batch_of(c) < axis_of(c),
                    gather_call(data(2, 2, 2), [[0], [1]], 2, 1)),
    _strict.rejects("unsigned-indices-rejected", "rejects indices of u64",
                    lambda c, _: c["indices"].dtype == np.uint64,
                    gather_call(data(4), [0], of="u64")),
]  # fmt: skip

FAULTS = [
    *accepted(_lax, _UNCHECKED),
    *_STRICT,
]
