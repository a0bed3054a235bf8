"""GatherElements: elements of data at indices along one axis."""

import numpy as np

from opcert.reference.rules import Array, require, requires_arguments


@requires_arguments("gather-elements-6/required-arguments")
def gather_elements_6(data: Array, indices: Array, axis: int) -> list[Array]:
    """Take, for each element of `indices`, the element of `data` at this index along `axis`.

    Shapes: data (outer..., n, inner...), indices and output (outer..., m, inner...).

    Source: OpenVINO GatherElements-6, the detailed description and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    index_type = indices.dtype.name
    require(index_type in ("int32", "int64"), "gather-elements-6/indices-type", index_type)
    ranks = f"ranks {data.ndim} of data, {indices.ndim} of indices"
    require(data.ndim >= 1, "gather-elements-6/data-rank", ranks)
    require(indices.ndim == data.ndim, "gather-elements-6/indices-rank", ranks)
    is_axis = -data.ndim <= axis < data.ndim
    require(is_axis, "gather-elements-6/axis-range", f"axis {axis} for {ranks}")
    axis %= data.ndim
    extents = [shape[:axis] + shape[axis + 1 : data.ndim] for shape in (data.shape, indices.shape)]
    require(
        extents[0] == extents[1],
        "gather-elements-6/indices-extents",
        f"shape {data.shape} of data, {indices.shape} of indices",
    )
    if not data.size:
        return [np.zeros(indices.shape, data.dtype)]
    # The document leaves open what an index outside of the axis gives.
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = np.clip(indices, 0, data.shape[axis] - 1).astype(np.intp)
    return [data[tuple(places)]]
