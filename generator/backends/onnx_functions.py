"""Functions that compute with numbers as ONNX nodes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, INTEGERS, type_name
from opcert.backends.composition import MODES_OF_MAXIMUM, check_broadcast, clamp_bounds
from opcert.backends.onnx_models import TYPES, NodeRule

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
    """Check its modes, which are fewer."""
    check_broadcast(inputs, attributes.pop("auto_broadcast", "numpy"), MODES_OF_MAXIMUM)


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
