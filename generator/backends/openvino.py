"""OpenVINO as a backend: a call is a model of one node, compiled for a device."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import openvino

from opcert.arrays import Array
from opcert.backends import adapter_rejections
from opcert.backends.declared_support import DECLARED_SUPPORT
from opcert.backends.openvino_models import NODE_TYPES, Feeding, Plan, model_of
from opcert.backends.openvino_tensors import array_of, tensor_of
from opcert.backends.options import CACHE, check
from opcert.backends.plain_calls import types_taken

# How many compiled models are kept: few, so that a call meets what those just before it have made,
# as in a run of its case alone, whatever came long before. A valid call and the invalid ones beside
# it are not parted.
KEPT = 8
CHOICES = {
    "feed": ("dynamic", "static", "constant"),
    "indices": ("parameter", "constant"),
    **CACHE,
}
REUSE = {
    "on": f"the last {KEPT} compiled models, by operator, attributes, types, constants, and ranks "
    "or static shapes",
    "off": "nothing: each call compiles a model of its own",
}


class OpenVino:
    """Runs the four operators of OpenVINO that opcert knows, each by its own node.

    `device` is one of those that OpenVINO finds. `feed` is how data reaches the node: as a
    parameter whose sizes are `dynamic` or `static`, or as a constant; `indices` how the other
    inputs do. With `cache` off, each call compiles a model of its own.
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
        check(CHOICES, feed=feed, indices=indices, cache=cache)
        self.reuse = REUSE[cache]
        self.version = openvino.__version__
        self._core = openvino.Core()
        self._device = _found(device, self._core.available_devices)
        self._feeding = Feeding(feed, constant_indices=indices == "constant")
        self._request = lru_cache(KEPT)(self._compiled) if cache == "on" else self._compiled

    @cached_property
    def support(self) -> dict[str, dict[str, Any]]:
        """What is supported; types are those for which the device compiles a node."""
        return {
            operator: {
                "how": DECLARED_SUPPORT["openvino"][operator],
                **types_taken(operator, lambda *call: self._compiled(self._feeding.plan(*call))),
            }
            for operator in NODE_TYPES
        }

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Run the node on the inputs; what is wrong with a call is for OpenVINO to find.

        Raises:
            NotImplementedError: the operator is none of OpenVINO's, or a type is not.
            AdapterRejection: an input is left out that a node cannot be made without.
            Exception: OpenVINO rejects the call.
        """
        with adapter_rejections():
            plan = self._feeding.plan(operator, inputs, attributes)
        request = self._request(plan)
        for position, name in enumerate(plan.parameters):
            request.set_input_tensor(position, tensor_of(inputs[name]))
        # The synchronous infer() was seen to return empty outputs instead of an error.
        request.start_async()
        request.wait()
        return [array_of(each) for each in request.output_tensors]

    def _compiled(self, plan: Plan) -> openvino.InferRequest:
        return self._core.compile_model(model_of(plan), self._device).create_infer_request()


def _found(device: str, devices: list[str]) -> str:
    kinds = {each.partition(".")[0] for each in devices}
    if device not in kinds.union(devices):
        raise ValueError(f"device={device}; OpenVINO finds {', '.join(devices) or 'none'}")
    return device
