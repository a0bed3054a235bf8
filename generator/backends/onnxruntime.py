"""ONNX Runtime as a backend: a call is a session of one ONNX node."""

import ctypes
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import onnxruntime as ort

from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    FOUR_BIT_TYPES,
    INTEGERS,
    Array,
    bits_of,
    type_name,
)
from opcert.backends.composition import check_options, to_int64
from opcert.backends.contract import Arguments, adapter_rejections
from opcert.backends.native import array_code, render_native
from opcert.backends.onnx_models import (
    IR_VERSION,
    OPSET,
    TYPES,
    Node,
    NodeCall,
    build_model,
    node_names,
    type_constant,
)
from opcert.backends.onnx_nodes import EXCLUDED, NODES
from opcert.backends.probing import DECLARED_SUPPORT, PLAIN_CALLS, probe_types

# The number of cached sessions: few, so that a call finds the same sessions as if its case ran
# alone, but enough for a valid call and its invalid variants.
KEPT_SESSIONS = 8
CHOICES = {"indices": ("raw", "int64")}
# ONNX Runtime's highest severity: messages of failed calls are not logged.
_FATAL = 4
_NAMES = {number: name for name, number in TYPES.items()}
# ONNX has one type symbol for these inputs.
SAME_TYPES = {
    "openvino/Slice-8": [["start", "stop", "step", "axes"]],
    "openvino/Pad-1": [["pads_begin", "pads_end"]],
}


class OnnxRuntime:
    """Runs opcert's operators by the ONNX node that comes closest.

    `provider` is an execution provider of the installed package; nodes do not fall back from
    another provider to the CPU. `indices` of an integer type that ONNX lacks are passed `raw` or
    as `int64`.
    """

    name = "onnxruntime"

    reuse = (
        f"the last {KEPT_SESSIONS} sessions, by node, attributes, types, ranks and described shapes"
    )

    def __init__(self, provider: str = "CPUExecutionProvider", indices: str = "raw") -> None:
        providers = ort.get_available_providers()
        if provider not in providers:
            raise ValueError(f"provider={provider}; this onnxruntime has {', '.join(providers)}")
        check_options(CHOICES, indices=indices)
        self.version = ort.__version__
        self._provider = provider
        self._widens = indices == "int64"
        self._session = lru_cache(KEPT_SESSIONS)(self._create_session)

    @cached_property
    def support(self) -> dict[str, dict[str, Any]]:
        """The supported calls; a type is supported if the provider creates a session for it."""
        support: dict[str, dict[str, Any]] = {}
        for operator in NODES:
            how = DECLARED_SUPPORT["onnxruntime"][operator]
            if self._widens and PLAIN_CALLS[operator].names("i"):
                how += "; " if ":" in how else ": "
                how += "the host converts indices to int64, larger ones to its largest"
            same_types = () if self._widens else SAME_TYPES.get(operator, ())
            types = probe_types(
                operator,
                lambda *call: self._create_session(self._node_call(*call).node),
                same_types,
            )
            support[operator] = {"how": how, **types}
            if operator in EXCLUDED:
                support[operator]["excluded"] = EXCLUDED[operator]
        return support

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> list[Array]:
        """Run the node on the inputs; ONNX Runtime validates the call.

        Raises:
            NotImplementedError: there is no node for the operator, its mode or a type.
            AdapterRejection: no model can express the call.
            Exception: ONNX Runtime rejects the call.
        """
        with adapter_rejections():
            call = self._node_call(operator, inputs, attributes)
        values = {name: _to_value(array) for name, array in call.arrays.items()}
        outputs = self._session(call.node).run_with_ort_values(None, values)
        return [_to_array(value) for value in outputs]

    def native(self, operator: str, inputs: Arguments, attributes: Arguments) -> str:
        """Return the call in the API of onnx and ONNX Runtime.

        Raises:
            NotImplementedError: NumPy lacks a type, or an array is too large to list.
            Exception: no model can express the call.
        """
        call = self._node_call(operator, inputs, attributes)
        if any(array.dtype.isbuiltin != 1 for array in call.arrays.values()):
            raise NotImplementedError("a type that NumPy lacks")
        node = call.node
        return render_native(
            "native_onnxruntime.py.j2",
            node=node,
            names=node_names(node),
            inputs=[
                (name, type_constant(TYPES[element_type]), [None if n < 0 else n for n in shape])
                for name, element_type, shape in node.inputs
                if name
            ],
            outputs=[o and (type_constant(o[0]), o[1]) for o in node.outputs],
            arrays={name: array_code(array, inputs) for name, array in call.arrays.items()},
            options=self._session_entries(node),
            provider=self._provider,
            opset=OPSET,
            ir_version=IR_VERSION,
        )

    def _node_call(self, operator: str, inputs: Arguments, attributes: Arguments) -> NodeCall:
        if operator not in NODES:
            raise NotImplementedError(f"no node of ONNX for {operator}")
        PLAIN_CALLS[operator].check(inputs)
        widened = _widen_indices(operator, inputs) if self._widens else inputs
        call = NODES[operator](**widened, **attributes)
        for array in call.arrays.values():
            name = type_name(array.dtype)
            if name not in TYPES or name in FOUR_BIT_TYPES:
                raise NotImplementedError(f"ONNX Runtime takes no arrays of {array.dtype}")
        return call

    def _create_session(self, node: Node) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL
        for entry in self._session_entries(node):
            options.add_session_config_entry(entry, "1")
        with adapter_rejections():
            model = build_model(node).SerializeToString()
        return ort.InferenceSession(model, options, providers=[self._provider])

    def _session_entries(self, node: Node) -> list[str]:
        """Return the entries of a session's configuration that are set."""
        # Otherwise a wrong declaration of an output is only a warning.
        strict = ["session.strict_shape_type_inference"] if node.lengths is not None else []
        on_cpu = self._provider == "CPUExecutionProvider"
        return strict if on_cpu else [*strict, "session.disable_cpu_ep_fallback"]


def _widen_indices(operator: str, inputs: Arguments) -> dict[str, Any]:
    """Return the inputs, with indices of the document's integer types as int64."""
    plain = PLAIN_CALLS[operator]
    types, indices = {*plain.index_types} & {*INTEGERS}, plain.names("i")
    return {
        name: to_int64(array) if name in indices and type_name(array.dtype) in types else array
        for name, array in inputs.items()
    }


def _to_value(array: Array) -> ort.OrtValue:
    if array.dtype.isbuiltin == 1:
        return ort.OrtValue.ortvalue_from_numpy(np.array(array, order="C"))
    number = TYPES[type_name(array.dtype)]
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits_of(array), number)


def _to_array(value: ort.OrtValue) -> Array:
    """Return a copy of a value as an array, possibly of a type that NumPy lacks."""
    dtype, shape = ELEMENT_TYPES[_NAMES[value.element_type()]], value.shape()
    elements = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(bytearray(elements), dtype).reshape(shape)
