"""Models of one ONNX node, whose arguments are those of a call."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name

OPSET = 21
IR_VERSION = 10
# ONNX's number of each element type.
TYPES: dict[str, int] = {
    name: helper.np_dtype_to_tensor_dtype(dtype) for name, dtype in ELEMENT_TYPES.items()
}


@dataclass(frozen=True)
class Node:
    """A node and the declarations of its model: the key of a session.

    `inputs` have a name (empty for an omitted input), a type and a shape, in which -1 is any size.
    `outputs` have a type and a shape if the call describes them. `attributes` is JSON. `lengths` is
    the second input of Split if it is part of the model.
    """

    type: str
    inputs: tuple[tuple[str, str, tuple[int, ...]], ...]
    attributes: str
    outputs: tuple[tuple[int, tuple[int, ...]] | None, ...]
    lengths: tuple[int, ...] | None = None


@dataclass(frozen=True)
class NodeCall:
    """A node with the arrays that it receives."""

    node: Node
    arrays: Mapping[str, Array]


def node_call(node_type: str, outputs: int = 1, /, **arguments: Any) -> NodeCall:
    """Return a call of a node for any sizes.

    Arrays are inputs, in their order, and None is an omitted one. All else are attributes.
    """
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    inputs = tuple(
        ("", "", ())
        if value is None
        else (name, type_name(arrays[name].dtype), (-1,) * arrays[name].ndim)
        for name, value in arguments.items()
        if value is None or name in arrays
    )
    attributes = {n: v for n, v in arguments.items() if v is not None and n not in arrays}
    return NodeCall(Node(node_type, inputs, json.dumps(attributes), (None,) * outputs), arrays)


def node_names(node: Node) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the names of the inputs and outputs of a node, and its attributes."""
    attributes = json.loads(node.attributes)
    output_names = [f"o{k}" for k in range(attributes.pop("names", len(node.outputs)))]
    input_names = [name for name, _, _ in node.inputs]
    return [*input_names, *["lengths"] * (node.lengths is not None)], output_names, attributes


def type_constant(number: int) -> str:
    """Return the name of an element type in `TensorProto`."""
    return str(TensorProto.DataType.Name(number))


def build_model(node: Node) -> ModelProto:
    """Return the model of one node."""
    input_names, output_names, attributes = node_names(node)
    constants = []
    if node.lengths is not None:
        shape = [len(node.lengths)]
        constants.append(helper.make_tensor("lengths", TensorProto.INT64, shape, node.lengths))
    inputs = [
        helper.make_tensor_value_info(name, TYPES[element_type], [None if n < 0 else n for n in s])
        for name, element_type, s in node.inputs
        if name
    ]
    outputs = [
        helper.make_tensor_value_info(f"o{k}", *described)
        if described
        else helper.make_empty_tensor_value_info(f"o{k}")
        for k, described in enumerate(node.outputs)
    ]
    onnx_node = helper.make_node(node.type, input_names, output_names, **attributes)
    graph = helper.make_graph([onnx_node], node.type, inputs, outputs, constants)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
