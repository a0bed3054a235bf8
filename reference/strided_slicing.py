"""StridedSlice: a strided region whose axes masks add, remove, skip or keep in full."""

from itertools import chain, zip_longest

from opcert.reference.rules import Array, is_integer, require, requires_arguments

Mask = list[int]


@requires_arguments("strided-slice-1/required-arguments")
def strided_slice_1(
    data: Array,
    begin: Array,
    end: Array,
    *,
    begin_mask: Mask,
    end_mask: Mask,
    stride: Array | None = None,
    new_axis_mask: Mask | None = None,
    shrink_axis_mask: Mask | None = None,
    ellipsis_mask: Mask | None = None,
) -> list[Array]:
    """Slice each axis from `begin` to before `end`, `stride` apart; masks change single steps.

    Shapes: data (any), begin, end, stride (steps,), masks (any number); output: by the masks.

    Source: OpenVINO StridedSlice-1, "Detailed description" and "Inputs".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    slug, m = "strided-slice-1", begin.size
    lists = {"begin": begin, "end": end, **({} if stride is None else {"stride": stride})}
    require(all(map(is_integer, lists.values())), f"{slug}/index-type", "not of integers")
    for name, array in lists.items():
        require(array.ndim == 1, f"{slug}/{name}-rank", f"{name} of rank {array.ndim}")
    require(all(array.size == m for array in lists.values()), f"{slug}/equal-lengths", f"not {m}")
    masks = [begin_mask, end_mask, new_axis_mask or [], shrink_axis_mask or [], ellipsis_mask or []]
    require({0, 1}.issuperset(chain(*masks)), f"{slug}/mask-bits", f"masks {masks}")
    require(masks[-1].count(1) <= 1, f"{slug}/ellipsis-once", f"mask {ellipsis_mask}")
    strides = [1] * m if stride is None else stride.tolist()
    require(all(strides), f"{slug}/stride-nonzero", f"stride {strides}")
    bits = [[*mask, *[0] * m][:m] for mask in masks]
    skipped = data.ndim - sum(not (new or rest) for _, _, new, _, rest in zip(*bits, strict=True))
    require(skipped >= 0, f"{slug}/steps-fit", f"{m} steps, rank {data.ndim}")
    region: list[slice | int | None] = []
    rows = zip_longest(begin.tolist(), end.tolist(), strides, *bits)
    for first, stop, by, from_start, to_end, new, shrink, rest in rows:
        n = (*data.shape, 0)[sum(item is not None for item in region)]
        if rest or new:
            region += [slice(None)] * skipped if rest else [None]
        elif shrink:
            require(n > 0, f"{slug}/steps-fit", "a removed dimension is empty")
            region.append(min(max(first, -n), n - 1))
        else:
            start = None if from_start else max(first, -n)
            region.append(slice(start, (None if by > 0 else 0) if to_end else stop, by))
    # With an ellipsis, what is left of the last dimension is an array too.
    return [data[(*region, ...)].copy()]
