"""Slice: a strided region, by Python's rules for slices."""

from opcert.reference.rules import Array, is_integer, require, require_slices, requires_arguments


@requires_arguments("slice-8/required-inputs")
def slice_8(
    data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
) -> list[Array]:
    """Slice data[start:stop:step] on each of `axes` (default: the first ones); keep other axes.

    Shapes: data (rank 1 or more), start, stop, step, axes (sliced axes,); output: data's rank.

    Source: OpenVINO Slice-8, "Detailed Description" and "Inputs".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(data.ndim >= 1, "slice-8/data-rank", "data of rank 0")
    if axes is not None:
        require(is_integer(axes), "slice-8/axes-type", f"axes of {axes.dtype}")
        require(axes.ndim == 1, "slice-8/axes-rank", f"axes of rank {axes.ndim}")
    require_slices("slice-8", start=start, stop=stop, step=step)
    count = start.size if axes is None else axes.size
    require(count == start.size, "slice-8/equal-lengths", f"{count} axes for {start.size} slices")
    listed = range(count) if axes is None else axes.tolist()
    require(
        axes is not None or start.size <= data.ndim,
        "slice-8/default-axes-fit",
        f"{start.size} slices for data of rank {data.ndim}",
    )
    require(
        all(-data.ndim <= axis < data.ndim for axis in listed),
        "slice-8/axes-range",
        f"axes {list(listed)} for data of rank {data.ndim}",
    )
    selected = [axis % data.ndim for axis in listed]
    require(len(set(selected)) == len(selected), "slice-8/axes-unique", f"axes {list(listed)}")
    region = [slice(None)] * data.ndim
    for axis, *ends in zip(selected, start.tolist(), stop.tolist(), step.tolist(), strict=False):
        region[axis] = slice(*ends)
    return [data[tuple(region)].copy()]
