"""OpenVINO as a backend: a call is a model of one node, compiled for a device."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import openvino

from opcert.arrays.element_types import Array
from opcert.backends.composition import CACHE, check_options
from opcert.backends.contract import adapter_rejections
from opcert.backends.declared_support import DECLARED_SUPPORT, probe_types
from opcert.backends.openvino_models import NODE_TYPES, ModelPlanner, ModelSpec, build_model
from opcert.backends.openvino_tensors import to_array, to_tensor

# The number of cached models: few, so that a call finds the same models as if its case ran alone,
# but enough for a valid call and its invalid variants.
KEPT_MODELS = 8
CHOICES = {
    "feed": ("dynamic", "static", "constant"),
    "indices": ("parameter", "constant"),
    **CACHE,
}
REUSE = {
    "on": f"the last {KEPT_MODELS} compiled models, by operator, attributes, types, constants, and "
    "ranks or static shapes",
    "off": "nothing: each call compiles a model of its own",
}


class OpenVino:
    """Runs the OpenVINO operators that opcert knows, each by its own node.

    `device` is one that OpenVINO finds. `feed` is how data reaches the node: as a parameter of
    `dynamic` or `static` shape, or as a constant. `indices` is how the other inputs reach it.
    With `cache` off, each call compiles a model of its own.
    """

    name = "openvino"
    configurations: ClassVar = {option: CHOICES[option] for option in ("feed", "indices")}

    def __init__(
        self,
        device: str = "CPU",
        feed: str = "dynamic",
        indices: str = "parameter",
        cache: str = "on",
    ) -> None:
        check_options(CHOICES, feed=feed, indices=indices, cache=cache)
        self.reuse = REUSE[cache]
        self.version = openvino.__version__
        self._core = openvino.Core()
        devices = self._core.available_devices
        if device not in {*devices, *(name.partition(".")[0] for name in devices)}:
            raise ValueError(f"device={device}; OpenVINO finds {', '.join(devices) or 'none'}")
        self._device = device
        self._planner = ModelPlanner(feed, constant_indices=indices == "constant")
        self._request = lru_cache(KEPT_MODELS)(self._compile) if cache == "on" else self._compile

    @cached_property
    def support(self) -> dict[str, dict[str, Any]]:
        """The supported calls; a type is supported if the device compiles a node for it."""
        return {
            operator: {
                "how": DECLARED_SUPPORT["openvino"][operator],
                **probe_types(operator, lambda *call: self._compile(self._planner.plan(*call)[0])),
            }
            for operator in NODE_TYPES
        }

    def run(
        self, operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Run the node on the inputs; OpenVINO validates the call.

        Raises:
            NotImplementedError: OpenVINO lacks the operator or a type.
            AdapterRejection: a required input is omitted, so no node can be created.
            Exception: OpenVINO rejects the call.
        """
        with adapter_rejections():
            spec, arrays = self._planner.plan(operator, inputs, attributes)
        request = self._request(spec)
        for position, array in enumerate(spec.parameters(arrays)):
            request.set_input_tensor(position, to_tensor(array))
        # The synchronous infer() sometimes returns empty outputs instead of raising an error.
        request.start_async()
        request.wait()
        return [to_array(tensor) for tensor in request.output_tensors]

    def _compile(self, spec: ModelSpec) -> openvino.InferRequest:
        return self._core.compile_model(build_model(spec), self._device).create_infer_request()
