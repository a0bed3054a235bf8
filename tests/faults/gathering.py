"""Gather: indices, strays, batches and axes that are taken for others, and wrong checks."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import (
    GATHER,
    Call,
    Fault,
    Outputs,
    Writer,
    axis_of,
    extent_of,
    given_axis,
)
from tests.faults.unchecked import AXIS_OUTSIDE, Unchecked, accepted, left_out, of_floats

_arithmetic = Writer(GATHER, "index arithmetic")
_sign = Writer(GATHER, "sign")
_axis = Writer(GATHER, "axis order")
_default = Writer(GATHER, "default")
_stray = Writer(GATHER, "out of range")
_size = Writer(GATHER, "size threshold")
_narrow = Writer(GATHER, "narrow index type")
_rank = Writer(GATHER, "rank")

_FAR = 2**40


def _batch(call: Call) -> int:
    """Return batch_dims as it is given."""
    return int(call.get("batch_dims", 0))


def batch_of(call: Call) -> int:
    """Return how many batch dimensions there are."""
    rank: int = call["indices"].ndim
    return _batch(call) + rank * (_batch(call) < 0)


def _strays(call: Call) -> Array:
    """Return where indices are out of range."""
    n, indices = extent_of(call), call["indices"]
    outside = [not -n <= index < n for index in call.ints("indices")]
    return np.array(outside, bool).reshape(indices.shape)


def _indexing(
    name: str, change: Callable[[int, int], int], write: Writer = _stray, of: str | None = None
) -> Fault:
    """Write down a backend that takes an index into an axis of some size for another one."""

    def changed(call: Call) -> Call:
        n, indices = extent_of(call), call["indices"]
        if (of is not None and indices.dtype != np.dtype(of)) or not n:
            return call
        values = [min(change(each, n), 2**63 - 1) for each in call.ints("indices")]
        return call.given(indices=np.array(values, np.int64).reshape(indices.shape))

    return write.changes(name, changed)


def _filling(name: str, value: Any, where: Callable[[Call], Any]) -> Fault:
    """Write down a backend that gives another value than 0 for strays, in some calls."""

    def change(call: Call, outputs: Outputs) -> Outputs:
        strays, output = _strays(call), outputs[0]
        if not strays.any() or not output.size or not where(call):
            return outputs
        batch, axis, data_shape = batch_of(call), axis_of(call), call.data.shape
        middle = (1,) * (axis - batch)
        after = (1,) * (call.data.ndim - axis - 1)
        shape = (*data_shape[:batch], *middle, *strays.shape[batch:], *after)
        output[np.broadcast_to(strays.reshape(shape), output.shape)] = value
        return outputs

    return _stray.returns(name, change)


def _inner(call: Call) -> int:
    return prod(call.data.shape[axis_of(call) + 1 :])


def _outer(call: Call) -> int:
    return prod(call.data.shape[batch_of(call) : axis_of(call)])


def _batches(call: Call) -> int:
    return prod(call.data.shape[: batch_of(call)])


_OF_INDICES = [
    _indexing("above-clamped", lambda v, n: min(v, n - 1)),
    _indexing("below-clamped", lambda v, n: max(v, -n)),
    _indexing("above-wrapped", lambda v, n: v % n if v >= n else v),
    _indexing("below-wrapped", lambda v, n: v % n if v < -n else v),
    _indexing("n-is-last", lambda v, n: n - 1 if v == n else v),
    _indexing("below-first-is-first", lambda v, n: 0 if v == -n - 1 else v),
    _indexing("below-wrapped-twice", lambda v, n: v + 2 * n if -2 * n <= v < -n else v),
    _indexing("u64-above-clamped", lambda v, n: min(v, n - 1), of="uint64"),
    _indexing("greatest-is-first", lambda v, _: 0 if v == 2**63 - 1 else v),
    _indexing("least-is-first", lambda v, _: 0 if v == -(2**63) else v),
    _indexing("last-is-stray", lambda v, n: _FAR if v == n - 1 else v, _arithmetic),
    _indexing("off-by-one", lambda v, n: v - 1 if 0 < v < n else v, _arithmetic),
    _indexing("negative-is-stray", lambda v, _: _FAR if v < 0 else v, _sign),
    _indexing("negative-off-by-one", lambda v, n: v + 1 if -n <= v < -1 else v, _sign),
    _indexing("negative-mirrored", lambda v, n: -v - 1 if -n <= v < 0 else v, _sign),
    _indexing("minus-n-is-stray", lambda v, n: _FAR if v == -n else v, _sign),
    _indexing("i8-wraps", lambda v, n: v if v >= 0 or n < 128
        else int(np.int64(v + n).astype(np.int8)), _narrow, "int8"),
]  # fmt: skip

_OF_STRAYS = [
    _filling("nan", np.nan, lambda call: call.data.dtype == np.float32),
    _filling("true", True, lambda call: call.data.dtype == np.bool_),
    _filling("negative-zero", -0.0, lambda call: call.data.dtype == np.float64),
    _filling("garbage", 1, lambda _: True),
    _filling("with-batches", 1, batch_of),
    _filling("two-batch-dims", 1, lambda call: batch_of(call) > 1),
    _filling("scalar", 1, lambda call: call["indices"].ndim == 0),
    _filling("inner", 1, lambda call: _inner(call) > 1),
    _filling("outer", 1, lambda call: _outer(call) > 1),
    _filling("several", 1, lambda call: _strays(call).sum() > 1),
    _filling("all", 1, lambda call: _strays(call).all()),
    _filling("empty-axis", 1, lambda call: extent_of(call) == 0),
    _stray.rejects("rejected-above",
        lambda call, _: max(call.ints("indices"), default=-1) >= extent_of(call) > 0),
    _stray.rejects("rejected-below",
        lambda call, _: min(call.ints("indices"), default=0) < -extent_of(call) < 0),
]  # fmt: skip


def _of_the_first(name: str) -> Callable[[Call], Call]:
    """Gather every batch from the data or by the indices of the first."""

    def change(call: Call) -> Call:
        if not call[name].size:
            return call
        first = np.broadcast_to(call[name][(slice(1),) * batch_of(call)], call[name].shape)
        return call.given(**{name: first.copy()})

    return change


def _batches_of_data(call: Call) -> Call:
    """Count a negative batch_dims from the end of data."""
    return call.given(batch_dims=_batch(call) + call.data.ndim) if _batch(call) < 0 else call


_OF_BATCHES = [
    _arithmetic.changes("data-of-the-first-batch", _of_the_first("data")),
    _arithmetic.changes("indices-of-the-first-batch", _of_the_first("indices")),
    _arithmetic.spoils("three-batch-dims", lambda call, _: batch_of(call) >= 3),
    _arithmetic.spoils("batches-of-all",
        lambda call, _: batch_of(call) == call["indices"].ndim > 0),
    _arithmetic.spoils("beyond-batches", lambda call, _: batch_of(call) and _outer(call) > 1),
    _sign.changes("negative-batch-dims-of-data", _batches_of_data),
    _sign.spoils("negative-batch-dims-to-zero",
        lambda call, _: _batch(call) == -call["indices"].ndim < 0),
    _sign.rejects("negative-batch-dims-rejected", lambda call, _: _batch(call) < 0),
    _sign.spoils("negative-axis-with-batches",
        lambda call, _: batch_of(call) and given_axis(call) < 0),
    _default.changes("batch-dims-ignored", lambda call: call.without("batch_dims")),
    _default.rejects("batch-dims-required", lambda call, _: "batch_dims" not in call),
    _default.changes("axis-as-batch-dims", lambda call: call if "batch_dims" in call
        or not _same(call) else call.given(batch_dims=axis_of(call))),
    _size.spoils("batches-17", lambda call, _: _batches(call) > 16),
    _size.spoils("indices-256", lambda call, _: call["indices"].size > 255),
    _size.spoils("inner-256-elements", lambda call, _: _inner(call) > 255),
    _narrow.spoils("index-in-7-bits",
        lambda call, _: any(127 < v < extent_of(call) for v in call.ints("indices"))),
]  # fmt: skip


def _same(call: Call) -> bool:
    axis = axis_of(call)
    return bool(call.data.shape[:axis] == call["indices"].shape[:axis])


def _indices_transposed(call: Call) -> Call:
    indices = call["indices"]
    if indices.ndim < 2 or indices.shape[-1] != indices.shape[-2]:
        return call
    return call.given(indices=indices.swapaxes(-1, -2).copy())


_OF_AXES = [
    _axis.changes("first-axis",
        lambda call: call.given(axis=np.array(batch_of(call))) if call.data.ndim > 1 else call),
    _axis.changes("negative-axis-mirrored",
        lambda call: call.given(axis=np.array(max(-given_axis(call) - 1, batch_of(call))))
        if call["axis"] < 0 else call),
    _axis.changes("indices-transposed", _indices_transposed),
    _axis.returns("picked-first", lambda call, out: [np.moveaxis(out[0], axis_of(call), 0).copy()]
        if call["indices"].ndim == 1 and not batch_of(call) else out),
    _axis.spoils("one-element-axis-negative",
        lambda call, _: call["axis"].ndim == 1 and given_axis(call) < 0),
    _rank.returns("scalar-keeps-axis", lambda call, out: [np.expand_dims(out[0], axis_of(call))]
        if call["indices"].ndim == 0 else out),
    _rank.returns("one-index-squeezed", lambda call, out: [out[0].squeeze(axis_of(call))]
        if call["indices"].shape == (1,) and not batch_of(call) else out),
    _rank.spoils("indices-rank-5", lambda call, _: call["indices"].ndim >= 5),
    _rank.spoils("output-rank-8", lambda _, out: out[0].ndim == 8),
]  # fmt: skip


_lax = Writer(GATHER, "missing validation")
_strict = Writer(GATHER, "over-strict")


def _least_rank(call: Call) -> int:
    return min(call.data.ndim, int(call["indices"].ndim))


def _pairs(call: Call) -> list[tuple[int, int]]:
    """Return the sizes of each batch dimension, of data and of indices."""
    return list(zip(call.data.shape[: batch_of(call)], call["indices"].shape, strict=False))


_UNCHECKED: tuple[Unchecked, ...] = (
    *left_out("data", "indices", "axis"),
    *of_floats(indices="indices-type", axis="axis-type"),
    ("axis-shape", "matrix", lambda c: c["axis"].shape == (1, 1)),
    ("axis-shape", "any-rank", lambda c: c["axis"].ndim >= 2),
    *AXIS_OUTSIDE,
    ("axis-range", "scalar-data", lambda c: c.data.ndim == 0),
    ("batch-dims-range", "above", lambda c: _batch(c) > _least_rank(c)),
    ("batch-dims-range", "below", lambda c: _batch(c) < -_least_rank(c)),
    ("batch-dims-range", "below-yet-legal",
        lambda c: -c["indices"].ndim <= _batch(c) < -_least_rank(c)),
    ("batch-dims-range", "data-only", lambda c: c["indices"].ndim < _batch(c) <= c.data.ndim),
    ("batch-dims-range", "indices-only", lambda c: c.data.ndim < _batch(c) <= c["indices"].ndim),
    ("batch-dims-at-most-axis", "any", lambda _: True),
    ("batch-dims-at-most-axis", "negative-batch", lambda c: _batch(c) < 0),
    ("batch-dims-at-most-axis", "negative-axis", lambda c: given_axis(c) < 0),
    ("batch-dims-at-most-axis", "by-two", lambda c: batch_of(c) > axis_of(c) + 1),
    ("batch-shapes-equal", "data-stretched", lambda c: all(x in (1, y) for x, y in _pairs(c))),
    ("batch-shapes-equal", "indices-stretched", lambda c: all(y in (1, x) for x, y in _pairs(c))),
    ("batch-shapes-equal", "indices-fewer", lambda c: all(x >= y for x, y in _pairs(c))),
    ("batch-shapes-equal", "indices-more", lambda c: all(x <= y for x, y in _pairs(c))),
    ("batch-shapes-equal", "same-product",
        lambda c: prod(x for x, _ in _pairs(c)) == prod(y for _, y in _pairs(c))),
    ("batch-shapes-equal", "first-only", lambda c: len(set(_pairs(c)[0])) == 1),
    ("batch-shapes-equal", "last-only", lambda c: batch_of(c) > 1 and len(set(_pairs(c)[-1])) == 1),
    ("batch-shapes-equal", "negative-batch", lambda c: _batch(c) < 0),
)  # fmt: skip

_STRICT = [
    _strict.rejects("negative-index-rejected", lambda c, _: min(c.ints("indices"), default=0) < 0),
    _strict.rejects("negative-axis-rejected", lambda c, _: given_axis(c) < 0),
    _strict.rejects("one-element-axis-rejected", lambda c, _: c["axis"].ndim == 1),
    _strict.rejects("scalar-axis-rejected", lambda c, _: c["axis"].ndim == 0),
    _strict.rejects("scalar-index-rejected", lambda c, _: c["indices"].ndim == 0),
    _strict.rejects("batches-of-all-rejected", lambda c, _: batch_of(c) == c["indices"].ndim > 0),
    _strict.rejects("batches-before-axis-only", lambda c, _: 0 < batch_of(c) < axis_of(c)),
    _strict.rejects("unsigned-indices-rejected", lambda c, _: c["indices"].dtype == np.uint64),
]  # fmt: skip

FAULTS = [
    *_OF_INDICES,
    *_OF_STRAYS,
    *_OF_BATCHES,
    *_OF_AXES,
    *accepted(_lax, _UNCHECKED),
    *_STRICT,
]
