"""Backends that read the documents of the operators without committed suites in other ways.

Each is the reference with one difference, in calls that the document leaves open.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, rejecting, right
from tests.operators.planted import misreading, taking
from tests.operators.strided_slice import LISTS, MASKS

SPLIT = "openvino/Split-1"
CONCAT = "openvino/Concat-1"
TILE = "openvino/Tile-1"
PAD = "openvino/Pad-1"
TRANSPOSE = "openvino/Transpose-1"
RESHAPE = "openvino/Reshape-1"
GATHER = "openvino/GatherElements-6"
SCATTER = "openvino/ScatterElementsUpdate-3"
SLICE = "openvino/StridedSlice-1"
REVERSE = "openvino/ReverseSequence-1"
JOIN = "directml/DML_OPERATOR_JOIN"
WINDOW = "directml/DML_OPERATOR_SLICE1"
# The inputs whose elements are only moved; conditions do not depend on them.
MOVED = {"data", "arg", "inputs", "InputTensors", "InputTensor", "updates", "pad_value"}


# What StridedSlice does in one step: begin, end, stride and bits by name, and the dimension.
Step = dict[str, Any]

# Types


def takes_booleans_for_integers(call: Call) -> Call:
    indices = {name: item for name, item in call.inputs.items() if name not in MOVED}
    return call.given(**{n: item.astype("u1") for n, item in indices.items() if item.dtype == bool})


def is_boolean(_: Call, outputs: Outputs) -> bool:
    return any(output.dtype == np.bool_ for output in outputs)


def updates_booleans(call: Call) -> Outputs:
    pair = [call.get("data"), call.get("updates")]
    if any(item is None or item.dtype != np.bool_ for item in pair):
        return right(SCATTER, call)
    data, updates = (np.asarray(item).view("u1") for item in pair)
    (output,) = right(SCATTER, call.given(data=data, updates=updates))
    return [output.view(np.bool_)]


def has_mixed_types(names: Sequence[str], call: Call, _: Outputs) -> bool:
    return len({call[name].dtype for name in names if name in call}) > 1


def is_not_in_its_table(ranks: range, _: Call, outputs: Outputs) -> bool:
    (output,) = outputs
    types = [f"{kind}{width}" for kind in "iu" for width in (1, 2, 4)] + ["f2", "f4"]
    return output.ndim not in ranks or output.dtype not in map(np.dtype, types)


# Tile


def takes_the_magnitude_of_repeats(call: Call) -> Outputs:
    right(TILE, call)
    return [np.tile(call.data, list(map(abs, call.ints("repeats")))).copy()]


# Pad

PADS = ("pads_begin", "pads_end")


def has_an_edge_of_nothing(call: Call, outputs: Outputs) -> bool:
    extents = zip(call.data.shape, outputs[0].shape, strict=True)
    return call["pad_mode"] == "edge" and any(n == 0 < padded for n, padded in extents)


def reflects_nothing(call: Call) -> Outputs:
    is_known = call.get("pad_mode") == "reflect" and all(name in call for name in ("data", *PADS))
    if not is_known or 0 not in call.data.shape:
        return right(PAD, call)
    # The limits of the other axes remain.
    right(PAD, call.moving(np.zeros([n or 1 for n in call.data.shape], call.data.dtype)))
    return right(PAD, call.given(pad_mode="symmetric"))


# Reshape


def copies_1_after_the_last_dimension(call: Call) -> Array:
    shape: Array = call["shape"].copy()
    if call.get("special_zero") and shape.ndim == 1 and shape.dtype.kind in "iu":
        after = shape[call.data.ndim :][:1]
        after[after == 0] = 1
    return shape


def infers(size: int, call: Call) -> Outputs:
    """Infer `size` for a -1 next to a size of 0."""
    try:
        return right(RESHAPE, call)
    except ValueError as error:
        if "inferred-size" not in str(error) or call["data"].size:
            raise
    sizes = [size if k == -1 else k for k in call.ints("shape")]
    return right(RESHAPE, call.given(shape=np.array(sizes)))


# GatherElements and ScatterElementsUpdate


def takes_axis_0_by_default(call: Call) -> Call:
    return call.given(axis=call.get("axis", 0))


def gathers(kind: str, call: Call) -> Outputs:
    """Treat an index outside of the axis in one of several ways."""
    (output,) = right(GATHER, call)
    indices, n = call["indices"], call.data.shape[call["axis"]]
    outside = (indices < 0) | (indices >= n)
    if not outside.any():
        return [output]
    if kind == "rejects" or not n:
        raise ValueError("not a call of this reading")
    if kind == "zeros":
        output[outside] = 0
        return [output]
    return right(GATHER, call.given(indices=indices % n))


def keeps_the_first_update(call: Call) -> Outputs:
    outputs, axis = right(SCATTER, call), call.ints("axis")[0]
    flipped = {name: np.flip(call[name], axis) for name in ("indices", "updates")}
    return right(SCATTER, call.given(**flipped)) if call["indices"].size else outputs


# StridedSlice


def steps_of(call: Call) -> list[Step]:
    """Return the steps of a valid call."""
    m, rank = call["begin"].size, call.data.ndim
    columns = {name: [*call.get(name, []), *[0] * m][:m] for name in MASKS}
    columns |= {name: call.ints(name) if name in call else [1] * m for name in LISTS}
    steps = [{name: column[k] for name, column in columns.items()} for k in range(m)]
    used = sum(not step["new_axis_mask"] and not step["ellipsis_mask"] for step in steps)
    dimension = 0
    for step in steps:
        step["dimension"] = dimension
        is_new = step["new_axis_mask"]
        dimension += rank - used if step["ellipsis_mask"] else 0 if is_new else 1
    return steps


def reslicing(change: Callable[[Step, int], Any]) -> Compute:
    """Return what changes each plain step of a valid call, given the size of its dimension."""

    def compute(call: Call) -> Outputs:
        right(SLICE, call)
        steps = steps_of(call)
        for step in steps:
            if not any(step[name] for name in MASKS[2:]):
                change(step, call.data.shape[step["dimension"]] if call.data.ndim else 0)
        most = (1 << 63) - 1  # an index past any dimension, like those of 64 bits without a sign
        lists = {n: np.array([min(step[n], most) for step in steps], "i8") for n in LISTS}
        masks = {name: [step[name] for step in steps] for name in MASKS}
        return right(SLICE, call.given(**lists, **masks))

    return compute


def keeps_one_element(step: Step, n: int) -> None:
    """Keep an element where begin equals end."""
    begin, end = (k + n if k < 0 else k for k in (step["begin"], step["end"]))
    if begin == end and 0 <= begin < n and not step["begin_mask"] and not step["end_mask"]:
        step["begin"] = begin
        step["end"] = begin + 1 if step["stride"] > 0 else begin - 1 - n


def goes_back_to_the_first_element(step: Step, _: int) -> None:
    if step["end_mask"] and step["stride"] < 0:
        step["end_mask"], step["end"] = 0, -(1 << 40)


def takes_omitted_masks_for_zeros(call: Call) -> Call:
    return call.given(**{"begin_mask": [], "end_mask": [], **call.attributes})


def has_fewer_steps(call: Call, _: Outputs) -> bool:
    steps = steps_of(call)
    sliced = sum(not step["new_axis_mask"] for step in steps)
    has_rest = any(step["ellipsis_mask"] for step in steps)
    return not steps or (sliced < call.data.ndim and not has_rest)


def has_overlapping_masks(call: Call, _: Outputs) -> bool:
    return any(
        sum(step[name] for name in MASKS[2:]) > 1
        or (step["shrink_axis_mask"] and (step["begin_mask"] or step["end_mask"]))
        for step in steps_of(call)
    )


def shrinks_an_index_outside(call: Call, _: Outputs) -> bool:
    shrunk = [step for step in steps_of(call) if step["shrink_axis_mask"]]
    sizes = [
        (step["begin"], call.data.shape[step["dimension"]])
        for step in shrunk
        if not step["new_axis_mask"] and not step["ellipsis_mask"]
    ]
    return any(not -n <= begin < n for begin, n in sizes)


def accepts_an_ignored_stride_of_0(call: Call) -> Array:
    stride: Array = call["stride"].copy()
    if "begin" in call and stride.ndim == 1 and stride.shape == call["begin"].shape:
        for step in np.flatnonzero(stride == 0):
            if any(1 in call.get(name, [])[step : step + 1] for name in MASKS[2:]):
                stride[step] = 1
    return stride


def ignores_further_bits(call: Call) -> Call:
    cut = {name: mask[: call["begin"].size] for name, mask in call.attributes.items()}
    return call.given(**cut)


# ReverseSequence


def has_one_axis_for_both(call: Call, _: Outputs) -> bool:
    rank = call.data.ndim
    return bool(call.get("batch_axis", 0) % rank == call.get("seq_axis", 1) % rank)


def accepts_empty_sequences(call: Call) -> Outputs:
    data, lengths = call.get("data"), call.get("seq_lengths")
    axis = call.get("seq_axis", 1)
    if data is None or lengths is None or data.ndim < 2 or not -data.ndim <= axis < data.ndim:
        return right(REVERSE, call)
    if data.shape[axis] or not np.isfinite(lengths.astype("f8")).all():
        return right(REVERSE, call)
    if (lengths.astype("f8") % 1).any():
        raise ValueError("not a call of this reading")
    stretched = np.zeros([n or 1 for n in data.shape], data.dtype)
    batch = call.get("batch_axis", 0)
    if -data.ndim <= batch < data.ndim and data.shape[batch] == 0:
        return right(REVERSE, call)
    right(REVERSE, call.given(data=stretched, seq_lengths=lengths * 0 + 1))
    return [data.copy()]


# DML_OPERATOR_SLICE1


def has_surplus_elements(call: Call, _: Outputs) -> bool:
    lists = [value for name, value in call.attributes.items() if name.startswith("InputWindow")]
    return any(len(value) > call["DimensionCount"] for value in lists)


def has_strides_past_31_bits(call: Call, _: Outputs) -> bool:
    strides = call["InputWindowStrides"][: call["DimensionCount"]]
    return any(stride >= 1 << 31 for stride in strides)


OPEN: list[tuple[str, str, Compute]] = [
    *((operator, "takes-booleans-for-integers", taking(operator, takes_booleans_for_integers))
        for operator in (SPLIT, TILE, PAD, TRANSPOSE, RESHAPE, SCATTER, SLICE)),
    *((operator, "rejects-boolean-data", rejecting(operator, is_boolean))
        for operator in (CONCAT, PAD, RESHAPE)),
    (SCATTER, "updates-booleans", updates_booleans),
    (PAD, "rejects-mixed-types", rejecting(PAD, partial(has_mixed_types, PADS))),
    (SLICE, "rejects-mixed-types", rejecting(SLICE, partial(has_mixed_types, LISTS))),
    (JOIN, "supports-its-table", rejecting(JOIN, partial(is_not_in_its_table, range(4, 6)))),
    (WINDOW, "supports-its-table", rejecting(WINDOW, partial(is_not_in_its_table, range(1, 9)))),
    (SPLIT, "rejects-an-axis-of-size-0",
        rejecting(SPLIT, lambda c, _: c.data.shape[int(c["axis"])] == 0)),
    (TILE, "rejects-negative-repeats", rejecting(TILE, lambda c, _: (c["repeats"] < 0).any())),
    (TILE, "takes-the-magnitude-of-repeats", takes_the_magnitude_of_repeats),
    (TILE, "rejects-repeats-of-another-rank", rejecting(TILE, lambda c, _: c["repeats"].ndim != 1)),
    (PAD, "accepts-capital-modes", misreading(PAD, "pad_mode", lambda c: c["pad_mode"].lower())),
    (PAD, "rejects-a-value-in-other-modes",
        rejecting(PAD, lambda c, _: "pad_value" in c and c["pad_mode"] != "constant")),
    (PAD, "rejects-the-edge-of-nothing", rejecting(PAD, has_an_edge_of_nothing)),
    (PAD, "reflects-nothing", reflects_nothing),
    (RESHAPE, "copies-1-after-the-last-dimension",
        misreading(RESHAPE, "shape", copies_1_after_the_last_dimension)),
    (RESHAPE, "infers-0", partial(infers, 0)),
    (RESHAPE, "infers-1", partial(infers, 1)),
    (GATHER, "takes-axis-0-by-default", taking(GATHER, takes_axis_0_by_default)),
    (GATHER, "rejects-indices-outside", partial(gathers, "rejects")),
    (GATHER, "gathers-zeros-outside", partial(gathers, "zeros")),
    (GATHER, "counts-indices-around", partial(gathers, "wraps")),
    (SCATTER, "keeps-the-first-update", keeps_the_first_update),
    (SLICE, "keeps-one-element", reslicing(keeps_one_element)),
    (SLICE, "rejects-nothing", rejecting(SLICE, lambda c, out: c.data.size and not out[0].size)),
    (SLICE, "goes-back-to-the-first-element", reslicing(goes_back_to_the_first_element)),
    (SLICE, "takes-omitted-masks-for-zeros", taking(SLICE, takes_omitted_masks_for_zeros)),
    (SLICE, "rejects-fewer-steps", rejecting(SLICE, has_fewer_steps)),
    (SLICE, "rejects-overlapping-masks", rejecting(SLICE, has_overlapping_masks)),
    (SLICE, "rejects-a-shrunk-index-outside", rejecting(SLICE, shrinks_an_index_outside)),
    (SLICE, "accepts-an-ignored-stride-of-0",
        misreading(SLICE, "stride", accepts_an_ignored_stride_of_0)),
    (SLICE, "ignores-further-bits", taking(SLICE, ignores_further_bits)),
    (REVERSE, "rejects-one-axis-for-both", rejecting(REVERSE, has_one_axis_for_both)),
    (REVERSE, "accepts-empty-sequences", accepts_empty_sequences),
    (JOIN, "rejects-zero-sizes", rejecting(JOIN, lambda c, _: 0 in c["OutputTensor"]["Sizes"])),
    (JOIN, "rejects-surplus-tensors",
        rejecting(JOIN, lambda c, _: len(c["InputTensors"]) > c["InputCount"])),
    (WINDOW, "rejects-surplus-elements", rejecting(WINDOW, has_surplus_elements)),
    (WINDOW, "rejects-strides-past-31-bits", rejecting(WINDOW, has_strides_past_31_bits)),
]  # fmt: skip
