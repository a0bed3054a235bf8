"""Pad: data with new elements before and after each axis."""

from typing import Literal, get_args

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments

Mode = Literal["constant", "edge", "reflect", "symmetric"]


@requires_arguments("pad-1/required-arguments")
def pad_1(
    data: Array, pads_begin: Array, pads_end: Array, pad_mode: Mode, pad_value: Array | None = None
) -> list[Array]:
    """Add elements to `data` at the ends of each axis: a value, its edge, or its reflection.

    Source: OpenVINO Pad-1, "pad_mode" and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(pad_mode in get_args(Mode), "pad-1/mode-known", f"mode {pad_mode!r}")
    for name, pads in (("begin", pads_begin), ("end", pads_end)):
        text = f"pads_{name} {pads.tolist()} for data of shape {data.shape}"
        require(is_integer(pads), f"pad-1/{name}-type", text)
        require(pads.ndim == 1, f"pad-1/{name}-rank", text)
        require(pads.size == data.ndim, f"pad-1/{name}-length", text)
        require(all(pads >= 0), f"pad-1/{name}-not-negative", text)
        require(pad_mode != "reflect" or all(pads < data.shape), f"pad-1/{name}-reflect", text)
        require(pad_mode != "symmetric" or all(pads <= data.shape), f"pad-1/{name}-symmetric", text)
    # A scalar has no axes, but np.pad expects a pair of numbers.
    widths = [*zip(pads_begin.ravel().tolist(), pads_end.ravel().tolist(), strict=True)] or [(0, 0)]
    if pad_mode == "constant" and pad_value is not None:
        require(pad_value.dtype == data.dtype, "pad-1/value-type", pad_value.dtype.name)
        require(pad_value.ndim == 0, "pad-1/value-shape", f"{pad_value.shape}")
        return [np.pad(data, widths, constant_values=pad_value)]
    # The document leaves open what is added to an axis without elements.
    return [np.pad(data, widths, pad_mode if data.size else "constant")]
