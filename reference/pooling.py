"""Pooling: one number of all elements in a window that slides over feature maps."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opcert.reference.reducing import wide
from opcert.reference.rules import Array, require, requires_arguments

# Pads may ask for billions of windows, which would be computed one by one.
_MOST_WINDOWS = 1 << 16


def padding(
    data: Array, attributes: Mapping[str, Sequence[int]], auto_pad: str
) -> list[tuple[int, int]]:
    """Return what is added before and after each axis of space."""
    if auto_pad == "explicit":
        return [*zip(attributes["pads_begin"], attributes["pads_end"], strict=True)]
    pads = []
    for n, k, s in zip(data.shape[2:], attributes["kernel"], attributes["strides"], strict=True):
        missing = max((n - 1) * s + k - n, 0) if auto_pad != "valid" else 0
        fewer = missing // 2
        pads.append(
            (fewer, missing - fewer) if auto_pad != "same_lower" else (missing - fewer, fewer)
        )
    return pads


def pooled(
    data: Array,
    attributes: Mapping[str, Sequence[int]],
    pads: Sequence[tuple[int, int]],
    is_ceil: bool,
    function: Callable[[Array], Array],
) -> Array:
    """Return what a function makes of the elements of data in each window, (N, C, elements)."""
    kernel, strides, space = attributes["kernel"], attributes["strides"], data.shape[2:]
    counts = []
    for n, k, s, (begin, end) in zip(space, kernel, strides, pads, strict=True):
        difference = n + begin + end - k
        counts.append(max((-(-difference // s) if is_ceil else difference // s) + 1, 0))
    # To iterate over no windows, NumPy may list the others.
    if math.prod(max(count, 1) for count in counts) > _MOST_WINDOWS:
        raise MemoryError(f"{counts} windows")
    output = np.zeros((*data.shape[:2], *counts), data.dtype)
    for place in np.ndindex(*counts):
        window: list[Any] = [...]
        for i, n, k, s, (begin, _) in zip(place, space, kernel, strides, pads, strict=True):
            first = i * s - begin
            window.append(slice(min(max(first, 0), n), min(max(first + k, 0), n)))
        elements = data[tuple(window)].reshape(*data.shape[:2], -1)
        output[(..., *place)] = function(elements)
    return output


def checked_lists(
    slug: str, data: Array, auto_pad: str, **attributes: Sequence[int]
) -> dict[str, list[int]]:
    """Return lists of numbers for each axis, after checks of ranks, words and numbers.

    Raises:
        RuleBroken: the call violates a rule about them.
    """
    require(3 <= data.ndim <= 5, f"{slug}/data-rank", f"data of rank {data.ndim}")
    words = ("explicit", "same_upper", "same_lower", "valid")
    require(auto_pad in words, f"{slug}/pad-known", f"auto_pad {auto_pad}")
    completed = {}
    for name, numbers in attributes.items():
        least = int(name == "kernel")
        if not name.startswith("pads") or auto_pad == "explicit":
            rule = f"{slug}/{name.removeprefix('pads_')}-least"
            require(min(numbers, default=least) >= least, rule, f"{name} {numbers}")
        # Lists of other lengths, and strides of 0, are open.
        usual = 0 if name.startswith("pads") else 1
        axes = data.ndim - 2
        completed[name] = [max(n, usual) for n in [*numbers, *[usual] * axes][:axes]]
    return completed


@requires_arguments("max-pool-1/required-arguments")
def max_pool_1(
    data: Array,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    kernel: list[int],
    rounding_type: str = "floor",
    auto_pad: str = "explicit",
) -> list[Array]:
    """Return the greatest element of each window; what is added is less than all others.

    Shapes: data (N, C, space...), the lists (axes of space,).

    Source: OpenVINO MaxPool-1, the mathematical formulation.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    lists = {"strides": strides, "pads_begin": pads_begin, "pads_end": pads_end, "kernel": kernel}
    lists = checked_lists("max-pool-1", data, auto_pad, **lists)
    is_known = rounding_type in ("floor", "ceil")
    require(is_known, "max-pool-1/rounding-known", f"rounding_type {rounding_type}")
    lowest = np.iinfo(data.dtype).min if data.dtype.kind in "iu" else -np.inf

    def greatest(elements: Array) -> Array:
        return np.max(elements, axis=-1) if elements.shape[-1] else np.full((), lowest, data.dtype)

    pads = padding(data, lists, auto_pad)
    return [pooled(data, lists, pads, rounding_type == "ceil", greatest)]


@requires_arguments("avg-pool-1/required-arguments")
def avg_pool_1(
    data: Array,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    kernel: list[int],
    exclude_pad: bool,
    **modes: str,
) -> list[Array]:
    """Return the mean of each window, without what is added if `exclude_pad`.

    Shapes: data (N, C, space...), the lists (axes of space,). Modes are rounding_type and auto_pad.

    Source: OpenVINO AvgPool-1, the mathematical formulation.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    rounding, auto_pad = modes.get("rounding_type", "floor"), modes.get("auto_pad", "explicit")
    lists = {"strides": strides, "pads_begin": pads_begin, "pads_end": pads_end, "kernel": kernel}
    lists = checked_lists("avg-pool-1", data, auto_pad, **lists)
    require(rounding in ("floor", "ceil"), "avg-pool-1/rounding-known", f"rounding {rounding}")
    size = math.prod(lists["kernel"])

    def mean(elements: Array) -> Array:
        count = elements.shape[-1] if exclude_pad else size
        total = np.sum(wide(elements), axis=-1)
        return np.asarray(total / total.dtype.type(max(count, 1))).astype(data.dtype)

    with np.errstate(all="ignore"):
        pads = padding(data, lists, auto_pad)
        return [pooled(data, lists, pads, rounding == "ceil", mean)]
