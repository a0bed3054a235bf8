"""Wrong ways to reverse sequences."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, accepting, rejecting
from tests.operators.planted import misreading, stale, with_output

OPERATOR = "openvino/ReverseSequence-1"
# Returns the output for data, the lengths as a list, and both axes counted from the front.
Fault = Callable[[Array, list[int], int, int], Array]


def _axes(call: Call) -> tuple[int, int]:
    batch, along, rank = call.get("batch_axis", 0), call.get("seq_axis", 1), call.data.ndim
    return batch + rank * (batch < 0), along + rank * (along < 0)


def _valid(fault: Fault, **defaults: int) -> Compute:
    def output(call: Call, _: Array) -> Array:
        lengths = call["seq_lengths"].astype(np.int64).tolist()
        return fault(call.data, lengths, *_axes(call.given(**{**defaults, **call.attributes})))

    return with_output(OPERATOR, output)


def _turning(part: Callable[[int, int], slice], turn: Callable[[Array, int], Array]) -> Fault:
    """Return what turns a part of each sequence, given its length and the size of the axis."""

    def fault(data: Array, lengths: list[int], batch: int, along: int) -> Array:
        output = data.copy()
        for i, length in enumerate(lengths[: data.shape[batch]]):
            place: list[Any] = [slice(None)] * data.ndim
            place[batch], place[along] = slice(i, i + 1), part(length, data.shape[along])
            output[tuple(place)] = turn(data[tuple(place)], along)
        return output

    return fault


def _middle_kept(sequence: Array, axis: int) -> Array:
    """Exchange one pair too few in a sequence of even length."""
    n = sequence.shape[axis]
    order = [*range(n)][::-1]
    if n and n % 2 == 0:
        order[n // 2 - 1 : n // 2 + 1] = [n // 2 - 1, n // 2]
    return sequence.take(order, axis)


# Returns the output, also for lengths that are invalid.
_reversed = _turning(lambda length, _: slice(length), np.flip)


def _lists(change: Callable[[list[int], int], list[int]]) -> Fault:
    """Return a fault that misreads the lengths, given them and the size of the axis."""
    return lambda data, lengths, batch, along: _reversed(
        data, change(lengths, data.shape[along]), batch, along
    )


def _lengths(change: Callable[[int, int], int]) -> Fault:
    """Return a fault that misreads a length, given the length and the size of the axis."""
    return _lists(lambda lengths, n: [change(length, n) for length in lengths])


WRONG: dict[str, Fault] = {
    "prefix-sums": _lists(lambda lengths, n: [min(k, n) for k in accumulate(lengths)]),
    "greatest-so-far": _lists(lambda lengths, _: [*accumulate(lengths, max)]),
    "one-short-of-the-axis-as-the-axis": _lengths(lambda k, n: n if k == n - 1 else k),
    "axes-exchanged-where-equal": lambda data, lengths, batch, along: _reversed(data, *(lengths,
        along, batch) if data.shape[batch] == data.shape[along] else (lengths, batch, along)),
    "first-length-for-all": _lists(lambda lengths, _: lengths[:1] * len(lengths)),
    "last-length-ignored":
        _lists(lambda lengths, _: [*lengths[:-1], 1] if len(lengths) > 1 else lengths),
    "lengths-from-the-end": _lists(lambda lengths, _: lengths[::-1]),
    "one-too-short": _lengths(lambda k, _: k - 1),
    "one-too-long": _lengths(lambda k, n: min(k + 1, n)),
    "whole-axis": _lengths(lambda _, n: n),
    "whole-axis-kept": _lengths(lambda k, n: 1 if k == n else k),
    "length-of-two-kept": _lengths(lambda k, _: 1 if k == 2 else k),
    "length-cut-to-i8": _lengths(lambda k, _: (k + 128) % 256 - 128),
    "length-cut-to-u8": _lengths(lambda k, _: k % 256),
    "end-reversed": _turning(lambda length, n: slice(n - length, None), np.flip),
    "rolled": _turning(lambda length, _: slice(length), lambda a, axis: np.roll(a, 1, axis)),
    "even-middle": _turning(lambda length, _: slice(length), _middle_kept),
    "nothing": lambda data, *_: data,
    "batch-after-sequence": lambda data, lengths, batch, along:
        _reversed(data, lengths, *((batch, along) if batch < along else (along, batch)))
        if data.shape[along] >= len(lengths) else _reversed(data, lengths, batch, along),
    "rank-4-as-batch-first": lambda data, lengths, batch, along: _reversed(data, lengths, 0, along)
        if data.ndim == 4 and along and batch else _reversed(data, lengths, batch, along),
    "rank-8": lambda data, lengths, batch, along: data if data.ndim == 8
        else _reversed(data, lengths, batch, along),
    "last-axis-kept": lambda data, lengths, batch, along: data if along == data.ndim - 1
        else _reversed(data, lengths, batch, along),
}  # fmt: skip


def _truncated(call: Call) -> Array:
    lengths: Array = call["seq_lengths"].astype(np.float64)
    if not np.isfinite(lengths).all():
        raise ValueError(lengths)
    return np.trunc(lengths).astype(np.int64)


def _clamped(call: Call) -> Array:
    lengths: Array = call["seq_lengths"]
    _, along = _axes(call)
    if lengths.dtype.kind not in "iu" or not 0 <= along < call.data.ndim:
        return lengths
    return np.clip(lengths.astype(np.int64), -99, call.data.shape[along])


def _zero_is_one(call: Call) -> Array:
    lengths: Array = call["seq_lengths"]
    return np.where(lengths == 0, np.ones_like(lengths), lengths)


def _wrapped_twice(name: str) -> Compute:
    return misreading(OPERATOR, name, lambda call: call[name] % max(call.data.ndim, 1))


def _reversed_of_type(name: str) -> Compute:
    """Return a backend that reads lengths of one type from the end."""

    def output(call: Call, expected: Array) -> Array:
        lengths = call["seq_lengths"]
        if lengths.dtype.name != name:
            return expected
        return _reversed(call.data, lengths[::-1].astype(np.int64).tolist(), *_axes(call))

    return with_output(OPERATOR, output)


FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    **{f"unchecked-{rule}": accepting(OPERATOR, rule, lambda c: [c["data"].copy()])
        for rule in (*("data-rank", "batch-axis-range", "seq-axis-range", "required-inputs"),
        *("lengths-rank", "lengths-count", "lengths-whole", "lengths-range"))},
    **{f"{name}-lengths-from-the-end": _reversed_of_type(name)
        for name in ("int8", "uint8", "int16", "uint16", "uint64", "float16", "float64")},
    "stale-lengths":
        stale(OPERATOR, lambda c: (c.data.shape, c.data.dtype, *_axes(c)), "seq_lengths"),
    "lengths-truncated": misreading(OPERATOR, "seq_lengths", _truncated),
    "lengths-clamped": misreading(OPERATOR, "seq_lengths", _clamped),
    "length-zero-accepted": misreading(OPERATOR, "seq_lengths", _zero_is_one),
    "batch-axis-modulo": _wrapped_twice("batch_axis"),
    "seq-axis-modulo": _wrapped_twice("seq_axis"),
    "batch-axis-never-negative": rejecting(OPERATOR, lambda c, _: c.get("batch_axis", 0) < 0),
    "seq-axis-never-negative": rejecting(OPERATOR, lambda c, _: c.get("seq_axis", 0) < 0),
    "integer-lengths-only":
        rejecting(OPERATOR, lambda c, _: c["seq_lengths"].dtype.kind not in "iu"),
    "empty-batch-rejected": rejecting(OPERATOR, lambda c, _: c["seq_lengths"].size < 1),
    "seq-axis-default-last": _valid(_reversed, seq_axis=-1),
    "seq-axis-default-first": _valid(_reversed, batch_axis=1, seq_axis=0),
}  # fmt: skip
