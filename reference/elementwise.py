"""Element-wise functions of one tensor, or of several that broadcast; softmax."""

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np

from opcert.reference.rules import Array, require

# The specs state the requirements, and the backend `reference` checks calls by them.
CHECKED_BY_SPEC = True
# How shapes broadcast follows from the shapes alone: no function reads `auto_broadcast`.
Function = Callable[..., Array]


def computed(function: Function, *tensors: Array) -> Array:
    """Return a function of tensors in their type; NumPy has those of bf16 in f32 only."""
    element_type = tensors[0].dtype
    if element_type.kind == "V":
        tensors = tuple(tensor.astype(np.float32) for tensor in tensors)
    # Infinity and NaN are results like others.
    with np.errstate(all="ignore"):
        return np.asarray(function(*tensors)).astype(element_type)


def add_1(a: Array, b: Array, auto_broadcast: str = "numpy") -> list[Array]:  # noqa: ARG001
    """Return the sum of two tensors.

    Shapes: a, b (any that broadcast); the output has the shape to which they broadcast.

    Source: OpenVINO Add-1, the detailed description.
    """
    return [computed(np.add, a, b)]


def multiply_1(a: Array, b: Array, auto_broadcast: str = "numpy") -> list[Array]:  # noqa: ARG001
    """Return the product of two tensors.

    Shapes: a, b (any that broadcast); the output has the shape to which they broadcast.

    Source: OpenVINO Multiply-1, the detailed description.
    """
    return [computed(np.multiply, a, b)]


def divide_1(
    a: Array,
    b: Array,
    m_pythondiv: bool = True,  # noqa: ARG001
    auto_broadcast: str = "numpy",  # noqa: ARG001
) -> list[Array]:
    """Return the quotient of two tensors; that of integers is rounded down.

    Without `m_pythondiv`, integers may be rounded in either direction.

    Shapes: a, b (any that broadcast); the output has the shape to which they broadcast.

    Source: OpenVINO Divide-1, the detailed description and "m_pythondiv".
    """
    return [computed(np.floor_divide if a.dtype.kind in "iu" else np.divide, a, b)]


def maximum_1(a: Array, b: Array, auto_broadcast: str = "numpy") -> list[Array]:  # noqa: ARG001
    """Return the greater elements of two tensors.

    Shapes: a, b (any that broadcast); the output has the shape to which they broadcast.

    Source: OpenVINO Maximum-1, the detailed description.
    """
    return [computed(np.maximum, a, b)]


def less_1(a: Array, b: Array, auto_broadcast: str = "numpy") -> list[Array]:  # noqa: ARG001
    """Return whether elements of a tensor are less than those of another one.

    Shapes: a, b (any that broadcast); the output has the shape to which they broadcast.

    Source: OpenVINO Less-1, the detailed description.
    """
    return [np.asarray(np.less(a, b))]


def sqrt_1(data: Array) -> list[Array]:
    """Return the square root of each element; of an integer the nearest one.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Sqrt-1, the detailed description.
    """
    if data.dtype.kind not in "iu":
        return [computed(np.sqrt, data)]
    # Exact, whatever the size; the root of a negative number is undefined.
    numbers = [max(int(number), 0) for number in data.flat]
    roots = [math.isqrt(4 * number) + 1 >> 1 for number in numbers]
    return [np.array(roots, data.dtype).reshape(data.shape)]


def exp_1(data: Array) -> list[Array]:
    """Return e to the power of each element.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Exp-1, the detailed description.
    """
    return [computed(np.exp, data)]


def sigmoid_1(data: Array) -> list[Array]:
    """Return the sigmoid of each element.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Sigmoid-1, the mathematical formulation.
    """
    return [computed(lambda x: 1 / (1 + np.exp(-x)), data)]


def tanh_1(data: Array) -> list[Array]:
    """Return the hyperbolic tangent of each element; of an integer the nearest one.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Tanh-1, the detailed description.
    """
    return [computed(np.sign if data.dtype.kind in "iu" else np.tanh, data)]


def relu_1(data: Array) -> list[Array]:
    """Return each element, or 0 if it is less.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Relu-1, the mathematical formulation.
    """
    return [computed(np.maximum, data, np.zeros_like(data))]


def clamp_1(data: Array, min: float, max: float) -> list[Array]:  # noqa: A002 -- the document's names
    """Return each element, or the bound beyond which it is.

    Of integers the bounds are rounded inwards.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Clamp-1, the detailed description and "Types".
    """
    if data.dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            low, high = (np.array(bound).astype(data.dtype) for bound in (min, max))
        return [computed(lambda x, a, b: np.minimum(np.maximum(x, a), b), data, low, high)]
    limits = np.iinfo(data.dtype)
    low, high = (
        np.array(sorted((int(limits.min), bound, int(limits.max)))[1], data.dtype)
        for bound in (math.ceil(min), math.floor(max))
    )
    return [np.asarray(np.minimum(np.maximum(data, low), high))]


def softmax_8(data: Array, axis: int = 1) -> list[Array]:
    """Return the power of each element, divided by the sum of the powers along an axis.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Softmax-8, the mathematical formulation and the page that it cites.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    in_range = -data.ndim <= axis < data.ndim
    require(in_range, "softmax-8/axis-range", f"axis {axis} for data of rank {data.ndim}")

    def divided(x: Array) -> Array:
        powers = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
        return np.asarray(powers / powers.sum(axis, keepdims=True))

    return [computed(divided, data)]


def select_1(cond: Array, then: Array, else_: Array, auto_broadcast: str = "numpy") -> list[Array]:  # noqa: ARG001
    """Return the elements of `then` where `cond` is true, and else those of `else_`.

    Shapes: then, else_ (any that broadcast), cond (any that broadcasts to their result); the output
    has the shape to which they broadcast.

    Source: OpenVINO Select-1, the detailed description.
    """
    shape = np.broadcast_shapes(cond.shape, then.shape, else_.shape)
    output = np.array(np.broadcast_to(else_, shape))
    np.copyto(output, then, where=cond)
    return [output]


_TYPES = {
    "boolean": np.dtype(np.bool_),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    **{f"f{8 * size}": np.dtype(f"f{size}") for size in (2, 4, 8)},
    **{f"{kind}{8 * size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
}


def convert_1(data: Array, destination_type: str) -> list[Array]:
    """Return each element in another type; a number becomes an integer without its fraction.

    Shapes: data (any); the output has its shape.

    Source: OpenVINO Convert-1, the detailed description.
    """
    # NumPy takes integers modulo 2 to the power of their bits.
    with np.errstate(all="ignore"):
        return [data.astype(_TYPES[destination_type])]
