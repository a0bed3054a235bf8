"""OpenVINO StridedSlice-1: a strided region whose axes masks add, remove, skip or keep in full."""

import numpy as np

from opcert.reference.rules import Array, require, require_slices, requires_arguments

MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


@requires_arguments("strided-slice-1/required-arguments", "begin_mask", "end_mask")
def strided_slice_1(
    data: Array, begin: Array, end: Array, stride: Array | None = None, **masks: list[int]
) -> list[Array]:
    """Slice from `begin` to before `end`, `stride` apart, or by `masks` ("Detailed description").

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    slug, m = "strided-slice-1", begin.size
    stride = np.ones_like(begin) if stride is None else stride
    require_slices(slug, begin=begin, end=end, stride=stride)
    is_mask = all({0, 1}.issuperset(mask) for mask in masks.values())
    require(is_mask, f"{slug}/mask-bits", f"masks {masks}")
    require(masks.get("ellipsis_mask", []).count(1) <= 1, f"{slug}/ellipsis-once", f"masks {masks}")
    bits = [[*masks.get(name, []), *[0] * m][:m] for name in MASKS]  # extended by zeros, or cut
    steps = [*zip(begin.tolist(), end.tolist(), stride.tolist(), *bits, strict=False)]
    skipped = data.ndim - sum(not (new or rest) for *_, new, _, rest in steps)
    require(skipped >= 0, f"{slug}/steps-fit", f"{m} steps, rank {data.ndim}")
    index: list[slice | int | None] = []
    for first, stop, by, from_start, to_end, new, single, rest in steps:
        n = (*data.shape, 0)[sum(item is not None for item in index)]
        if rest or new:
            index += [slice(None)] * skipped if rest else [None]
        elif single:
            require(n > 0, f"{slug}/steps-fit", "a removed dimension is empty")
            index.append(min(max(first, -n), n - 1))
        else:
            start = None if from_start else max(first, -n)
            index.append(slice(start, (None if by > 0 else 0) if to_end else stop, by))
    return [data[(*index, ...)].copy()]
