"""OpenVINO as a backend: a call is a model of one node, compiled for a device."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from math import prod
from typing import Any, ClassVar

import numpy as np
import openvino
from openvino import Model, PartialShape, Tensor, Type
from openvino.op import Constant, Parameter
from openvino.utils.node_factory import NodeFactory

from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    FOUR_BIT_TYPES,
    Array,
    bits_dtype,
    bits_of,
    type_name,
)
from opcert.backends.composition import check_options
from opcert.backends.contract import Arguments, adapter_rejections
from opcert.backends.native import array_code, dtype_expression, render_native
from opcert.backends.probing import DECLARED_SUPPORT, PLAIN_CALLS, REDUCTIONS, probe_types

# OpenVINO's element types have the names that opcert uses.
TYPES = {name: getattr(Type, name) for name in ELEMENT_TYPES}
_NAMES = {element_type: name for name, element_type in TYPES.items()}


def to_tensor(array: Array) -> Tensor:
    """Return a tensor with a copy of `array`, which may have any memory layout."""
    name = type_name(array.dtype)
    if array.dtype.isbuiltin == 1:
        return Tensor(array)
    data = bits_of(array)
    if name in FOUR_BIT_TYPES:
        # Two elements per byte, the first one in the lower half.
        pairs = np.pad(data.ravel(), (0, data.size % 2))
        data = pairs[::2] | pairs[1::2] << 4
    # A tensor does not keep the wrapped array alive, so it needs memory of its own.
    tensor = Tensor(TYPES[name], list(array.shape))
    tensor.copy_from(Tensor(data, array.shape, TYPES[name]))
    return tensor


def to_array(tensor: Tensor) -> Array:
    """Return an array with a copy of `tensor`."""
    name, shape = _NAMES[tensor.element_type], tuple(tensor.shape)
    dtype = ELEMENT_TYPES[name]
    if name in FOUR_BIT_TYPES:
        packed = tensor.data.view(np.uint8)
        pairs = np.stack([packed & 15, packed >> 4], axis=-1)
        return pairs.ravel()[: prod(shape)].reshape(shape).view(dtype)
    copy: Array = np.array(tensor.data).view(dtype)
    return copy.reshape(shape)


# The lengths of these inputs determine the rank or the number of outputs, which a model needs.
STATIC_LENGTHS = {
    *("split_lengths", "target_shape", "repeats", "shape", "filter"),
    *("begin", "end", "stride"),
}
# Inputs that must be constants: these always, and those if the shape of data is known.
CONSTANTS = dict.fromkeys(REDUCTIONS, "axes")
CONSTANTS_FOR_KNOWN_SHAPES = {"openvino/Gather-8": "axis"}


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


def node_type_of(operator: str) -> tuple[str, str]:
    """Return the node type of an operator, and the set of operators that has this version of it."""
    name, _, version = operator.removeprefix("openvino/").rpartition("-")
    return name, f"opset{version}"


def build_model(spec: ModelSpec) -> Model:
    """Return the model of one node."""
    node_type, opset = node_type_of(spec.operator)
    inputs: list[Parameter | Constant] = []
    for port in spec.ports:
        if port.elements is not None:
            elements = np.frombuffer(port.elements, ELEMENT_TYPES[port.type])
            tensor = to_tensor(elements.reshape(port.shape))
            inputs.append(Constant(tensor, shared_memory=False))
        else:
            inputs.append(Parameter(TYPES[port.type], PartialShape(list(port.shape))))
    node = NodeFactory(opset).create(node_type, inputs, json.loads(spec.attributes))
    parameters = [node_input for node_input in inputs if isinstance(node_input, Parameter)]
    return Model(node.outputs(), parameters, node_type)


def _tensor_code(name: str, array: str) -> str:
    """Return the expression of a tensor of a type, as `to_tensor` makes it."""
    dtype = ELEMENT_TYPES[name]
    if dtype.isbuiltin == 1:
        return f"ov.Tensor({array})"
    if name in FOUR_BIT_TYPES:
        raise NotImplementedError(f"elements of {name}")
    return f"bits({array}, np.{bits_dtype(dtype).name}, ov.Type.{name})"


# The number of cached models: few, so that a call finds the same models as if its case ran alone,
# but enough for a valid call and its invalid variants.
KEPT_MODELS = 8
CHOICES = {
    "feed": ("dynamic", "static", "constant"),
    "indices": ("parameter", "constant"),
    "precision": ("f32", "default"),
}


class OpenVino:
    """Runs the OpenVINO operators that opcert knows, each by its own node.

    `device` is one that OpenVINO finds. `feed` is how data reaches the node: as a parameter of
    `dynamic` or `static` shape, or as a constant. `indices` is how the other inputs reach it.
    `precision` is the hint for f32 and narrower: f32, or the device's default, which may be bf16.
    """

    name = "openvino"
    reuse = (
        f"the last {KEPT_MODELS} compiled models, by operator, attributes, types, constants, and "
        "ranks or static shapes"
    )
    configurations: ClassVar = {option: CHOICES[option] for option in ("feed", "indices")}

    def __init__(
        self,
        device: str = "CPU",
        feed: str = "dynamic",
        indices: str = "parameter",
        precision: str = "f32",
    ) -> None:
        check_options(CHOICES, feed=feed, indices=indices, precision=precision)
        self.version = openvino.__version__
        self._core = openvino.Core()
        devices = self._core.available_devices
        if device not in {*devices, *(name.partition(".")[0] for name in devices)}:
            raise ValueError(f"device={device}; OpenVINO finds {', '.join(devices) or 'none'}")
        self._device = device
        self._properties = {} if precision == "default" else {"INFERENCE_PRECISION_HINT": precision}
        self._feed, self._constant_indices = feed, indices == "constant"
        self._request = lru_cache(KEPT_MODELS)(self._compile)

    @cached_property
    def support(self) -> dict[str, dict[str, Any]]:
        """The supported calls; a type is supported if the device compiles a node for it."""
        specs: list[ModelSpec] = []

        def probe(attempt: Callable[[ModelSpec], object]) -> dict[str, dict[str, Any]]:
            return {
                operator: {
                    "how": how,
                    **probe_types(operator, lambda *call: attempt(self._plan(*call)[0])),
                }
                for operator, how in DECLARED_SUPPORT["openvino"].items()
            }

        # Which types are tried does not depend on what is supported.
        probe(specs.append)
        return probe(dict.fromkeys(self._compiled(specs)).__getitem__)

    def _compiled(self, specs: list[ModelSpec]) -> list[ModelSpec]:
        """Return those of which a node compiles.

        Nodes are compiled in one model, since each model costs 20 ms. Where it fails, each half is.
        """
        try:
            models = [build_model(spec) for spec in specs]
            results = chain.from_iterable(model.get_results() for model in models)
            parameters = chain.from_iterable(model.get_parameters() for model in models)
            model = Model([*results], [*parameters])
            self._core.compile_model(model, self._device, self._properties)
        except Exception:
            half = len(specs) // 2
            return self._compiled(specs[:half]) + self._compiled(specs[half:]) if half else []
        return specs

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> list[Array]:
        """Run the node on the inputs; OpenVINO validates the call.

        Raises:
            NotImplementedError: OpenVINO lacks the operator or a type.
            AdapterRejection: a required input is omitted, so no node can be created.
            Exception: OpenVINO rejects the call.
        """
        with adapter_rejections():
            spec, arrays = self._plan(operator, inputs, attributes)
        request = self._request(spec)
        ports = zip(spec.ports, arrays, strict=True)
        parameters = [array for port, array in ports if port.elements is None]
        for position, array in enumerate(parameters):
            request.set_input_tensor(position, to_tensor(array))
        # The synchronous infer() sometimes returns empty outputs instead of raising an error.
        request.start_async()
        request.wait()
        return [to_array(tensor) for tensor in request.output_tensors]

    def native(self, operator: str, inputs: Arguments, attributes: Arguments) -> str:
        """Return the call in OpenVINO's own API.

        Raises:
            NotImplementedError: a type has 4 bits, or a constant is too large to list.
            Exception: a required input is omitted, so no node can be created.
        """
        spec, arrays = self._plan(operator, inputs, attributes)
        parameters = [port for port in spec.ports if port.elements is None]
        ports: list[str] = []
        tensors: list[str] = []
        for port, array in zip(spec.ports, arrays, strict=True):
            if port.elements is None:
                ports.append(f"parameters[{len(tensors)}]")
                tensors.append(_tensor_code(port.type, array_code(array, inputs)))
            else:
                tensor = _tensor_code(port.type, array_code(array, {}))
                ports.append(f"ov.op.Constant({tensor}, shared_memory=False)")
        others = {port.type for port in spec.ports if ELEMENT_TYPES[port.type].isbuiltin != 1}
        return render_native(
            "native_openvino.py.j2",
            node=node_type_of(operator),
            parameters=[(port.type, list(port.shape)) for port in parameters],
            ports=ports,
            attributes=json.loads(spec.attributes),
            tensors=tensors,
            dtypes={name: dtype_expression(ELEMENT_TYPES[name]) for name in sorted(others)},
            device=self._device,
            properties=self._properties,
        )

    def _plan(
        self, operator: str, inputs: Arguments, attributes: Arguments
    ) -> tuple[ModelSpec, list[Array]]:
        """Return the key of the model for a call, and the arrays of its ports.

        Raises:
            NotImplementedError: OpenVINO lacks the operator or an element type.
            TypeError: a required input is omitted, so no node can be created.
        """
        if operator not in DECLARED_SUPPORT["openvino"]:
            raise NotImplementedError(f"no node type for {operator}")
        plain = PLAIN_CALLS[operator]
        plain.check(inputs)
        ports: list[Port] = []
        arrays: list[Array] = []
        data, is_dynamic = plain.names("fb"), self._feed == "dynamic"
        # Inputs go by position.
        for name in sorted(inputs, key=[*plain.inputs, *inputs].index):
            value = inputs[name]
            constant = self._feed == "constant" if name in data else self._constant_indices
            constant |= name == CONSTANTS.get(operator)
            constant |= not is_dynamic and name == CONSTANTS_FOR_KNOWN_SHAPES.get(operator)
            any_size = is_dynamic and name not in STATIC_LENGTHS
            for array in value if isinstance(value, list) else [value]:
                if type_name(array.dtype) not in TYPES:
                    raise NotImplementedError(f"no element type of OpenVINO for {array.dtype}")
                shape = (-1,) * array.ndim if any_size and not constant else array.shape
                elements = array.tobytes() if constant else None
                ports.append(Port(type_name(array.dtype), shape, elements))
                arrays.append(array)
        # The document's name is no identifier of Python's.
        names = {"exclude_pad": "exclude-pad"}
        known = {names.get(name, name): value for name, value in attributes.items()}
        return ModelSpec(operator, tuple(ports), json.dumps(known)), arrays

    def _compile(self, spec: ModelSpec) -> openvino.InferRequest:
        model = build_model(spec)
        compiled = self._core.compile_model(model, self._device, self._properties)
        return compiled.create_infer_request()
