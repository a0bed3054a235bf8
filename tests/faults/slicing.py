"""Slice: starts, stops, steps and axes that are taken for others, and wrong checks."""

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from tests.faults.fault import SLICE, Call, Change, Fault, Outputs, Where, Writer, slices
from tests.faults.unchecked import accepted, left_out, of_floats, of_ranks

# From the extent of an axis, start, stop and step to the positions that are kept.
Positions = Callable[[int, int, int, int], Iterable[int]]

_arithmetic = Writer(SLICE, "index arithmetic")
_clamping = Writer(SLICE, "clamping")
_sign = Writer(SLICE, "sign")
_narrow = Writer(SLICE, "narrow index type")


def _selecting(positions: Positions) -> Change:
    def change(call: Call, _: Outputs) -> Outputs:
        result = call.data
        for axis, *ends in slices(call):
            extent = result.shape[axis]
            kept = [min(max(k, 0), extent - 1) for k in positions(extent, *ends)]
            result = result.take(np.array(kept if extent else [], np.intp), axis)
        return [result.copy()]

    return change


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


_ENDS: dict[Writer, dict[str, Positions]] = {
    _clamping: {
        "stop-clamped-to-zero-backwards":
            lambda n, a, b, s: _clamped(n, a, b, s, stop_in=(0, n) if s < 0 else None),
        "start-clamped-to-zero-backwards":
            lambda n, a, b, s: _clamped(n, a, b, s, start_in=(0, n - 1) if s < 0 else None),
        "start-clamped-to-n-backwards":
            lambda n, a, b, s: _clamped(n, a, b, s, start_in=(-1, n) if s < 0 else None),
        "start-clamped-to-last":
            lambda n, a, b, s: _clamped(n, a, b, s, start_in=(0, n - 1) if s > 0 else None),
        "stop-clamped-to-last":
            lambda n, a, b, s: _clamped(n, a, b, s, stop_in=(0, n - 1) if s > 0 else None),
        "start-below-wraps": lambda n, a, b, s: _kept(n, _modulo(n, a) if a < 0 < s else a, b, s),
        "start-below-wraps-backwards":
            lambda n, a, b, s: _kept(n, _modulo(n, a) if a < 0 > s else a, b, s),
        "stop-below-wraps": lambda n, a, b, s: _kept(n, a, _modulo(n, b) if b < 0 < s else b, s),
        "stop-below-wraps-backwards":
            lambda n, a, b, s: _kept(n, a, _modulo(n, b) if b < 0 > s else b, s),
        "start-above-wraps": lambda n, a, b, s: _kept(n, _modulo(n, a) if a > 0 else a, b, s),
        "start-at-n-empty-backwards":
            lambda n, a, b, s: () if a == n and s < 0 else _kept(n, a, b, s),
        "stop-before-first-is-last":
            lambda n, a, b, s: _kept(n, a, -1 if b == -n - 1 and s < 0 else b, s),
        "greatest-stop-reaches-the-end-backwards":
            lambda n, a, b, s: _kept(n, a, -n - 1 if b == 2**63 - 1 and s < 0 else b, s),
        "least-stop-reaches-the-end-forwards":
            lambda n, a, b, s: _kept(n, a, n if b == -(2**63) and s > 0 else b, s),
        "least-start-is-last-backwards":
            lambda n, a, b, s: _kept(n, n if a == -(2**31) and s < 0 else a, b, s),
    },
    _arithmetic: {
        "stop-inclusive": lambda n, a, b, s: _kept(n, a, b + 1 if s > 0 and 0 <= b < n else b, s),
        "length-floored": _floored,
        "length-floored-backwards": lambda n, a, b, s: (_floored if s < 0 else _kept)(n, a, b, s),
        "step-past-n-empty": lambda n, a, b, s: () if s > n else _kept(n, a, b, s),
        "step-of-n-empty": lambda n, a, b, s: () if s == n > 1 else _kept(n, a, b, s),
        "step-below-minus-n-empty": lambda n, a, b, s: () if s < -n else _kept(n, a, b, s),
        "greatest-step-overflows":
            lambda n, a, b, s: (*_kept(n, a, b, s), 0) if s == 2**63 - 1 else _kept(n, a, b, s),
        "least-step-overflows": lambda n, a, b, s: () if s == -(2**63) else _kept(n, a, b, s),
        "steps-past-two-as-two": lambda n, a, b, s: _kept(n, a, b, 2 if 2 < s < n else s),
    },
    _sign: {
        "step-without-sign": lambda n, a, b, s: _kept(n, a, b, abs(s)),
        "backwards-in-order": lambda n, a, b, s: sorted(_kept(n, a, b, s)),
        "aligned-to-stop": _aligned_to_stop,
        "steps-below-minus-two-as-minus-two": lambda n, a, b, s: _kept(n, a, b, max(s, -2)),
        "one-element-backwards-empty":
            lambda n, a, b, s: () if n == 1 and s < 0 else _kept(n, a, b, s),
        "negative-start-not-wrapped": lambda n, a, b, s: _kept(n, max(a, 0), b, s),
        "negative-stop-not-wrapped": lambda n, a, b, s: _kept(n, a, max(b, 0) if s > 0 else b, s),
        "minus-one-stop-before-the-first":
            lambda n, a, b, s: _kept(n, a, -n - 1 if b == -1 and s < 0 else b, s),
        "start-at-minus-n-empty": lambda n, a, b, s: () if a == -n else _kept(n, a, b, s),
        "stop-at-minus-n-included":
            lambda n, a, b, s: _kept(n, a, -n - 1 if b == -n and s < 0 else b, s),
        "both-negative-backwards-empty":
            lambda n, a, b, s: () if a < 0 and b < 0 and s < 0 else _kept(n, a, b, s),
    },
    _narrow: {
        "n-added-in-8-bits": _as_i8,
    },
}  # fmt: skip


_axes = Writer(SLICE, "axis order")
_default = Writer(SLICE, "default")


def _reordered(call: Call) -> Call:
    """Match the listed axes, sorted, with the slices as they are given."""
    if "axes" not in call:
        return call
    axes = sorted(axis % call.data.ndim for axis in call.ints("axes"))
    return call.given(axes=np.array(axes, np.int64))


def _with_axes(call: Call, change: Callable[[list[int], int], list[int]]) -> Call:
    if "axes" not in call:
        return call
    return call.given(axes=np.array(change(call.ints("axes"), call.data.ndim), np.int64))


def _last_axes(call: Call) -> Call:
    rank, count = call.data.ndim, call["start"].size
    return call if "axes" in call else call.given(axes=np.arange(rank - count, rank))


def _first_for_all(name: str) -> Callable[[Call], Call]:
    def change(call: Call) -> Call:
        values = call[name].copy()
        values[1:] = values[:1]
        return call.given(**{name: values})

    return change


def _at_most(count: int) -> Callable[[Call], Call]:
    def change(call: Call) -> Call:
        lists = {name: each[:count] for name, each in call.inputs.items() if name != "data"}
        return call.given(**lists)

    return change


def _backwards(call: Call) -> int:
    return sum(step < 0 for step in call.ints("step"))


_AXES = [
    _axes.changes("axes-sorted", _reordered),
    _axes.changes("axes-in-order",
        lambda call: call.without("axes") if call["start"].size else call),
    _axes.changes("negative-axes-mirrored",
        lambda call: _with_axes(call, lambda axes, _: [a if a >= 0 else -a - 1 for a in axes])),
    _axes.changes("negative-axes-off-by-one", lambda call: _with_axes(call,
        lambda axes, _: [a + 1 if a < -1 and len(axes) == 1 else a for a in axes])),
    _axes.changes("mixed-signs-reversed", lambda call: _with_axes(call, lambda axes, _: axes[::-1]
        if min(axes) < 0 <= max(axes) else axes) if call["start"].size else call),
    _axes.changes("step-of-the-first", _first_for_all("step")),
    _axes.changes("start-of-the-first", _first_for_all("start")),
    _axes.changes("four-slices-at-most", _at_most(4)),
    _axes.changes("seven-slices-at-most", _at_most(7)),
    _sign.spoils("two-steps-backwards", lambda call, _: _backwards(call) == 2),
    _sign.spoils("three-steps-backwards", lambda call, _: _backwards(call) >= 3),
    _arithmetic.spoils("two-steps-past-one",
        lambda call, _: sum(step > 1 for step in call.ints("step")) >= 2),
    _default.changes("default-axes-last", _last_axes),
    _default.spoils("default-axes-backwards",
        lambda call, _: "axes" not in call and _backwards(call)),
    _default.rejects("default-axes-for-all-only",
        lambda call, _: "axes" not in call and call["start"].size < call.data.ndim),
]  # fmt: skip


_lax = Writer(SLICE, "missing validation")
_strict = Writer(SLICE, "over-strict")

_LISTS = ("start", "stop", "step")
_TYPE_RULES = {**dict.fromkeys(_LISTS, "index-type"), "axes": "axes-type"}


def _others(call: Call, name: str) -> list[int]:
    return [each.size for key, each in call.inputs.items() if key not in ("data", name)]


def _lengths(name: str) -> list[Fault]:
    rows: dict[str, Where] = {
        "longer": lambda call: call[name].size > max(_others(call, name)),
        "single": lambda call: call[name].size == 1 < min(_others(call, name)),
    }
    return [_lax.accepts("equal-lengths", f"{name}-{row}", where) for row, where in rows.items()]


_PLACES = {
    "anywhere": slice(None),
    "first": slice(1),
    "last": slice(-1, None),
    "between": slice(1, -1),
}


def _bound(kind: str, beyond: Callable[[int, int], bool], *places: str) -> list[Fault]:
    """Write down a bound of axes that goes unchecked in some places."""

    def at(place: str) -> Fault:
        def where(call: Call) -> bool:
            listed = call.ints("axes")
            several = place == "anywhere" or len(listed) > 1
            return several and any(beyond(axis, call.data.ndim) for axis in listed[_PLACES[place]])

        return _lax.accepts("axes-range", f"{kind}-{place}", where)

    return [at(place) for place in places]


def _twice(call: Call, apart: bool) -> bool:
    axes = [axis % call.data.ndim for axis in call.ints("axes")]
    neighbours = any(a == b for a, b in pairwise(axes))
    return neighbours != apart


_LAX = [
    *accepted(_lax, left_out("data", *_LISTS)),
    *accepted(_lax, of_ranks(**{name: f"{name}-rank" for name in (*_LISTS, "axes")})),
    _lax.accepts("data-rank", "scalar", lambda _: True),
    *(_lax.accepts(rule, f"{name}-{of}", where)
        for name, type_rule in _TYPE_RULES.items()
        for rule, of, where in of_floats(**{name: type_rule})),
    *(fault for name in (*_LISTS, "axes") for fault in _lengths(name)),
    _lax.accepts("equal-lengths", "without-axes", lambda call: "axes" not in call),
    _lax.accepts("step-nonzero", "alone", lambda c: c["step"].size == 1),
    _lax.accepts("step-nonzero", "first", lambda c: c["step"].size > 1 and c["step"][0] == 0),
    _lax.accepts("step-nonzero", "last", lambda c: c["step"].size > 1 and c["step"][-1] == 0),
    _lax.accepts("step-nonzero", "between", lambda c: 0 in c["step"][1:-1]),
    _lax.accepts("step-nonzero", "empty-slice",
        lambda c: any(z == 0 and x == y for x, y, z in zip(*map(c.ints, _LISTS), strict=True))),
    _lax.accepts("equal-lengths", "no-slices",
        lambda call: not any(call[name].size for name in _LISTS)),
    _lax.accepts("step-nonzero", "without-axes", lambda call: "axes" not in call),
    _lax.accepts("default-axes-fit", "any", lambda _: True),
    *_bound("of-rank", lambda axis, rank: axis == rank, *_PLACES),
    *_bound("past-rank", lambda axis, rank: axis > rank, "anywhere"),
    *_bound("of-minus-rank-minus-1", lambda axis, rank: axis == -rank - 1, "anywhere", "between"),
    *_bound("below-minus-rank-minus-1", lambda axis, rank: axis < -rank - 1, "between"),
    _lax.accepts("axes-unique", "neighbours", lambda c: _twice(c, False)),
    _lax.accepts("axes-unique", "apart", lambda c: _twice(c, True)),
    _lax.accepts("axes-unique", "negative", lambda c: max(c.ints("axes")) < 0),
]  # fmt: skip

_STRICT = [
    _strict.rejects("end-past-n-rejected",
        lambda call, _: any(stop > max(call.data.shape) for stop in call.ints("stop"))),
    _strict.rejects("negative-step-rejected",
        lambda call, _: min(call.ints("step"), default=1) < 0),
    _strict.rejects("negative-axes-rejected",
        lambda call, _: "axes" in call and min(call.ints("axes"), default=0) < 0),
    _strict.rejects("unordered-axes-rejected",
        lambda call, _: "axes" in call and call.ints("axes") != sorted(call.ints("axes"))),
    _strict.rejects("axes-required", lambda call, _: "axes" not in call),
    _strict.rejects("unsigned-indices-rejected", lambda call, _: call["start"].dtype == np.uint64),
    _strict.rejects("narrow-indices-rejected", lambda call, _: call["start"].itemsize == 1),
    _strict.rejects("step-past-n-rejected",
        lambda call, _: max(call.ints("step"), default=0) > max(call.data.shape)),
]  # fmt: skip

FAULTS = [
    *(write.returns(name, _selecting(positions)) for write, named in _ENDS.items()
        for name, positions in named.items()),
    *_AXES,
    *_LAX,
    *_STRICT,
]  # fmt: skip
