"""Pad: data with new elements before and after each axis."""

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("pad-1/required-arguments")
def pad_1(
    data: Array, pads_begin: Array, pads_end: Array, pad_mode: str, pad_value: Array | None = None
) -> list[Array]:
    """Add elements to `data` at the ends of each axis: a value, its edge, or its reflection.

    Shapes: data (any), pads_begin and pads_end (rank of data,), pad_value (); each axis of the
    output has begin + n + end elements.

    Source: OpenVINO Pad-1, "pad_mode" and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    modes = ("constant", "edge", "reflect", "symmetric")
    require(pad_mode in modes, "pad-1/mode-known", f"mode {pad_mode!r}")
    for name, pads in (("begin", pads_begin), ("end", pads_end)):
        counts = pads.tolist()
        text = f"pads_{name} {counts} for data of shape {data.shape}"
        require(is_integer(pads), f"pad-1/{name}-type", text)
        require(pads.ndim == 1, f"pad-1/{name}-rank", text)
        require(len(counts) == data.ndim, f"pad-1/{name}-length", text)
        require(all(count >= 0 for count in counts), f"pad-1/{name}-not-negative", text)
        left = min((n - count for count, n in zip(counts, data.shape, strict=False)), default=1)
        require(pad_mode != "reflect" or left >= 1, f"pad-1/{name}-reflect", text)
        require(pad_mode != "symmetric" or left >= 0, f"pad-1/{name}-symmetric", text)
    if pad_mode == "constant" and pad_value is not None:
        require(pad_value.dtype == data.dtype, "pad-1/value-type", pad_value.dtype.name)
        require(pad_value.ndim == 0, "pad-1/value-shape", f"{pad_value.shape}")
    extents = [*zip(pads_begin.tolist(), data.shape, pads_end.tolist(), strict=True)]
    output = np.zeros([sum(extent) for extent in extents], data.dtype)
    if pad_mode == "constant":
        if pad_value is not None:
            output[...] = pad_value
        output[tuple(slice(begin, begin + n) for begin, n, _ in extents)] = data
    elif data.size:
        output[...] = data[np.ix_(*(_sources(pad_mode, *extent) for extent in extents))]
    return [output]


def _sources(mode: str, begin: int, n: int, end: int) -> Array:
    """Return the index of data for each position along a padded axis of `n` elements."""
    places = np.arange(-begin, n + end)
    if mode == "edge":
        return places.clip(0, n - 1)
    if mode == "reflect":
        return n - 1 - abs(n - 1 - abs(places))
    places = np.where(places < 0, -1 - places, places)
    return np.where(places < n, places, 2 * n - 1 - places)
