"""The program of a case, which makes its call and compares the outputs."""

from collections.abc import Sequence
from hashlib import sha256
from math import prod

from opcert.arrays.element_types import ELEMENT_TYPES, bit_width, invert_bits
from opcert.arrays.open_elements import alternatives_of
from opcert.programs.literals import (
    array_expression,
    dtype_expression,
    layout_expression,
    output_expression,
)
from opcert.programs.program import CallText, InputText, write_program
from opcert.programs.reasons import case_reason
from opcert.suite.format import GeneratedArray, IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite

# The most elements that a program lists; larger arrays are read from the pack.
_MAX_LISTED = 64


def case_program(operator: OperatorSuite, case: IndexedCase, backend: str | None = None) -> str:
    """Return a program with the inputs, attributes and expected outputs of a case.

    `backend` is the code that creates `backend`: with it the program makes the call, and fails
    where the outcome differs from the expected one. Without it, the program ends before the call.
    Arrays too large to print are read from the suite's pack.
    """
    comments = [f"{case.id}: {' '.join(case_reason(operator, case).split())}"]
    if case.violated_rule is not None:
        rule = operator.index.rules[case.violated_rule]
        comments += [f"It violates {case.violated_rule} ({' '.join(rule.clause.split())})."]
    if case.ambiguity is not None:
        comments += ["The document leaves it open; the expected outcome is that of the reference."]
    pack = str((operator.folder / operator.entry.pack).resolve())
    return write_program([case_call_text(operator, case)], backend, comments, pack)


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
        if isinstance(entry, StoredArray) and prod(entry.shape) <= _MAX_LISTED:
            array = operator.read_array(entry)
            text = array_expression(invert_bits(array) if inverts else array)
        else:
            if isinstance(entry, GeneratedArray):
                text = f"seeded({entry.seed}, {width}, {dtype}, {entry.shape})"
            else:
                text = _stored_array(entry)
            text = f"inverted({text}, {width})" if inverts else text
        buffer_format = entry.type, entry.shape, entry.layout
        text = layout_expression(text, entry.shape, entry.layout)
        inputs[name] = InputText(text, buffer_format)
    expected = None
    if case.expects == "outputs":
        expected = _expected_outputs(operator, case, inverted_data)
    return CallText(comment, operator.index.operator, inputs, case.attributes, expected)


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
            output_expression(array) if array.size <= _MAX_LISTED else _stored_output(entry)
            for array, entry in zip(arrays, stored, strict=True)
        ]
    if any(map(alternatives_of, arrays)):
        return [*map(output_expression, arrays)]
    return [
        f"Digest(np.dtype({dtype_expression(array.dtype)}), {array.shape}, "
        f'"{sha256(array.tobytes()).hexdigest()}")'
        for array in arrays
    ]


def _stored_output(entry: StoredArray) -> str:
    texts = [*map(_stored_array, (entry, *entry.alternatives))]
    return texts[0] if len(texts) == 1 else f"Open({', '.join(texts)})"


def _stored_array(entry: StoredArray) -> str:
    dtype = ELEMENT_TYPES[entry.type]
    view = f".view({dtype_expression(dtype)})" if dtype.isbuiltin != 1 else ""
    # A copy, since two arrays of the same elements are stored once.
    return f'stored["{entry.array}"]{view}.copy()'
