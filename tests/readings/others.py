"""Backends that read the documents of the operators without committed suites in other ways.

Each is the reference with one difference, in calls that the document leaves open.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.operators.planted import Attributes, Compute, Inputs, right

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


def given(inputs: Inputs, **changed: Any) -> dict[str, Any]:
    return {**inputs, **changed}


def refuse(is_refused: bool) -> None:
    if is_refused:
        raise ValueError("not a call of this reading")


def rejecting(operator: str, is_refused: Callable[[Inputs, Attributes], bool]) -> Compute:
    """Return a backend that rejects some valid calls."""

    def compute(inputs: Inputs, attributes: Attributes) -> Any:
        outputs = right(operator, inputs, attributes)
        refuse(is_refused(inputs, attributes))
        return outputs

    return compute


# Types


def takes_booleans_for_integers(operator: str, inputs: Inputs, attributes: Attributes) -> Any:
    indices = {
        name: item.astype("u1")
        for name, item in inputs.items()
        if name not in MOVED and item.dtype == np.bool_
    }
    return right(operator, given(inputs, **indices), attributes)


def rejects_boolean_data(operator: str, inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(operator, inputs, attributes)
    refuse(any(output.dtype == np.bool_ for output in outputs))
    return outputs


def updates_booleans(inputs: Inputs, attributes: Attributes) -> Any:
    pair = [inputs.get("data"), inputs.get("updates")]
    if any(item is None or item.dtype != np.bool_ for item in pair):
        return right(SCATTER, inputs, attributes)
    data, updates = (np.asarray(item).view("u1") for item in pair)
    (output,) = right(SCATTER, given(inputs, data=data, updates=updates), attributes)
    return [output.view(np.bool_)]


def rejects_mixed_types(
    operator: str, names: Sequence[str], inputs: Inputs, attributes: Attributes
) -> Any:
    outputs = right(operator, inputs, attributes)
    refuse(len({inputs[name].dtype for name in names if name in inputs}) > 1)
    return outputs


def supports_no_more_than_its_table(
    operator: str, ranks: range, inputs: Inputs, attributes: Attributes
) -> Any:
    outputs = right(operator, inputs, attributes)
    (output,) = outputs
    types = [f"{kind}{width}" for kind in "iu" for width in (1, 2, 4)] + ["f2", "f4"]
    refuse(output.ndim not in ranks or output.dtype not in map(np.dtype, types))
    return outputs


# Tile


def takes_the_magnitude_of_repeats(inputs: Inputs, attributes: Attributes) -> Any:
    right(TILE, inputs, attributes)
    return [np.tile(inputs["data"], [abs(int(n)) for n in inputs["repeats"].ravel()]).copy()]


# Pad

PADS = ("pads_begin", "pads_end")


def accepts_capital_modes(inputs: Inputs, attributes: Attributes) -> Any:
    lower = {name: word.lower() for name, word in attributes.items()}
    return right(PAD, inputs, lower)


def rejects_the_edge_of_nothing(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(PAD, inputs, attributes)
    data = inputs["data"]
    grown = [a != b for a, b in zip(outputs[0].shape, data.shape, strict=True)]
    is_empty = any(n == 0 and more for n, more in zip(data.shape, grown, strict=True))
    refuse(attributes["pad_mode"] == "edge" and is_empty)
    return outputs


def reflects_nothing(inputs: Inputs, attributes: Attributes) -> Any:
    names = ("data", *PADS)
    is_known = attributes.get("pad_mode") == "reflect" and all(name in inputs for name in names)
    if not is_known or 0 not in inputs["data"].shape:
        return right(PAD, inputs, attributes)
    # The limits of the other axes remain.
    ones = np.zeros([n or 1 for n in inputs["data"].shape], inputs["data"].dtype)
    right(PAD, given(inputs, data=ones), attributes)
    return right(PAD, inputs, {**attributes, "pad_mode": "symmetric"})


# Reshape


def copies_1_after_the_last_dimension(inputs: Inputs, attributes: Attributes) -> Any:
    if not {"data", "shape"} <= inputs.keys() or not attributes.get("special_zero"):
        return right(RESHAPE, inputs, attributes)
    shape, rank = inputs["shape"], inputs["data"].ndim
    if shape.ndim == 1 and shape.dtype.kind in "iu" and shape.size > rank and shape[rank] == 0:
        shape = shape.copy()
        shape[rank] = 1
    return right(RESHAPE, given(inputs, shape=shape), attributes)


def infers(size: int, inputs: Inputs, attributes: Attributes) -> Any:
    """Infer `size` for a -1 next to a size of 0."""
    try:
        return right(RESHAPE, inputs, attributes)
    except ValueError as error:
        if "inferred-size" not in str(error) or inputs["data"].size:
            raise
    sizes = [size if k == -1 else k for k in inputs["shape"].tolist()]
    return right(RESHAPE, given(inputs, shape=np.array(sizes)), attributes)


# GatherElements and ScatterElementsUpdate


def takes_axis_0_by_default(inputs: Inputs, attributes: Attributes) -> Any:
    return right(GATHER, inputs, {"axis": 0, **attributes})


def gathers(kind: str, inputs: Inputs, attributes: Attributes) -> Any:
    """Treat an index outside of the axis in one of several ways."""
    (output,) = right(GATHER, inputs, attributes)
    data, indices = inputs["data"], inputs["indices"]
    n = data.shape[attributes["axis"]]
    outside = (indices < 0) | (indices >= n)
    if not outside.any():
        return [output]
    refuse(kind == "rejects" or not n)
    if kind == "zeros":
        output[outside] = 0
        return [output]
    return right(GATHER, given(inputs, indices=indices % n), attributes)


def keeps_the_first_update(inputs: Inputs, attributes: Attributes) -> Any:
    (output,) = right(SCATTER, inputs, attributes)
    indices, axis = inputs["indices"], int(inputs["axis"].ravel()[0])
    flipped = {name: np.flip(inputs[name], axis) for name in ("indices", "updates")}
    return right(SCATTER, given(inputs, **flipped), attributes) if indices.size else [output]


# StridedSlice

LISTS = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def steps_of(inputs: Inputs, attributes: Attributes) -> list[dict[str, Any]]:
    """Return begin, end, stride, the bits, and the dimension of each step of a valid call."""
    m, rank = inputs["begin"].size, inputs["data"].ndim
    columns = {name: [*attributes.get(name, []), *[0] * m][:m] for name in MASKS}
    columns["begin"], columns["end"] = inputs["begin"].tolist(), inputs["end"].tolist()
    columns["stride"] = inputs["stride"].tolist() if "stride" in inputs else [1] * m
    steps = [{name: column[k] for name, column in columns.items()} for k in range(m)]
    used = sum(not step["new_axis_mask"] and not step["ellipsis_mask"] for step in steps)
    dimension = 0
    for step in steps:
        step["dimension"] = dimension
        is_new = step["new_axis_mask"]
        dimension += rank - used if step["ellipsis_mask"] else 0 if is_new else 1
    return steps


def is_sliced(step: dict[str, Any]) -> bool:
    return not any(step[name] for name in MASKS[2:])


def resliced(inputs: Inputs, attributes: Attributes, steps: Iterable[dict[str, Any]]) -> Any:
    """Return the outputs for other begins, ends and strides."""
    rows = [*steps]
    most = (1 << 63) - 1  # an index past any dimension, like those of 64 bits without a sign
    lists = {n: [min(row[n], most) for row in rows] for n in LISTS}
    arrays = {name: np.array(numbers, "i8") for name, numbers in lists.items()}
    masks = {name: [row[name] for row in rows] for name in MASKS}
    return right(SLICE, given(inputs, **arrays), {**attributes, **masks})


def keeps_one_element(inputs: Inputs, attributes: Attributes) -> Any:
    """Keep an element where begin equals end."""
    right(SLICE, inputs, attributes)
    steps = steps_of(inputs, attributes)
    for step in filter(is_sliced, steps):
        n = inputs["data"].shape[step["dimension"]] if inputs["data"].ndim else 0
        begin, end = (k + n if k < 0 else k for k in (step["begin"], step["end"]))
        if begin == end and 0 <= begin < n and not step["begin_mask"] and not step["end_mask"]:
            step["begin"] = begin
            step["end"] = begin + 1 if step["stride"] > 0 else begin - 1 - n
    return resliced(inputs, attributes, steps)


def rejects_nothing(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    refuse(outputs[0].size == 0 and inputs["data"].size > 0)
    return outputs


def goes_back_to_the_first_element(inputs: Inputs, attributes: Attributes) -> Any:
    right(SLICE, inputs, attributes)
    steps = steps_of(inputs, attributes)
    for step in filter(is_sliced, steps):
        if step["end_mask"] and step["stride"] < 0:
            step["end_mask"], step["end"] = 0, -(1 << 40)
    return resliced(inputs, attributes, steps)


def takes_omitted_masks_for_zeros(inputs: Inputs, attributes: Attributes) -> Any:
    return right(SLICE, inputs, {"begin_mask": [], "end_mask": [], **attributes})


def rejects_fewer_steps(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    steps = steps_of(inputs, attributes)
    sliced = sum(not step["new_axis_mask"] for step in steps)
    has_rest = any(step["ellipsis_mask"] for step in steps)
    refuse(not steps or (sliced < inputs["data"].ndim and not has_rest))
    return outputs


def rejects_overlapping_masks(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    for step in steps_of(inputs, attributes):
        refuse(sum(step[name] for name in MASKS[2:]) > 1)
        refuse(step["shrink_axis_mask"] and (step["begin_mask"] or step["end_mask"]))
    return outputs


def rejects_a_shrunk_index_outside(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    for step in steps_of(inputs, attributes):
        if step["shrink_axis_mask"] and not step["new_axis_mask"] and not step["ellipsis_mask"]:
            n = inputs["data"].shape[step["dimension"]]
            refuse(not -n <= step["begin"] < n)
    return outputs


def accepts_an_ignored_stride_of_0(inputs: Inputs, attributes: Attributes) -> Any:
    names = {"data", "begin", "end", "stride"}
    if not names <= inputs.keys() or inputs["stride"].shape != inputs["begin"].shape:
        return right(SLICE, inputs, attributes)
    stride = inputs["stride"].copy()
    for step in range(stride.size):
        is_ignored = any(1 in attributes.get(name, [])[step : step + 1] for name in MASKS[2:])
        if stride.ndim == 1 and is_ignored and stride[step] == 0:
            stride[step] = 1
    return right(SLICE, given(inputs, stride=stride), attributes)


def ignores_further_bits(inputs: Inputs, attributes: Attributes) -> Any:
    if "begin" not in inputs:
        return right(SLICE, inputs, attributes)
    cut = {name: mask[: inputs["begin"].size] for name, mask in attributes.items()}
    return right(SLICE, inputs, cut)


# ReverseSequence


def rejects_one_axis_for_both(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(REVERSE, inputs, attributes)
    rank = inputs["data"].ndim
    refuse(attributes.get("batch_axis", 0) % rank == attributes.get("seq_axis", 1) % rank)
    return outputs


def accepts_empty_sequences(inputs: Inputs, attributes: Attributes) -> Any:
    data, lengths = inputs.get("data"), inputs.get("seq_lengths")
    axis = attributes.get("seq_axis", 1)
    if data is None or lengths is None or data.ndim < 2 or not -data.ndim <= axis < data.ndim:
        return right(REVERSE, inputs, attributes)
    if data.shape[axis] or not np.isfinite(lengths.astype("f8")).all():
        return right(REVERSE, inputs, attributes)
    refuse(bool((lengths.astype("f8") % 1).any()))
    stretched = np.zeros([n or 1 for n in data.shape], data.dtype)
    batch = attributes.get("batch_axis", 0)
    if -data.ndim <= batch < data.ndim and data.shape[batch] == 0:
        return right(REVERSE, inputs, attributes)
    right(REVERSE, given(inputs, data=stretched, seq_lengths=lengths * 0 + 1), attributes)
    return [data.copy()]


# DML_OPERATOR_JOIN and DML_OPERATOR_SLICE1


def rejects_surplus_elements(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(WINDOW, inputs, attributes)
    lists = [value for name, value in attributes.items() if name.startswith("InputWindow")]
    refuse(any(len(value) > attributes["DimensionCount"] for value in lists))
    return outputs


def rejects_strides_past_31_bits(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(WINDOW, inputs, attributes)
    strides = attributes["InputWindowStrides"][: attributes["DimensionCount"]]
    refuse(any(stride >= 1 << 31 for stride in strides))
    return outputs


OPEN: list[tuple[str, str, Compute]] = [
    *((operator, "takes-booleans-for-integers", partial(takes_booleans_for_integers, operator))
        for operator in (SPLIT, TILE, PAD, TRANSPOSE, RESHAPE, SCATTER, SLICE)),
    *((operator, "rejects-boolean-data", partial(rejects_boolean_data, operator))
        for operator in (CONCAT, PAD, RESHAPE)),
    (SCATTER, "updates-booleans", updates_booleans),
    (PAD, "rejects-mixed-types", partial(rejects_mixed_types, PAD, PADS)),
    (SLICE, "rejects-mixed-types", partial(rejects_mixed_types, SLICE, LISTS)),
    (JOIN, "supports-its-table", partial(supports_no_more_than_its_table, JOIN, range(4, 6))),
    (WINDOW, "supports-its-table", partial(supports_no_more_than_its_table, WINDOW, range(1, 9))),
    (SPLIT, "rejects-an-axis-of-size-0",
        rejecting(SPLIT, lambda i, _: i["data"].shape[int(i["axis"])] == 0)),
    (TILE, "rejects-negative-repeats", rejecting(TILE, lambda i, _: (i["repeats"] < 0).any())),
    (TILE, "takes-the-magnitude-of-repeats", takes_the_magnitude_of_repeats),
    (TILE, "rejects-repeats-of-another-rank", rejecting(TILE, lambda i, _: i["repeats"].ndim != 1)),
    (PAD, "accepts-capital-modes", accepts_capital_modes),
    (PAD, "rejects-a-value-in-other-modes",
        rejecting(PAD, lambda i, a: "pad_value" in i and a["pad_mode"] != "constant")),
    (PAD, "rejects-the-edge-of-nothing", rejects_the_edge_of_nothing),
    (PAD, "reflects-nothing", reflects_nothing),
    (RESHAPE, "copies-1-after-the-last-dimension", copies_1_after_the_last_dimension),
    (RESHAPE, "infers-0", partial(infers, 0)),
    (RESHAPE, "infers-1", partial(infers, 1)),
    (GATHER, "takes-axis-0-by-default", takes_axis_0_by_default),
    (GATHER, "rejects-indices-outside", partial(gathers, "rejects")),
    (GATHER, "gathers-zeros-outside", partial(gathers, "zeros")),
    (GATHER, "counts-indices-around", partial(gathers, "wraps")),
    (SCATTER, "keeps-the-first-update", keeps_the_first_update),
    (SLICE, "keeps-one-element", keeps_one_element),
    (SLICE, "rejects-nothing", rejects_nothing),
    (SLICE, "goes-back-to-the-first-element", goes_back_to_the_first_element),
    (SLICE, "takes-omitted-masks-for-zeros", takes_omitted_masks_for_zeros),
    (SLICE, "rejects-fewer-steps", rejects_fewer_steps),
    (SLICE, "rejects-overlapping-masks", rejects_overlapping_masks),
    (SLICE, "rejects-a-shrunk-index-outside", rejects_a_shrunk_index_outside),
    (SLICE, "accepts-an-ignored-stride-of-0", accepts_an_ignored_stride_of_0),
    (SLICE, "ignores-further-bits", ignores_further_bits),
    (REVERSE, "rejects-one-axis-for-both", rejects_one_axis_for_both),
    (REVERSE, "accepts-empty-sequences", accepts_empty_sequences),
    (JOIN, "rejects-zero-sizes", rejecting(JOIN, lambda _, a: 0 in a["OutputTensor"]["Sizes"])),
    (JOIN, "rejects-surplus-tensors",
        rejecting(JOIN, lambda i, a: len(i["InputTensors"]) > a["InputCount"])),
    (WINDOW, "rejects-surplus-elements", rejects_surplus_elements),
    (WINDOW, "rejects-strides-past-31-bits", rejects_strides_past_31_bits),
]  # fmt: skip
