"""OpenVINO models of one node: a call -> the key of a model, and the model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from openvino import Model, PartialShape
from openvino.op import Constant, Parameter
from openvino.utils.node_factory import NodeFactory

from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name
from opcert.backends.openvino_tensors import TYPES, to_tensor


@dataclass(frozen=True)
class NodeType:
    """A node type with its inputs in order, optional ones last.

    `data` are the inputs that are moved; the others are indices. The lengths of the inputs in
    `static_lengths` determine the rank or the number of outputs, which a model needs. The inputs in
    `constants` must be constants if data has a static shape. A variadic input is a list of arrays.
    """

    opset: str
    name: str
    inputs: tuple[str, ...]
    optional: tuple[str, ...] = ()
    data: tuple[str, ...] = ("data",)
    static_lengths: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()


NODE_TYPES = {
    "openvino/VariadicSplit-1": NodeType(
        "opset1",
        "VariadicSplit",
        ("data", "axis", "split_lengths"),
        static_lengths=("split_lengths",),
    ),
    "openvino/Slice-8": NodeType(
        "opset8", "Slice", ("data", "start", "stop", "step"), optional=("axes",)
    ),
    "openvino/Broadcast-1": NodeType(
        "opset1",
        "Broadcast",
        ("data", "target_shape"),
        optional=("axes_mapping",),
        static_lengths=("target_shape",),
    ),
    "openvino/Gather-8": NodeType(
        "opset8", "Gather", ("data", "indices", "axis"), constants=("axis",)
    ),
    "openvino/Split-1": NodeType("opset1", "Split", ("data", "axis")),
    "openvino/Concat-1": NodeType("opset1", "Concat", ("inputs",), data=("inputs",)),
    "openvino/Tile-1": NodeType("opset1", "Tile", ("data", "repeats"), static_lengths=("repeats",)),
    "openvino/Pad-1": NodeType(
        "opset1",
        "Pad",
        ("data", "pads_begin", "pads_end"),
        optional=("pad_value",),
        data=("data", "pad_value"),
    ),
    "openvino/Transpose-1": NodeType("opset1", "Transpose", ("arg", "input_order"), data=("arg",)),
    "openvino/Reshape-1": NodeType(
        "opset1", "Reshape", ("data", "shape"), static_lengths=("shape",)
    ),
    "openvino/GatherElements-6": NodeType("opset6", "GatherElements", ("data", "indices")),
    "openvino/ScatterElementsUpdate-3": NodeType(
        "opset3",
        "ScatterElementsUpdate",
        ("data", "indices", "updates", "axis"),
        data=("data", "updates"),
    ),
    "openvino/StridedSlice-1": NodeType(
        "opset1",
        "StridedSlice",
        ("data", "begin", "end"),
        optional=("stride",),
        static_lengths=("begin", "end", "stride"),
    ),
    "openvino/ReverseSequence-1": NodeType("opset1", "ReverseSequence", ("data", "seq_lengths")),
}


@dataclass(frozen=True)
class Port:
    """An input of the node: a parameter, with -1 for any size, or a constant of `elements`."""

    type: str
    shape: tuple[int, ...]
    elements: bytes | None = None


@dataclass(frozen=True)
class ModelSpec:
    """The key of a compiled model: everything that the model depends on.

    `attributes` is JSON.
    """

    operator: str
    ports: tuple[Port, ...]
    attributes: str

    def parameters(self, arrays: Sequence[Array]) -> list[Array]:
        """Return those of a call's arrays that are parameters of the compiled model, in order."""
        ports = zip(self.ports, arrays, strict=True)
        return [array for port, array in ports if port.elements is None]


@dataclass(frozen=True)
class ModelPlanner:
    """Plans how inputs reach a node: data dynamic, static or constant; others constant or not."""

    data: str
    constant_indices: bool

    def plan(
        self, operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> tuple[ModelSpec, list[Array]]:
        """Return the key of the model for a call, and the arrays of its ports.

        Raises:
            NotImplementedError: the operator is not in `NODE_TYPES`.
            TypeError: a required input is omitted, so no node can be created.
        """
        if operator not in NODE_TYPES:
            raise NotImplementedError(f"no node type for {operator}")
        node_type = NODE_TYPES[operator]
        missing = [name for name in node_type.inputs if name not in inputs]
        if missing:
            # Inputs go by position: a later input would take the place of the missing one.
            raise TypeError(f"{operator} lacks {', '.join(missing)}")
        named = [
            (name, array)
            for name in (*node_type.inputs, *node_type.optional)
            if name in inputs
            for array in (inputs[name] if isinstance(inputs[name], list) else [inputs[name]])
        ]
        ports = tuple(self._port(node_type, name, array) for name, array in named)
        spec = ModelSpec(operator, ports, json.dumps(dict(attributes)))
        return spec, [array for _, array in named]

    def _port(self, node_type: NodeType, name: str, array: Array) -> Port:
        constant = self.data == "constant" if name in node_type.data else self.constant_indices
        constant |= self.data != "dynamic" and name in node_type.constants
        element_type, shape = type_name(array.dtype), array.shape
        if constant:
            return Port(element_type, shape, array.tobytes())
        any_size = self.data == "dynamic" and name not in node_type.static_lengths
        return Port(element_type, (-1,) * len(shape) if any_size else shape)


def build_model(spec: ModelSpec) -> Model:
    """Return the model of one node.

    Raises:
        NotImplementedError: OpenVINO lacks an element type.
    """
    node_type = NODE_TYPES[spec.operator]
    inputs: list[Parameter | Constant] = []
    for port in spec.ports:
        if port.elements is not None:
            elements = np.frombuffer(port.elements, ELEMENT_TYPES[port.type])
            tensor = to_tensor(elements.reshape(port.shape))
            inputs.append(Constant(tensor, shared_memory=False))
        elif port.type in TYPES:
            inputs.append(Parameter(TYPES[port.type], PartialShape(list(port.shape))))
        else:
            raise NotImplementedError(f"no element type of OpenVINO for {port.type}")
    factory = NodeFactory(node_type.opset)
    node = factory.create(node_type.name, inputs, json.loads(spec.attributes))
    parameters = [node_input for node_input in inputs if isinstance(node_input, Parameter)]
    return Model(node.outputs(), parameters, node_type.name)
