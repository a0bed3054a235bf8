"""Cases as tests in the form of ONNX's own backend tests: a model, its inputs, its outputs."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from onnx.checker import ValidationError, check_model
from onnx.numpy_helper import from_array
from onnx.shape_inference import InferenceError

from opcert.arrays.element_types import Array, type_name
from opcert.backends.onnx_models import TYPES, build_model
from opcert.backends.onnx_nodes import EXCLUDED, NODES


def files_of_test(
    operator: str,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Any],
    outputs: Sequence[Array],
    rules: Collection[str],
) -> dict[str, bytes]:
    """Return the files of the test of a valid call, which exercises `rules`, by name.

    The model declares all types and shapes, so that ONNX's checker judges them, too.

    Raises:
        NotImplementedError: ONNX cannot express the call, and why.
    """
    if operator not in NODES:
        raise NotImplementedError("opcert has no model of ONNX for this operator")
    if lacking := sorted({*rules} & {*EXCLUDED.get(operator, ())}):
        raise NotImplementedError(f"ONNX lacks {lacking[0]}")
    if operator == "openvino/Slice-8" and _starts_below(inputs):
        raise NotImplementedError("ONNX clamps a start below the dimension in another way")
    try:
        call = NODES[operator](inputs, attributes)
        shapes = {name: array.shape for name, array in call.arrays.items()}
        ports = tuple((name, type_, shapes.get(name, ())) for name, type_, _ in call.node.inputs)
        declared = tuple((TYPES[type_name(array.dtype)], array.shape) for array in outputs)
        model = build_model(replace(call.node, inputs=ports, outputs=declared))
        check_model(model, full_check=True)
    except NotImplementedError:
        raise
    except (ValidationError, InferenceError) as error:
        # Without the type that is at fault: one reason for all of them.
        reason = re.sub(r"^\[\w+\] |:? tensor\(\w+\)$", "", str(error).partition("\n")[0])
        raise NotImplementedError(f"ONNX's checker: {reason}") from None
    except Exception:
        raise NotImplementedError("no node of ONNX expresses the call") from None
    tensors = {f"input_{k}": from_array(a, name) for k, (name, a) in enumerate(call.arrays.items())}
    tensors |= {f"output_{k}": from_array(array, f"o{k}") for k, array in enumerate(outputs)}
    protos = {f"test_data_set_0/{name}.pb": tensor for name, tensor in tensors.items()}
    return {
        name: proto.SerializeToString(deterministic=True)
        for name, proto in {"model.onnx": model, **protos}.items()
    }


def _starts_below(inputs: Mapping[str, Any]) -> bool:
    """Whether a slice goes backwards from below a dimension: ONNX has its first element then."""
    data, start, step = (inputs[name] for name in ("data", "start", "step"))
    axes = inputs.get("axes", np.arange(start.size))
    sizes = (data.shape[axis] for axis in axes.tolist())
    bounds = zip(start.tolist(), step.tolist(), sizes, strict=True)
    # Of no elements, ONNX does not say which is the first.
    return any(by < 0 and (first < -size or not size) for first, by, size in bounds)
