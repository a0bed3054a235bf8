"""Calls of opcert's operators as nodes of ONNX, with nothing mended that a node can be told."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from onnx import ModelProto, TensorProto, helper

from opcert.arrays import ELEMENT_TYPES, FOUR_BIT_TYPES, Array, type_name
from opcert.backends.plain_calls import DML_TYPES

Inputs: TypeAlias = Mapping[str, Array]
Attributes: TypeAlias = Mapping[str, Any]

OPSET = 21
IR_VERSION = 10
# ONNX's number of each element type, by opcert's name and by DirectML's.
TYPES: dict[str, int] = {
    name: helper.np_dtype_to_tensor_dtype(dtype) for name, dtype in ELEMENT_TYPES.items()
}
DATA_TYPES = {described: TYPES[name] for name, described in DML_TYPES.items()}


@dataclass(frozen=True)
class Node:
    """A node and what its model says of inputs and outputs: all that a session depends on.

    `inputs` have a name, empty where one is left out, a type and a shape, -1 being any size;
    `outputs` a type and, where the call describes it, a shape. `attributes` is JSON. `lengths` is
    a second input of Split that is part of the model.
    """

    type: str
    inputs: tuple[tuple[str, str, tuple[int, ...]], ...]
    attributes: str
    outputs: tuple[tuple[int, tuple[int, ...] | None], ...]
    lengths: tuple[int, ...] | None = None


@dataclass(frozen=True)
class NodeCall:
    """A node with the arrays that it is given."""

    node: Node
    arrays: Mapping[str, Array]


def variadic_split(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Split with the axis as an attribute and a single length of -1 worked out."""
    data, axis, lengths = _required(inputs, "data", "axis", "split_lengths")
    given = {"axis": _number(axis), **attributes}
    arrays = {"data": data, "split_lengths": _without_rest(data, given["axis"], lengths)}
    return _call("Split", arrays, given, outputs=lengths.size)


def slice_8(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Slice, whose steps come last."""
    data, start, stop, step = _required(inputs, "data", "start", "stop", "step")
    axes = {"axes": inputs["axes"]} if "axes" in inputs else {"": data}
    arrays = {"data": data, "start": start, "stop": stop, **axes, "step": step}
    return _call("Slice", arrays, attributes)


def broadcast_1(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Expand, which has no mode.

    Raises:
        NotImplementedError: the mode is explicit.
        ValueError: Expand, which stretches both ways, would stretch the target.
    """
    data, target = _required(inputs, "data", "target_shape")
    given = dict(attributes)
    if given.get("mode", "numpy") == "numpy":
        given.pop("mode", None)
    elif given["mode"] == "explicit":
        raise NotImplementedError("Expand aligns axes at the end only")
    sizes = target.tolist() if target.ndim == 1 and target.dtype.kind in "iu" else data.shape
    aligned = zip(reversed(data.shape), reversed(sizes), strict=False)
    if data.ndim > len(sizes) or any(size == 1 < extent for extent, size in aligned):
        raise ValueError(f"data of shape {data.shape} would stretch the target {sizes}")
    rest = {name: array for name, array in inputs.items() if name == "axes_mapping"}
    return _call("Expand", {"data": data, "target_shape": target, **rest}, given)


def gather_8(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Gather with the axis as an attribute; `batch_dims`, which it lacks, is passed on.

    There are no batches where it is 0, or the negated rank of indices.
    """
    data, indices, axis = _required(inputs, "data", "indices", "axis")
    given = {"axis": _number(axis), **attributes}
    none = (0, -indices.ndim) if indices.ndim <= data.ndim else (0,)
    if given.get("batch_dims") in none:
        del given["batch_dims"]
    return _call("Gather", {"data": data, "indices": indices}, given)


def dml_split(inputs: Inputs, attributes: Attributes) -> NodeCall:
    """Return Split with the outputs' descriptors as what the model declares of its outputs.

    Raises:
        ValueError: a number has a sign, which a field of DirectML's cannot have.
    """
    (tensor,) = _required(inputs, "InputTensor")
    axis, tensors = attributes["Axis"], attributes["OutputTensors"]
    # A model means something else by these: an axis from the end, a size that is not known.
    for what, value in [("Axis", axis), *(("Sizes", n) for each in tensors for n in each["Sizes"])]:
        if value < 0:
            raise ValueError(f"{what}: found {value}; expected a number without a sign")
    outputs = tuple(
        (DATA_TYPES.get(each["DataType"], TensorProto.UNDEFINED), tuple(each["Sizes"]))
        for each in tensors
    )
    # Names are all that counts outputs in ONNX; one too many is as wrong as a billion.
    count = max(0, min(attributes["OutputCount"], len(tensors) + 1))
    names = ((TensorProto.UNDEFINED, None),) * (count - len(tensors))
    described = (("InputTensor", type_name(tensor.dtype), tensor.shape),)
    lengths = tuple(_extent(each["Sizes"], axis) for each in tensors)
    given = json.dumps({"axis": axis, "names": count})
    node = Node("Split", described, given, outputs + names, lengths)
    return NodeCall(node, {"InputTensor": tensor})


NODES: Mapping[str, Callable[[Inputs, Attributes], NodeCall]] = {
    "openvino/VariadicSplit-1": variadic_split,
    "openvino/Slice-8": slice_8,
    "openvino/Broadcast-1": broadcast_1,
    "openvino/Gather-8": gather_8,
    "directml/DML_OPERATOR_SPLIT": dml_split,
}


def model_of(node: Node) -> ModelProto:
    """Return the model of one node."""
    attributes = json.loads(node.attributes)
    count = attributes.pop("names", len(node.outputs))
    names = [name for name, _, _ in node.inputs]
    constants = []
    if node.lengths is not None:
        names.append("lengths")
        of = [len(node.lengths)]
        constants.append(helper.make_tensor("lengths", TensorProto.INT64, of, node.lengths))
    made = helper.make_node(node.type, names, [f"o{k}" for k in range(count)], **attributes)
    graph = helper.make_graph([made], node.type, _declared(node), _promised(node), constants)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _declared(node: Node) -> list[Any]:
    return [
        helper.make_tensor_value_info(name, TYPES[of], [None if n < 0 else n for n in shape])
        for name, of, shape in node.inputs
        if name
    ]


def _promised(node: Node) -> list[Any]:
    return [
        helper.make_tensor_value_info(f"o{k}", of, shape)
        for k, (of, shape) in enumerate(node.outputs)
    ]


def _call(
    node_type: str, arrays: Mapping[str, Array], attributes: Attributes, outputs: int = 1
) -> NodeCall:
    """Return a call of a node for any sizes; the array named by nothing is left out."""
    inputs = tuple(
        (name, type_name(array.dtype), (-1,) * array.ndim) for name, array in arrays.items()
    )
    promised = ((TYPES.get(inputs[0][1], TensorProto.UNDEFINED), None),) * outputs
    node = Node(node_type, inputs, json.dumps(dict(attributes)), promised)
    return NodeCall(node, {name: array for name, array in arrays.items() if name})


def _required(inputs: Inputs, *names: str) -> list[Array]:
    missing = [name for name in names if name not in inputs]
    if missing:
        raise TypeError(f"the call lacks {', '.join(missing)}")
    return [inputs[name] for name in names]


def _number(array: Array) -> Any:
    """Return what an attribute takes of an input: a number, or as many as there are."""
    return array.item() if array.shape in ((), (1,)) else array.ravel().tolist()


def _without_rest(data: Array, axis: Any, lengths: Array) -> Array:
    """Return the lengths with a single -1 replaced by what the others leave, be it negative."""
    values = lengths.ravel().tolist()
    if values.count(-1) != 1 or not isinstance(axis, int) or not -data.ndim <= axis < data.ndim:
        return lengths
    rest = data.shape[axis] - sum(values) - 1
    replaced = [rest if value == -1 else value for value in values]
    return np.array(replaced, lengths.dtype).reshape(lengths.shape)


def _extent(sizes: list[int], axis: int) -> int:
    """Return the size on the axis; where there is none, the model is wrong for that."""
    return sizes[axis] if -len(sizes) <= axis < len(sizes) else 0


def handed_over(name: str) -> bool:
    """Whether arrays of element type `name` can be handed to a session."""
    return name in TYPES and name not in FOUR_BIT_TYPES
