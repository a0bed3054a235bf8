"""Backends that contradict what the documents of the operators without committed suites decide.

Each is the reference with one difference, and the rule that it breaks.
"""

from functools import partial
from typing import Any

import numpy as np

from tests.operators.planted import Attributes, Compute, Inputs, right
from tests.readings.others import (
    JOIN,
    MASKS,
    PAD,
    RESHAPE,
    REVERSE,
    SCATTER,
    SLICE,
    SPLIT,
    TILE,
    TRANSPOSE,
    WINDOW,
    given,
    is_sliced,
    refuse,
    resliced,
    steps_of,
)


def takes_one_element_for_a_scalar(
    operator: str, name: str, inputs: Inputs, attributes: Attributes
) -> Any:
    item = inputs.get(name)
    if item is not None and item.shape == (1,):
        inputs = given(inputs, **{name: item.reshape(())})
    return right(operator, inputs, attributes)


def casts(operator: str, name: str, to: str, inputs: Inputs, attributes: Attributes) -> Any:
    """Convert the elements of one input to the type of another."""
    if name not in inputs or to not in inputs:
        return right(operator, inputs, attributes)
    with np.errstate(all="ignore"):
        changed = {name: inputs[name].astype(inputs[to].dtype)}
    return right(operator, given(inputs, **changed), attributes)


def rejects_repeats_of_0(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(TILE, inputs, attributes)
    refuse(0 in inputs["repeats"])
    return outputs


def pads_nothing_where_negative(inputs: Inputs, attributes: Attributes) -> Any:
    pads = {
        name: np.maximum(inputs[name], 0)
        for name in ("pads_begin", "pads_end")
        if name in inputs and inputs[name].dtype.kind == "i"
    }
    return right(PAD, given(inputs, **pads), attributes)


def counts_the_order_from_the_end(inputs: Inputs, attributes: Attributes) -> Any:
    order = inputs.get("input_order")
    if "arg" not in inputs or order is None or order.dtype.kind != "i":
        return right(TRANSPOSE, inputs, attributes)
    counted = np.where(order < 0, order + inputs["arg"].ndim, order)
    return right(TRANSPOSE, given(inputs, input_order=counted), attributes)


def copies_1_beyond_the_last_dimension(inputs: Inputs, attributes: Attributes) -> Any:
    if not {"data", "shape"} <= inputs.keys() or not attributes.get("special_zero"):
        return right(RESHAPE, inputs, attributes)
    rank, shape = inputs["data"].ndim, inputs["shape"].copy()
    if shape.ndim == 1 and shape.dtype.kind in "iu":
        shape[rank:][shape[rank:] == 0] = 1
    return right(RESHAPE, given(inputs, shape=shape), attributes)


def counts_indices_from_the_end(inputs: Inputs, attributes: Attributes) -> Any:
    names = {"data", "indices", "axis"}
    if not names <= inputs.keys() or inputs["indices"].dtype.kind != "i":
        return right(SCATTER, inputs, attributes)
    data, indices, axis = inputs["data"], inputs["indices"].astype("i8"), inputs["axis"].ravel()
    if axis.size == 1 and axis.dtype.kind in "iu" and -data.ndim <= int(axis[0]) < data.ndim:
        n = data.shape[int(axis[0])]
        indices = np.where((indices < 0) & (indices >= -n), indices + n, indices)
    return right(SCATTER, given(inputs, indices=indices), attributes)


def begins_before_the_first_element(inputs: Inputs, attributes: Attributes) -> Any:
    """Clamp a backward begin as Python does, so that nothing is left to select."""
    right(SLICE, inputs, attributes)
    steps = steps_of(inputs, attributes)
    for step in filter(is_sliced, steps):
        n = inputs["data"].shape[step["dimension"]]
        if step["begin"] < -n and step["stride"] < 0 and not step["begin_mask"]:
            step["begin"], step["end"], step["end_mask"] = 0, 0, 0
    return resliced(inputs, attributes, steps)


def ignores_steps_beyond_the_dimensions(inputs: Inputs, attributes: Attributes) -> Any:
    is_plain = not any(1 in attributes.get(name, []) for name in MASKS[2:])
    names = [name for name in ("begin", "end", "stride") if name in inputs]
    if "data" not in inputs or len({inputs[name].shape for name in names}) != 1 or not is_plain:
        return right(SLICE, inputs, attributes)
    rank = inputs["data"].ndim
    cut = {name: inputs[name][:rank] for name in names if inputs[name].ndim == 1}
    return right(SLICE, given(inputs, **cut), attributes)


def takes_a_length_of_0_for_1(inputs: Inputs, attributes: Attributes) -> Any:
    lengths = inputs.get("seq_lengths")
    if lengths is None:
        return right(REVERSE, inputs, attributes)
    ones = np.where(lengths == 0, np.ones_like(lengths), lengths)
    return right(REVERSE, given(inputs, seq_lengths=ones), attributes)


def joins_empty_tensors(inputs: Inputs, attributes: Attributes) -> Any:
    tensors, axis = inputs["InputTensors"], attributes["Axis"]
    kept = [item for item in tensors if not 0 <= axis < item.ndim or item.shape[axis]]
    others = {item.shape[:axis] + item.shape[axis + 1 :] for item in tensors}
    if not kept or len(others) > 1 or len(tensors) != attributes["InputCount"]:
        return right(JOIN, inputs, attributes)
    fewer = {**attributes, "InputCount": len(kept)}
    return right(JOIN, given(inputs, InputTensors=kept), fewer)


def slices_nine_dimensions(inputs: Inputs, attributes: Attributes) -> Any:
    tensor, output = inputs["InputTensor"], attributes["OutputTensor"]
    sizes = output["Sizes"]
    rows = [attributes[name] for name in attributes if name.startswith("InputWindow")]
    if {tensor.ndim, attributes["DimensionCount"], len(sizes), *map(len, rows)} != {9}:
        return right(WINDOW, inputs, attributes)
    fewer = {**attributes, "DimensionCount": 8, "OutputTensor": {**output, "Sizes": sizes[:8]}}
    for name in ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"):
        fewer[name] = attributes[name][:8]
    eight = {"InputTensor": tensor.reshape(tensor.shape[:8])}
    return [right(WINDOW, eight, fewer)[0].reshape(sizes)]


def takes_strides_in_32_bits(inputs: Inputs, attributes: Attributes) -> Any:
    half = 1 << 31
    strides = [(k + half) % (2 * half) - half for k in attributes["InputWindowStrides"]]
    return right(WINDOW, inputs, {**attributes, "InputWindowStrides": strides})


DECIDED: list[tuple[str, str, Compute, str]] = [
    (SPLIT, "takes-one-element-for-a-scalar",
        partial(takes_one_element_for_a_scalar, SPLIT, "axis"), "axis-scalar"),
    (PAD, "takes-one-element-for-a-scalar",
        partial(takes_one_element_for_a_scalar, PAD, "pad_value"), "value-shape"),
    (PAD, "casts-the-value", partial(casts, PAD, "pad_value", "data"), "value-type"),
    (PAD, "pads-nothing-where-negative", pads_nothing_where_negative, "not-negative"),
    (TILE, "rejects-repeats-of-0", rejects_repeats_of_0, "no-copy"),
    (TRANSPOSE, "counts-the-order-from-the-end", counts_the_order_from_the_end, "order-range"),
    (RESHAPE, "copies-1-beyond-the-last-dimension", copies_1_beyond_the_last_dimension,
        "zero-has-dimension"),
    (SCATTER, "casts-updates", partial(casts, SCATTER, "updates", "data"), "updates-type"),
    (SCATTER, "counts-indices-from-the-end", counts_indices_from_the_end, "indices-range"),
    (SLICE, "begins-before-the-first-element", begins_before_the_first_element, "clamp-below"),
    (SLICE, "ignores-steps-beyond", ignores_steps_beyond_the_dimensions, "steps-fit"),
    (REVERSE, "takes-a-length-of-0-for-1", takes_a_length_of_0_for_1, "lengths-range"),
    (JOIN, "joins-empty-tensors", joins_empty_tensors, "axis-size-nonzero"),
    (WINDOW, "slices-nine-dimensions", slices_nine_dimensions, "dimension-count-range"),
    (WINDOW, "takes-strides-in-32-bits", takes_strides_in_32_bits, "stride-width"),
]  # fmt: skip
