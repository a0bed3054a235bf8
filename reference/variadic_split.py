"""VariadicSplit: parts of given lengths along one axis."""

from itertools import accumulate, pairwise

from opcert.reference.rules import Array, is_integer, require, requires_arguments


def parts_along(data: Array, axis: int, lengths: list[int]) -> list[Array]:
    """Return copies of consecutive parts of `data`; part i has `lengths[i]` elements on `axis`."""
    before = (slice(None),) * axis
    bounds = pairwise(accumulate(lengths, initial=0))
    return [data[(*before, slice(low, high))].copy() for low, high in bounds]


@requires_arguments("variadic-split-1/required-inputs")
def variadic_split_1(data: Array, axis: Array, split_lengths: Array) -> list[Array]:
    """Split `data` along `axis` into parts of `split_lengths`; a single -1 takes the rest.

    Shapes: data (any, rank 1 or more), axis () or (1,), split_lengths (parts,); output i is data's
    with split_lengths[i] on the axis.

    Source: OpenVINO VariadicSplit-1, "Detailed Description" and "Inputs".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(is_integer(axis), "variadic-split-1/axis-type", f"axis of {axis.dtype}")
    require(axis.shape in ((), (1,)), "variadic-split-1/axis-shape", f"axis of shape {axis.shape}")
    dimension = int(axis.item())
    require(
        -data.ndim <= dimension < data.ndim,
        "variadic-split-1/axis-range",
        f"axis {dimension} for data of rank {data.ndim}",
    )
    require(
        is_integer(split_lengths),
        "variadic-split-1/lengths-type",
        f"split_lengths of {split_lengths.dtype}",
    )
    require(
        split_lengths.ndim == 1,
        "variadic-split-1/lengths-rank",
        f"split_lengths of rank {split_lengths.ndim}",
    )
    lengths = split_lengths.tolist()
    require(
        all(length >= -1 for length in lengths),
        "variadic-split-1/lengths-not-below-minus-one",
        f"split_lengths {lengths}",
    )
    rests = lengths.count(-1)
    require(rests <= 1, "variadic-split-1/one-minus-one", f"{rests} times -1 in split_lengths")
    extent = data.shape[dimension]
    total = sum(lengths) + rests
    require(
        -1 in lengths or total == extent,
        "variadic-split-1/lengths-sum",
        f"split_lengths sum to {total}, the axis has {extent}",
    )
    require(
        -1 not in lengths or total <= extent,
        "variadic-split-1/lengths-leave-rest",
        f"split_lengths other than -1 sum to {total}, the axis has {extent}",
    )
    if -1 in lengths:
        lengths[lengths.index(-1)] = extent - total
    return parts_along(data, dimension % data.ndim, lengths)
