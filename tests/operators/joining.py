"""Wrong ways to join tensors along an axis, for every operator that does so."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Compute
from tests.operators.planted import with_output

# Returns the output for the tensors and the axis; the last argument is the right output.
Fault = Callable[[Sequence[Array], int, Array], Any]


def _join(tensors: Sequence[Array], axis: int) -> Array:
    return np.concatenate([*tensors], axis)


def _cut(limit: int) -> Fault:
    return lambda tensors, axis, _: _join(tensors[:limit], axis)


def _wrong_past(limit: int) -> Fault:
    """Return a fault that flips the output of more tensors than `limit`."""

    def fault(tensors: Sequence[Array], _: int, right: Array) -> Array:
        return right if len(tensors) <= limit else np.flip(right)

    return fault


def _offset_in(bits: int) -> Fault:
    """Return a fault whose offsets on the axis have so many bits."""

    def fault(tensors: Sequence[Array], axis: int, right: Array) -> Array:
        output, offset = np.zeros_like(right), 0
        for array in tensors:
            region = [slice(None)] * right.ndim
            region[axis] = slice(offset, offset + array.shape[axis])
            part = output[tuple(region)]
            part[...] = array[tuple(map(slice, part.shape))]
            offset = (offset + array.shape[axis]) % (1 << bits)
        return output

    return fault


def _flat(tensors: Sequence[Array], _: int, right: Array) -> Array:
    return np.concatenate([array.ravel() for array in tensors]).reshape(right.shape)


def _in_memory_order(tensors: Sequence[Array], axis: int, _: Array) -> Array:
    def as_c(array: Array) -> Array:
        dense = array.flags.forc
        return array.ravel(order="K").reshape(array.shape) if dense else array

    return _join([tensors[0], *map(as_c, tensors[1:])], axis)


def _all_like_first(tensors: Sequence[Array], axis: int, _: Array) -> Array:
    return _join([np.resize(array, tensors[0].shape) for array in tensors], axis)


def _without_ones(tensors: Sequence[Array], axis: int, _: Array) -> Array:
    kept = [array for array in tensors if array.shape[axis] != 1]
    return _join(kept or tensors, axis)


def _stale() -> Fault:
    """Return a fault that keeps the lengths of an earlier call with as many tensors."""
    plans: dict[Any, list[int]] = {}

    def fault(tensors: Sequence[Array], axis: int, right: Array) -> Array:
        key = len(tensors), axis, right.shape, right.dtype
        lengths = plans.setdefault(key, [array.shape[axis] for array in tensors])
        parts = np.split(right, np.cumsum(lengths)[:-1], axis)
        return _join([np.resize(p, a.shape) for p, a in zip(parts, tensors, strict=True)], axis)

    return fault


def _stale_under(key: Callable[[Sequence[Array], int, Array], Any]) -> Fault:
    """Return a fault that keeps the lengths of an earlier call under an incomplete key."""
    plans: dict[Any, list[int]] = {}

    def fault(tensors: Sequence[Array], axis: int, right: Array) -> Array:
        own = [array.shape[axis] for array in tensors]
        known = str((axis, right.dtype, len(tensors), key(tensors, axis, right)))
        kept = plans.setdefault(known, own)
        return right if kept == own else np.flip(right)

    return fault


def _stale_results() -> Fault:
    """Return a fault that recognises a call by its first tensor."""
    results: dict[Any, Array] = {}
    return lambda tensors, axis, right: results.setdefault(
        (tensors[0].tobytes(), len(tensors), right.shape, right.dtype, axis), right
    )


WRONG: dict[str, Fault] = {
    "reversed": lambda tensors, axis, _: _join(tensors[::-1], axis),
    "last-two-exchanged": lambda tensors, axis, _: _join([*tensors[:-2], *tensors[:-3:-1]], axis),
    "middle-twice": lambda tensors, axis, right: right if len(tensors) != 3
        else _join([tensors[0], tensors[1], tensors[1]], axis),
    "first-only": _cut(1),
    **{f"first-{word}-only": _cut(limit) for word, limit in
        {"two": 2, "three": 3, "four": 4, "eight": 8, "32": 32}.items()},
    **{f"wrong-past-{limit}": _wrong_past(limit) for limit in (16, 64, 128, 256)},
    **{f"offset-in-{bits}-bits": _offset_in(bits) for bits in (8, 16)},
    "flat": _flat,
    "first-axis": lambda tensors, axis, right: right if axis == 0 else _flat(tensors, axis, right),
    "later-layouts-ignored": _in_memory_order,
    "shapes-of-first": _all_like_first,
    "ones-dropped": _without_ones,
    "one-tensor-flipped": lambda tensors, _, right: np.flip(right) if len(tensors) == 1 else right,
    "equal-lengths-interleaved": lambda tensors, axis, right:
        np.stack(tensors, axis + 1 if axis >= 0 else axis).reshape(right.shape)
        if len({array.shape for array in tensors}) == 1 else right,
    "element-1024-lost": lambda _, __, right:
        np.where(np.arange(right.size).reshape(right.shape) == 1024, np.zeros_like(right), right),
}  # fmt: skip
# Under which keys of a call stale lengths are kept.
_KEYS: dict[str, Callable[[Sequence[Array], int, Array], Any]] = {
    "stale-under-output": lambda _, __, right: right.shape,
    "stale-under-first": lambda tensors, _, right: (tensors[0].shape, right.shape),
    "stale-under-first-and-last": lambda tensors, _, __: (tensors[0].shape, tensors[-1].shape),
    "stale-under-first-last-and-output":
        lambda tensors, _, right: (tensors[0].shape, tensors[-1].shape, right.shape),
    "stale-under-first-two":
        lambda tensors, _, right: ([array.shape for array in tensors[:2]], right.shape),
    "stale-under-any-order": lambda tensors, _, __: sorted(array.shape for array in tensors),
}  # fmt: skip


def faults(operator: str, tensors: str, axis: str) -> dict[str, Compute]:
    """Return backends that join in wrong ways, by the names of the operator's arguments."""

    def joining(fault: Fault) -> Compute:
        return with_output(operator, lambda call, right: fault(call[tensors], call[axis], right))

    wrong = {
        **WRONG,
        **{name: _stale_under(key) for name, key in _KEYS.items()},
        "stale-lengths": _stale(),
        "stale-results": _stale_results(),
    }
    return {name: joining(fault) for name, fault in wrong.items()}
