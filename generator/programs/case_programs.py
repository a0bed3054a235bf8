"""The program of a case, and why the case exists, in words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from math import prod
from typing import Any

from opcert.accuracy.arithmetics import STANDARD
from opcert.arrays.element_types import ELEMENT_TYPES, bit_width, bits_dtype, invert_bits
from opcert.arrays.expressions import (
    array_expression,
    dtype_expression,
    is_exact_as_text,
    layout_expression,
    output_expression,
)
from opcert.arrays.patterns import alternatives_of
from opcert.programs.program import CallText, InputText, write_program
from opcert.suite.format import (
    DigestedArray,
    GeneratedArray,
    IndexedCase,
    InputArray,
    ListedArray,
    StoredArray,
)
from opcert.suite.operator_suite import OperatorSuite

# The most elements of a tensor, and of a changed list, whose values are listed.
_MAX_LISTED_ELEMENTS = 32
_MAX_LISTED_CHANGES = 8
# Values of so many elements are compared with those of the baseline.
_MAX_COMPARED = 1 << 10


def case_reason(operator: OperatorSuite, case: IndexedCase) -> str:
    """Return why a case exists: its change to the baseline, its example, or chance."""
    if case.baseline is not None:
        changes = changes_from_baseline(operator, case)
        return f"one change to its baseline: {'; '.join(changes.values())}"
    return case.example or "a valid call, drawn at random"


def changes_from_baseline(operator: OperatorSuite, case: IndexedCase) -> dict[str, str]:
    """Return how the arguments of a case differ from those of its baseline, in words."""
    if case.baseline is None:
        return {}
    former = operator.cases[case.baseline]
    changes = {}
    for name in operator.changed_inputs(case):
        before, after = former.inputs.get(name), case.inputs.get(name)
        if before is not None and after is not None:
            differences = _tensor_differences(operator, before, after)
            changes[name] = " and ".join(differences) or "has other elements"
        else:
            text = None if after is None else tensor_text(operator, after)
            changes[name] = "is omitted" if text is None else f"is {text} instead of omitted"
    for name in dict.fromkeys([*former.attributes, *case.attributes]):
        value, other = (values.get(name, ...) for values in (former.attributes, case.attributes))
        if other is ...:
            changes[name] = "is omitted"
        elif value is ...:
            text = json.dumps(other, ensure_ascii=False)
            changes[name] = f"is {text} instead of omitted"
        elif value != other:
            changes[name] = _value_change(value, other)
    return {name: f"{name} {words}" for name, words in changes.items()}


def tensor_text(operator: OperatorSuite, entry: InputArray | DigestedArray) -> str:
    """Return the type and shape of a tensor, its layout, and its values where they are few."""
    text = f"{entry.type}{list(entry.shape)}"
    if isinstance(entry, DigestedArray):
        return text
    parts = [text, str(entry.layout)]
    # The brackets of an array without elements say no more than its shape.
    if 0 < prod(entry.shape) <= _MAX_LISTED_ELEMENTS:
        array = operator.read_array(entry)
        parts.append(str(array.tolist()))
        if not is_exact_as_text(array):
            bits = array.reshape(-1).view(bits_dtype(array.dtype)).tolist()
            digits = (f"0x{element:0{2 * array.itemsize}x}" for element in bits)
            parts[-1] += f", bits {' '.join(digits)}"
    return " ".join(filter(None, parts))


def _tensor_differences(
    operator: OperatorSuite,
    before: InputArray,
    after: InputArray,
) -> Iterator[str]:
    """Yield how a tensor differs: in type, layout, and shape or values."""
    if before.type != after.type:
        yield f"is of {after.type} instead of {before.type}"
    if before.layout != after.layout:
        texts = (str(entry.layout) or "C order" for entry in (after, before))
        yield f"has the layout {' instead of '.join(texts)}"
    values: list[list[Any]] = []
    if max(prod(before.shape), prod(after.shape)) <= _MAX_COMPARED:
        values = [operator.read_array(entry).ravel().tolist() for entry in (before, after)]
    are_lists = values and len(before.shape) == len(after.shape) == 1
    if before.shape != after.shape and not (are_lists and before.type == after.type):
        yield f"has the shape {list(after.shape)} instead of {list(before.shape)}"
    elif values and before.type == after.type and values[0] != values[1]:
        one, other = values
        yield _list_change(one, other) if before.shape else f"is {other[0]} instead of {one[0]}"


def _value_change(before: Any, after: Any) -> str:
    """Return how a plain value differs, by element or by field where it has some."""
    if isinstance(before, list) and isinstance(after, list):
        return _list_change(before, after)
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        differing = (key for key in before if before[key] != after[key])
        return "has " + " and ".join(f"{k} {_value_change(before[k], after[k])}" for k in differing)
    texts = [json.dumps(value, ensure_ascii=False) for value in (after, before)]
    return f"is {texts[0]} instead of {texts[1]}"


def _list_change(before: Sequence[Any], after: Sequence[Any]) -> str:
    """Return how a list differs: as a whole where it is short, else by element."""
    is_plain = not any(isinstance(item, dict | list) for item in (*before, *after))
    if is_plain and max(len(before), len(after)) <= _MAX_LISTED_CHANGES:
        return f"is {list(after)} instead of {list(before)}"
    if len(before) != len(after):
        return f"has {len(after)} elements instead of {len(before)}"
    changed = [k for k, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    if len(changed) > 1 and len(changed) == len(before):
        first = _value_change(before[0], after[0])
        return f"differs in all of its {len(changed)} elements; the first {first}"
    k = changed[0] if changed else 0
    more = f", and {len(changed) - 1} more differ" if len(changed) > 1 else ""
    return f"has an element {k} that {_value_change(before[k], after[k])}{more}"


# The most elements that a program lists; larger arrays are read from the pack.
_MAX_LISTED = 64


def case_program(
    operator: OperatorSuite, case: IndexedCase, backend: str | None = None, native: str = ""
) -> str:
    """Return a program with the inputs, attributes and expected outputs of a case.

    `backend` is the code that creates `backend`: with it the program makes the call, and fails
    where the outcome differs from the expected one. So it does with `native` code, which defines
    `run(inputs)`. Without any, the program ends before the call.
    Arrays too large to print are read from the suite's pack.
    """
    comments = [f"{case.id}: {' '.join(case_reason(operator, case).split())}"]
    if case.violated_rule is not None:
        rule = operator.index.rules[case.violated_rule]
        comments += [f"It violates {case.violated_rule} ({' '.join(rule.clause.split())})."]
    if case.ambiguity is not None:
        comments += ["The document leaves it open; the expected outcome is that of the reference."]
    pack = str((operator.folder / operator.entry.pack).resolve())
    call = replace(case_call_text(operator, case), native=native)
    return write_program([call], backend, comments, pack, native=bool(native))


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
