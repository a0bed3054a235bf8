"""Slice: starts, stops and steps that are taken for others."""

from collections.abc import Callable, Iterable

import numpy as np

from tests.faults.calls import data, slice_call
from tests.faults.fault import SLICE, Call, Compute, Fault, Outputs, Writer, right

# From the extent of an axis, start, stop and step to the positions that are kept.
Positions = Callable[[int, int, int, int], Iterable[int]]

_arithmetic = Writer(SLICE, "index arithmetic")
_clamping = Writer(SLICE, "clamping")
_sign = Writer(SLICE, "sign")
_narrow = Writer(SLICE, "narrow index type")


def _selecting(positions: Positions) -> Compute:
    def compute(call: Call) -> Outputs:
        right(SLICE, call)
        result = call.data
        listed = call.ints("axes") if "axes" in call.inputs else range(call["start"].size)
        for axis, *ends in zip(listed, *map(call.ints, ("start", "stop", "step")), strict=True):
            extent = result.shape[axis]
            kept = [min(max(k, 0), extent - 1) for k in positions(extent, *ends)]
            result = result.take(np.array(kept if extent else [], np.intp), axis)
        return [result.copy()]

    return compute


def _kept(n: int, start: int, stop: int, step: int) -> range:
    return range(*slice(start, stop, step).indices(n))


def _clamped(
    n: int,
    start: int,
    stop: int,
    step: int,
    start_in: tuple[int, int] | None = None,
    stop_in: tuple[int, int] | None = None,
) -> range:
    """Select as Python does, but with start or stop clamped to other bounds."""
    ends = (0, n) if step > 0 else (-1, n - 1)
    lows_highs = (start_in or ends, stop_in or ends)
    start, stop = (each + n if each < 0 else each for each in (start, stop))
    start, stop = (
        min(max(each, low), high)
        for each, (low, high) in zip((start, stop), lows_highs, strict=True)
    )
    return range(start, stop, step)


def _floored(n: int, start: int, stop: int, step: int) -> list[int]:
    """Count (stop - start) // step elements: those of the last, partial step are lost."""
    kept = _kept(n, start, stop, step)
    return list(kept)[: abs(kept.stop - kept.start) // abs(step)]


def _aligned_to_stop(n: int, start: int, stop: int, step: int) -> Iterable[int]:
    """Walk a negative step as the positive one from the other end, then reverse."""
    kept = _kept(n, start, stop, step)
    return kept if step > 0 or not kept else range(kept.stop + 1, kept.start + 1, -step)[::-1]


def _modulo(n: int, value: int) -> int:
    return value % n if n and not -n <= value <= n else value


def _as_i8(n: int, start: int, stop: int, step: int) -> Iterable[int]:
    return _kept(n, _wrapped(start, n), _wrapped(stop, n), step)


def _wrapped(value: int, n: int) -> int:
    """Add n to a negative value in 8 bits."""
    if value >= 0 or value < -128:
        return value
    return max(int(np.int64(value + n).astype(np.int8)), -n) if n > 127 else value


def _selects(
    write: Writer, name: str, text: str, positions: Positions, *ends: int, extent: int = 5
) -> Fault:
    start, stop, step = ends
    witness = slice_call(data(extent), [start], [stop], [step])
    return write.computes(name, text, _selecting(positions), witness)


FAULTS = [
    _selects(
        _clamping, "stop-clamped-to-zero-backwards", "clamps stop to 0, not before it, backwards",
        lambda n, a, b, s: _clamped(n, a, b, s, stop_in=(0, n) if s < 0 else None), 3, -9, -1,
    ),
    _selects(
        _clamping, "start-clamped-to-zero-backwards", "clamps start to 0, not before it, backwards",
        lambda n, a, b, s: _clamped(n, a, b, s, start_in=(0, n - 1) if s < 0 else None), -9, -9, -1,
    ),
    _selects(
        _clamping, "start-clamped-to-n-backwards", "clamps start to n, not n - 1, backwards",
        lambda n, a, b, s: _clamped(n, a, b, s, start_in=(-1, n) if s < 0 else None), 9, 0, -2,
    ),
    _selects(
        _clamping, "start-clamped-to-last", "clamps start to n - 1, not n, forwards",
        lambda n, a, b, s: _clamped(n, a, b, s, start_in=(0, n - 1) if s > 0 else None), 9, 9, 1,
    ),
    _selects(
        _clamping, "stop-clamped-to-last", "clamps stop to n - 1, not n, forwards",
        lambda n, a, b, s: _clamped(n, a, b, s, stop_in=(0, n - 1) if s > 0 else None), 0, 9, 1,
    ),
    _selects(
        _clamping, "start-below-wraps", "wraps a start below -n, forwards",
        lambda n, a, b, s: _kept(n, _modulo(n, a) if a < 0 < s else a, b, s), -7, 5, 1,
    ),
    _selects(
        _clamping, "start-below-wraps-backwards", "wraps a start below -n, backwards",
        lambda n, a, b, s: _kept(n, _modulo(n, a) if a < 0 > s else a, b, s), -7, -9, -1,
    ),
    _selects(
        _clamping, "stop-below-wraps", "wraps a stop below -n, forwards",
        lambda n, a, b, s: _kept(n, a, _modulo(n, b) if b < 0 < s else b, s), 0, -7, 1,
    ),
    _selects(
        _clamping, "stop-below-wraps-backwards", "wraps a stop below -n, backwards",
        lambda n, a, b, s: _kept(n, a, _modulo(n, b) if b < 0 > s else b, s), 4, -7, -1,
    ),
    _selects(
        _clamping, "start-above-wraps", "wraps a start past n",
        lambda n, a, b, s: _kept(n, _modulo(n, a) if a > 0 else a, b, s), 7, 0, -1,
    ),
    _selects(
        _clamping, "start-at-n-empty-backwards", "selects nothing from start n, backwards",
        lambda n, a, b, s: () if a == n and s < 0 else _kept(n, a, b, s), 5, 0, -1,
    ),
    _selects(
        _clamping, "stop-before-first-is-last", "takes -n - 1 as stop for n - 1, backwards",
        lambda n, a, b, s: _kept(n, a, -1 if b == -n - 1 and s < 0 else b, s), 3, -6, -1,
    ),
    _selects(
        _clamping, "greatest-stop-reaches-the-end-backwards",
        "takes the greatest i64 for the end in either direction",
        lambda n, a, b, s: _kept(n, a, -n - 1 if b == 2**63 - 1 and s < 0 else b, s),
        4, 2**63 - 1, -1,
    ),
    _selects(
        _clamping, "least-stop-reaches-the-end-forwards",
        "takes the least i64 for the end in either direction",
        lambda n, a, b, s: _kept(n, a, n if b == -(2**63) and s > 0 else b, s), 0, -(2**63), 1,
    ),
    _selects(
        _clamping, "least-start-is-last-backwards",
        "takes the least i32 as start for the last element, backwards",
        lambda n, a, b, s: _kept(n, n if a == -(2**31) and s < 0 else a, b, s), -(2**31), 0, -1,
    ),
    _selects(
        _arithmetic, "stop-inclusive", "keeps the element at a stop within the axis",
        lambda n, a, b, s: _kept(n, a, b + 1 if s > 0 and 0 <= b < n else b, s), 0, 3, 1,
    ),
    _selects(
        _arithmetic, "length-floored", "rounds the number of elements down", _floored, 0, 5, 2,
    ),
    _selects(
        _arithmetic, "length-floored-backwards", "rounds the number of elements down, backwards",
        lambda n, a, b, s: (_floored if s < 0 else _kept)(n, a, b, s), 4, -9, -2,
    ),
    _selects(
        _arithmetic, "step-past-n-empty", "selects nothing with a step past n",
        lambda n, a, b, s: () if s > n else _kept(n, a, b, s), 0, 5, 7,
    ),
    _selects(
        _arithmetic, "step-of-n-empty", "selects nothing with a step of n",
        lambda n, a, b, s: () if s == n > 1 else _kept(n, a, b, s), 0, 5, 5,
    ),
    _selects(
        _arithmetic, "step-below-minus-n-empty", "selects nothing with a step below -n",
        lambda n, a, b, s: () if s < -n else _kept(n, a, b, s), 4, 0, -7,
    ),
    _selects(
        _arithmetic, "greatest-step-overflows", "adds the greatest step to start",
        lambda n, a, b, s: (*_kept(n, a, b, s), 0) if s == 2**63 - 1 else _kept(n, a, b, s),
        1, 5, 2**63 - 1,
    ),
    _selects(
        _arithmetic, "least-step-overflows", "negates the least step, which stays negative",
        lambda n, a, b, s: () if s == -(2**63) else _kept(n, a, b, s), 4, 0, -(2**63),
    ),
    _selects(
        _arithmetic, "steps-past-two-as-two", "knows steps of 1 and 2 only",
        lambda n, a, b, s: _kept(n, a, b, 2 if 2 < s < n else s), 0, 5, 3,
    ),
    _selects(
        _sign, "step-without-sign", "ignores the sign of steps",
        lambda n, a, b, s: _kept(n, a, b, abs(s)), 4, 0, -1,
    ),
    _selects(
        _sign, "backwards-in-order", "keeps the right elements backwards, in ascending order",
        lambda n, a, b, s: sorted(_kept(n, a, b, s)), 4, 0, -1,
    ),
    _selects(
        _sign, "aligned-to-stop", "counts a negative step from the stop's side",
        _aligned_to_stop, 4, -9, -3,
    ),
    _selects(
        _sign, "steps-below-minus-two-as-minus-two", "knows steps of -1 and -2 only",
        lambda n, a, b, s: _kept(n, a, b, max(s, -2)), 4, -9, -3,
    ),
    _selects(
        _sign, "one-element-backwards-empty", "selects nothing backwards on an axis of 1",
        lambda n, a, b, s: () if n == 1 and s < 0 else _kept(n, a, b, s), 0, -9, -1, extent=1,
    ),
    _selects(
        _sign, "negative-start-not-wrapped", "takes a negative start for 0",
        lambda n, a, b, s: _kept(n, max(a, 0), b, s), -2, 5, 1,
    ),
    _selects(
        _sign, "negative-stop-not-wrapped", "takes a negative stop for 0, forwards",
        lambda n, a, b, s: _kept(n, a, max(b, 0) if s > 0 else b, s), 0, -2, 1,
    ),
    _selects(
        _sign, "minus-one-stop-before-the-first", "takes a stop of -1 for before the first element",
        lambda n, a, b, s: _kept(n, a, -n - 1 if b == -1 and s < 0 else b, s), 4, -1, -1,
    ),
    _selects(
        _sign, "start-at-minus-n-empty", "selects nothing from start -n",
        lambda n, a, b, s: () if a == -n else _kept(n, a, b, s), -5, 5, 1,
    ),
    _selects(
        _sign, "stop-at-minus-n-included", "keeps the element at a stop of -n, backwards",
        lambda n, a, b, s: _kept(n, a, -n - 1 if b == -n and s < 0 else b, s), 4, -5, -1,
    ),
    _selects(
        _sign, "both-negative-backwards-empty", "selects nothing backwards between negative ends",
        lambda n, a, b, s: () if a < 0 and b < 0 and s < 0 else _kept(n, a, b, s), -1, -4, -1,
    ),
    _selects(
        _narrow, "n-added-in-8-bits", "adds n to negative ends in 8 bits", _as_i8,
        -1, 200, 1, extent=200,
    ),
]  # fmt: skip
