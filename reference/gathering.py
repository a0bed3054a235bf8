"""Gather: slices of data at indices, batch by batch."""

from math import prod

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("gather-8/required-inputs")
def gather_8(data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> list[Array]:
    """Select slices of `data` along `axis`; an index out of range gives zeros.

    Shapes: data (batch..., outer..., n, inner...), indices (batch..., picks...), axis () or (1,);
    output (batch..., outer..., picks..., inner...).

    Source: OpenVINO Gather-8, the formula, "batch_dims" and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(is_integer(indices), "gather-8/indices-type", f"indices of {indices.dtype}")
    require(is_integer(axis), "gather-8/axis-type", f"axis of {axis.dtype}")
    require(axis.ndim <= 1 and axis.size == 1, "gather-8/axis-shape", f"axis of shape {axis.shape}")
    dimension = int(axis.item())
    require(
        -data.ndim <= dimension < data.ndim,
        "gather-8/axis-range",
        f"axis {dimension} for data of rank {data.ndim}",
    )
    dimension %= data.ndim
    ranks = min(data.ndim, indices.ndim)
    require(
        -ranks <= batch_dims <= ranks,
        "gather-8/batch-dims-range",
        f"batch_dims {batch_dims} for ranks {data.ndim} and {indices.ndim}",
    )
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    require(
        batch <= dimension,
        "gather-8/batch-dims-at-most-axis",
        f"batch_dims {batch} beyond axis {dimension}",
    )
    require(
        data.shape[:batch] == indices.shape[:batch],
        "gather-8/batch-shapes-equal",
        f"batches {data.shape[:batch]} of data, {indices.shape[:batch]} of indices",
    )
    return [_take(data, indices, dimension, batch)]


def _take(data: Array, indices: Array, axis: int, batch: int) -> Array:
    """Gather all slices in one `take`, then zero those whose index is out of range."""
    extent = data.shape[axis]
    shape = data.shape[:axis] + indices.shape[batch:] + data.shape[axis + 1 :]
    if 0 in (extent, *shape):
        return np.zeros(shape, data.dtype)
    in_range = (indices >= -extent) & (indices < extent)
    # Compare in the type of the indices, and zero them before the cast: u64 does not fit intp.
    positions = np.where(in_range, indices, 0).astype(np.intp) % extent
    batches, outer = prod(data.shape[:batch]), prod(data.shape[batch:axis])
    picks, inner = prod(indices.shape[batch:]), prod(data.shape[axis + 1 :])
    if batches == 1:
        output = data.reshape(outer, extent, inner).take(positions.ravel(), axis=1)
    else:
        offsets = np.arange(batches * outer).reshape(batches, outer, 1) * extent
        rows = offsets + positions.reshape(batches, 1, picks)
        output = data.reshape(batches * outer * extent, inner).take(rows.ravel(), axis=0)
    if not in_range.all():
        spread = output.reshape(batches, outer, picks, inner)
        mask = np.broadcast_to(in_range.reshape(batches, 1, picks), spread.shape[:3])
        spread[~mask] = 0
    gathered: Array = output.reshape(shape)
    return gathered
