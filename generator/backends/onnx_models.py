"""Models of one ONNX node, and how the arguments of a call become those of a node."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from onnx import ModelProto, TensorProto, helper

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, INTEGERS, Array, type_name
from opcert.backends.composition import BROADCASTS_OF_MAXIMUM, check_broadcast, clamp_bounds

Inputs: TypeAlias = Mapping[str, Any]
Attributes: TypeAlias = Mapping[str, Any]
OPSET = 21
IR_VERSION = 10
# ONNX's number of each element type, by opcert's name and by DirectML's.
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


@dataclass(frozen=True)
class NodeRule:
    """How a call becomes a node: where its arguments go.

    `required` are arguments that the call must have. `prepare` changes the arguments where the node
    has another convention, and may reject the call. Then `inputs` are the inputs of the node by
    position, and `renamed` maps other arguments to attributes of the node; an input among them
    becomes its value. Arguments that no rule mentions reach the node too, which rejects them.
    `outputs` is the attribute that counts the outputs, if there can be several.
    """

    type: str
    required: tuple[str, ...]
    inputs: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    outputs: str = ""
    prepare: Callable[[dict[str, Any], dict[str, Any]], None] = lambda *_: None

    def __call__(self, inputs: Inputs, attributes: Attributes) -> NodeCall:
        """Return the node of a call.

        Raises:
            NotImplementedError: the node lacks a mode.
            Exception: a required argument is missing, or no node can express the call.
        """
        arrays, rest = dict(inputs), dict(attributes)
        if missing := [name for name in self.required if name not in {*arrays, *rest}]:
            raise TypeError(f"the call lacks {', '.join(missing)}")
        self.prepare(arrays, rest)
        for argument, attribute in self.renamed.items():
            if argument in arrays:
                rest[attribute] = attribute_value(arrays.pop(argument))
            elif argument in rest:
                rest[attribute] = rest.pop(argument)
        ports: dict[str, Array] = {}
        for name in sorted(arrays, key=[*self.inputs, *arrays].index):
            value = arrays[name]
            if isinstance(value, list):
                ports |= {f"{name}{i}": array for i, array in enumerate(value)}
            else:
                ports[name] = value
        return node_call(self.type, ports, rest, rest.get(self.outputs, 1))


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


def node_call(
    node_type: str, arrays: Mapping[str, Array], attributes: Attributes, outputs: int = 1
) -> NodeCall:
    """Return a call of a node for any sizes; an empty name means an omitted input."""
    inputs = tuple(
        (name, type_name(array.dtype), (-1,) * array.ndim) for name, array in arrays.items()
    )
    node = Node(node_type, inputs, json.dumps(dict(attributes)), (None,) * outputs)
    return NodeCall(node, {name: array for name, array in arrays.items() if name})


def required_inputs(inputs: Inputs, *names: str) -> list[Array]:
    """Return inputs that a call must have."""
    missing = [name for name in names if name not in inputs]
    if missing:
        raise TypeError(f"the call lacks {', '.join(missing)}")
    return [inputs[name] for name in names]


def attribute_value(array: Array) -> Any:
    """Return an input as the value of an attribute: a number, or a list of them."""
    return array.item() if array.shape in ((), (1,)) else array.ravel().tolist()


PADDING = {
    "explicit": "NOTSET",
    "same_upper": "SAME_UPPER",
    "same_lower": "SAME_LOWER",
    "valid": "VALID",
}


def _broadcast(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Check modes that a node, which broadcasts as NumPy does, lacks."""
    check_broadcast(inputs, attributes.pop("auto_broadcast", "numpy"))


def _maximum(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Check its modes: it lacks pdpd."""
    check_broadcast(inputs, attributes.pop("auto_broadcast", "numpy"), BROADCASTS_OF_MAXIMUM)


def _divide(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Drop m_pythondiv where a node has its meaning.

    Raises:
        NotImplementedError: Div has no floor division.
    """
    _broadcast(inputs, attributes)
    rounds_down = attributes.pop("m_pythondiv", True)
    if rounds_down and type_name(inputs["a"].dtype) in INTEGERS:
        raise NotImplementedError("Div truncates integers")


def _convert(_: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Replace the name of a type by ONNX's number; the runtime rejects another word.

    Raises:
        NotImplementedError: the type has four bits.
    """
    name = attributes["destination_type"]
    if name in FOUR_BIT_TYPES:
        raise NotImplementedError(f"ONNX Runtime takes no arrays of {name}")
    attributes["destination_type"] = TYPES[name] if name in ELEMENT_TYPES else name


def _clamp(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Make inputs of the bounds."""
    dtype = inputs["data"].dtype
    bounds = clamp_bounds(type_name(dtype), attributes.pop("min"), attributes.pop("max"))
    inputs |= {name: np.array(n, dtype) for name, n in zip(("min", "max"), bounds, strict=True)}


def _reduce(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Make a list of a single axis; no axes are the identity, and dimensions are dropped."""
    axes = inputs["axes"]
    inputs["axes"] = axes if axes.ndim else axes.reshape(1)
    attributes["keep_dims"] = int(attributes.get("keep_dims", False))
    attributes["noop_with_empty_axes"] = 1


def _transpose(inputs: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Transpose the matrices, which a node does not."""
    for name in ("a", "b"):
        if attributes.pop(f"transpose_{name}", False) and inputs[name].ndim > 1:
            inputs[name] = np.swapaxes(inputs[name], -1, -2)


def _softmax(_: dict[str, Any], attributes: dict[str, Any]) -> None:
    attributes.setdefault("axis", 1)


def _windows(_: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Join the pads, and name the other attributes of windows as a node does."""
    mode = attributes.get("auto_pad", "explicit")
    attributes["auto_pad"] = PADDING.get(mode, mode)
    pads = [number for side in ("begin", "end") for number in attributes.pop(f"pads_{side}")]
    if mode == "explicit":
        attributes["pads"] = pads
    if "exclude_pad" in attributes:
        attributes["count_include_pad"] = int(not attributes.pop("exclude_pad"))
    if "rounding_type" in attributes:
        attributes["ceil_mode"] = int(attributes.pop("rounding_type") == "ceil")


def _binary(node: str) -> NodeRule:
    return NodeRule(node, ("a", "b"), ("a", "b"), prepare=_broadcast)


def _unary(node: str) -> NodeRule:
    return NodeRule(node, ("data",), ("data",))


def _reduction(node: str) -> NodeRule:
    names = ("data", "axes")
    return NodeRule(node, names, names, {"keep_dims": "keepdims"}, prepare=_reduce)


def _pooling(node: str) -> NodeRule:
    required = ("data", "strides", "pads_begin", "pads_end", "kernel")
    return NodeRule(node, required, ("data",), {"kernel": "kernel_shape"}, prepare=_windows)


FUNCTIONS: Mapping[str, NodeRule] = {
    **{f"openvino/{node}-1": _unary(node) for node in ("Exp", "Relu", "Sqrt", "Sigmoid", "Tanh")},
    "openvino/Add-1": _binary("Add"),
    "openvino/Multiply-1": _binary("Mul"),
    "openvino/Divide-1": NodeRule("Div", ("a", "b"), ("a", "b"), prepare=_divide),
    "openvino/Maximum-1": NodeRule("Max", ("a", "b"), ("a", "b"), prepare=_maximum),
    "openvino/Less-1": _binary("Less"),
    "openvino/Select-1": NodeRule(
        "Where", ("cond", "then", "else_"), ("cond", "then", "else_"), prepare=_broadcast
    ),
    "openvino/Convert-1": NodeRule(
        "Cast",
        ("data", "destination_type"),
        ("data",),
        {"destination_type": "to"},
        prepare=_convert,
    ),
    "openvino/Clamp-1": NodeRule(
        "Clip", ("data", "min", "max"), ("data", "min", "max"), prepare=_clamp
    ),
    "openvino/ReduceSum-1": _reduction("ReduceSum"),
    "openvino/ReduceMean-1": _reduction("ReduceMean"),
    "openvino/MatMul-1": NodeRule("MatMul", ("a", "b"), ("a", "b"), prepare=_transpose),
    "openvino/Softmax-8": NodeRule("Softmax", ("data",), ("data",), prepare=_softmax),
    "openvino/Convolution-1": NodeRule(
        "Conv",
        ("data", "filter", "strides", "pads_begin", "pads_end", "dilations"),
        ("data", "filter"),
        prepare=_windows,
    ),
    "openvino/AvgPool-1": _pooling("AveragePool"),
    "openvino/MaxPool-1": _pooling("MaxPool"),
}
