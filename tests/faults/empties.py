"""Dimensions of 0: data without elements, outputs without elements."""

import numpy as np

from tests.faults.axis import axis_of, extent_of
from tests.faults.calls import broadcast_call, data, gather_call, slice_call, split_call, whole
from tests.faults.fault import BROADCAST, GATHER, SLICE, SPLIT, Call, Fault, Outputs, Writer

# Whether DirectML has dimensions of 0 at all, its document leaves open.
OPERATORS = (SPLIT, SLICE, BROADCAST, GATHER)
_MECHANISM = "empty"
_split, _slice, _broadcast, _gather = (Writer(each, _MECHANISM) for each in OPERATORS)


def _without_elements(_: Call, outputs: Outputs) -> Outputs:
    return [each if each.size else np.zeros(0, each.dtype) for each in outputs]


def _default_type(_: Call, outputs: Outputs) -> Outputs:
    return [each if each.size else np.zeros(each.shape) for each in outputs]


def _faults(operator: str) -> list[Fault]:
    write, call = Writer(operator, _MECHANISM), whole(operator, data(2, 0, 3))
    return [
        write.rejects(
            "data-rejected", "rejects data without elements", lambda c, _: not c.data.size, call
        ),
        write.returns("rank-lost", "gives [0] for any empty output", _without_elements, call),
        write.returns("type-lost", "gives f64 for any empty output", _default_type, call),
    ]


def _lengths(call: Call) -> list[int]:
    return call.ints("split_lengths")


def _rest(call: Call, outputs: Outputs) -> int | None:
    """Return the length of the part that -1 means."""
    lengths = _lengths(call)
    return outputs[lengths.index(-1)].shape[axis_of(call)] if -1 in lengths else None


def _at_least_one(call: Call, outputs: Outputs) -> Outputs:
    """Give one element where a slice is empty, as a loop that tests at its end does."""
    shape = [n or min(1, of) for n, of in zip(outputs[0].shape, call.data.shape, strict=True)]
    return outputs if outputs[0].size else [np.zeros(shape, call.data.dtype)]


def _unsliced(call: Call, outputs: Outputs) -> Outputs:
    shape = [n and of for n, of in zip(outputs[0].shape, call.data.shape, strict=True)]
    return outputs if outputs[0].size else [np.zeros(shape, call.data.dtype)]


def _stretched_to_zero(call: Call, outputs: Outputs) -> list[tuple[int, int]]:
    """Return the positions of data that are 1 and become 0, with those of the output."""
    shape, shift = call.data.shape, outputs[0].ndim - call.data.ndim
    axes = call.ints("axes_mapping") if "axes_mapping" in call.inputs else range(shift, 99)
    pairs = zip(range(len(shape)), axes, strict=False)
    return [(i, axis) for i, axis in pairs if shape[i] == 1 and outputs[0].shape[axis] == 0]


def _ones_kept(call: Call, outputs: Outputs) -> Outputs:
    shape = list(outputs[0].shape)
    for _, axis in _stretched_to_zero(call, outputs):
        shape[axis] = 1
    return [np.zeros(shape, call.data.dtype)] if shape != list(outputs[0].shape) else outputs


_OWN = [
    _split.returns(
        "zero-length-dropped",
        "returns no part for a length of 0",
        lambda c, out: [each for each, n in zip(out, _lengths(c), strict=True) if n != 0],
        split_call(data(3), 0, [1, 0, 2]),
    ),
    _split.returns(
        "last-zero-length-dropped",
        "returns no part for a last length of 0",
        lambda c, out: out[:-1] if len(out) > 1 and _lengths(c)[-1] == 0 else out,
        split_call(data(3), 0, [1, 2, 0]),
    ),
    _split.rejects(
        "zero-length-rejected",
        "rejects a length of 0",
        lambda c, _: 0 in _lengths(c),
        split_call(data(3), 0, [3, 0]),
    ),
    _split.rejects(
        "empty-rest-rejected",
        "rejects a -1 that gets nothing",
        lambda c, out: _rest(c, out) == 0,
        split_call(data(3), 0, [3, -1]),
    ),
    _split.returns(
        "empty-rest-dropped",
        "returns no part for a -1 that gets nothing",
        lambda c, out: [
            each
            for each, n in zip(out, _lengths(c), strict=True)
            if n != -1 or each.shape[axis_of(c)]
        ],
        split_call(data(3), 0, [3, -1]),
    ),
    _slice.returns(
        "one-element-at-least",
        "gives one element for an empty slice",
        _at_least_one,
        slice_call(data(4), [2], [2], [1]),
    ),
    _slice.returns(
        "others-unsliced",
        "slices no other dimension where one becomes empty",
        _unsliced,
        slice_call(data(4, 4), [2, 1], [2, 3], [1, 1]),
    ),
    _slice.rejects(
        "empty-slice-rejected",
        "rejects slices that select nothing",
        lambda c, out: c.data.size and not out[0].size,
        slice_call(data(4), [2], [2], [1]),
    ),
    _slice.rejects(
        "start-at-the-end-rejected",
        "rejects a start past the last element",
        lambda c, _: (
            any(start >= n for start, n in zip(c.ints("start"), c.data.shape, strict=False))
            and "axes" not in c.inputs
        ),
        slice_call(data(4), [4], [9], [1]),
    ),
    _broadcast.rejects(
        "one-to-zero-rejected",
        "rejects that 1 becomes 0",
        _stretched_to_zero,
        broadcast_call(data(2, 1), [2, 0]),
    ),
    _broadcast.returns(
        "one-stays-one",
        "leaves 1 where the target is 0",
        _ones_kept,
        broadcast_call(data(2, 1), [2, 0]),
    ),
    _broadcast.rejects(
        "new-zero-rejected",
        "rejects a target that has a 0 where data has no axis",
        lambda c, out: (
            0 in out[0].shape[: out[0].ndim - c.data.ndim] and "axes_mapping" not in c.inputs
        ),
        broadcast_call(data(2), [0, 2]),
    ),
    _broadcast.rejects(
        "explicit-zero-rejected",
        "rejects a 0 in the target in mode explicit",
        lambda c, out: 0 in out[0].shape and "axes_mapping" in c.inputs,
        broadcast_call(data(2), [2, 0], [0]),
    ),
    _gather.rejects(
        "no-indices-rejected",
        "rejects empty indices",
        lambda c, _: not c["indices"].size,
        gather_call(data(3), []),
    ),
    _gather.returns(
        "no-indices-no-rank",
        "gives [0] for empty indices",
        lambda c, out: out if c["indices"].size else [np.zeros(0, out[0].dtype)],
        gather_call(data(3, 2), []),
    ),
    _gather.rejects(
        "empty-axis-rejected",
        "rejects indices into an axis of 0",
        lambda c, out: extent_of(c) == 0 and out[0].size,
        gather_call(data(0), [0]),
    ),
    _gather.returns(
        "empty-axis-uninitialised",
        "leaves the output unwritten where the axis is 0",
        lambda c, out: [
            np.full_like(each.view(np.uint8), 1).view(each.dtype)
            if each.size and each.ndim and not extent_of(c)
            else each
            for each in out
        ],
        gather_call(data(0), [0, 0]),
    ),
]

FAULTS = [*(fault for operator in OPERATORS for fault in _faults(operator)), *_OWN]
