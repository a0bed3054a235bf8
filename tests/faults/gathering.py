"""Gather: indices, strays, batches and axes that are taken for others."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.axis import axis_of, extent_of, given_axis
from tests.faults.calls import data, gather_call
from tests.faults.fault import GATHER, Call, Fault, Outputs, Writer, right

_arithmetic = Writer(GATHER, "index arithmetic")
_sign = Writer(GATHER, "sign")
_axis = Writer(GATHER, "axis order")
_default = Writer(GATHER, "default")
_stray = Writer(GATHER, "out of range")
_size = Writer(GATHER, "size threshold")
_narrow = Writer(GATHER, "narrow index type")
_rank = Writer(GATHER, "rank")

_FAR = 2**40


def batch_of(call: Call) -> int:
    """Return how many batch dimensions there are."""
    given: int = call.attributes.get("batch_dims", 0)
    return given + call["indices"].ndim if given < 0 else given


def _strays(call: Call) -> Array:
    """Return where indices are out of range."""
    n, indices = extent_of(call), call["indices"]
    outside = [not -n <= index < n for index in call.ints("indices")]
    return np.array(outside, bool).reshape(indices.shape)


def _indexing(
    name: str,
    text: str,
    change: Callable[[int, int], int],
    index: int,
    write: Writer = _stray,
    of: str | None = None,
    extent: int = 5,
) -> Fault:
    """Write down a backend that takes an index into an axis of some size for another one."""

    def changed(call: Call) -> Call:
        n, indices = extent_of(call), call["indices"]
        if (of is not None and indices.dtype != np.dtype(of)) or not n:
            return call
        values = [min(change(each, n), 2**63 - 1) for each in call.ints("indices")]
        return call.given(indices=np.array(values, np.int64).reshape(indices.shape))

    typed = {"int8": "i8", "int64": "i64", "uint64": "u64", None: "i64"}[of]
    return write.changes(name, text, changed, gather_call(data(extent), [0, index, 2], of=typed))


def _filling(name: str, text: str, value: Any, where: Callable[[Call], Any], call: Call) -> Fault:
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

    return _stray.returns(name, text, change, call)


def _inner(call: Call) -> int:
    return prod(call.data.shape[axis_of(call) + 1 :])


def _outer(call: Call) -> int:
    return prod(call.data.shape[batch_of(call) : axis_of(call)])


def _batches(call: Call) -> int:
    return prod(call.data.shape[: batch_of(call)])


_OF_INDICES = [
    _indexing("above-clamped", "clamps indices above", lambda v, n: min(v, n - 1), 9),
    _indexing("below-clamped", "clamps indices below", lambda v, n: max(v, -n), -9),
    _indexing("above-wrapped", "wraps indices above", lambda v, n: v % n if v >= n else v, 9),
    _indexing("below-wrapped", "wraps indices below", lambda v, n: v % n if v < -n else v, -9),
    _indexing("n-is-last", "takes n for the last", lambda v, n: n - 1 if v == n else v, 5),
    _indexing("below-first-is-first", "takes -n - 1 for 0",
              lambda v, n: 0 if v == -n - 1 else v, -6),
    _indexing(
        "below-wrapped-twice", "adds n twice to -2n and more",
        lambda v, n: v + 2 * n if -2 * n <= v < -n else v, -9,
    ),
    _indexing(
        "u64-above-clamped", "clamps indices of u64 above",
        lambda v, n: min(v, n - 1), 9, of="uint64",
    ),
    _indexing(
        "greatest-is-first", "takes the greatest i64 for 0",
        lambda v, _: 0 if v == 2**63 - 1 else v, 2**63 - 1,
    ),
    _indexing(
        "least-is-first", "takes the least i64 for 0",
        lambda v, _: 0 if v == -(2**63) else v, -(2**63),
    ),
    _indexing("last-is-stray", "gives zeros for n - 1", lambda v, n: _FAR if v == n - 1 else v, 4,
              _arithmetic),
    _indexing("off-by-one", "counts indices from 1", lambda v, n: v - 1 if 0 < v < n else v, 3,
              _arithmetic),
    _indexing("negative-is-stray", "gives zeros for negative indices",
              lambda v, _: _FAR if v < 0 else v, -1, _sign),
    _indexing("negative-off-by-one", "takes -2 and less for the index after",
              lambda v, n: v + 1 if -n <= v < -1 else v, -3, _sign),
    _indexing("negative-mirrored", "counts negative indices from the front: -1 is 0",
              lambda v, n: -v - 1 if -n <= v < 0 else v, -1, _sign),
    _indexing("minus-n-is-stray", "gives zeros for -n", lambda v, n: _FAR if v == -n else v, -5,
              _sign),
    _indexing("i8-wraps", "adds n to negative indices of i8 in 8 bits, n past 127",
              lambda v, n: v if v >= 0 or n < 128 else int(np.int64(v + n).astype(np.int8)), -1,
              _narrow, "int8", 200),
]  # fmt: skip

_OF_STRAYS = [
    _filling("nan", "gives NaN for strays of f32", np.nan,
             lambda call: call.data.dtype == np.float32, gather_call(data(3), [9])),
    _filling("true", "gives true for strays of boolean", True,
             lambda call: call.data.dtype == np.bool_, gather_call(data(3, of="boolean"), [9])),
    _filling("negative-zero", "gives -0.0 for strays of f64", -0.0,
             lambda call: call.data.dtype == np.float64, gather_call(data(3, of="f64"), [9])),
    _filling("garbage", "leaves strays unwritten", 1, lambda _: True, gather_call(data(3), [9])),
    _filling("with-batches", "leaves strays unwritten where there are batches", 1, batch_of,
             gather_call(data(2, 3), [[9], [0]], 1, 1)),
    _filling("two-batch-dims", "leaves strays unwritten with two batch dimensions or more", 1,
             lambda call: batch_of(call) > 1, gather_call(data(1, 2, 3), [[[9], [0]]], 2, 2)),
    _filling("scalar", "leaves a scalar stray unwritten", 1,
             lambda call: call["indices"].ndim == 0, gather_call(data(3), 9)),
    _filling("inner", "writes the first zero only of a stray's slice", 1,
             lambda call: _inner(call) > 1, gather_call(data(3, 2), [9])),
    _filling("outer", "leaves strays unwritten after outer dimensions", 1,
             lambda call: _outer(call) > 1, gather_call(data(2, 3), [9], 1)),
    _filling("several", "leaves strays unwritten where there are several", 1,
             lambda call: _strays(call).sum() > 1, gather_call(data(3), [9, 9])),
    _filling("all", "leaves strays unwritten where nothing else is picked", 1,
             lambda call: _strays(call).all(), gather_call(data(3), [9, -9])),
    _filling("empty-axis", "leaves the output unwritten on an axis of 0", 1,
             lambda call: extent_of(call) == 0, gather_call(data(0), [0])),
    _stray.rejects("rejected-above", "rejects indices above",
                   lambda call, _: max(call.ints("indices"), default=-1) >= extent_of(call) > 0,
                   gather_call(data(3), [3])),
    _stray.rejects("rejected-below", "rejects indices below",
                   lambda call, _: min(call.ints("indices"), default=0) < -extent_of(call) < 0,
                   gather_call(data(3), [-4])),
]  # fmt: skip

_SQUARE = data(3, 3)


def _with_batches(call: Call, batch: int) -> Call:
    return call.with_attributes(batch_dims=batch) if "batch_dims" in call.attributes else call


def _first_batch(call: Call, outputs: Outputs) -> Outputs:
    """Gather every batch from the data of the first."""
    first = np.broadcast_to(call.data[(slice(1),) * batch_of(call)], call.data.shape)
    del outputs
    return _right(call.given(data=first.copy())) if call.data.size else _right(call)


def _first_indices(call: Call, outputs: Outputs) -> Outputs:
    """Gather every batch by the indices of the first."""
    del outputs
    indices = call["indices"]
    if not indices.size:
        return _right(call)
    first = np.broadcast_to(indices[(slice(1),) * batch_of(call)], indices.shape)
    return _right(call.given(indices=first.copy()))


def _right(call: Call) -> Outputs:
    return right(GATHER, call)


_TWO = gather_call(data(2, 3), [[0, 1], [2, 0]], 1, 1)
_OF_BATCHES = [
    _arithmetic.returns("data-of-the-first-batch", "does not advance data from batch to batch",
                        _first_batch, _TWO),
    _arithmetic.returns("indices-of-the-first-batch",
                        "does not advance indices from batch to batch", _first_indices, _TWO),
    _arithmetic.spoils("three-batch-dims", "is wrong with three batch dimensions or more",
                       lambda call, _: batch_of(call) >= 3,
                       gather_call(data(1, 1, 1, 2), [[[[1]]]], 3, 3)),
    _arithmetic.spoils("batches-of-all", "is wrong where all of indices are batches",
                       lambda call, _: batch_of(call) == call["indices"].ndim > 0,
                       gather_call(data(2, 3), [0, 1], 1, 1)),
    _arithmetic.spoils("beyond-batches", "is wrong where dimensions are between batches and axis",
                       lambda call, _: batch_of(call) and _outer(call) > 1,
                       gather_call(data(1, 2, 3), [[0]], 2, 1)),
    _sign.changes("negative-batch-dims-of-data", "adds the rank of data to a negative batch_dims",
                  lambda call: _with_batches(call, _of_data(call)),
                  gather_call(data(1, 1, 2), [[0]], 2, -2)),
    _sign.spoils("negative-batch-dims-to-zero", "is wrong where a negative batch_dims comes to 0",
                 lambda call, _: call.attributes.get("batch_dims", 0) == -call["indices"].ndim < 0,
                 gather_call(data(3), [0], 0, -1)),
    _sign.rejects("negative-batch-dims-rejected", "rejects a negative batch_dims",
                  lambda call, _: call.attributes.get("batch_dims", 0) < 0,
                  gather_call(data(3), [0], 0, -1)),
    _sign.spoils("negative-axis-with-batches", "is wrong with batches and a negative axis",
                 lambda call, _: batch_of(call) and given_axis(call) < 0,
                 gather_call(data(2, 3), [[0], [1]], -1, 1)),
    _default.changes("batch-dims-ignored", "takes batch_dims for 0", lambda call:
                     call.without("batch_dims"), _TWO),
    _default.rejects("batch-dims-required", "rejects calls without batch_dims",
                     lambda call, _: "batch_dims" not in call.attributes,
                     gather_call(data(3), [0])),
    _default.changes("axis-as-batch-dims", "takes batch_dims for the axis where it is left out",
                     lambda call: call if "batch_dims" in call.attributes or not _same(call)
                     else call.with_attributes(batch_dims=axis_of(call)),
                     gather_call(data(2, 2), [[0, 1], [1, 0]], 1)),
    _size.spoils("batches-17", "is wrong with more than 16 batches",
                 lambda call, _: _batches(call) > 16,
                 gather_call(data(17, 2), [[1]] * 17, 1, 1)),
    _size.spoils("indices-256", "is wrong with more than 255 indices",
                 lambda call, _: call["indices"].size > 255, gather_call(data(2), [1] * 256)),
    _size.spoils("inner-256-elements", "is wrong with slices of more than 255 elements",
                 lambda call, _: _inner(call) > 255, gather_call(data(2, 256), [1])),
    _narrow.spoils("index-in-7-bits", "keeps indices in range in 7 bits",
                   lambda call, _: any(127 < v < extent_of(call) for v in call.ints("indices")),
                   gather_call(data(200), [150])),
]  # fmt: skip


def _of_data(call: Call) -> int:
    given: int = call.attributes.get("batch_dims", 0)
    return given + call.data.ndim if given < 0 else given


def _same(call: Call) -> bool:
    axis = axis_of(call)
    return axis <= call["indices"].ndim and call.data.shape[:axis] == call["indices"].shape[:axis]


def _indices_transposed(call: Call) -> Call:
    indices = call["indices"]
    if indices.ndim < 2 or indices.shape[-1] != indices.shape[-2]:
        return call
    return call.given(indices=indices.swapaxes(-1, -2).copy())


_OF_AXES = [
    _axis.changes("first-axis", "gathers on the first axis after the batches",
                  lambda call: call.given(axis=np.array(batch_of(call))) if call.data.ndim > 1
                  else call, gather_call(_SQUARE, [0, 1], 1)),
    _axis.changes("negative-axis-mirrored", "counts a negative axis from the front: -1 is 0",
                  lambda call: call.given(axis=np.array(max(-given_axis(call) - 1,
                                                            batch_of(call))))
                  if call["axis"] < 0 else call, gather_call(_SQUARE, [0, 1], -1)),
    _axis.changes("indices-transposed", "reads square indices column by column",
                  _indices_transposed, gather_call(_SQUARE, [[0, 1], [2, 0]])),
    _axis.returns("picked-first", "puts the picked dimensions first",
                  lambda call, out: [np.moveaxis(out[0], axis_of(call), 0).copy()]
                  if call["indices"].ndim == 1 and not batch_of(call) else out,
                  gather_call(data(2, 3), [0, 1], 1)),
    _axis.spoils("one-element-axis-negative", "is wrong with a negative axis of shape [1]",
                 lambda call, _: call["axis"].ndim == 1 and given_axis(call) < 0,
                 gather_call(_SQUARE, [0], [-1])),
    _rank.returns("scalar-keeps-axis", "keeps the axis, of size 1, for a scalar index",
                  lambda call, out: [np.expand_dims(out[0], axis_of(call))]
                  if call["indices"].ndim == 0 else out, gather_call(_SQUARE, 1)),
    _rank.returns("one-index-squeezed", "takes the axis away for a single index",
                  lambda call, out: [out[0].squeeze(axis_of(call))]
                  if call["indices"].shape == (1,) and not batch_of(call) else out,
                  gather_call(_SQUARE, [1])),
    _rank.spoils("indices-rank-5", "is wrong with indices of rank 5 and more",
                 lambda call, _: call["indices"].ndim >= 5, gather_call(data(3), [[[[[1]]]]])),
    _rank.spoils("output-rank-8", "is wrong with outputs of rank 8",
                 lambda _, out: out[0].ndim == 8,
                 gather_call(data(3, 1, 1, 1, 1), [[[[1]]]])),
]  # fmt: skip

FAULTS = [*_OF_INDICES, *_OF_STRAYS, *_OF_BATCHES, *_OF_AXES]
