"""Tile: copies of data along each dimension."""

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("tile-1/required-inputs")
def tile_1(data: Array, repeats: Array) -> list[Array]:
    """Return `repeats` copies of `data` along each dimension, both aligned at the end.

    Shapes: data (any), repeats (count,); the output has the rank of data or, if that is more, count
    dimensions.

    Source: OpenVINO Tile-1, the short description and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(is_integer(repeats), "tile-1/repeats-type", f"repeats of {repeats.dtype}")
    # The document leaves open what a negative number and another rank mean.
    counts = [max(int(count), 0) for count in repeats.ravel()]
    return [np.tile(data, counts).copy("C")]
