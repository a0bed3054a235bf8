"""Arrays and calls as code: arrays exact to the bit and the layout, calls that need no opcert.

An adapter that builds a model writes the code of this model. One that calls the functions of a
library is traced: the code has the calls that it made.
"""

from collections.abc import Iterator
from functools import partial
from math import isfinite
from types import ModuleType
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array, bits_dtype
from opcert.arrays.golden import allowance_of, alternatives_of
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.backends.contract import Arguments
from opcert.system import code_template

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


# The most elements of an array that the code lists.
_MAX_LISTED = 64


def render_native(template: str, **names: Any) -> str:
    """Return code from a template; it defines `run(inputs)`."""
    return code_template(template).render(**names).rstrip()


def array_code(array: Array, inputs: Arguments) -> str:
    """Return the expression of an array: one of the `inputs` of the call, or a list of elements.

    Raises:
        NotImplementedError: it has too many elements to list.
    """
    parts = {
        f"inputs[{name!r}]" + (f"[{k}]" if isinstance(value, list) else ""): part
        for name, value in inputs.items()
        for k, part in enumerate(value if isinstance(value, list) else [value])
    }
    for text, part in parts.items():
        if part is array:
            return text
    # An adapter has copied it for the runtime, with other dimensions, or as integers.
    for text, part in parts.items():
        if part.nbytes == array.nbytes and part.tobytes() == array.tobytes():
            view = f".view({dtype_expression(array.dtype)})" if array.dtype != part.dtype else ""
            shape = f".reshape({array.shape})" if array.shape != part.shape else ""
            return f"{text}.copy(){view}{shape}"
    if array.size > _MAX_LISTED:
        raise NotImplementedError(f"an array of {array.size} elements that is no input")
    return array_expression(array)


class Trace:
    """The calls of a library, as lines of code, while an adapter makes them."""

    def __init__(self, inputs: Arguments) -> None:
        """Begin the trace of a call that has `inputs`."""
        self._inputs = inputs
        self.lines: list[str] = []

    def add(self, expression: str) -> str:
        """Add a line that names the value of an expression, and return the name."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def code(self, value: Any) -> str:
        """Return a value as an expression."""
        text = repr(value)
        match value:
            case Traced():
                text = value.text
            case np.ndarray():
                text = array_code(value, self._inputs)
            case np.dtype():
                text = dtype_expression(value)
            case partial():
                named = (f"{name}={self.code(item)}" for name, item in value.keywords.items())
                text = f"partial({', '.join([self.code(value.func), *named])})"
            case list():
                text = f"[{', '.join(map(self.code, value))}]"
            case tuple():
                text = f"({', '.join(map(self.code, value))}{',' * (len(value) == 1)})"
        return text


class Traced:
    """A value of a library, or a module of it, whose calls are added to a trace."""

    def __init__(self, trace: Trace, value: Any, text: str) -> None:
        self._trace, self.value, self.text = trace, value, text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.value, name)
        is_part = callable(value) or isinstance(value, ModuleType)
        return Traced(self._trace, value, f"{self.text}.{name}") if is_part else value

    def __call__(self, *arguments: Any, **named: Any) -> "Traced":
        """Call the function of the library, and add its line before it can fail."""
        code = self._trace.code
        texts = [*map(code, arguments), *(f"{name}={code(item)}" for name, item in named.items())]
        result = self._trace.add(f"{self.text}({', '.join(texts)})")
        plain = {name: _plain(item) for name, item in named.items()}
        return Traced(self._trace, self.value(*map(_plain, arguments), **plain), result)

    def __getitem__(self, key: Any) -> "Traced":
        name = self._trace.add(f"{self.text}[{self._trace.code(key)}]")
        return Traced(self._trace, self.value[_plain(key)], name)

    def __iter__(self) -> Iterator["Traced"]:
        return (Traced(self._trace, v, f"{self.text}[{k}]") for k, v in enumerate(self.value))


def _plain(value: Any) -> Any:
    """Return an argument as the library gets it."""
    match value:
        case Traced():
            return value.value
        case partial():
            return partial(_plain(value.func), **{n: _plain(v) for n, v in value.keywords.items()})
        case list() | tuple():
            return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value
    return value
