"""Calls as a Python program, which checks what they return."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import prod
from typing import Any

from opcert.accuracy.arithmetics import STANDARD
from opcert.arrays.element_types import ELEMENT_TYPES, bit_width, invert_bits, type_name
from opcert.arrays.golden import alternatives_of
from opcert.backends.native import (
    array_expression,
    dtype_expression,
    layout_expression,
    output_expression,
)
from opcert.errors import printable_line
from opcert.run.session import Step
from opcert.suite.format import GeneratedArray, IndexedCase, ListedArray, StoredArray
from opcert.suite.operator_suite import OperatorSuite
from opcert.system import code_template

# What the template defines where the calls need it.
_DEFINED = (
    *("Computed", "Digest", "Open", "call", "inverted", "ml_dtypes"),
    *("reject", "seeded", "strided"),
)
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
    `native` is code that defines `run(inputs)`, which makes the call in the API of a runtime.
    """

    comment: str
    operator: str
    inputs: Mapping[str, InputText]
    attributes: Mapping[str, Any]
    expected: Sequence[str] | None
    ending: str | None = None
    native: str = ""

    @property
    def buffer_formats(self) -> dict[str, tuple[object, ...]]:
        """The formats of the inputs; a call can use the buffers of one that has the same."""
        return {name: text.buffer_format for name, text in self.inputs.items()}


def step_text(step: Step, comment: str = "") -> CallText:
    """Return the call of a step, with its elements, as text."""
    inputs = {
        name: InputText(
            layout_expression(array_expression(array), array.shape, layout),
            (type_name(array.dtype), array.shape, layout),
        )
        for name, array in step.inputs.items()
        for layout in [step.layouts[name].of(array)]
    }
    expected = None if step.golden is None else [*map(output_expression, step.golden)]
    return CallText(comment, step.operator, inputs, step.attributes, expected)


def write_program(
    calls: Sequence[CallText],
    backend: str | None,
    comments: Sequence[str] = (),
    pack: str | None = None,
) -> str:
    """Return a program that makes `calls` in turn, and fails where an outcome is wrong.

    `backend` is the code that creates `backend`; without it, the program ends before the last call.
    Calls that have native code are made by it instead. `pack` is the path of the suite's pack, for
    arrays too large to print. The program needs NumPy, the imports of `backend` or of the native
    code, and ml_dtypes for types that NumPy lacks.
    """
    native = bool(calls[0].native)
    style = _Style(makes_calls=native or backend is not None, native=native)
    body = "\n".join(_call_lines(calls, style))
    code = "\n".join([body, *(call.native for call in calls)])
    used = {name for name in _DEFINED if re.search(rf"\b{name}[(.]", code)}
    used -= set() if style.makes_calls else {"call", "reject"}
    is_variadic = any("[" in name for call in calls for name in call.inputs)
    used |= {"arguments"} if is_variadic else set()
    return code_template("program.py.j2").render(
        comments=[*map(printable_line, comments)],
        uses=used,
        defines=bool(used - {"Digest", "ml_dtypes"}),
        backend=calls[0].native if native else backend,
        stored=dict.fromkeys(re.findall(r'stored\["([^"]+)"\]', body)),
        pack=pack,
        parameters=style.arguments("operator"),
        run=style.run("operator", is_variadic),
        body=body,
    )


@dataclass(frozen=True)
class _Style:
    """How a program makes its calls: not at all, by a backend, or by native code."""

    makes_calls: bool
    native: bool

    def arguments(self, operator: str) -> str:
        return "inputs" if self.native else f"{operator}, inputs, attributes"

    def run(self, operator: str, is_variadic: bool) -> str:
        inputs = "arguments(inputs)" if is_variadic else "inputs"
        return f"run({inputs})" if self.native else f"backend.run({operator}, {inputs}, attributes)"


def _call_lines(calls: Sequence[CallText], style: _Style) -> list[str]:
    """Return the lines of all calls, with repetitions as loops."""
    lines: list[str] = []
    previous: CallText | None = None
    # Repetitions may differ in their comments.
    plain = [replace(call, comment="") for call in calls]
    start = 0
    while start < len(calls):
        length, times = _repetition(plain[start:])
        block = calls[start : start + length]
        is_loop = times > 1
        lines += [f"for _ in range({times}):"] if is_loop else []
        for call in block:
            # From the second pass on, the first call of the block follows the last one.
            if is_loop and call is block[0] and call.buffer_formats != block[-1].buffer_formats:
                previous = None
            # Every call then has to restore the arguments that the others of the block changed.
            statements = _statements(call, previous, style, whole=is_loop and length > 1)
            lines += ["    " * is_loop + line for line in statements]
            previous = call
        start += length * times
    return lines


def _repetition(calls: Sequence[CallText]) -> tuple[int, int]:
    """Return how many of the first calls form a block that is repeated, and how many times."""
    for length in (1, 2):
        times = 1
        while calls[times * length : (times + 1) * length] == calls[:length]:
            times += 1
        # Two calls in a row read better than a loop.
        if times > 2:
            return length, times
    return 1, 1


def _statements(
    call: CallText, previous: CallText | None, style: _Style, *, whole: bool
) -> list[str]:
    """Return the lines of a call: those that differ from the previous call, or all with `whole`."""
    lines = [f"# {printable_line(call.comment)}"] if call.comment else []
    if style.native and previous is not None and call.native != previous.native:
        lines += ["", *call.native.splitlines(), ""]
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
    is_new = previous is None or call.attributes != previous.attributes
    if (is_new or whole) and not style.native:
        lines.append(f"attributes = {dict(call.attributes)!r}")
    operator = _quoted(call.operator)
    arguments = style.arguments(operator)
    run = style.run(operator, any("[" in name for name in call.inputs))
    if call.ending is not None:
        lines.append(f"# {_ENDINGS[call.ending]}")
        return [*lines, *([run, 'print("the last call has returned")'] * style.makes_calls)]
    if call.expected is None:
        rejection = f"reject({arguments})" if style.makes_calls else f"# {run} must raise an error"
        return [*lines, rejection]
    if previous is None or call.expected != previous.expected or whole:
        lines += ["expected = [", *(f"    {output}," for output in call.expected), "]"]
    returns = f"# {run} must return what is expected"
    return [*lines, f"call({arguments}, expected)" if style.makes_calls else returns]


def _quoted(text: str) -> str:
    """Return a name as a literal; a name of a suite may have any characters, quotes included."""
    is_plain = text.isprintable() and not {'"', "\\"} & {*text}
    return f'"{text}"' if is_plain else repr(text)


# The most elements that a program lists; larger arrays are read from the pack.
_MAX_LISTED = 64


def is_self_contained(cases: Sequence[IndexedCase]) -> bool:
    """Whether the programs of `cases` need no file of the suite."""
    stored = (
        array
        for case in cases
        for array in (*case.inputs.values(), *case.outputs, *case.inverted_data_outputs)
        if isinstance(array, StoredArray)
    )
    return all(prod(array.shape) <= _MAX_LISTED for array in stored)


def case_call_text(
    operator: OperatorSuite, case: IndexedCase, comment: str = "", inverted_data: bool = False
) -> CallText:
    """Return the call of a case as text; `inverted_data` inverts every bit of its data."""
    inputs = {}
    for name, entry in case.inputs.items():
        dtype, width = dtype_expression(ELEMENT_TYPES[entry.type]), bit_width(entry.type)
        inverts = inverted_data and name in case.data_inputs
        if prod(entry.shape) <= _MAX_LISTED or isinstance(entry, ListedArray):
            array = operator.read_array(entry)
            text = array_expression(invert_bits(array) if inverts else array)
        else:
            if isinstance(entry, GeneratedArray):
                text = f"seeded({entry.seed}, {width}, {dtype}, {entry.shape}{_options(entry)})"
            else:
                text = _stored_array(entry)
            text = f"inverted({text}, {width})" if inverts else text
        text = layout_expression(text, entry.shape, entry.layout)
        inputs[name] = InputText(text, (entry.type, entry.shape, entry.layout))
    is_valid = case.expects == "outputs"
    expected = _expected_outputs(operator, case, inverted_data) if is_valid else None
    return CallText(comment, operator.index.operator, inputs, case.attributes, expected)


def _options(entry: GeneratedArray) -> str:
    """Return the arguments of `seeded` for a stride, repeated axes and special elements."""
    special = ", ".join(f"{position}: 0x{digits}" for position, digits in entry.special)
    text = "" if entry.stride is None else f", stride={entry.stride}"
    text += f", repeated={entry.layout.repeated}" if entry.layout.repeated else ""
    return text + (f", special={{{special}}}" if special else "")


def _expected_outputs(operator: OperatorSuite, case: IndexedCase, inverted_data: bool) -> list[str]:
    """Return the outputs of a case: short ones by values, others stored or digested."""
    entries = (inverted_data and case.inverted_data_outputs) or case.outputs
    arrays = operator.inverted_data_outputs(case) if inverted_data else operator.outputs(case)
    if all(array.size <= _MAX_LISTED for array in arrays):
        return [*map(output_expression, arrays)]
    stored = [entry for entry in entries if isinstance(entry, StoredArray)]
    # A case may store no outputs for inverted data: they are its inverted outputs, not in the pack.
    if len(stored) == len(entries) and (not inverted_data or case.inverted_data_outputs):
        return [
            output_expression(array)
            if array.size <= _MAX_LISTED
            else _stored_output(entry, operator.claimed.get(entry.type, STANDARD))
            for array, entry in zip(arrays, stored, strict=True)
        ]
    if any(map(alternatives_of, arrays)):
        return [*map(output_expression, arrays)]
    return [
        f"Digest(np.dtype({dtype_expression(array.dtype)}), {array.shape}, "
        f'"{sha256(array.tobytes()).hexdigest()}")'
        for array in arrays
    ]


def _stored_output(entry: StoredArray, claimed: str) -> str:
    if (allowance := entry.allowance) is not None:
        row = allowance.arithmetics.index(claimed)
        ends = (f"{_stored_array(array)}[{row}]" for array in (allowance.low, allowance.high))
        parts = _stored_array(entry), *ends, _stored_array(allowance.flags)
        return f"Computed({', '.join(parts)})"
    texts = [*map(_stored_array, (entry, *entry.alternatives))]
    return texts[0] if len(texts) == 1 else f"Open({', '.join(texts)})"


def _stored_array(entry: StoredArray) -> str:
    dtype = ELEMENT_TYPES[entry.type]
    view = f".view({dtype_expression(dtype)})" if dtype.isbuiltin != 1 else ""
    # A copy, since two arrays of the same elements are stored once.
    return f'stored["{entry.array}"]{view}.copy()'
