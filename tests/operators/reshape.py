"""Wrong ways to reshape."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, rejecting, right
from tests.operators.planted import misreading, with_output

OPERATOR = "openvino/Reshape-1"
# Returns the sizes of the output for the shape of data, the target and the flag.
Sizes = Callable[[Sequence[int], list[int], bool], Sequence[int]]
# Returns the output for data, the target, the flag, and the right output.
Fault = Callable[[Array, list[int], bool, Array], Array]


def _valid(fault: Fault) -> Compute:
    return with_output(
        OPERATOR, lambda c, right: fault(c.data, c.ints("shape"), c["special_zero"], right)
    )


def _resolved(shape: Sequence[int], target: list[int], flag: bool) -> list[int]:
    """Return the sizes of a target; a -1 is inferred, of nothing as 0."""
    sizes = [shape[k] if size == 0 and flag else size for k, size in enumerate(target)]
    if -1 in sizes:
        known = prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = prod(shape) // known if known else 0
    return sizes


def _read(sizes: Sizes) -> Compute:
    """Return a backend without checks that repeats or cuts the elements of data."""

    def compute(call: Call) -> Outputs:
        data, target = call["data"], call["shape"]
        if target.dtype.kind not in "iu" or target.ndim != 1:
            raise TypeError(target)
        own = sizes(data.shape, target.tolist(), call["special_zero"])
        if any(size < 0 for size in own) or prod(own) > 1 << 20:
            raise ValueError(own)
        return [np.resize(data, tuple(own))]

    return compute


def _right_aligned(shape: Sequence[int], target: list[int], flag: bool) -> list[int]:
    offset = len(shape) - len(target)
    return [
        shape[k + offset] if size == 0 and flag and k + offset >= 0 else size
        for k, size in enumerate(target)
    ]


def _stale() -> Fault:
    """Return a fault that keeps the first sizes for each target."""
    kept: dict[Any, tuple[int, ...]] = {}

    def fault(data: Array, target: list[int], flag: bool, expected: Array) -> Array:
        sizes = kept.setdefault((tuple(target), flag, data.size), expected.shape)
        return data.reshape(sizes)

    return fault


def _no_flag(data: Array, target: list[int], flag: bool, expected: Array) -> Array:
    if flag or 0 not in target or len(target) > data.ndim:
        return expected
    sizes = [data.shape[k] if size == 0 else size for k, size in enumerate(target)]
    return data.reshape(sizes) if -1 not in sizes and prod(sizes) == data.size else expected


def _accepting(where: Callable[[Array, list[int]], bool], sizes: Sizes) -> Compute:
    """Return a backend that accepts some invalid targets."""

    def compute(call: Call) -> Outputs:
        data, target = call.get("data"), call.get("shape")
        is_list = target is not None and target.ndim == 1 and target.dtype.kind in "iu"
        if data is not None and is_list and where(data, target.tolist()):
            return [np.resize(data, sizes(data.shape, target.tolist(), True))]
        return right(OPERATOR, call)

    return compute


def _rejecting(where: Callable[[Array, list[int], bool], bool]) -> Compute:
    return rejecting(OPERATOR, lambda c, _: where(c.data, c.ints("shape"), c["special_zero"]))


def _signed(call: Call) -> Array:
    shape: Array = call["shape"]
    return shape.astype(shape.dtype.name.removeprefix("u"))


WRONG: dict[str, Fault] = {
    "ignored": lambda data, _, __, ___: data,
    "flat": lambda _, __, ___, expected: expected.reshape(-1),
    "transposes-two-dimensions": lambda data, _, __, expected: data.T
        if data.ndim == 2 and data.T.shape == expected.shape else expected,
    "in-fortran-order": lambda data, _, __, expected: np.reshape(data, expected.shape, order="F"),
    "strides-ignored": lambda data, _, __, expected: data.ravel(order="K").reshape(expected.shape),
    "zero-copies-without-the-flag": _no_flag,
    "zero-copies-from-the-end": lambda data, target, flag, expected:
        np.resize(data, _right_aligned(data.shape, target, flag))
        if -1 not in target and len(target) <= data.ndim else expected,
    "wrong-with-two-copies": lambda _, target, flag, expected: np.zeros_like(expected)
        if flag and target.count(0) > 1 else expected,
    "wrong-with-copy-after-inferred": lambda _, target, flag, expected: np.zeros_like(expected)
        if flag and -1 in target and 0 in target[target.index(-1) :] else expected,
    "inferred-last": lambda _, target, __, expected: np.moveaxis(expected, target.index(-1), -1)
        if -1 in target else expected,
    "inferred-zero-as-one": lambda data, target, _, expected: np.zeros([1 if size == -1
        else size for size in target], data.dtype) if -1 in target and data.size == 0 else expected,
    "scalar-as-vector":
        lambda _, __, ___, expected: expected.reshape(1) if expected.ndim == 0 else expected,
    "scalar-data":
        lambda data, _, __, expected: np.zeros_like(expected) if data.ndim == 0 else expected,
    "ones-squeezed": lambda _, __, ___, expected: expected.squeeze(),
    "rank-8":
        lambda _, __, ___, expected: np.zeros_like(expected) if expected.ndim == 8 else expected,
    "without-elements-as-data": lambda data, _, __, expected: expected if data.size else data,
    "f64-through-f32": lambda data, _, __, expected: expected.astype(np.float32).astype(np.float64)
        if data.dtype == np.float64 else expected,
    "size-in-8-bits": lambda _, target, __, expected: np.zeros_like(expected)
        if max(target, default=0) > 127 else expected,
    "kept-by-target": _stale(),
}  # fmt: skip
FAULTS: dict[str, Compute] = {
    **{name: _valid(fault) for name, fault in WRONG.items()},
    "rejects-a-size-of-0": _rejecting(lambda _, target, flag: not flag and 0 in target),
    "rejects-data-without-elements": _rejecting(lambda data, _, __: data.size == 0),
    "rejects-inferred-without-elements":
        _rejecting(lambda data, target, _: not data.size and -1 in target),
    "rejects-an-empty-target": _rejecting(lambda _, target, __: not target),
    "rejects-a-scalar": _rejecting(lambda data, _, __: data.ndim == 0),
    "rejects-inferred-as-0":
        _rejecting(lambda data, target, _: data.size == 0 and -1 in target and len(target) > 1),
    "rejects-copied-and-inferred":
        _rejecting(lambda _, target, flag: flag and {0, -1} <= {*target}),
    "size-unchecked": _read(_resolved),
    "below-minus-one-inferred": _read(lambda shape, target, flag: (_resolved(shape,
        [max(-1, size) for size in target], flag) if sum(size < 0 for size in target) < 2
        and prod(_resolved(shape, [max(-1, size) for size in target], flag)) == prod(shape)
        else [-1])),
    "two-inferred": _read(lambda shape, target, flag: _resolved(shape,
        [1 if size == -1 and -1 in target[:k] else size for k, size in enumerate(target)], flag)),
    "copies-one-after-the-rank":
        _read(lambda shape, target, flag: _resolved([*shape, *[1] * len(target)], target, flag)),
    "only-the-product-is-checked": _accepting(lambda data, target: prod(target) == data.size
        and sum(n < 0 for n in target) == 2, lambda _, target, __: [abs(n) for n in target]),
    "room-for-one-more": _accepting(lambda data, target: min(target, default=0) > 0
        and prod(target) == data.size + 1, lambda _, target, __: target),
    "scalar-of-nothing":
        _accepting(lambda data, target: not target and not data.size, lambda _, __, ___: [0]),
    "unsigned-top-is-inferred": misreading(OPERATOR, "shape", _signed),
}  # fmt: skip
RIGHT = {"the-right-output": _valid(lambda _, __, ___, expected: expected)}
