"""Calls of opcert's operators as ONNX nodes, and as tests in the form of ONNX's backend tests.

Arguments that a node can express stay unchanged.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.checker import ValidationError, check_model
from onnx.numpy_helper import from_array
from onnx.shape_inference import InferenceError

from opcert.arrays.element_types import Array, type_name
from opcert.backends.composition import are_integers, has_axis, replace_rest, to_list
from opcert.backends.onnx_models import (
    FUNCTIONS,
    TYPES,
    Attributes,
    Inputs,
    Node,
    NodeCall,
    NodeRule,
    attribute_value,
    build_model,
    node_call,
    required_inputs,
)
from opcert.backends.probing import DML_SPLIT, DML_TYPES

DATA_TYPES = {dml_name: TYPES[name] for name, dml_name in DML_TYPES.items()}


def variadic_split(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Split with the axis as an attribute and a single length of -1 resolved."""
    data, axis, lengths = required_inputs(inputs, "data", "axis", "split_lengths")
    node_attributes = {"axis": attribute_value(axis), **attributes}
    resolved = replace_rest(lengths.ravel().tolist(), data.shape, node_attributes["axis"])
    lengths = np.array(resolved, lengths.dtype).reshape(lengths.shape)
    arrays = {"data": data, "split_lengths": lengths}
    return node_call("Split", arrays, node_attributes, outputs=lengths.size)


def slice_8(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Slice, whose last input is the steps."""
    data, start, stop, step = required_inputs(inputs, "data", "start", "stop", "step")
    axes = {"axes": inputs["axes"]} if "axes" in inputs else {"": data}
    arrays = {"data": data, "start": start, "stop": stop, **axes, "step": step}
    return node_call("Slice", arrays, attributes)


def broadcast_1(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Expand, which has no mode.

    Raises:
        NotImplementedError: the mode is explicit.
        ValueError: Expand, which stretches both ways, would stretch the target.
    """
    data, target = required_inputs(inputs, "data", "target_shape")
    node_attributes = dict(attributes)
    if node_attributes.get("mode", "numpy") == "numpy":
        node_attributes.pop("mode", None)
    elif node_attributes["mode"] == "explicit":
        raise NotImplementedError("Expand aligns axes at the end only")
    sizes = target.tolist() if target.ndim == 1 and target.dtype.kind in "iu" else data.shape
    aligned = zip(reversed(data.shape), reversed(sizes), strict=False)
    if data.ndim > len(sizes) or any(size == 1 != extent for extent, size in aligned):
        raise ValueError(f"data of shape {data.shape} would stretch the target {sizes}")
    # An axes_mapping is one input too many, for ONNX Runtime to reject.
    extra = {name: array for name, array in inputs.items() if name == "axes_mapping"}
    arrays = {"data": data, "target_shape": target, **extra}
    return node_call("Expand", arrays, node_attributes)


def gather_8(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Gather with the axis as an attribute.

    Gather has no `batch_dims`. The values that mean no batches, 0 and the negative rank of indices,
    are dropped; ONNX Runtime rejects others as an unknown attribute.
    """
    data, indices, axis = required_inputs(inputs, "data", "indices", "axis")
    node_attributes = {"axis": attribute_value(axis), **attributes}
    no_batches = (0, -indices.ndim) if indices.ndim <= data.ndim else (0,)
    if node_attributes.get("batch_dims") in no_batches:
        del node_attributes["batch_dims"]
    return node_call("Gather", {"data": data, "indices": indices}, node_attributes)


def dml_split(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Split in a model that declares its outputs as their descriptions do.

    Raises:
        ValueError: a number is negative, which a field of DirectML cannot be.
    """
    (tensor,) = required_inputs(inputs, "InputTensor")
    axis, descriptions = attributes["Axis"], attributes["OutputTensors"]
    shapes = [description["Sizes"] for description in descriptions]
    # In a model, a negative axis counts from the end, and a negative size is unknown.
    for member, value in [("Axis", axis), *(("Sizes", size) for size in chain(*shapes))]:
        if value < 0:
            raise ValueError(f"{member}: found {value}; expected an unsigned number")
    types = (DATA_TYPES.get(d["DataType"], TensorProto.UNDEFINED) for d in descriptions)
    outputs = tuple(zip(types, map(tuple, shapes), strict=True))
    # A node has as many outputs as names. One excess name is as wrong as a billion.
    count = max(0, min(attributes["OutputCount"], len(descriptions) + 1))
    undeclared = (None,) * (count - len(descriptions))
    # A size of 0 where there is no such axis: ONNX Runtime then rejects the axis.
    lengths = tuple(sizes[axis] if axis < len(sizes) else 0 for sizes in shapes)
    ports = (("InputTensor", type_name(tensor.dtype), tensor.shape),)
    node_attributes = json.dumps({"axis": axis, "names": count})
    node = Node("Split", ports, node_attributes, outputs + undeclared, lengths)
    return NodeCall(node, {"InputTensor": tensor})


def _align_ranks(inputs: dict[str, Any], _: dict[str, Any]) -> None:
    """Give data and repeats, of which a node expects the same number, leading ones."""
    data, repeats = inputs["data"], inputs["repeats"]
    if repeats.ndim == 1:
        missing = repeats.size - data.ndim
        inputs["data"] = data.reshape((1,) * max(missing, 0) + data.shape)
        inputs["repeats"] = np.concatenate([np.ones(max(-missing, 0), repeats.dtype), repeats])


def _check_parts(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Reject a number of parts that does not divide: a node makes the last part smaller."""
    parts, shape, axis = attributes["num_splits"], inputs["data"].shape, inputs["axis"]
    number = attribute_value(axis)
    if axis.ndim:
        # An attribute would not show it.
        raise ValueError(f"an axis of shape {axis.shape}; expected a scalar")
    if are_integers([parts]) and has_axis(len(shape), number):
        if parts < 1 or shape[number] % parts:
            raise ValueError(f"{parts} parts of a dimension of {shape[number]}")
    elif not are_integers([parts]) or not 0 < parts <= max(shape, default=1):
        # A node has as many outputs as names.
        raise ValueError(f"{parts} parts of data of shape {shape}")


def _join_pads(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Join both lists of pads; a negative one would crop data.

    Raises:
        NotImplementedError: Pad lacks the mode symmetric.
    """
    if attributes["pad_mode"] == "symmetric":
        raise NotImplementedError("Pad has no mode symmetric")
    pads = [inputs.pop(name) for name in ("pads_begin", "pads_end")]
    if pads[0].shape != pads[1].shape or any((array < 0).any() for array in pads):
        raise ValueError("the lists of pads have different lengths, or a pad is negative")
    inputs["pads"] = np.concatenate(pads)


def _order_to_list(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Make an attribute of the order, which a node omits to reverse the axes."""
    if order := to_list(inputs.pop("input_order")):
        attributes["perm"] = order


def _negate(_: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Turn special_zero into its opposite.

    Raises:
        TypeError: it is no truth value.
    """
    special_zero = attributes["special_zero"]
    if not isinstance(special_zero, bool):
        raise TypeError(f"special_zero {special_zero!r}; expected a truth value")
    attributes["special_zero"] = int(not special_zero)


def _check_gathered(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Reject indices of other extents off the axis: a node takes fewer, too."""
    data, indices, axis = inputs["data"], inputs["indices"], attributes["axis"]
    if data.ndim == indices.ndim and has_axis(data.ndim, axis):
        extents = [np.delete(array.shape, axis).tolist() for array in (data, indices)]
        if extents[0] != extents[1]:
            raise ValueError(f"indices of shape {indices.shape} for data of {data.shape}")


def _check_scattered(inputs: dict[str, Any], _: dict[str, Any]) -> None:
    """Reject negative indices, which count from the end in a node, and more than data has."""
    data, indices = inputs["data"], inputs["indices"]
    if (indices < 0).any():
        raise ValueError("a negative index")
    if data.ndim == indices.ndim and any(map(int.__gt__, indices.shape, data.shape)):
        raise ValueError(f"indices of shape {indices.shape} for data of {data.shape}")


NODES: Mapping[str, Callable[[Inputs, Attributes], NodeCall]] = {
    **FUNCTIONS,
    "openvino/VariadicSplit-1": variadic_split,
    "openvino/Slice-8": slice_8,
    "openvino/Broadcast-1": broadcast_1,
    "openvino/Gather-8": gather_8,
    DML_SPLIT: dml_split,
    "openvino/Split-1": NodeRule(
        "Split",
        ("data", "axis", "num_splits"),
        ("data",),
        {"axis": "axis", "num_splits": "num_outputs"},
        outputs="num_outputs",
        prepare=_check_parts,
    ),
    "openvino/Concat-1": NodeRule("Concat", ("inputs", "axis"), ("inputs",)),
    "openvino/Tile-1": NodeRule(
        "Tile", ("data", "repeats"), ("data", "repeats"), prepare=_align_ranks
    ),
    "openvino/Pad-1": NodeRule(
        "Pad",
        ("data", "pads_begin", "pads_end", "pad_mode"),
        ("data", "pads", "pad_value"),
        {"pad_mode": "mode"},
        prepare=_join_pads,
    ),
    "openvino/Transpose-1": NodeRule(
        "Transpose", ("arg", "input_order"), ("arg",), prepare=_order_to_list
    ),
    "openvino/Reshape-1": NodeRule(
        "Reshape",
        ("data", "shape", "special_zero"),
        ("data", "shape"),
        {"special_zero": "allowzero"},
        prepare=_negate,
    ),
    "openvino/GatherElements-6": NodeRule(
        "GatherElements", ("data", "indices", "axis"), ("data", "indices"), prepare=_check_gathered
    ),
    "openvino/ScatterElementsUpdate-3": NodeRule(
        "ScatterElements",
        ("data", "indices", "updates", "axis"),
        ("data", "indices", "updates"),
        {"axis": "axis"},
        prepare=_check_scattered,
    ),
}
# Missing in ONNX: Expand aligns axes only at the end, Gather has no batches and rejects indices out
# of range, and Pad has no mode symmetric.
EXCLUDED = {
    "openvino/Broadcast-1": ["broadcast-1/explicit-mode"],
    "openvino/Gather-8": ["gather-8/batches", "gather-8/index-above", "gather-8/index-below"],
    "openvino/Pad-1": ["pad-1/symmetric", "pad-1/begin-symmetric", "pad-1/end-symmetric"],
}


def files_of_test(
    operator: str,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Any],
    outputs: Sequence[Array],
    rules: Collection[str],
) -> dict[str, bytes]:
    """Return the files of the test of a valid call, which exercises `rules`, by name.

    The model declares all types and shapes, so that ONNX's checker judges them, too.

    Raises:
        NotImplementedError: ONNX cannot express the call, and why.
    """
    if operator not in NODES:
        raise NotImplementedError("opcert has no model of ONNX for this operator")
    if lacking := sorted({*rules} & {*EXCLUDED.get(operator, ())}):
        raise NotImplementedError(f"ONNX lacks {lacking[0]}")
    if operator == "openvino/Slice-8" and _starts_below(inputs):
        raise NotImplementedError("ONNX clamps a start below the dimension in another way")
    try:
        call = NODES[operator](inputs, attributes)
        shapes = {name: array.shape for name, array in call.arrays.items()}
        ports = tuple((name, type_, shapes.get(name, ())) for name, type_, _ in call.node.inputs)
        declared = tuple((TYPES[type_name(array.dtype)], array.shape) for array in outputs)
        model = build_model(replace(call.node, inputs=ports, outputs=declared))
        check_model(model, full_check=True)
    except NotImplementedError:
        raise
    except (ValidationError, InferenceError) as error:
        # Without the type that is at fault: one reason for all of them.
        reason = re.sub(r"^\[\w+\] |:? tensor\(\w+\)$", "", str(error).partition("\n")[0])
        raise NotImplementedError(f"ONNX's checker: {reason}") from None
    except Exception:
        raise NotImplementedError("no node of ONNX expresses the call") from None
    tensors = {f"input_{k}": from_array(a, name) for k, (name, a) in enumerate(call.arrays.items())}
    tensors |= {f"output_{k}": from_array(array, f"o{k}") for k, array in enumerate(outputs)}
    protos = {f"test_data_set_0/{name}.pb": tensor for name, tensor in tensors.items()}
    return {
        name: proto.SerializeToString(deterministic=True)
        for name, proto in {"model.onnx": model, **protos}.items()
    }


def _starts_below(inputs: Mapping[str, Any]) -> bool:
    """Whether a slice goes backwards from below a dimension: ONNX has its first element then."""
    data, start, step = (inputs[name] for name in ("data", "start", "step"))
    axes = inputs.get("axes", np.arange(start.size))
    sizes = (data.shape[axis] for axis in axes.tolist())
    bounds = zip(start.tolist(), step.tolist(), sizes, strict=True)
    # Of no elements, ONNX does not say which is the first.
    return any(by < 0 and (first < -size or not size) for first, by, size in bounds)
