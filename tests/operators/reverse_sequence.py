"""Wrong ways to reverse sequences."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.operators.planted import (
    Attributes,
    Compute,
    Inputs,
    accepting,
    rejecting,
    right,
    taking,
    with_output,
)

OPERATOR = "openvino/ReverseSequence-1"
# Returns the output for data, the lengths as a list, and both axes counted from the front.
Fault = Callable[[Array, list[int], int, int], Array]


def _axes(rank: int, attributes: Attributes) -> tuple[int, int]:
    batch, along = attributes.get("batch_axis", 0), attributes.get("seq_axis", 1)
    return batch + rank * (batch < 0), along + rank * (along < 0)


def _valid(fault: Fault, **defaults: int) -> Compute:
    def output(inputs: Inputs, attributes: Attributes, _: Array) -> Array:
        data, lengths = inputs["data"], inputs["seq_lengths"].astype(np.int64).tolist()
        return fault(data, lengths, *_axes(data.ndim, {**defaults, **attributes}))

    return with_output(OPERATOR, output)


def _reversed(data: Array, lengths: Sequence[int], batch: int, along: int) -> Array:
    """Return the output, also for lengths that are invalid."""
    output = data.copy()
    for i, length in enumerate(lengths[: data.shape[batch]]):
        part: list[Any] = [slice(None)] * data.ndim
        part[batch], part[along] = slice(i, i + 1), slice(int(length))
        output[tuple(part)] = np.flip(data[tuple(part)], along)
    return output


def _lengths(change: Callable[[int, int], int]) -> Fault:
    """Return a fault that misreads a length, given the length and the size of the axis."""
    return lambda data, lengths, batch, along: _reversed(
        data, [change(k, data.shape[along]) for k in lengths], batch, along
    )


def _shifted(data: Array, lengths: list[int], batch: int, along: int) -> Array:
    output = data.copy()
    for i, length in enumerate(lengths):
        part: list[Any] = [slice(None)] * data.ndim
        part[batch], part[along] = slice(i, i + 1), slice(data.shape[along] - length, None)
        output[tuple(part)] = np.flip(data[tuple(part)], along)
    return output


def _rolled(data: Array, lengths: list[int], batch: int, along: int) -> Array:
    output = data.copy()
    for i, length in enumerate(lengths):
        part: list[Any] = [slice(None)] * data.ndim
        part[batch], part[along] = slice(i, i + 1), slice(length)
        output[tuple(part)] = np.roll(data[tuple(part)], 1, along)
    return output


def _middle_kept(data: Array, lengths: list[int], batch: int, along: int) -> Array:
    """Exchange one pair too few in sequences of even length."""
    output = _reversed(data, lengths, batch, along)
    for i, length in enumerate(lengths):
        if length % 2 == 0:
            part: list[Any] = [slice(None)] * data.ndim
            part[batch], part[along] = slice(i, i + 1), slice(length // 2 - 1, length // 2 + 1)
            output[tuple(part)] = data[tuple(part)]
    return output


def _stale() -> Fault:
    kept: dict[Any, list[int]] = {}
    return lambda data, lengths, batch, along: _reversed(
        data, kept.setdefault((data.shape, data.dtype, batch, along), lengths), batch, along
    )


WRONG: dict[str, Fault] = {
    "prefix-sums": lambda data, lengths, batch, along:
        _reversed(data, np.cumsum(lengths).clip(0, data.shape[along]).tolist(), batch, along),
    "greatest-so-far": lambda data, lengths, batch, along:
        _reversed(data, np.maximum.accumulate([0, *lengths])[1:].tolist(), batch, along),
    "one-short-of-the-axis-as-the-axis": _lengths(lambda k, n: n if k == n - 1 else k),
    "axes-exchanged-where-equal": lambda data, lengths, batch, along: _reversed(data, *(lengths,
        along, batch) if data.shape[batch] == data.shape[along] else (lengths, batch, along)),
    "first-length-for-all": lambda data, lengths, batch, along:
        _reversed(data, lengths[:1] * len(lengths), batch, along),
    "last-length-ignored": lambda data, lengths, batch, along:
        _reversed(data, [*lengths[:-1], 1] if len(lengths) > 1 else lengths, batch, along),
    "lengths-from-the-end":
        lambda data, lengths, batch, along: _reversed(data, lengths[::-1], batch, along),
    "one-too-short": _lengths(lambda k, _: k - 1),
    "one-too-long": _lengths(lambda k, n: min(k + 1, n)),
    "whole-axis": _lengths(lambda _, n: n),
    "whole-axis-kept": _lengths(lambda k, n: 1 if k == n else k),
    "length-of-two-kept": _lengths(lambda k, _: 1 if k == 2 else k),
    "length-cut-to-i8": _lengths(lambda k, _: (k + 128) % 256 - 128),
    "length-cut-to-u8": _lengths(lambda k, _: k % 256),
    "end-reversed": _shifted,
    "rolled": _rolled,
    "even-middle": _middle_kept,
    "nothing": lambda data, *_: data,
    "stale-lengths": _stale(),
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


def _truncated(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
    lengths = inputs["seq_lengths"].astype(np.float64)
    if not np.isfinite(lengths).all():
        raise ValueError(lengths)
    whole = {**inputs, "seq_lengths": np.trunc(lengths).astype(np.int64)}
    return right(OPERATOR, whole, attributes)


def _clamped(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
    data, lengths = inputs["data"], inputs["seq_lengths"]
    _, along = _axes(data.ndim, attributes)
    if lengths.dtype.kind not in "iu" or not 0 <= along < data.ndim:
        return right(OPERATOR, inputs, attributes)
    clamped = np.clip(lengths.astype(np.int64), -99, data.shape[along])
    return right(OPERATOR, {**inputs, "seq_lengths": clamped}, attributes)


def _zero_is_one(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
    lengths = inputs["seq_lengths"].copy()
    lengths[lengths == 0] = 1
    return right(OPERATOR, {**inputs, "seq_lengths": lengths}, attributes)


def _wrapped_twice(name: str, default: int) -> Compute:
    def change(inputs: Inputs, attributes: Attributes) -> tuple[Inputs, Attributes]:
        axis = attributes.get(name, default) % max(inputs["data"].ndim, 1)
        return inputs, {**attributes, name: axis}

    return taking(OPERATOR, change)


def _reversed_of_type(name: str) -> Compute:
    """Return a backend that reads lengths of one type from the end."""

    def output(inputs: Inputs, attributes: Attributes, expected: Array) -> Array:
        data, lengths = inputs["data"], inputs["seq_lengths"]
        if lengths.dtype.name != name:
            return expected
        axes = _axes(data.ndim, attributes)
        return _reversed(data, lengths[::-1].astype(np.int64).tolist(), *axes)

    return with_output(OPERATOR, output)


FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    **{f"unchecked-{rule}": accepting(OPERATOR, rule, lambda i, _: [i["data"].copy()])
        for rule in (*("data-rank", "batch-axis-range", "seq-axis-range", "required-inputs"),
        *("lengths-rank", "lengths-count", "lengths-whole", "lengths-range"))},
    **{f"{name}-lengths-from-the-end": _reversed_of_type(name)
        for name in ("int8", "uint8", "int16", "uint16", "uint64", "float16", "float64")},
    "lengths-truncated": _truncated,
    "lengths-clamped": _clamped,
    "length-zero-accepted": _zero_is_one,
    "batch-axis-modulo": _wrapped_twice("batch_axis", 0),
    "seq-axis-modulo": _wrapped_twice("seq_axis", 1),
    "batch-axis-never-negative": rejecting(OPERATOR, lambda _, a: a.get("batch_axis", 0) < 0),
    "seq-axis-never-negative": rejecting(OPERATOR, lambda _, a: a.get("seq_axis", 0) < 0),
    "integer-lengths-only":
        rejecting(OPERATOR, lambda i, _: i["seq_lengths"].dtype.kind not in "iu"),
    "empty-batch-rejected": rejecting(OPERATOR, lambda i, _: i["seq_lengths"].size < 1),
    "seq-axis-default-last": _valid(_reversed, seq_axis=-1),
    "seq-axis-default-first": _valid(_reversed, batch_axis=1, seq_axis=0),
}  # fmt: skip
