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
    Fault,
    Outputs,
    Writer,
    axis_of,
    extent_of,
)


def _each(change: Callable[[Array], Array]) -> Callable[[Call, Outputs], Outputs]:
    return lambda _, outputs: [change(each) for each in outputs]


def _as_stored(array: Array) -> Array:
    """Return types that NumPy lacks as the unsigned integers that hold them."""
    plain = array.dtype.isbuiltin == 1
    return array if plain else array.view(f"u{array.itemsize}")


def _of_forms(operator: str) -> list[Fault]:
    number, form = Writer(operator, "output number"), Writer(operator, "output form")
    return [
        number.returns("bare-array", lambda _, outs: outs[0] if len(outs) == 1 else outs),
        number.returns("one-output-more", lambda _, outputs: [*outputs, np.zeros(4, np.uint8)]),
        form.returns("f16-as-f32", _each(lambda a: _as(a, "f2", "f4"))),
        form.returns("big-endian", _each(lambda a: _as(a, "i2", ">i2"))),
        form.returns("flat", _each(lambda a: a.reshape(-1))),
    ]


def _as(array: Array, of: str, to: str) -> Array:
    return array.astype(to) if array.dtype == of else array


def _types_that_numpy_lacks(operator: str) -> list[Fault]:
    form = Writer(operator, "output form")
    return [
        form.returns("bool-as-u8", _each(lambda a: a.view(np.uint8) if a.dtype == np.bool_ else a)),
        form.returns("bits-as-integers", _each(_as_stored)),
    ]


def _of_splits(operator: str) -> list[Fault]:
    write = Writer(operator, "output number")
    return [
        write.returns("last-dropped", lambda _, outs: outs[:-1] if len(outs) > 2 else outs),
        write.returns(
            "stacked",
            lambda _, out: np.stack(out) if len({each.shape for each in out}) == 1 else out,
        ),
        write.returns("eight-at-most", lambda _, outputs: outputs[:8]),
    ]


# Whether DirectML has dimensions of 0 at all, its document leaves open.
_WITH_EMPTIES = (SPLIT, SLICE, BROADCAST, GATHER)
_split, _slice, _broadcast, _gather = (Writer(each, "empty") for each in _WITH_EMPTIES)


def _without_elements(_: Call, outputs: Outputs) -> Outputs:
    return [each if each.size else np.zeros(0, each.dtype) for each in outputs]


def _default_type(_: Call, outputs: Outputs) -> Outputs:
    return [each if each.size else np.zeros(each.shape) for each in outputs]


def _of_empties(operator: str) -> list[Fault]:
    write = Writer(operator, "empty")
    return [
        write.rejects("data-rejected", lambda c, _: not c.data.size),
        write.returns("rank-lost", _without_elements),
        write.returns("type-lost", _default_type),
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
    _split.returns("zero-length-dropped",
        lambda c, out: [each for each, n in zip(out, _lengths(c), strict=True) if n != 0]),
    _split.returns("last-zero-length-dropped",
        lambda c, out: out[:-1] if len(out) > 1 and _lengths(c)[-1] == 0 else out),
    _split.rejects("zero-length-rejected", lambda c, _: 0 in _lengths(c)),
    _split.rejects("empty-rest-rejected", lambda c, out: _rest(c, out) == 0),
    _split.returns("empty-rest-dropped", lambda c, out: [each
        for each, n in zip(out, _lengths(c), strict=True) if n != -1 or each.shape[axis_of(c)]]),
    _slice.returns("one-element-at-least", _at_least_one),
    _slice.returns("others-unsliced", _unsliced),
    _slice.rejects("empty-slice-rejected", lambda c, out: c.data.size and not out[0].size),
    _slice.rejects("start-at-the-end-rejected", lambda c, _: (any(start >= n for start,
        n in zip(c.ints("start"), c.data.shape, strict=False)) and "axes" not in c.inputs)),
    _broadcast.rejects("one-to-zero-rejected", _stretched_to_zero),
    _broadcast.returns("one-stays-one", _ones_kept),
    _broadcast.rejects("new-zero-rejected", lambda c,
        out: (0 in out[0].shape[: out[0].ndim - c.data.ndim] and "axes_mapping" not in c.inputs)),
    _broadcast.rejects("explicit-zero-rejected",
        lambda c, out: 0 in out[0].shape and "axes_mapping" in c.inputs),
    _gather.rejects("no-indices-rejected", lambda c, _: not c["indices"].size),
    _gather.returns("no-indices-no-rank",
        lambda c, out: out if c["indices"].size else [np.zeros(0, out[0].dtype)]),
    _gather.rejects("empty-axis-rejected", lambda c, out: extent_of(c) == 0 and out[0].size),
    _gather.returns("empty-axis-uninitialised", lambda c, out: [np.full_like(each.view(np.uint8),
        1).view(each.dtype) if each.size and each.ndim and not extent_of(c) else each
        for each in out]),
]  # fmt: skip

FAULTS = [
    *(fault for operator in OPERATORS for fault in _of_forms(operator)),
    *(fault for of in OPERATORS if of != DML for fault in _types_that_numpy_lacks(of)),
    *(fault for operator in (SPLIT, DML) for fault in _of_splits(operator)),
    *(fault for operator in _WITH_EMPTIES for fault in _of_empties(operator)),
    *_OWN,
]
