"""Wrong values that references may compute, each of the right type and shape."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference import RuleBroken
from tests import shipped

# Makes wrong outputs, of the right types and shapes, of the right ones and the arguments.
Mistake = Callable[..., Sequence[Array]]

SPLIT, DML, SLICE = "VariadicSplit-1", "DML_OPERATOR_SPLIT", "Slice-8"
BROADCAST, GATHER, SHIFT = "Broadcast-1", "Gather-8", "Shift-1"
MISTAKES: dict[tuple[str, str], Mistake] = {}


def mistake(operator: str) -> Callable[[Mistake], Mistake]:
    """Register a function that gives wrong outputs of `operator`."""

    def register(function: Mistake) -> Mistake:
        MISTAKES[operator, function.__name__] = function
        return function

    return register


def reference_with(operator: str, right: Sequence[Array], **args: Any) -> Sequence[Array]:
    """Return what the reference returns for other arguments, where that has the same shapes."""
    try:
        wrong = shipped.spec(operator).reference(**args)
    except RuleBroken:
        return right
    same = [array.shape for array in wrong] == [array.shape for array in right]
    return wrong if same else right


def parts(right: Sequence[Array], data: Array, axis: int, begins: Sequence[int]) -> Sequence[Array]:
    """Return parts that begin elsewhere, no element off the ends."""
    return [
        np.take(data, range(begin, begin + part.shape[axis]), axis, mode="clip")
        if part.size
        else part
        for part, begin in zip(right, begins, strict=True)
    ]


@mistake(SPLIT)
def equal_parts_reversed(right: Sequence[Array], **_: Any) -> Sequence[Array]:
    return right[::-1] if len({part.shape for part in right}) == 1 else right


@mistake(SPLIT)
def equal_axes_exchanged(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    data = args["data"]
    pairs = [(a, b) for b in range(data.ndim) for a in range(b) if data.shape[a] == data.shape[b]]
    return (
        reference_with(SPLIT, right, **{**args, "data": data.swapaxes(*pairs[0])})
        if pairs
        else right
    )


@mistake(SPLIT)
def minus_one_summed(
    right: Sequence[Array], data: Array, axis: Array, split_lengths: Array
) -> Sequence[Array]:
    where, lengths = int(axis.item()) % data.ndim, split_lengths.tolist()
    begins = [sum(lengths[:i]) for i in range(len(lengths))]
    return parts(right, data, where, begins)


@mistake(SPLIT)
def an_empty_part_takes_one(
    right: Sequence[Array], data: Array, axis: Array, **_: Any
) -> Sequence[Array]:
    where = int(axis.item()) % data.ndim
    taken = [part.shape[where] or 1 for part in right]
    return parts(right, data, where, [sum(taken[:i]) for i in range(len(taken))])


@mistake(SPLIT)
def the_first_part_from_the_end(
    right: Sequence[Array], data: Array, axis: Array, **_: Any
) -> Sequence[Array]:
    where = int(axis.item()) % data.ndim
    taken = [part.shape[where] for part in right]
    return parts(right, data, where, [sum(taken[i + 1 :]) for i in range(len(taken))])


@mistake(SPLIT)
def by_way_of_f32(right: Sequence[Array], **_: Any) -> Sequence[Array]:
    with np.errstate(all="ignore"):
        return [part.astype(np.float32).astype(part.dtype) for part in right]


@mistake(DML)
def every_part_from_the_beginning(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return parts(right, args["InputTensor"], args["Axis"], [0] * len(right))


@mistake(DML)
def only_the_part_before_counts(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    begins = [0, *(part.shape[args["Axis"]] for part in right[:-1])]
    return parts(right, args["InputTensor"], args["Axis"], begins)


@mistake(DML)
def no_negative_zero(right: Sequence[Array], **_: Any) -> Sequence[Array]:
    return [np.where(part == 0, np.zeros_like(part), part) for part in right]


@mistake(DML)
def the_last_element_is_lost(right: Sequence[Array], **_: Any) -> Sequence[Array]:
    wrong = right[-1].copy()
    wrong.reshape(-1)[-1:] = 0
    return [*right[:-1], wrong]


class Span(NamedTuple):
    """What is selected along an axis: the right indices, and what they follow from."""

    indices: Array
    start: int
    stop: int
    step: int
    extent: int


def sliced(
    right: Sequence[Array],
    wrong: Callable[[Span], Any],
    data: Array,
    start: Array,
    stop: Array,
    step: Array,
    axes: Array | None = None,
) -> Sequence[Array]:
    """Return the elements at the indices that `wrong` gives for each span."""
    if not right[0].size:
        return right
    picked = [np.arange(n) for n in data.shape]
    listed = range(start.size) if axes is None else axes.tolist()
    spans = zip(listed, start.tolist(), stop.tolist(), step.tolist(), strict=True)
    for axis, first, end, distance in spans:
        extent = data.shape[axis]
        indices = np.array(range(*slice(first, end, distance).indices(extent)))
        changed = wrong(Span(indices, first, end, distance, extent))
        picked[axis] = np.clip(changed, 0, extent - 1)
    return [data[np.ix_(*picked)]]


@mistake(SLICE)
def backwards_from_one_before(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return sliced(right, lambda span: span.indices - (span.step < 0), **args)


@mistake(SLICE)
def start_clamped_instead_of_wrapped(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    def from_zero(span: Span) -> Array:
        clamped = span.start < 0 < span.step
        return span.indices - span.indices[0] if clamped else span.indices

    return sliced(right, from_zero, **args)


@mistake(SLICE)
def begin_and_end_exchanged(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return sliced(right, lambda span: span.indices[::-1] if span.step < 0 else span.indices, **args)


@mistake(SLICE)
def counted_from_the_stop(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    def up_to_the_stop(span: Span) -> Array:
        last = slice(span.start, span.stop).indices(span.extent)[1] - 1
        return span.indices + last - span.indices[-1] if span.step > 1 else span.indices

    return sliced(right, up_to_the_stop, **args)


@mistake(SLICE)
def step_of_one(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return sliced(right, lambda span: span.indices[0] + np.arange(span.indices.size), **args)


@mistake(SLICE)
def starts_in_the_order_of_the_axes(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    if args.get("axes") is None:
        return right
    order = np.argsort(args["axes"].astype(np.int64) % args["data"].ndim)
    starts = iter(args["start"][order].tolist())
    return sliced(
        right,
        lambda span: span.indices - span.indices[0] + next(starts) % span.extent,
        **args,
    )


@mistake(BROADCAST)
def aligned_to_the_left(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    axes = np.arange(args["data"].ndim)
    return reference_with(BROADCAST, right, **{**args, "mode": "explicit", "axes_mapping": axes})


@mistake(BROADCAST)
def the_mapping_ignored(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return reference_with(BROADCAST, right, **{**args, "mode": "numpy"})


@mistake(BROADCAST)
def repeated_on_end(right: Sequence[Array], data: Array, **_: Any) -> Sequence[Array]:
    return [np.resize(data, right[0].shape)] if right[0].size else right


@mistake(BROADCAST)
def each_element_repeated(right: Sequence[Array], data: Array, **_: Any) -> Sequence[Array]:
    if not right[0].size:
        return right
    return [np.repeat(data.reshape(-1), right[0].size // data.size).reshape(right[0].shape)]


@mistake(BROADCAST)
def equal_axes_of_data_exchanged(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return reference_with(BROADCAST, right, **{**args, "data": args["data"].T})


def gathered(right: Sequence[Array], indices: Array, **args: Any) -> Sequence[Array]:
    return reference_with(GATHER, right, indices=indices, **args)


@mistake(GATHER)
def clamped_instead_of_zeros(
    right: Sequence[Array], indices: Array, **args: Any
) -> Sequence[Array]:
    n = args["data"].shape[int(args["axis"].item())]
    exact = [max(-n, min(index, n - 1)) for index in indices.reshape(-1).tolist()]
    return gathered(right, np.array(exact, np.int64).reshape(indices.shape), **args)


@mistake(GATHER)
def wrapped_instead_of_zeros(
    right: Sequence[Array], indices: Array, **args: Any
) -> Sequence[Array]:
    n = args["data"].shape[int(args["axis"].item())]
    exact = [index % n if n else 0 for index in indices.reshape(-1).tolist()]
    return gathered(right, np.array(exact, np.int64).reshape(indices.shape), **args)


@mistake(GATHER)
def zeros_for_negative(right: Sequence[Array], indices: Array, **args: Any) -> Sequence[Array]:
    far = np.iinfo(indices.dtype).max
    return gathered(right, np.where(indices < 0, far, indices), **args)


@mistake(GATHER)
def negative_off_by_one(right: Sequence[Array], indices: Array, **args: Any) -> Sequence[Array]:
    return gathered(right, indices + (indices == -1).astype(indices.dtype), **args)


@mistake(GATHER)
def indices_cut_to_32_bits(right: Sequence[Array], indices: Array, **args: Any) -> Sequence[Array]:
    return gathered(right, indices.astype(np.int32), **args)


@mistake(GATHER)
def the_first_batch_for_all(
    right: Sequence[Array], indices: Array, batch_dims: int = 0, **args: Any
) -> Sequence[Array]:
    if not batch_dims or not indices.size:
        return right
    first = np.broadcast_to(indices[:1], indices.shape)
    return gathered(right, first, batch_dims=batch_dims, **args)


@mistake(GATHER)
def indices_transposed(right: Sequence[Array], indices: Array, **args: Any) -> Sequence[Array]:
    return gathered(right, indices.T, **args)


def shifted(right: Sequence[Array], fill: str, wrong: Array, args: Any) -> Sequence[Array]:
    """Return wrong outputs for the calls with one value of `fill`, else the right ones."""
    return [wrong] if args["fill"] == fill else right


@mistake(SHIFT)
def the_other_direction(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    wrong = np.roll(args["data"], -args["by"], args["axis"])
    return shifted(right, "other_end", wrong, args)


@mistake(SHIFT)
def the_edge_instead_of_zeros(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    indices = np.arange(args["data"].shape[args["axis"]]) - args["by"]
    wrong = np.take(args["data"], indices, args["axis"], mode="clip")
    return shifted(right, "zeros", wrong, args)


@mistake(SHIFT)
def the_other_end_instead_of_zeros(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    wrong = np.roll(args["data"], args["by"], args["axis"])
    return shifted(right, "zeros", wrong, args)


@mistake(SHIFT)
def the_last_axis_always(right: Sequence[Array], **args: Any) -> Sequence[Array]:
    return shifted(right, "other_end", np.roll(args["data"], args["by"], -1), args)
