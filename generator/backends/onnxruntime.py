"""ONNX Runtime as a backend: a call is a session of one node of ONNX."""

import ctypes
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import onnxruntime as ort

from opcert.arrays import ELEMENT_TYPES, Array, bits_of, type_name
from opcert.backends import adapter_rejections
from opcert.backends.composition import signed
from opcert.backends.declared_support import DECLARED_SUPPORT
from opcert.backends.onnx_nodes import NODES, TYPES, Node, NodeCall, handed_over, model_of
from opcert.backends.options import CACHE, check
from opcert.backends.plain_calls import DML_SPLIT, types_taken

# How many sessions are kept: few, so that a call meets what those just before it have made, as in a
# run of its case alone, whatever came long before. A valid call and the invalid ones beside it are
# not parted.
KEPT = 8
CHOICES = {"indices": ("raw", "int64"), **CACHE}
REUSE = {
    "on": f"the last {KEPT} sessions, by node, attributes, types, ranks and described shapes",
    "off": "nothing: each call makes a session of its own",
}
FATAL = 4
_NAMES = {number: name for name, number in TYPES.items()}
# ONNX has one type for all of these.
SAME_TYPES = {"openvino/Slice-8": [["start", "stop", "step", "axes"]]}
# What ONNX's nodes do not have: Expand aligns axes at the end, Gather has no batches and calls an
# index out of range an error.
EXCLUDED = {
    "openvino/Broadcast-1": ["broadcast-1/explicit-mode"],
    "openvino/Gather-8": ["gather-8/batches", "gather-8/index-above", "gather-8/index-below"],
}


class OnnxRuntime:
    """Runs opcert's operators by the node of ONNX that comes closest.

    `provider` is an execution provider of the installed package; with another than the CPU's,
    nodes do not fall back to the CPU. `indices` of another integer type than ONNX has for them are
    handed over `raw` or as `int64`. With `cache` off, each call makes a session of its own.
    """

    name = "onnxruntime"

    def __init__(
        self, provider: str = "CPUExecutionProvider", indices: str = "raw", cache: str = "on"
    ) -> None:
        if provider not in ort.get_available_providers():
            there = ", ".join(ort.get_available_providers())
            raise ValueError(f"provider={provider}; this onnxruntime has {there}")
        check(CHOICES, indices=indices, cache=cache)
        self.reuse = REUSE[cache]
        self.version = ort.__version__
        self._provider = provider
        self._widens = indices == "int64"
        self._session = lru_cache(KEPT)(self._made) if cache == "on" else self._made

    @cached_property
    def support(self) -> dict[str, dict[str, Any]]:
        """What is supported; types are those for which the provider makes a session."""
        return {operator: self._supported(operator) for operator in NODES}

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Run the node on the inputs; what is wrong with a call is for ONNX Runtime to find.

        Raises:
            NotImplementedError: there is no node for the operator, its mode or a type.
            AdapterRejection: there is no model of the call.
            Exception: ONNX Runtime rejects the call.
        """
        with adapter_rejections():
            call = self._call(operator, inputs, attributes)
        values = {name: _value(array) for name, array in call.arrays.items()}
        outputs = self._session(call.node).run_with_ort_values(None, values)
        return [_array(each) for each in outputs]

    def _made(self, node: Node) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = FATAL
        if node.lengths is not None:
            # What is declared of outputs is otherwise only warned of.
            options.add_session_config_entry("session.strict_shape_type_inference", "1")
        if self._provider != "CPUExecutionProvider":
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        with adapter_rejections():
            model = model_of(node).SerializeToString()
        return ort.InferenceSession(model, options, providers=[self._provider])

    def _supported(self, operator: str) -> dict[str, Any]:
        same = () if self._widens else SAME_TYPES.get(operator, ())
        taken = types_taken(operator, lambda *call: self._made(self._call(*call).node), same)
        excluded = {"excluded": EXCLUDED[operator]} if operator in EXCLUDED else {}
        widened = self._widens and operator != DML_SPLIT
        cast = "; the host makes int64 of indices, its largest of larger ones" if widened else ""
        return {"how": DECLARED_SUPPORT["onnxruntime"][operator] + cast, **taken, **excluded}

    def _call(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> NodeCall:
        if operator not in NODES:
            raise NotImplementedError(f"no node of ONNX for {operator}")
        given = _widened(inputs) if self._widens else inputs
        call = NODES[operator](given, attributes)
        for array in call.arrays.values():
            if not handed_over(type_name(array.dtype)):
                raise NotImplementedError(f"no array of {array.dtype} can be handed over")
        return call


def _widened(inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return the inputs with those behind the first as int64, where they are integers."""
    first = next(iter(inputs), "")
    return {
        name: signed(array) if name != first and array.dtype.kind in "iu" else array
        for name, array in inputs.items()
    }


def _value(array: Array) -> ort.OrtValue:
    if array.dtype.isbuiltin == 1:
        return ort.OrtValue.ortvalue_from_numpy(np.array(array, order="C"))
    number = TYPES[type_name(array.dtype)]
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits_of(array), number)


def _array(value: ort.OrtValue) -> Array:
    """Return an array with a copy of a value, which NumPy may have no type for."""
    dtype, shape = ELEMENT_TYPES[_NAMES[value.element_type()]], value.shape()
    elements = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(bytearray(elements), dtype).reshape(shape)
