"""Models of one node of OpenVINO: what a call becomes, and what the compiled model depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from openvino import Model, PartialShape
from openvino.op import Constant, Parameter
from openvino.utils.node_factory import NodeFactory

from opcert.arrays import ELEMENT_TYPES, Array, type_name
from opcert.backends.openvino_tensors import TYPES, tensor_of


@dataclass(frozen=True)
class NodeType:
    """A node type with its inputs in order, those that may be left out last.

    The length of those in `lengths` decides the rank or the number of outputs, which have to be
    known before. Those in `known` have to be constants where data has static sizes.
    """

    opset: str
    name: str
    inputs: tuple[str, ...]
    optional: tuple[str, ...] = ()
    lengths: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


NODE_TYPES = {
    "openvino/VariadicSplit-1": NodeType(
        "opset1",
        "VariadicSplit",
        ("data", "axis", "split_lengths"),
        lengths=("split_lengths",),
    ),
    "openvino/Slice-8": NodeType(
        "opset8", "Slice", ("data", "start", "stop", "step"), optional=("axes",)
    ),
    "openvino/Broadcast-1": NodeType(
        "opset1",
        "Broadcast",
        ("data", "target_shape"),
        optional=("axes_mapping",),
        lengths=("target_shape",),
    ),
    "openvino/Gather-8": NodeType("opset8", "Gather", ("data", "indices", "axis"), known=("axis",)),
}


@dataclass(frozen=True)
class Port:
    """An input of the node: a parameter, with -1 for any size, or a constant of `elements`."""

    type: str
    shape: tuple[int, ...]
    elements: bytes | None = None


@dataclass(frozen=True)
class Plan:
    """All that a compiled model depends on."""

    operator: str
    ports: tuple[tuple[str, Port], ...]
    attributes: tuple[tuple[str, Any], ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The inputs that a call of the compiled model is given, in order."""
        return tuple(name for name, port in self.ports if port.elements is None)


@dataclass(frozen=True)
class Feeding:
    """How inputs reach the node: `data` static, dynamic or constant; the others constant or not."""

    data: str
    constant_indices: bool

    def plan(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Plan:
        """Return what the model for a call depends on.

        Raises:
            NotImplementedError: the operator is not among those of `NODE_TYPES`.
            TypeError: an input is left out that a node cannot be made without.
        """
        if operator not in NODE_TYPES:
            raise NotImplementedError(f"no node type for {operator}")
        node_type = NODE_TYPES[operator]
        missing = [name for name in node_type.inputs if name not in inputs]
        if missing:
            # Inputs go by position, so that the others would be taken for those left out.
            raise TypeError(f"{operator} lacks {', '.join(missing)}")
        names = [name for name in (*node_type.inputs, *node_type.optional) if name in inputs]
        ports = tuple((name, self._port(node_type, name, inputs[name])) for name in names)
        return Plan(operator, ports, tuple(attributes.items()))

    def _port(self, node_type: NodeType, name: str, array: Array) -> Port:
        constant = self.data == "constant" if name == "data" else self.constant_indices
        constant |= self.data != "dynamic" and name in node_type.known
        element_type, shape = type_name(array.dtype), array.shape
        if constant:
            return Port(element_type, shape, array.tobytes())
        any_size = self.data == "dynamic" and name not in node_type.lengths
        return Port(element_type, (-1,) * len(shape) if any_size else shape)


def model_of(plan: Plan) -> Model:
    """Return a model of the one node, whose inputs and attributes are those of the call."""
    node_type = NODE_TYPES[plan.operator]
    inputs = [_input(port) for _, port in plan.ports]
    factory = NodeFactory(node_type.opset)
    node = factory.create(node_type.name, inputs, dict(plan.attributes))
    parameters = [each for each in inputs if isinstance(each, Parameter)]
    return Model(node.outputs(), parameters, node_type.name)


def _input(port: Port) -> Parameter | Constant:
    if port.elements is None:
        if port.type not in TYPES:
            raise NotImplementedError(f"no element type of OpenVINO for {port.type}")
        return Parameter(TYPES[port.type], PartialShape(list(port.shape)))
    array = np.frombuffer(port.elements, ELEMENT_TYPES[port.type]).reshape(port.shape)
    return Constant(tensor_of(array), shared_memory=False)
