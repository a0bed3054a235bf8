"""References of made-up operators that expand data, and a wrong implementation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from opcert.reference.rules import require, requires_arguments

Array = npt.NDArray[Any]


@requires_arguments("expand-1/required-inputs")
def expand(data: Array, sizes: Array) -> list[Array]:
    """Broadcast `data` to `sizes`, aligned at the end."""
    require(sizes.dtype.name in ("int32", "int64"), "expand-1/sizes-type", f"{sizes.dtype}")
    require(sizes.ndim == 1, "expand-1/sizes-rank", f"sizes of rank {sizes.ndim}")
    target = tuple(sizes.tolist())
    require(min(target, default=0) >= 0, "expand-1/sizes-least", f"sizes {target}")
    require(data.ndim <= len(target), "expand-1/ranks", f"rank {data.ndim}, sizes {target}")
    pairs = zip(data.shape[::-1], target[::-1], strict=False)
    fit = all(own in (1, size) for own, size in pairs)
    require(fit, "expand-1/extents", f"shape {data.shape}, sizes {target}")
    return [np.broadcast_to(data, target).copy()]


def tiling(data: Array, sizes: Array) -> list[Array]:
    """Fill the output with repetitions of data."""
    return [
        np.resize(data, each.shape) if data.size else each
        for each in expand(data=data, sizes=sizes)
    ]


def embed(data: Array, sizes: Array, places: Array | None = None, how: str = "tail") -> list[Array]:
    """Broadcast `data` to `sizes`, its axes at `places` where `how` is listed."""
    require(how in ("tail", "listed"), "embed-1/how-word", f"how {how}")
    if how == "tail":
        return expand(data=data, sizes=sizes)
    require(places is not None, "embed-1/places-given", "no places")
    assert places is not None
    shape = [1] * sizes.size
    for axis, place in enumerate(places.tolist()):
        shape[place] = data.shape[axis]
    return [np.broadcast_to(data.reshape(shape), tuple(sizes.tolist())).copy()]
