"""Wrong ways to transpose."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, right
from tests.operators.planted import stale, with_output

OPERATOR = "openvino/Transpose-1"
# Returns outputs for arg, the order as a list, and the outputs of the reference.
Fault = Callable[[Array, list[int], Array], Array]


def _valid(fault: Fault) -> Compute:
    return with_output(
        OPERATOR, lambda call, right: fault(call.data, call.ints("input_order"), right)
    )


def _unchecked(repair: Callable[[list[int], int], list[int]]) -> Compute:
    """Return a backend that makes a valid order of any integers."""

    def compute(call: Call) -> Outputs:
        arg, order = call["arg"], call["input_order"]
        if order.dtype.kind not in "iu":
            raise TypeError(order.dtype)
        axes = repair(order.ravel().tolist(), arg.ndim)
        return [np.array(np.transpose(arg, axes or None), order="C")]

    return compute


def _stale_under(count: int) -> Compute:
    """Return a backend that keeps the first order for each shape and its first axes."""

    def key(call: Call) -> tuple[Any, ...]:
        return (call.data.shape, call.data.dtype, *call.ints("input_order")[:count])

    return stale(OPERATOR, key, "input_order")


def _previous_when_empty() -> Fault:
    """Return a fault that takes an empty order for the previous one of the same rank."""
    orders: dict[int, list[int]] = {}

    def transposed(arg: Array, order: list[int], _: Array) -> Array:
        orders[arg.ndim] = order or orders.get(arg.ndim, [])
        return np.transpose(arg, orders[arg.ndim] or None)

    return transposed


def _block_tail_lost(arg: Array, order: list[int], right: Array) -> Array:
    """Copy blocks of 8 x 8 elements, without the corner that is smaller."""
    if arg.ndim < 2 or not order or order[-1] == arg.ndim - 1:
        return right
    rows, columns = right.shape[-2:]
    right = right.copy()
    if min(rows, columns) > 8:
        right[..., rows - rows % 8 :, columns - columns % 8 :] = 0
    return right


def _accepting(
    where: Callable[[Array, int], bool], axes: Callable[[list[int], int], list[int]]
) -> Compute:
    """Return a backend that accepts some invalid orders, and reads them as `axes`."""

    def compute(call: Call) -> Outputs:
        arg, order = call.get("arg"), call.get("input_order")
        if arg is None or order is None or order.dtype.kind not in "iu":
            return right(OPERATOR, call)
        read = axes(order.ravel().tolist(), arg.ndim)
        if where(order, arg.ndim) and sorted(read) == [*range(arg.ndim)]:
            return [np.array(np.transpose(arg, read), order="C")]
        return right(OPERATOR, call)

    return compute


def _narrowed(arg: Array, order: list[int], expected: Array) -> Array:
    is_double = arg.dtype == np.float64
    return expected.astype(np.float32).astype(np.float64) if is_double and order else expected


WRONG: dict[str, Fault] = {
    "inverse-order": lambda arg, order, _: np.transpose(arg, np.argsort(order) if order else None),
    "empty-order-keeps": lambda arg, order, right: right if order else arg,
    "empty-order-keeps-rank-4": lambda arg, order, right: right if order or arg.ndim != 4 else arg,
    "empty-order-exchanges-the-last-two":
        lambda arg, order, right: right if order or arg.ndim < 2 else arg.swapaxes(-1, -2),
    "empty-order-flips-the-elements": lambda arg, order, right: right if order else np.flip(arg),
    "always-reversed": lambda arg, _, __: np.transpose(arg),
    "shape-only": lambda arg, _, right: arg.reshape(right.shape),
    "elements-only": lambda arg, _, right: right.reshape(arg.shape),
    "rank-5-inverse": lambda arg, order, right: np.transpose(arg, np.argsort(order))
        if order and arg.ndim == 5 else right,
    "kept-last-axis-inverse": lambda arg, order, right: np.transpose(arg,
        order[-2::-1] + order[-1:]) if arg.ndim > 2 and order[-1:] == [arg.ndim - 1] else right,
    "last-but-one-exchange-as-last": lambda arg, order, right: np.transpose(arg, [0, 1, 3, 2])
        if order == [0, 2, 1, 3] else right,
    "channels-last-as-first": lambda arg, order, _:
        np.transpose(arg, ([0, 3, 1, 2] if order == [0, 2, 3, 1] else order) or None),
    "rank-8-empty": lambda arg, _, right: np.zeros_like(right) if arg.ndim == 8 else right,
    "identity-is-empty":
        lambda arg, order, right: np.transpose(arg) if order == sorted(order) else right,
    "scalar-as-vector": lambda arg, _, right: right.reshape(1) if arg.ndim == 0 else right,
    "empty-in-the-shape-of-arg": lambda arg, _, right: right if arg.size else arg,
    "boolean-as-bytes":
        lambda arg, _, right: right.astype(np.uint8) if arg.dtype == bool else right,
    "f64-through-f32": _narrowed,
    "ignores-strides": lambda arg, order, _: np.transpose(np.ndarray(arg.shape, arg.dtype,
        np.ascontiguousarray(arg.T).tobytes())
        if arg.flags.f_contiguous and not arg.flags.c_contiguous else arg, order or None),
    "halves-exchanged-inverse": lambda arg, order, right: np.transpose(arg, [3, 2, 0, 1])
        if order == [2, 3, 1, 0] else right,
    "nchw-as-nhwc": lambda arg, order, right: np.transpose(arg, [0, 2, 3, 1])
        if order == [0, 3, 1, 2] else right,
    "empty-order-as-before": _previous_when_empty(),
    "corner-of-blocks-lost": _block_tail_lost,
    "past-16-bits":
        lambda arg, _, right: np.zeros_like(right) if max(arg.shape, default=0) > 65535 else right,
    "long-axis-last": lambda _, __, right: np.roll(right, 1, -1)
        if right.ndim and right.shape[-1] > 256 else right,
}  # fmt: skip
UNCHECKED: dict[str, Callable[[list[int], int], list[int]]] = {
    "negative-from-the-end": lambda order, rank: [axis % rank for axis in order],
    "clamped": lambda order, rank: [min(max(axis, 0), rank - 1) for axis in order],
    "sorted-by-value": lambda order, _: [*np.argsort(order)] if order else [],
    "low-byte": lambda order, _: [axis & 255 for axis in order],
    "low-word": lambda order, _: [axis & 0xFFFFFFFF for axis in order],
    "completed": lambda order, rank: [*order, *(k for k in range(rank) if k not in order)],
    "cut": lambda order, rank: order[:rank],
    "wrong-length-is-empty": lambda order, rank: order if len(order) == rank else [],
    "repeated-is-empty": lambda order, _: order if len({*order}) == len(order) else [],
    "repeated-is-identity":
        lambda order, rank: order if len({*order}) == len(order) else [*range(rank)],
    "any-form": lambda order, _: order,
}  # fmt: skip
FAULTS = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    **{name: _unchecked(repair) for name, repair in UNCHECKED.items()},
    "order-for-its-shape": _stale_under(0),
    "order-for-its-first-axis": _stale_under(1),
    "order-in-a-row": _accepting(lambda order, _: order.shape[:-1] == (1,), lambda o, _: o),
    "order-in-a-square":
        _accepting(lambda order, _: order.ndim == 2 and 1 not in order.shape, lambda o, _: o),
    "order-as-a-scalar": _accepting(lambda order, rank: order.ndim == 0 and rank > 1,
        lambda _, rank: [*range(rank)]),
    "axis-of-a-scalar": _accepting(lambda _, rank: rank == 0, lambda _, __: []),
    "counted-from-1": _accepting(lambda order, _: order.size > 0, lambda o, _: [k - 1 for k in o]),
    "bits-of-a-mask-of-32": _accepting(lambda _, rank: rank > 0, lambda o, _: [k % 32 for k in o]),
    "bits-of-a-mask-of-64": _accepting(lambda _, rank: rank > 0, lambda o, _: [k % 64 for k in o]),
}  # fmt: skip
