"""Calls of opcert's operators as ONNX nodes, and as tests in the form of ONNX's backend tests.

A function for each operator takes the arguments of a call, and says where they go. Arguments that a
node can express stay unchanged, so that the runtime checks them. The function itself rejects what
no node can express.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.checker import ValidationError, check_model
from onnx.numpy_helper import from_array
from onnx.shape_inference import InferenceError

from opcert.arrays.element_types import FOUR_BIT_TYPES, INTEGERS, Array, type_name
from opcert.backends import composition as host
from opcert.backends.contract import Arguments
from opcert.backends.onnx_models import TYPES, Node, NodeCall, build_model, node_call
from opcert.backends.probing import DML_SPLIT, DML_TYPES

DATA_TYPES = {dml_name: TYPES[name] for name, dml_name in DML_TYPES.items()}


def attribute_value(array: Array) -> Any:
    """Return an input as the value of an attribute: a number, or a list of them."""
    return array.item() if array.shape in ((), (1,)) else array.ravel().tolist()


def _elementwise(
    node: str,
    modes: Sequence[str] = host.BROADCASTS,
    auto_broadcast: Any = "numpy",
    **inputs: Array,
) -> NodeCall:
    """Check modes that a node, which broadcasts as NumPy does, lacks."""
    host.check_broadcast(inputs, auto_broadcast, modes)
    return node_call(node, **inputs)


def _divide(m_pythondiv: Any = True, **more: Any) -> NodeCall:
    """Drop m_pythondiv where a node has its meaning.

    Raises:
        NotImplementedError: Div has no floor division.
    """
    call = _elementwise("Div", **more)
    if m_pythondiv and type_name(call.arrays["a"].dtype) in INTEGERS:
        raise NotImplementedError("Div truncates integers")
    return call


def _convert(data: Array, destination_type: Any) -> NodeCall:
    """Replace the name of a type by ONNX's number; the runtime rejects another word.

    Raises:
        NotImplementedError: the type has four bits.
    """
    if destination_type in FOUR_BIT_TYPES:
        raise NotImplementedError(f"ONNX Runtime takes no arrays of {destination_type}")
    return node_call("Cast", data=data, to=TYPES.get(destination_type, destination_type))


def _clamp(data: Array, min: float, max: float) -> NodeCall:  # noqa: A002
    """Make inputs of the bounds."""
    bounds = host.clamp_bounds(type_name(data.dtype), min, max)
    low, high = (np.array(bound, data.dtype) for bound in bounds)
    return node_call("Clip", data=data, min=low, max=high)


def _reduce(node: str, data: Array, axes: Array, keep_dims: Any = False) -> NodeCall:
    """Make a list of a single axis; no axes are the identity, and dimensions are dropped."""
    listed = axes if axes.ndim else axes.reshape(1)
    flags = {"keepdims": int(keep_dims), "noop_with_empty_axes": 1}
    return node_call(node, data=data, axes=listed, **flags)


def _matmul(a: Array, b: Array, transpose_a: Any = False, transpose_b: Any = False) -> NodeCall:
    """Transpose the matrices, which a node does not."""
    a = np.swapaxes(a, -1, -2) if transpose_a and a.ndim > 1 else a
    b = np.swapaxes(b, -1, -2) if transpose_b and b.ndim > 1 else b
    return node_call("MatMul", a=a, b=b)


def _windowed(
    node: str, strides: Any, pads_begin: Any, pads_end: Any, auto_pad: Any = "explicit", **more: Any
) -> NodeCall:
    """Join the pads."""
    is_explicit = auto_pad == "explicit"
    pads = {"pads": [*pads_begin, *pads_end]} if is_explicit else {}
    mode = "NOTSET" if is_explicit else str(auto_pad).upper()
    return node_call(node, **more, strides=strides, auto_pad=mode, **pads)


def _convolution(dilations: Any, **more: Any) -> NodeCall:
    """Demand dilations, which a node may lack."""
    return _windowed("Conv", dilations=dilations, **more)


def _pooling(node: str, kernel: Any, rounding_type: Any = "floor", **more: Any) -> NodeCall:
    """Make a flag of the word for rounding."""
    if rounding_type not in ("floor", "ceil"):
        raise ValueError(f"no flag of ONNX means to round by {rounding_type!r}")
    return _windowed(node, kernel_shape=kernel, ceil_mode=int(rounding_type == "ceil"), **more)


def _average(exclude_pad: Any, **more: Any) -> NodeCall:
    """Demand what a node may lack."""
    return _pooling("AveragePool", count_include_pad=int(not exclude_pad), **more)


def _variadic_split(data: Array, axis: Array, split_lengths: Array) -> NodeCall:
    """Make an attribute of the axis, and resolve a single length of -1."""
    number = attribute_value(axis)
    resolved = host.replace_rest(split_lengths.ravel().tolist(), data.shape, number)
    lengths = np.array(resolved, split_lengths.dtype).reshape(split_lengths.shape)
    return node_call("Split", lengths.size, data=data, split_lengths=lengths, axis=number)


def _slice(
    data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
) -> NodeCall:
    return node_call("Slice", data=data, start=start, stop=stop, axes=axes, step=step)


def _broadcast(data: Array, target_shape: Array, mode: Any = "numpy", **more: Any) -> NodeCall:
    """Return Expand, which has no mode, and rejects an axes_mapping as one input too many.

    Raises:
        NotImplementedError: the mode is explicit.
        ValueError: Expand, which stretches both ways, would stretch the target.
    """
    if mode == "explicit":
        raise NotImplementedError("Expand aligns axes at the end only")
    is_list = target_shape.ndim == 1 and target_shape.dtype.kind in "iu"
    sizes = target_shape.tolist() if is_list else data.shape
    aligned = zip(reversed(data.shape), reversed(sizes), strict=False)
    if data.ndim > len(sizes) or any(size == 1 != extent for extent, size in aligned):
        raise ValueError(f"data of shape {data.shape} would stretch the target {sizes}")
    more |= {} if mode == "numpy" else {"mode": mode}
    return node_call("Expand", data=data, target_shape=target_shape, **more)


def _gather(data: Array, indices: Array, axis: Array, batch_dims: Any = 0) -> NodeCall:
    """Make an attribute of the axis.

    Gather has no `batch_dims`. The values that mean no batches, 0 and the negative rank of indices,
    are dropped; ONNX Runtime rejects others as an unknown attribute.
    """
    no_batches = (0, -indices.ndim) if indices.ndim <= data.ndim else (0,)
    batches = {} if batch_dims in no_batches else {"batch_dims": batch_dims}
    return node_call("Gather", data=data, indices=indices, axis=attribute_value(axis), **batches)


def _dml_split(**call: Any) -> NodeCall:
    """Return Split in a model that declares its outputs as their descriptions do.

    Raises:
        ValueError: a number is negative, which a field of DirectML cannot be.
    """
    tensor, axis, descriptions = (call[n] for n in ("InputTensor", "Axis", "OutputTensors"))
    shapes = [description["Sizes"] for description in descriptions]
    # In a model, a negative axis counts from the end, and a negative size is unknown.
    for member, value in [("Axis", axis), *(("Sizes", size) for size in chain(*shapes))]:
        if value < 0:
            raise ValueError(f"{member}: found {value}; expected an unsigned number")
    types = (DATA_TYPES.get(d["DataType"], TensorProto.UNDEFINED) for d in descriptions)
    outputs = tuple(zip(types, map(tuple, shapes), strict=True))
    # A node has as many outputs as names. One excess name is as wrong as a billion.
    count = max(0, min(call["OutputCount"], len(descriptions) + 1))
    undeclared = (None,) * (count - len(descriptions))
    # A size of 0 where there is no such axis: ONNX Runtime then rejects the axis.
    lengths = tuple(sizes[axis] if axis < len(sizes) else 0 for sizes in shapes)
    ports = (("InputTensor", type_name(tensor.dtype), tensor.shape),)
    attributes = json.dumps({"axis": axis, "names": count})
    node = Node("Split", ports, attributes, outputs + undeclared, lengths)
    return NodeCall(node, {"InputTensor": tensor})


def _split(data: Array, axis: Array, num_splits: Any) -> NodeCall:
    """Reject a number of parts that does not divide: a node makes the last part smaller."""
    number = attribute_value(axis)
    if axis.ndim:
        # An attribute would not show it.
        raise ValueError(f"an axis of shape {axis.shape}; expected a scalar")
    is_integer = host.are_integers([num_splits])
    if is_integer and host.has_axis(data.ndim, number):
        if num_splits < 1 or data.shape[number] % num_splits:
            raise ValueError(f"{num_splits} parts of a dimension of {data.shape[number]}")
    elif not is_integer or not 0 < num_splits <= max(data.shape, default=1):
        # A node has as many outputs as names.
        raise ValueError(f"{num_splits} parts of data of shape {data.shape}")
    return node_call("Split", num_splits, data=data, axis=number, num_outputs=num_splits)


def _concat(inputs: Sequence[Array], axis: Any) -> NodeCall:
    return node_call("Concat", **{f"inputs{k}": a for k, a in enumerate(inputs)}, axis=axis)


def _tile(data: Array, repeats: Array) -> NodeCall:
    """Give data and repeats, of which a node expects the same number, leading ones."""
    if repeats.ndim == 1:
        missing = repeats.size - data.ndim
        data = data.reshape((1,) * max(missing, 0) + data.shape)
        repeats = np.concatenate([np.ones(max(-missing, 0), repeats.dtype), repeats])
    return node_call("Tile", data=data, repeats=repeats)


def _pad(data: Array, pads_begin: Array, pads_end: Array, pad_mode: Any, **more: Any) -> NodeCall:
    """Join both lists of pads; a negative one would crop data.

    Raises:
        NotImplementedError: Pad lacks the mode symmetric.
    """
    if pad_mode == "wrap":
        raise ValueError("only ONNX has the mode wrap")
    if pad_mode == "symmetric":
        raise NotImplementedError("Pad has no mode symmetric")
    pads = [pads_begin, pads_end]
    if pads_begin.shape != pads_end.shape or any((array < 0).any() for array in pads):
        raise ValueError("the lists of pads have different lengths, or a pad is negative")
    return node_call("Pad", data=data, pads=np.concatenate(pads), mode=pad_mode, **more)


def _transpose(arg: Array, input_order: Array) -> NodeCall:
    """Make an attribute of the order, which a node omits to reverse the axes."""
    order = host.to_list(input_order)
    return node_call("Transpose", arg=arg, **({"perm": order} if order else {}))


def _reshape(data: Array, shape: Array, special_zero: Any) -> NodeCall:
    """Turn special_zero into its opposite."""
    host.check_truth("special_zero", special_zero)
    return node_call("Reshape", data=data, shape=shape, allowzero=int(not special_zero))


def _gather_elements(data: Array, indices: Array, axis: Any) -> NodeCall:
    """Reject indices of other extents off the axis: a node takes fewer, too."""
    if data.ndim == indices.ndim:
        host.check_off_axis(data, indices, axis)
    return node_call("GatherElements", data=data, indices=indices, axis=axis)


def _scatter_elements(data: Array, indices: Array, updates: Array, axis: Array) -> NodeCall:
    """Reject negative indices, which count from the end in a node, and more than data has."""
    if (indices < 0).any():
        raise ValueError("a negative index")
    if data.ndim == indices.ndim:
        host.check_extents(data, indices)
    arrays = {"data": data, "indices": indices, "updates": updates}
    return node_call("ScatterElements", **arrays, axis=attribute_value(axis))


NODES: Mapping[str, Callable[..., NodeCall]] = {
    **{
        f"openvino/{node}-1": partial(_elementwise, node)
        for node in ("Exp", "Relu", "Sqrt", "Sigmoid", "Tanh", "Add", "Less")
    },
    "openvino/Multiply-1": partial(_elementwise, "Mul"),
    "openvino/Divide-1": _divide,
    "openvino/Maximum-1": partial(_elementwise, "Max", host.BROADCASTS_OF_MAXIMUM),
    "openvino/Select-1": partial(_elementwise, "Where"),
    "openvino/Convert-1": _convert,
    "openvino/Clamp-1": _clamp,
    "openvino/ReduceSum-1": partial(_reduce, "ReduceSum"),
    "openvino/ReduceMean-1": partial(_reduce, "ReduceMean"),
    "openvino/MatMul-1": _matmul,
    "openvino/Softmax-8": partial(node_call, "Softmax", axis=1),
    "openvino/Convolution-1": _convolution,
    "openvino/AvgPool-1": _average,
    "openvino/MaxPool-1": partial(_pooling, "MaxPool"),
    "openvino/VariadicSplit-1": _variadic_split,
    "openvino/Slice-8": _slice,
    "openvino/Broadcast-1": _broadcast,
    "openvino/Gather-8": _gather,
    DML_SPLIT: _dml_split,
    "openvino/Split-1": _split,
    "openvino/Concat-1": _concat,
    "openvino/Tile-1": _tile,
    "openvino/Pad-1": _pad,
    "openvino/Transpose-1": _transpose,
    "openvino/Reshape-1": _reshape,
    "openvino/GatherElements-6": _gather_elements,
    "openvino/ScatterElementsUpdate-3": _scatter_elements,
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
    inputs: Arguments,
    attributes: Arguments,
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
        call = NODES[operator](**inputs, **attributes)
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
    files = {"model.onnx": model, **protos}.items()
    return {name: proto.SerializeToString(deterministic=True) for name, proto in files}


def _starts_below(inputs: Arguments) -> bool:
    """Whether a slice goes backwards from below a dimension: ONNX has its first element then."""
    data, start, step = (inputs[name] for name in ("data", "start", "step"))
    axes = inputs.get("axes", np.arange(start.size))
    sizes = (data.shape[axis] for axis in axes.tolist())
    bounds = zip(start.tolist(), step.tolist(), sizes, strict=True)
    # Of no elements, ONNX does not say which is the first.
    return any(by < 0 and (first < -size or not size) for first, by, size in bounds)
