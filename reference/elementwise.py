"""Element-wise functions of one tensor or of two that broadcast."""

from collections.abc import Callable

import numpy as np

from opcert.reference.rules import Array

Function = Callable[..., Array]


def computed(function: Function, *tensors: Array) -> Array:
    """Return a function of tensors in their type; NumPy has those of bf16 in f32 only."""
    element_type = tensors[0].dtype
    if element_type.kind == "V":
        tensors = tuple(tensor.astype(np.float32) for tensor in tensors)
    # Infinity and NaN are results like others.
    with np.errstate(all="ignore"):
        return np.asarray(function(*tensors)).astype(element_type)


def exp_1(data: Array) -> list[Array]:
    """Return e to the power of each element.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Exp-1, the detailed description.
    """
    return [computed(np.exp, data)]
