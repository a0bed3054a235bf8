"""A case of a suite -> its calls as text, and the program that makes them."""

from collections.abc import Sequence
from hashlib import sha256
from math import prod

from opcert.arrays import ELEMENT_TYPES, Array, bit_width, invert_bits
from opcert.programs.literals import array_expression, dtype_expression, layout_expression
from opcert.programs.program import CallText, InputText, program
from opcert.programs.reasons import case_reason
from opcert.suite import GeneratedArray, IndexedCase, OperatorSuite, StoredArray

# Of up to how many elements a program lists the values; more are read from the pack.
_LISTED = 64


def case_program(operator: OperatorSuite, case: IndexedCase, backend: str | None = None) -> str:
    """Return a program with the inputs, attributes and expected outputs of a case.

    `backend` are lines that make `backend`: with them the program makes the call, and fails where
    the outcome is another than expected. Where arrays are too large to print, it reads the suite's
    pack.
    """
    remarks = [f"{case.id}: {' '.join(case_reason(operator, case).split())}"]
    if case.violated_rule is not None:
        rule = operator.index.rules[case.violated_rule]
        remarks += [f"It breaks {case.violated_rule} ({' '.join(rule.clause.split())})."]
    if case.ambiguity is not None:
        remarks += ["The document leaves it open; what is expected is what the reference does."]
    pack = str((operator.folder / operator.entry.pack).resolve())
    return program([case_call_text(operator, case)], backend, remarks, pack)


def is_self_contained(cases: Sequence[IndexedCase]) -> bool:
    """Whether the program of cases needs no file of the suite."""
    stored = (
        array
        for case in cases
        for array in (*case.inputs.values(), *case.outputs, *case.inverted_data_outputs)
        if isinstance(array, StoredArray)
    )
    return all(prod(array.shape) <= _LISTED for array in stored)


def case_call_text(
    operator: OperatorSuite, case: IndexedCase, remark: str = "", inverted_data: bool = False
) -> CallText:
    """Return the call of a case as text; with `other_data` every bit of its data is inverted."""
    inputs = {}
    for name, given in case.inputs.items():
        dtype = ELEMENT_TYPES[given.type]
        inverts = inverted_data and name in case.data_inputs
        if isinstance(given, StoredArray) and prod(given.shape) <= _LISTED:
            array = operator.read_array(given)
            text = array_expression(invert_bits(array) if inverts else array)
        else:
            width = bit_width(given.type)
            if isinstance(given, GeneratedArray):
                text = f"made({given.seed}, {width}, {dtype_expression(dtype)}, {given.shape})"
            else:
                text = _stored(given)
            text = f"inverted({text}, {width})" if inverts else text
        form = given.type, given.shape, given.layout
        inputs[name] = InputText(layout_expression(text, given.shape, given.layout), form)
    expected = None
    if case.expects == "outputs":
        expected = _expected(operator, case, inverted_data)
    return CallText(remark, operator.index.operator, inputs, case.attributes, expected)


def _expected(operator: OperatorSuite, case: IndexedCase, inverted_data: bool) -> list[str]:
    """Return the outputs of a case; where they are neither short nor in the pack, their digests."""
    stated = (
        case.inverted_data_outputs if inverted_data and case.inverted_data_outputs else case.outputs
    )
    arrays = operator.inverted_data_outputs(case) if inverted_data else operator.outputs(case)
    stored = [each for each in stated if isinstance(each, StoredArray)]
    if all(array.size <= _LISTED for array in arrays):
        return [array_expression(array) for array in arrays]
    if len(stored) == len(stated) and (not inverted_data or case.inverted_data_outputs):
        pairs = zip(arrays, stored, strict=True)
        return [array_expression(a) if a.size <= _LISTED else _stored(each) for a, each in pairs]
    return [
        f'Digest(np.dtype({dtype_expression(array.dtype)}), {array.shape}, "{_sha256(array)}")'
        for array in arrays
    ]


def _sha256(array: Array) -> str:
    return sha256(array.tobytes()).hexdigest()


def _stored(given: StoredArray) -> str:
    dtype = ELEMENT_TYPES[given.type]
    view = f".view({dtype_expression(dtype)})" if dtype.isbuiltin != 1 else ""
    # A copy, since two arrays of the same elements are stored once.
    return f'stored["{given.array}"]{view}.copy()'
