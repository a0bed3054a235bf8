"""Convolution: sums of products of filters and each window of feature maps."""

import math

import numpy as np

from opcert.reference.pooling import checked_lists, padding
from opcert.reference.reducing import wide
from opcert.reference.rules import Array, require, requires_arguments

_LISTS = ("strides", "pads_begin", "pads_end", "dilations")
# Pads may ask for billions of windows.
_MOST_WINDOWS = 1 << 16


@requires_arguments("convolution-1/required-arguments", *_LISTS)
def convolution_1(
    data: Array,
    filter: Array,  # noqa: A002
    auto_pad: str = "explicit",
    **lists: list[int],
) -> list[Array]:
    """Return the sums of products of each window, in all channels, and the weights of an output.

    Shapes: data (N, C, space...), filter (outputs, C, sizes...), each of lists (axes of space,).

    Source: OpenVINO Convolution-1, the detailed description.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    lists = checked_lists("convolution-1", data, auto_pad, **lists)
    shapes = f"shapes {data.shape}, {filter.shape}"
    require(filter.ndim == data.ndim, "convolution-1/filter-rank", shapes)
    is_alike = filter.dtype == data.dtype
    require(is_alike, "convolution-1/same-type", f"types {data.dtype}, {filter.dtype}")
    require(filter.shape[1] == data.shape[1], "convolution-1/channels", shapes)
    kernel, space = filter.shape[2:], data.shape[2:]
    strides, apart = lists["strides"], lists["dilations"]
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, apart, strict=True)]
    pads = padding(data, lists | {"kernel": spans}, auto_pad)
    rooms = [n + sum(pair) - k for n, pair, k in zip(space, pads, spans, strict=True)]
    counts = [max(room // s, -1) + 1 for room, s in zip(rooms, strides, strict=True)]
    if math.prod(max(count, 1) for count in counts) > _MOST_WINDOWS:
        raise MemoryError(f"{counts} windows")
    # Of each axis, one of windows and one within them; the last element is what is added.
    read = np.pad(wide(data), [(0, 0), (0, 0), *[(0, 1)] * len(space)])
    for axis, n in enumerate(space):
        first = np.arange(counts[axis])[:, None] * strides[axis] - pads[axis][0]
        places = first + np.arange(kernel[axis]) * apart[axis]
        places = np.where((places >= 0) & (places < n), places, n)
        read = np.take(read, places, 2 + 2 * axis)
    weights = np.expand_dims(wide(filter), tuple(range(2, 2 * len(space) + 1, 2)))
    with np.errstate(all="ignore"):
        terms = np.multiply(read[:, None], weights, order="C")
        return [np.sum(terms, axis=tuple(range(2, terms.ndim, 2))).astype(data.dtype)]
