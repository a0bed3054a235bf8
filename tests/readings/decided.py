"""Backends that contradict what the documents of the operators without committed suites decide.

Each is the reference with one difference, and the rule that it breaks.
"""

from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, rejecting, right
from tests.operators.dml_slice1 import wrapped
from tests.operators.planted import misreading, taking
from tests.operators.strided_slice import LISTS, MASKS
from tests.readings.others import (
    JOIN,
    PAD,
    PADS,
    RESHAPE,
    REVERSE,
    SCATTER,
    SLICE,
    SPLIT,
    TILE,
    TRANSPOSE,
    WINDOW,
    Step,
    reslicing,
)


def takes_one_element_for_a_scalar(operator: str, name: str) -> Compute:
    def change(call: Call) -> Array:
        item: Array = call[name]
        return item.reshape(()) if item.shape == (1,) else item

    return misreading(operator, name, change)


def casts(operator: str, name: str, to: str) -> Compute:
    """Convert the elements of one input to the type of another."""
    return misreading(operator, name, lambda call: call[name].astype(call[to].dtype))


def pads_nothing_where_negative(call: Call) -> Call:
    pads = {name: call[name] for name in PADS if name in call}
    return call.given(**{n: np.maximum(a, 0) for n, a in pads.items() if a.dtype.kind == "i"})


def counts_the_order_from_the_end(call: Call) -> Array:
    order: Array = call["input_order"]
    if order.dtype.kind != "i":
        return order
    return np.where(order < 0, order + call["arg"].ndim, order)


def copies_1_beyond_the_last_dimension(call: Call) -> Array:
    shape: Array = call["shape"].copy()
    if call.get("special_zero") and shape.ndim == 1 and shape.dtype.kind in "iu":
        beyond = shape[call.data.ndim :]
        beyond[beyond == 0] = 1
    return shape


def counts_indices_from_the_end(call: Call) -> Array:
    indices, axis = call["indices"], call["axis"].ravel()
    if indices.dtype.kind != "i":
        return np.array(indices)
    indices = indices.astype("i8")
    rank = call.data.ndim
    if axis.size == 1 and axis.dtype.kind in "iu" and -rank <= int(axis[0]) < rank:
        n = call.data.shape[int(axis[0])]
        indices = np.where((indices < 0) & (indices >= -n), indices + n, indices)
    return np.array(indices)


def begins_before_the_first_element(step: Step, n: int) -> None:
    """Clamp a backward begin as Python does, so that nothing is left to select."""
    if step["begin"] < -n and step["stride"] < 0 and not step["begin_mask"]:
        step["begin"], step["end"], step["end_mask"] = 0, 0, 0


def ignores_steps_beyond_the_dimensions(call: Call) -> Call:
    is_plain = not any(1 in call.get(name, []) for name in MASKS[2:])
    lists = {name: call[name] for name in LISTS if name in call}
    if "data" not in call or len({each.shape for each in lists.values()}) != 1 or not is_plain:
        return call
    return call.given(**{n: a[: call.data.ndim] for n, a in lists.items() if a.ndim == 1})


def takes_a_length_of_0_for_1(call: Call) -> Array:
    lengths: Array = call["seq_lengths"]
    return np.where(lengths == 0, np.ones_like(lengths), lengths)


def joins_empty_tensors(call: Call) -> Call:
    tensors, axis = call["InputTensors"], call["Axis"]
    kept = [item for item in tensors if not 0 <= axis < item.ndim or item.shape[axis]]
    others = {item.shape[:axis] + item.shape[axis + 1 :] for item in tensors}
    if not kept or len(others) > 1 or len(tensors) != call["InputCount"]:
        return call
    return call.given(InputTensors=kept, InputCount=len(kept))


def slices_nine_dimensions(call: Call) -> Outputs:
    tensor, output = call["InputTensor"], call["OutputTensor"]
    sizes = output["Sizes"]
    rows = {name: row for name, row in call.attributes.items() if name.startswith("InputWindow")}
    if {tensor.ndim, call["DimensionCount"], len(sizes), *map(len, rows.values())} != {9}:
        return right(WINDOW, call)
    fewer: dict[str, Any] = {name: row[:8] for name, row in rows.items()}
    fewer |= {"DimensionCount": 8, "OutputTensor": {**output, "Sizes": sizes[:8]}}
    eight = call.given(InputTensor=tensor.reshape(tensor.shape[:8]), **fewer)
    return [right(WINDOW, eight)[0].reshape(sizes)]


def takes_strides_in_32_bits(call: Call) -> list[int]:
    return [wrapped(32, stride) for stride in call["InputWindowStrides"]]


DECIDED: list[tuple[str, str, Compute, str]] = [
    (SPLIT, "takes-one-element-for-a-scalar", takes_one_element_for_a_scalar(SPLIT, "axis"),
        "axis-scalar"),
    (PAD, "takes-one-element-for-a-scalar", takes_one_element_for_a_scalar(PAD, "pad_value"),
        "value-shape"),
    (PAD, "casts-the-value", casts(PAD, "pad_value", "data"), "value-type"),
    (PAD, "pads-nothing-where-negative", taking(PAD, pads_nothing_where_negative), "not-negative"),
    (TILE, "rejects-repeats-of-0", rejecting(TILE, lambda c, _: 0 in c["repeats"]), "no-copy"),
    (TRANSPOSE, "counts-the-order-from-the-end",
        misreading(TRANSPOSE, "input_order", counts_the_order_from_the_end), "order-range"),
    (RESHAPE, "copies-1-beyond-the-last-dimension",
        misreading(RESHAPE, "shape", copies_1_beyond_the_last_dimension), "zero-has-dimension"),
    (SCATTER, "casts-updates", casts(SCATTER, "updates", "data"), "updates-type"),
    (SCATTER, "counts-indices-from-the-end",
        misreading(SCATTER, "indices", counts_indices_from_the_end), "indices-range"),
    (SLICE, "begins-before-the-first-element", reslicing(begins_before_the_first_element),
        "clamp-below"),
    (SLICE, "ignores-steps-beyond", taking(SLICE, ignores_steps_beyond_the_dimensions),
        "steps-fit"),
    (REVERSE, "takes-a-length-of-0-for-1",
        misreading(REVERSE, "seq_lengths", takes_a_length_of_0_for_1), "lengths-range"),
    (JOIN, "joins-empty-tensors", taking(JOIN, joins_empty_tensors), "axis-size-nonzero"),
    (WINDOW, "slices-nine-dimensions", slices_nine_dimensions, "dimension-count-range"),
    (WINDOW, "takes-strides-in-32-bits",
        misreading(WINDOW, "InputWindowStrides", takes_strides_in_32_bits), "stride-width"),
]  # fmt: skip
