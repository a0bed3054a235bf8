"""Wrong ways to pad."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute
from tests.operators.planted import misreading, taking, with_output

OPERATOR = "openvino/Pad-1"
MODES = {"constant", "edge", "reflect", "symmetric"}


@dataclass(frozen=True)
class Pad:
    """A valid call; the pads are lists of plain integers."""

    data: Array
    begin: list[int]
    end: list[int]
    mode: str
    value: Array

    def padded(self) -> Array:
        """Return data, padded as the document has it."""
        shape = [sum(n) for n in zip(self.begin, self.data.shape, self.end, strict=True)]
        if self.mode == "constant" or self.data.size == 0:
            output = np.full(shape, self.value, self.data.dtype)
            output[
                tuple(slice(b, b + n) for b, n in zip(self.begin, self.data.shape, strict=True))
            ] = self.data
            return output
        output = self.data
        for axis in range(self.data.ndim):
            output = output.take(self._sources(axis), axis)
        return output

    def _sources(self, axis: int) -> Array:
        n = self.data.shape[axis]
        places = np.arange(-self.begin[axis], n + self.end[axis])
        if self.mode == "edge":
            return places.clip(0, n - 1)
        period = 2 * n if self.mode == "symmetric" else max(1, 2 * n - 2)
        places %= period
        return np.where(places < n, places, period - (self.mode == "symmetric") - places)


Fault = Callable[[Pad, Array], Array]


def _read(call: Call) -> Pad:
    value = call.get("pad_value", np.zeros((), call.data.dtype))
    begin, end = call.ints("pads_begin"), call.ints("pads_end")
    return Pad(call.data, begin, end, call["pad_mode"], value)


def _valid(fault: Fault) -> Compute:
    return with_output(OPERATOR, lambda call, expected: fault(_read(call), expected))


def _read_as(change: Callable[[Pad], Pad]) -> Fault:
    """Return the fault that pads as if the call were another."""
    return lambda pad, _: change(pad).padded()


def _pads(change: Callable[[list[int]], list[int]]) -> Fault:
    return _read_as(lambda pad: replace(pad, begin=change(pad.begin), end=change(pad.end)))


def _resized(pad: Pad, shape: Sequence[int]) -> Array:
    """Return a call's output of another shape, which its pads do not have."""
    return np.zeros(shape, pad.data.dtype)


def _value(change: Callable[[Array], Any]) -> Fault:
    return lambda pad, right: (
        replace(pad, value=np.asarray(change(pad.value)).astype(pad.data.dtype)).padded()
        if pad.mode == "constant"
        else right
    )


def _mode(old: str, new: str) -> Fault:
    return _read_as(lambda pad: replace(pad, mode=new) if pad.mode == old else pad)


def _corners(pad: Pad, right: Array) -> Array:
    """Leave zeros where the pads of the last two axes meet."""
    output = right.copy()
    if pad.data.ndim > 1 and pad.mode != "constant":
        rows, columns = pad.begin[-2:]
        output[..., :rows, :columns] = 0
    return output


def _of_three(mode: str) -> Fault:
    """Return the fault that leaves zeros where the pads of three axes meet."""

    def fault(pad: Pad, right: Array) -> Array:
        output = right.copy()
        if pad.mode == mode and pad.data.size:
            shape = zip(pad.begin, pad.data.shape, right.shape, strict=True)
            is_new = [(np.arange(m) < b) | (np.arange(m) >= b + n) for b, n, m in shape]
            counts = sum(np.ix_(*(new.astype(np.int64) for new in is_new)), np.int64(0))
            output[counts > 2] = 0
        return output

    return fault


def _past(mode: str, most: int) -> Fault:
    """Return the fault that leaves zeros if more than `most` elements are added at one end."""
    return lambda pad, right: (
        np.zeros_like(right)
        if pad.mode == mode and max([*pad.begin, *pad.end], default=0) > most
        else right
    )


def _last_corner(pad: Pad, right: Array) -> Array:
    output = right.copy()
    if pad.data.ndim > 1 and pad.mode != "constant" and min(pad.end[:1] + pad.end[1:2]) > 0:
        output[-1, -1] = 0
    return output


def _stale(key: Callable[[Pad], Any], keep: Callable[[Pad], Any], name: str) -> Fault:
    """Return the fault that keeps the first value of a field for each key."""
    kept: dict[Any, Any] = {}
    return lambda pad, _: replace(pad, **{name: kept.setdefault(key(pad), keep(pad))}).padded()


def _one_too_far(pad: Pad, right: Array) -> Array:
    """Repeat the edge once in reflections that use the whole axis."""
    if pad.mode != "reflect" or not right.size:
        return right
    output = right.copy()
    for axis, (begin, n) in enumerate(zip(pad.begin, pad.data.shape, strict=True)):
        if begin and begin == n - 1:
            first, second = (np.take(right, [k], axis) for k in (0, 1))
            index = [slice(None)] * right.ndim
            index[axis] = slice(0, 1)
            output[tuple(index)] = second if n > 2 else first
    return output


def _limited(mode: str, side: str, repair: Callable[[int, int], int]) -> Compute:
    """Return a backend that changes pads beyond the limit of a mode instead of rejecting them."""
    name = f"pads_{side}"

    def change(call: Call) -> Array:
        pads: Array = call[name]
        is_list = pads.dtype.kind in "iu" and pads.shape == (call.data.ndim,)
        if call.get("pad_mode") != mode or not is_list or min(pads.tolist(), default=0) < 0:
            return pads
        counts = [repair(*pair) for pair in zip(pads.tolist(), call.data.shape, strict=True)]
        return np.array(counts, np.int64)

    return misreading(OPERATOR, name, change)


def _repaired(name: str, repair: Callable[[Array, Array], Any]) -> Compute:
    """Return a backend that changes an argument before it checks it, given that and data."""
    return misreading(OPERATOR, name, lambda call: repair(call[name], call.data))


def _extended(pads: Array, data: Array) -> Array:
    missing = max(0, data.ndim - pads.size) if pads.ndim == 1 else 0
    return np.append(pads, np.zeros(missing, pads.dtype)) if missing else pads


WRONG: dict[str, Fault] = {
    "begin-and-end-exchanged": _read_as(lambda pad: replace(pad, begin=pad.end, end=pad.begin)),
    **{f"pads-past-{bits}-bits-in-mode-{mode}": _past(mode, (1 << bits) - 1) for bits in (15, 16)
        for mode in ("constant", "edge")},
    **{f"corners-of-three-axes-in-mode-{mode}": _of_three(mode) for mode in sorted(MODES)},
    "pads-reversed": _pads(lambda pads: pads[::-1]),
    "first-axis-ignored":
        lambda pad, right: _resized(pad, right.shape) if pad.begin and pad.begin[0] else right,
    "end-through-a-signed-byte":
        lambda pad, right: _resized(pad, right.shape) if max(pad.end, default=0) > 127 else right,
    "begin-through-a-byte":
        lambda pad, right: right[tuple(slice(b - (b & 255), None) for b in pad.begin)],
    "end-through-a-byte": lambda pad, right: right[tuple(slice(0, n - (e - (e & 255)))
        for n, e in zip(right.shape, pad.end, strict=True))],
    "reflect-as-symmetric": _mode("reflect", "symmetric"),
    "symmetric-as-edge": _mode("symmetric", "edge"),
    "edge-as-constant": _mode("edge", "constant"),
    "constant-as-edge": _mode("constant", "edge"),
    "value-ignored": _value(np.zeros_like),
    "value-through-f32": _value(lambda value: value.astype(np.float32)),
    "value-through-i32":
        _value(lambda value: value.astype(np.int32) if value.dtype.kind in "iu" else value),
    "value-through-f64":
        _value(lambda value: value.astype(np.float64) if value.dtype.kind in "iu" else value),
    "value-absolute": _value(lambda value: abs(value) if value.dtype.kind == "f" else value),
    "nan-value-made-canonical": _value(lambda value: np.array(np.nan, value.dtype)
        if value.dtype.kind == "f" and np.isnan(value) else value),
    "negative-zero-value":
        _value(lambda value: value + value.dtype.type(0) if value.dtype.kind == "f" else value),
    "without-value-one": lambda pad, right: replace(pad, value=np.ones((), pad.data.dtype)).padded()
        if pad.mode == "constant" and not pad.value.tobytes().strip(b"\0") else right,
    "default-is-smallest": lambda pad, right: replace(pad,
        value=np.array(-1).astype(pad.data.dtype)).padded()
        if pad.mode == "constant" and not pad.value.tobytes().strip(b"\0") else right,
    "corners-zero": _corners,
    "last-corner-zero": _last_corner,
    "edge-by-the-first-axis-only": lambda pad, right: replace(pad, mode="constant").padded()
        if pad.mode == "edge" and sum(map(bool, pad.end)) > 1 else right,
    "reflect-one-too-far": _one_too_far,
    "reflect-end-as-begin": lambda pad, right: np.flip(replace(pad, begin=pad.end,
        end=pad.begin).padded()) if pad.mode == "reflect" else right,
    "edge-takes-the-second": lambda pad, right: replace(pad, data=np.roll(pad.data, 1, -1)).padded()
        if pad.mode == "edge" and pad.data.ndim and pad.end[-1] else right,
    "only-four-axes": lambda pad, right: _resized(pad, right.shape)
        if any(pad.begin[:-4] + pad.end[:-4]) else right,
    "rank-five-reflect": lambda pad, right: replace(pad, mode="symmetric").padded()
        if pad.mode == "reflect" and pad.data.ndim == 5 else right,
    "empty-data-stays": lambda pad, right: right if pad.data.size else pad.data,
    "empty-data-zeros": lambda pad, right: right if pad.data.size else np.zeros_like(right),
    "scalar-as-vector": lambda pad, right: right.reshape(1) if pad.data.ndim == 0 else right,
    "length-one-edge": lambda pad, right: np.zeros_like(right)
        if pad.mode == "edge" and 1 in pad.data.shape else right,
    "length-one-symmetric": lambda pad, right: (_resized(pad, right.shape)
        if pad.mode == "symmetric"
        and any(n == 1 and b for n, b in zip(pad.data.shape, pad.begin, strict=True)) else right),
    "nothing-added-zeros":
        lambda pad, right: np.zeros_like(right) if not any(pad.begin + pad.end) else right,
    "end-only-is-begin": _read_as(lambda pad: replace(pad, begin=pad.end, end=pad.begin)
        if not any(pad.begin) else pad),
    "value-of-the-first-call": _stale(lambda pad: pad.data.dtype, lambda p: p.value, "value"),
    "mode-of-the-first-call":
        _stale(lambda pad: (pad.data.shape, *pad.begin, *pad.end), lambda pad: pad.mode, "mode"),
    "pads-of-the-first-call":
        _stale(lambda pad: (pad.data.shape, pad.mode, *pad.end), lambda pad: pad.begin, "begin"),
}  # fmt: skip


FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    **{f"{mode}-{side}-beyond-the-limit-{name}": _limited(mode, side, repair)
        for mode, offset in (("reflect", 1), ("symmetric", 0)) for side in ("begin", "end")
        for name, repair in (("cut", lambda count, n, offset=offset: min(count, max(0,
        n - offset))), ("wraps", lambda count, n, offset=offset: count % max(1, n - offset + 1)))},
    "reflect-limit-of-symmetric-is-off-by-one":
        _limited("reflect", "begin", lambda count, n: count - (count == n)),
    "symmetric-end-limit-is-off-by-one":
        _limited("symmetric", "end", lambda count, n: count - (count == n + 1)),
    "begin-negative-is-zero": _repaired("pads_begin", lambda pads, _: np.maximum(pads, 0)),
    "end-negative-is-zero": _repaired("pads_end", lambda pads, _: np.maximum(pads, 0)),
    "end-negative-is-absolute": _repaired("pads_end", lambda pads, _: abs(pads)),
    "begin-too-long-is-cut": _repaired("pads_begin", lambda pads, x: pads[..., : x.ndim]),
    "end-too-short-is-extended": _repaired("pads_end", _extended),
    "begin-of-any-rank": _repaired("pads_begin", lambda pads, _: pads.ravel()),
    "end-of-any-rank": _repaired("pads_end", lambda pads, _: pads.ravel()),
    "begin-of-any-type": _repaired("pads_begin", lambda pads, _: pads.astype(np.int64)),
    "end-of-any-type": _repaired("pads_end", lambda pads, _: pads.astype(np.int64)),
    "value-of-any-type": _repaired("pad_value", lambda value, x: value.astype(x.dtype)),
    "value-of-any-shape": _repaired("pad_value", lambda v, _: v.ravel()[0] if v.size else v),
    "values-after-the-first-ignored":
        _repaired("pad_value", lambda value, _: value[0] if value.shape == (2,) else value),
    "empty-value-is-zero":
        _repaired("pad_value", lambda v, x: np.zeros((), x.dtype) if v.shape == (0,) else v),
    "unknown-mode-is-constant": misreading(OPERATOR, "pad_mode",
        lambda c: c["pad_mode"] if c["pad_mode"] in MODES else "constant"),
    "missing-mode-is-edge": taking(OPERATOR, lambda c: c.given(pad_mode=c.get("pad_mode", "edge"))),
}  # fmt: skip
RIGHT = {"padded": _valid(lambda pad, _: pad.padded())}
