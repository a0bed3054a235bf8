"""Outputs of the wrong number, type, byte order or shape, and tensors without elements."""

from collections.abc import Callable

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Outputs,
    Row,
    Writer,
    axis_of,
    extent_of,
    of_each,
)
from tests.faults.splitting import lengths


def _each(change: Callable[[Array], Array]) -> Callable[[Call, Outputs], Outputs]:
    return lambda _, outputs: [change(each) for each in outputs]


def _as_stored(array: Array) -> Array:
    """Return types that NumPy lacks as the unsigned integers that hold them."""
    plain = array.dtype.isbuiltin == 1
    return array if plain else array.view(f"u{array.itemsize}")


def _as(array: Array, of: str, to: str) -> Array:
    return array.astype(to) if array.dtype == of else array


_NUMBERS: tuple[Row, ...] = (
    (Writer.returns, "bare-array", lambda _, outs: outs[0] if len(outs) == 1 else outs),
    (Writer.returns, "one-output-more", lambda _, outputs: [*outputs, np.zeros(4, np.uint8)]),
)
_FORMS: tuple[Row, ...] = (
    (Writer.returns, "f16-as-f32", _each(lambda a: _as(a, "f2", "f4"))),
    (Writer.returns, "big-endian", _each(lambda a: _as(a, "i2", ">i2"))),
    (Writer.returns, "flat", _each(lambda a: a.reshape(-1))),
)
_FORMS_OF_TYPES: tuple[Row, ...] = (
    (Writer.returns, "bool-as-u8", _each(lambda a: a.view(np.uint8) if a.dtype == bool else a)),
    (Writer.returns, "bits-as-integers", _each(_as_stored)),
)
_NUMBERS_OF_PARTS: tuple[Row, ...] = (
    (Writer.returns, "last-dropped", lambda _, outs: outs[:-1] if len(outs) > 2 else outs),
    (Writer.returns, "stacked",
        lambda _, out: np.stack(out) if len({each.shape for each in out}) == 1 else out),
    (Writer.returns, "eight-at-most", lambda _, outputs: outputs[:8]),
)  # fmt: skip


# Whether DirectML has dimensions of 0 at all, its document leaves open; it has no odd types.
_BUT_DIRECTML = (SPLIT, SLICE, BROADCAST, GATHER)
_split, _slice, _broadcast, _gather = (Writer(each, "empty") for each in _BUT_DIRECTML)


def _without_elements(_: Call, outputs: Outputs) -> Outputs:
    return [each if each.size else np.zeros(0, each.dtype) for each in outputs]


def _default_type(_: Call, outputs: Outputs) -> Outputs:
    return [each if each.size else np.zeros(each.shape) for each in outputs]


_EMPTIES: tuple[Row, ...] = (
    (Writer.rejects, "data-rejected", lambda call, _: not call.data.size),
    (Writer.returns, "rank-lost", _without_elements),
    (Writer.returns, "type-lost", _default_type),
)


def _rest(call: Call, outputs: Outputs) -> int | None:
    """Return the length of the part that -1 means."""
    found = lengths(call)
    return outputs[found.index(-1)].shape[axis_of(call)] if -1 in found else None


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
    axes = call.ints("axes_mapping") if "axes_mapping" in call else range(shift, 99)
    pairs = zip(range(len(shape)), axes, strict=False)
    return [(i, axis) for i, axis in pairs if shape[i] == 1 and outputs[0].shape[axis] == 0]


def _ones_kept(call: Call, outputs: Outputs) -> Outputs:
    shape = list(outputs[0].shape)
    for _, axis in _stretched_to_zero(call, outputs):
        shape[axis] = 1
    return [np.zeros(shape, call.data.dtype)] if shape != list(outputs[0].shape) else outputs


_OWN = [
    _split.returns("zero-length-dropped",
        lambda c, out: [each for each, n in zip(out, lengths(c), strict=True) if n != 0]),
    _split.returns("last-zero-length-dropped",
        lambda c, out: out[:-1] if len(out) > 1 and lengths(c)[-1] == 0 else out),
    _split.rejects("zero-length-rejected", lambda c, _: 0 in lengths(c)),
    _split.rejects("empty-rest-rejected", lambda c, out: _rest(c, out) == 0),
    _split.returns("empty-rest-dropped", lambda c, out: [each
        for each, n in zip(out, lengths(c), strict=True) if n != -1 or each.shape[axis_of(c)]]),
    _slice.returns("one-element-at-least", _at_least_one),
    _slice.returns("others-unsliced", _unsliced),
    _slice.rejects("empty-slice-rejected", lambda c, out: c.data.size and not out[0].size),
    _slice.rejects("start-at-the-end-rejected", lambda c, _: (any(start >= n for start,
        n in zip(c.ints("start"), c.data.shape, strict=False)) and "axes" not in c)),
    _broadcast.rejects("one-to-zero-rejected", _stretched_to_zero),
    _broadcast.returns("one-stays-one", _ones_kept),
    _broadcast.rejects("new-zero-rejected", lambda c,
        out: (0 in out[0].shape[: out[0].ndim - c.data.ndim] and "axes_mapping" not in c)),
    _broadcast.rejects("explicit-zero-rejected",
        lambda c, out: 0 in out[0].shape and "axes_mapping" in c),
    _gather.rejects("no-indices-rejected", lambda c, _: not c["indices"].size),
    _gather.returns("no-indices-no-rank",
        lambda c, out: out if c["indices"].size else [np.zeros(0, out[0].dtype)]),
    _gather.rejects("empty-axis-rejected", lambda c, out: extent_of(c) == 0 and out[0].size),
    _gather.returns("empty-axis-uninitialised", lambda c, out: [np.full_like(each.view(np.uint8),
        1).view(each.dtype) if each.size and each.ndim and not extent_of(c) else each
        for each in out]),
]  # fmt: skip

FAULTS = [
    *of_each(OPERATORS, "output number", *_NUMBERS),
    *of_each(OPERATORS, "output form", *_FORMS),
    *of_each(_BUT_DIRECTML, "output form", *_FORMS_OF_TYPES),
    *of_each((SPLIT, DML), "output number", *_NUMBERS_OF_PARTS),
    *of_each(_BUT_DIRECTML, "empty", *_EMPTIES),
    *_OWN,
]
