"""Arrays as Python expressions: exact to the bit and the layout."""

from math import isfinite
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array, bits_dtype
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.arrays.patterns import allowance_of, alternatives_of

# The most elements 1, 2, 3, ... that are listed instead of written as a range.
_MAX_LISTED_NUMBERS = 16


def output_expression(golden: Array) -> str:
    """Return a golden output as an expression, with what else its elements may be."""
    if (allowance := allowance_of(golden)) is not None:
        parts = golden.view(np.ndarray), *allowance.claimed_bounds, allowance.flags
        return f"Computed({', '.join(map(array_expression, parts))})"
    arrays = golden.view(np.ndarray), *alternatives_of(golden)
    texts = [*map(array_expression, arrays)]
    return texts[0] if len(texts) == 1 else f"Open({', '.join(texts)})"


def array_expression(array: Array) -> str:
    """Return an expression for `array`: its values where these are exact, else its bits."""
    dtype = dtype_expression(array.dtype)
    flat = array.reshape(-1)
    shape = "" if array.ndim == 1 else f".reshape({', '.join(map(str, array.shape)) or '()'})"
    if _is_numbered(array):
        return f"np.arange(1, {array.size + 1}).astype({dtype}){shape}"
    if not array.size:
        return f"np.zeros({array.shape}, {dtype})"
    if not array.ndim and is_exact_as_text(array):
        return f"np.array({array.item()!r}, {dtype})"
    if is_exact_as_text(array):
        return f"np.array({flat.tolist()}, {dtype}){shape}"
    bits = flat.view(bits_dtype(array.dtype))
    literals = ", ".join(f"0x{element:0{2 * array.itemsize}x}" for element in bits.tolist())
    return f"np.array([{literals}], np.uint{8 * array.itemsize}).view({dtype}){shape}"


def layout_expression(text: str, shape: tuple[int, ...], layout: Layout) -> str:
    """Return the expression `text`, of an array of `shape`, in the layout that it has."""
    if layout == C_ORDER:
        return text
    strides, start, size = layout.placement(shape)
    return f"strided({text}, {strides}, {start}, {size})"


def _is_numbered(array: Array) -> bool:
    """Whether the elements are 1, 2, 3, ..., and too many to list."""
    if array.size <= _MAX_LISTED_NUMBERS:
        return False
    numbers = np.arange(1, array.size + 1).astype(array.dtype)
    return numbers.tobytes() == array.tobytes()


def dtype_expression(dtype: np.dtype[Any]) -> str:
    """Return an expression for `dtype`, of NumPy or of ml_dtypes."""
    if dtype == np.bool_:
        return "np.bool_"
    return f"np.{dtype.name}" if dtype.isbuiltin == 1 else f"ml_dtypes.{dtype.name}"


def is_exact_as_text(array: Array) -> bool:
    """Whether the values of `array`, as text, determine every bit."""
    values = array.reshape(-1).tolist()
    if any(isinstance(value, float) and not isfinite(value) for value in values):
        return False
    with np.errstate(over="ignore"):
        return np.array(values, array.dtype).tobytes() == array.tobytes()
