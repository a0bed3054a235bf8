"""Slice: a strided region, by Python's rules for slices."""

from opcert.reference.rules import Array, is_integer, require, requires_arguments


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
    bounds = {"start": start, "stop": stop, "step": step}
    require(data.ndim >= 1, "slice-8/data-rank", "data of rank 0")
    require(
        all(map(is_integer, bounds.values())),
        "slice-8/index-type",
        ", ".join(f"{name} of {bound.dtype}" for name, bound in bounds.items()),
    )
    for name, bound in bounds.items():
        require(bound.ndim == 1, f"slice-8/{name}-rank", f"{name} of rank {bound.ndim}")
    if axes is not None:
        require(is_integer(axes), "slice-8/axes-type", f"axes of {axes.dtype}")
        require(axes.ndim == 1, "slice-8/axes-rank", f"axes of rank {axes.ndim}")
    sizes = [array.size for array in (*bounds.values(), axes) if array is not None]
    require(
        all(size == start.size for size in sizes),
        "slice-8/equal-lengths",
        f"inputs of lengths {sizes}",
    )
    require(bool(step.all()), "slice-8/step-nonzero", f"step {step.tolist()}")
    listed = range(start.size) if axes is None else axes.tolist()
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
