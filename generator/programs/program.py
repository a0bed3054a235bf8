"""Calls as a Python program: arrays exact to the bit and the layout, and what is checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from opcert.arrays.element_types import LONG_AXES_NEEDED, Array, Layout, bits_dtype, type_name
from opcert.arrays.patterns import alternatives_of
from opcert.errors import printable_line
from opcert.run.session import Step

# The most elements 1, 2, 3, ... that are listed instead of written as a range.
_MAX_LISTED_NUMBERS = 16


def output_expression(golden: Array) -> str:
    """Return a golden output as an expression, with its alternatives if it has any."""
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
    """Return the expression `text`, of an array of `shape`, in a memory layout."""
    long_axes = [axis for axis, extent in enumerate(shape) if extent > 1]
    if layout == "fortran":
        return f'{text}.copy(order="F")'
    if len(long_axes) < LONG_AXES_NEEDED[layout] or layout == "c" or not all(shape):
        return text
    if layout.endswith("reversed"):
        one_axis = {"first_reversed": long_axes[:1], "last_reversed": long_axes[-1:]}
        axes = one_axis.get(layout, long_axes)
        flip = f"[{', '.join('::-1' if axis in axes else ':' for axis in range(len(shape)))}]"
        return f"{text}{flip}.copy(){flip}"
    if layout == "permuted":
        swapped = f".swapaxes({long_axes[-2]}, {long_axes[-1]})"
        return f"{text}{swapped}.copy(){swapped}"
    before = "".join(":, " for _ in range(long_axes[-1]))
    if layout == "pitched":
        last, extent = long_axes[-1], shape[long_axes[-1]]
        return f"{text}.take(range({extent + 1}), {last}, mode='wrap')[{before}:{extent}]"
    return f"np.repeat({text}, 2, axis={long_axes[-1]})[{before}1::2]"


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


_MEMORY = """\
def memory(array):
    return array if array.base is None else array.base
"""
_CHECK = """\
def check(outputs, expected):
    assert isinstance(outputs, (list, tuple)), type(outputs)
    assert len(outputs) == len(expected), f"{len(outputs)} outputs; expected {len(expected)}"
    for output, golden in zip(outputs, expected):
        assert isinstance(output, np.ndarray), type(output)
        assert output.dtype == golden.dtype, f"{output.dtype}; expected {golden.dtype}"
        assert output.shape == golden.shape, f"{output.shape}; expected {golden.shape}"
"""
_CHECK_OPEN = """\
        if isinstance(golden, Open):
            assert golden.admits(output), f"{output}\\nexpected one of\\n{golden.arrays}"
            continue
"""
_CHECK_BYTES = """\
        assert output.tobytes() == golden.tobytes(), f"{output}\\nexpected\\n{golden}"
"""
_CHECK_DIGEST = """\
        if isinstance(golden, Digest):
            assert sha256(output.tobytes()).hexdigest() == golden.sha256, "other elements"
            continue
"""
_CALL = """\
returned = []


def call(operator, inputs, attributes, expected):
    before = {name: memory(array).copy() for name, array in inputs.items()}
    outputs = backend.run(operator, inputs, attributes)
    for name, array in before.items():
        assert memory(inputs[name]).tobytes() == array.tobytes(), f"wrote to its input {name}"
    for earlier in returned:
        check(*earlier)  # earlier outputs must stay as they were
    check(outputs, expected)
    returned.append((outputs, expected))
"""
_REJECT = """\
def reject(operator, inputs, attributes):
    before = {name: memory(array).copy() for name, array in inputs.items()}
    try:
        backend.run(operator, inputs, attributes)
    except Exception:
        for name, array in before.items():
            assert memory(inputs[name]).tobytes() == array.tobytes(), f"wrote to its input {name}"
    else:
        raise AssertionError("a call that violates a rule was accepted")
"""
_ARGUMENTS = """\
def arguments(inputs):
    # The arrays x[0], x[1], ... of a variadic input are passed as one list.
    grouped = {}
    for name, array in inputs.items():
        argument, bracket, _ = name.partition("[")
        if bracket:
            grouped.setdefault(argument, []).append(array)
        else:
            grouped[argument] = array
    return grouped
"""
_SEEDED = """\
def seeded(seed, width, dtype, shape, stride=None, special={}):
    # The upper bits of the outputs of SplitMix64; with a stride, the lower bits of its states.
    i, gamma = np.arange(np.prod(shape, dtype=int), dtype=np.uint64), np.uint64(0x9E3779B97F4A7C15)
    if stride is None:
        z = np.uint64(seed) + (i + np.uint64(1)) * gamma
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits = (z ^ (z >> np.uint64(31))) >> np.uint64(64 - width)
    else:
        bits = (np.uint64(seed) + i * np.uint64(stride)) * gamma & np.uint64((1 << width) - 1)
    for position, element in special.items():
        bits[position] = element
    return bits.astype(f"u{np.dtype(dtype).itemsize}").view(dtype).reshape(shape)
"""
_INVERTED = """\
def inverted(array, width):
    # The same array with every bit inverted.
    bits = array.view(f"u{array.itemsize}")
    return (bits ^ bits.dtype.type((1 << width) - 1)).view(array.dtype)
"""
_OPEN = """\
class Open:
    # An output of which the document leaves some elements open: each is that of one of `arrays`.
    def __init__(self, *arrays):
        self.arrays, self.dtype, self.shape = arrays, arrays[0].dtype, arrays[0].shape

    def admits(self, output):
        bits = f"u{self.dtype.itemsize}"
        elements = np.frombuffer(output.tobytes(), bits)
        agrees = [elements == np.frombuffer(array.tobytes(), bits) for array in self.arrays]
        return np.logical_or.reduce(agrees).all()
"""
_DIGEST = """\
# An output too large to print, by the SHA-256 of its elements in C order.
Digest = namedtuple("Digest", "dtype shape sha256")"""
_PACK = """\
# Arrays too large to print, by their names in the suite's pack.
names = [
{names}]
with np.load({path!r}) as pack:
    stored = {{name: pack[name] for name in names}}"""
# Why the last call of a program does not return.
_ENDINGS = {
    "crash": "the process of the backend ends in this call",
    "hang": "this call does not return in time",
    "protocol": "the answer to this call is invalid",
}


@dataclass(frozen=True)
class InputText:
    """An input as an expression; inputs of one `buffer_format` can share a buffer."""

    expression: str
    buffer_format: tuple[object, ...]


@dataclass(frozen=True)
class CallText:
    """A call as text; `expected` are its outputs, or None where it must be rejected.

    `ending` is the kind of failure of a call that does not return: crash, hang or protocol.
    """

    comment: str
    operator: str
    inputs: Mapping[str, InputText]
    attributes: Mapping[str, Any]
    expected: Sequence[str] | None
    ending: str | None = None

    def is_same_call(self, other: "CallText") -> bool:
        """Whether the calls differ at most in their comments."""
        return self == replace(other, comment=self.comment)

    @property
    def buffer_formats(self) -> dict[str, tuple[object, ...]]:
        """The formats of the inputs; a call can use the buffers of one that has the same."""
        return {name: text.buffer_format for name, text in self.inputs.items()}


def step_text(step: Step, comment: str = "", ending: str | None = None) -> CallText:
    """Return the call of a step, with its elements, as text."""
    inputs = {
        name: InputText(
            layout_expression(array_expression(array), array.shape, step.layouts[name]),
            (type_name(array.dtype), array.shape, step.layouts[name]),
        )
        for name, array in step.inputs.items()
    }
    expected = None if step.golden is None else [*map(output_expression, step.golden)]
    return CallText(comment, step.operator, inputs, step.attributes, expected, ending)


def write_program(
    calls: Sequence[CallText],
    backend: str | None,
    comments: Sequence[str] = (),
    pack: str | None = None,
) -> str:
    """Return a program that makes `calls` in turn, and fails where an outcome is wrong.

    `backend` is the code that creates `backend`; without it, the program ends before the last call.
    `pack` is the path of the suite's pack, for arrays too large to print. The program needs NumPy,
    the imports of `backend`, and ml_dtypes for types that NumPy lacks.
    """
    body = "\n".join(_call_lines(calls, backend))
    is_variadic = any("[" in name for call in calls for name in call.inputs)
    has_digests = "Digest(" in body
    checks_outputs = backend is not None and "call(" in body
    checks_rejection = backend is not None and "reject(" in body
    names = dict.fromkeys(re.findall(r'stored\["([^"]+)"\]', body))

    imports = [f"# {printable_line(comment)}" for comment in comments]
    if has_digests:
        imports.append("from collections import namedtuple")
        imports += ["from hashlib import sha256"] if checks_outputs else []
        imports.append("")
    imports += ["import ml_dtypes"] if "ml_dtypes." in body else []
    head = ["\n".join([*imports, "import numpy as np"])]
    head += [] if backend is None else [backend]
    head += [_DIGEST] if has_digests else []
    if names:
        head.append(_PACK.format(path=pack, names="".join(f"    {name!r},\n" for name in names)))

    has_open = "Open(" in body
    definitions = [_ARGUMENTS] if is_variadic else []
    definitions += [_SEEDED] if "seeded(" in body else []
    definitions += [_INVERTED] if "inverted(" in body else []
    definitions += [_OPEN] if has_open else []
    definitions += [_MEMORY] if checks_outputs or checks_rejection else []
    if checks_outputs:
        check = _CHECK + (_CHECK_OPEN if has_open else "") + (_CHECK_DIGEST if has_digests else "")
        definitions += [check + _CHECK_BYTES, _CALL]
    definitions += [_REJECT] if checks_rejection else []

    if is_variadic:
        plain, grouped = "run(operator, inputs,", "run(operator, arguments(inputs),"
        definitions = [definition.replace(plain, grouped) for definition in definitions]
    functions = "\n\n\n" + "\n\n".join(definitions) if definitions else "\n"
    return "\n\n".join(head) + f"{functions}\n{body}\n"


def _call_lines(calls: Sequence[CallText], backend: str | None) -> list[str]:
    """Return the lines of all calls, with repetitions as loops."""
    lines: list[str] = []
    previous: CallText | None = None
    start = 0
    while start < len(calls):
        length, times = _repetition(calls, start)
        block = calls[start : start + length]
        is_loop = times > 1
        lines += [f"for _ in range({times}):"] if is_loop else []
        for call in block:
            # From the second pass on, the first call of the block follows the last one.
            if is_loop and call is block[0] and call.buffer_formats != block[-1].buffer_formats:
                previous = None
            # Every call then has to restore the arguments that the others of the block changed.
            statements = _statements(call, previous, backend, whole=is_loop and length > 1)
            lines += ["    " * is_loop + line for line in statements]
            previous = call
        start += length * times
    return lines


def _repetition(calls: Sequence[CallText], start: int) -> tuple[int, int]:
    """Return how many calls from `start` on form a block that is repeated, and how many times."""
    for length in (1, 2):
        block = calls[start : start + length]
        times = 1
        while True:
            position = start + times * length
            following = calls[position : position + length]
            if len(following) < length or not all(map(CallText.is_same_call, block, following)):
                break
            times += 1
        # Two calls in a row read better than a loop.
        if times > 2:
            return length, times
    return 1, 1


def _statements(
    call: CallText, previous: CallText | None, backend: str | None, *, whole: bool
) -> list[str]:
    """Return the lines of a call: those that differ from the previous call, or all with `whole`."""
    lines = [f"# {printable_line(call.comment)}"] if call.comment else []
    if previous is not None and call.buffer_formats == previous.buffer_formats:
        # Most callers fill the same buffers again.
        lines += [
            f"inputs[{_quoted(name)}][...] = {text.expression}"
            for name, text in call.inputs.items()
            if whole or text != previous.inputs[name]
        ]
    else:
        entries = [f"    {_quoted(name)}: {text.expression}," for name, text in call.inputs.items()]
        lines += ["inputs = {", *entries, "}"]
    if previous is None or call.attributes != previous.attributes or whole:
        lines.append(f"attributes = {dict(call.attributes)!r}")
    arguments = f"{_quoted(call.operator)}, inputs, attributes"
    is_variadic = any("[" in name for name in call.inputs)
    passed = arguments.replace(" inputs,", " arguments(inputs),") if is_variadic else arguments
    if call.ending is not None:
        lines.append(f"# {_ENDINGS[call.ending]}")
        if backend is not None:
            lines += [f"backend.run({passed})", 'print("the last call has returned")']
        return lines
    if call.expected is None:
        rejection = f"# backend.run({passed}) must raise an exception"
        return [*lines, rejection if backend is None else f"reject({arguments})"]
    if previous is None or call.expected != previous.expected or whole:
        lines += ["expected = [", *(f"    {output}," for output in call.expected), "]"]
    comparison = f"# backend.run({passed}) must return what is expected"
    return [*lines, comparison if backend is None else f"call({arguments}, expected)"]


def _quoted(text: str) -> str:
    """Return a name as a literal; a name of a suite may have any characters, quotes included."""
    is_plain = text.isprintable() and not {'"', "\\"} & {*text}
    return f'"{text}"' if is_plain else repr(text)
