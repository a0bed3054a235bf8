"""ScatterElementsUpdate: data with elements at indices along one axis replaced."""

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("scatter-elements-update-3/required-inputs")
def scatter_elements_update_3(
    data: Array, indices: Array, updates: Array, axis: Array
) -> list[Array]:
    """Return `data` with each of `updates` at the index of the same place along `axis`.

    Shapes: data and output any, indices and updates of at most these extents, axis () or (1,).

    Source: OpenVINO ScatterElementsUpdate-3, the detailed description and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    slug = "scatter-elements-update-3"
    types = f"updates of {updates.dtype}, data of {data.dtype}"
    require(updates.dtype == data.dtype, f"{slug}/updates-type", types)
    require(is_integer(indices), f"{slug}/indices-type", f"indices of {indices.dtype}")
    require(is_integer(axis), f"{slug}/axis-type", f"axis of {axis.dtype}")
    require(axis.ndim <= 1 and axis.size == 1, f"{slug}/axis-shape", f"axis of {axis.shape}")
    shapes = f"data of {data.shape}, indices of {indices.shape}, updates of {updates.shape}"
    require(indices.ndim == data.ndim, f"{slug}/indices-rank", shapes)
    require(updates.shape == indices.shape, f"{slug}/updates-shape", shapes)
    is_within = all(a <= b for a, b in zip(indices.shape, data.shape, strict=False))
    require(is_within, f"{slug}/indices-extents", shapes)
    number, rank = int(axis.reshape(-1)[0]), data.ndim
    require(-rank <= number < rank, f"{slug}/axis-range", f"axis {number}, {shapes}")
    is_inside = bool(np.all((indices >= 0) & (indices < data.shape[number])))
    require(is_inside, f"{slug}/indices-range", f"an index outside of axis {number}, {shapes}")
    output = data.copy()
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[number] = indices.astype(np.intp)
    output[tuple(places)] = updates
    return [output]
