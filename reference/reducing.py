"""Reductions: one number of all elements that differ along some axes only."""

import math
import warnings

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


def wide(data: Array) -> Array:
    """Return data in a type in which sums round less: twice as wide, or with all bits."""
    kind, size = data.dtype.kind, data.dtype.itemsize
    wider = f"{kind}8" if kind in "iu" else np.float32 if size == 2 else np.float64
    # The order of additions depends on the layout.
    return data.astype(wider, order="C")


def checked_axes(slug: str, data: Array, axes: Array) -> tuple[int, ...]:
    """Return axes of `data`, counted from the front.

    Raises:
        RuleBroken: the call violates a rule about axes.
    """
    rank = data.ndim
    require(is_integer(axes), f"{slug}/axes-type", f"axes of {axes.dtype}")
    require(axes.ndim <= 1, f"{slug}/axes-rank", f"axes of rank {axes.ndim}")
    listed: list[int] = axes.ravel().tolist()
    text = f"axes {listed}, rank {rank}"
    require(all(-rank <= axis < rank for axis in listed), f"{slug}/axes-range", text)
    wrapped = tuple({axis % rank: None for axis in listed})
    require(len(wrapped) == len(listed), f"{slug}/axes-unique", text)
    return wrapped


@requires_arguments("reduce-sum-1/required-inputs")
def reduce_sum_1(data: Array, axes: Array, keep_dims: bool = False) -> list[Array]:
    """Return the sums of `data` along `axes`, which stay with size 1 if `keep_dims`.

    Shapes: data (any), axes () or (number of axes,).

    Source: OpenVINO ReduceSum-1, the detailed description.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    reduced = checked_axes("reduce-sum-1", data, axes)
    with np.errstate(all="ignore"):
        total = np.sum(wide(data), axis=reduced, keepdims=keep_dims)
        return [np.asarray(total).astype(data.dtype)]


@requires_arguments("reduce-mean-1/required-inputs")
def reduce_mean_1(data: Array, axes: Array, keep_dims: bool = False) -> list[Array]:
    """Return the means of `data` along `axes`, which stay with size 1 if `keep_dims`.

    Shapes: data (any), axes () or (number of axes,). Means of integers are rounded down.

    Source: OpenVINO ReduceMean-1, the detailed description.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    reduced = checked_axes("reduce-mean-1", data, axes)
    count = math.prod(data.shape[axis] for axis in reduced)
    with np.errstate(all="ignore"):
        total = np.asarray(np.sum(wide(data), axis=reduced, keepdims=keep_dims))
        divide = np.floor_divide if is_integer(data) else np.divide
        return [np.asarray(divide(total, total.dtype.type(count))).astype(data.dtype)]


@requires_arguments("mvn-6/required-arguments")
def mvn_6(
    data: Array, axes: Array, normalize_variance: bool, eps: float, eps_mode: str
) -> list[Array]:
    """Return `data` without the mean of each slice along `axes`, and divided by its deviation.

    Shapes: data (any), axes (number of axes,); the output has the shape of data. The variance is
    the mean of squares.

    Source: OpenVINO MVN-6, the detailed description.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    type_ = data.dtype.name
    require(type_ in ("float16", "bfloat16", "float32", "float64"), "mvn-6/data-type", type_)
    require(axes.dtype.name in ("int32", "int64"), "mvn-6/axes-type", f"axes of {axes.dtype}")
    require(axes.ndim == 1, "mvn-6/axes-rank", f"axes of rank {axes.ndim}")
    is_axis = all(-data.ndim <= axis < data.ndim for axis in axes.tolist())
    require(is_axis, "mvn-6/axes-range", f"axes {axes.tolist()}, rank {data.ndim}")
    require(eps > 0, "mvn-6/eps-positive", f"eps {eps}")
    modes = ("inside_sqrt", "outside_sqrt")
    require(eps_mode in modes, "mvn-6/mode-known", f"mode {eps_mode}")
    reduced = tuple({axis % data.ndim for axis in axes.tolist()})
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        numbers = wide(data)
        centred = numbers - np.mean(numbers, axis=reduced, keepdims=True)
        if not normalize_variance:
            return [centred.astype(data.dtype)]
        variance = np.mean(centred * centred, axis=reduced, keepdims=True)
        added = numbers.dtype.type(eps)
        is_inside = eps_mode == "inside_sqrt"
        scale = np.sqrt(variance + added) if is_inside else np.sqrt(variance) + added
        return [(centred / scale).astype(data.dtype)]
