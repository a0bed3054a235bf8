"""Why a case exists, in words: its levels, or its change to the baseline."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from opcert.arrays.element_types import Array, bits_dtype
from opcert.programs.literals import is_exact_as_text
from opcert.suite.format import DigestedArray, GeneratedArray, IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite

# The most elements of a tensor, and of a changed list, whose values are listed.
MAX_LISTED_ELEMENTS = 32
_MAX_LISTED_CHANGES = 8


@dataclass(frozen=True)
class ArgumentChange:
    """How one argument differs from the baseline; `before` or `after` is None if it is omitted."""

    name: str
    before: str | None
    after: str | None
    words: str


def case_reason(operator: OperatorSuite, case: IndexedCase) -> str:
    """Return why a case exists: its example, its levels, or its change to the baseline."""
    if case.baseline is not None:
        return (
            f"one change to its baseline: {changes_in_words(changes_from_baseline(operator, case))}"
        )
    if case.example or not case.levels:
        return case.example
    words = operator.index.factors
    named = (words.get(f, {}).get(level, f"{f} {level}") for f, level in case.levels.items())
    return ", ".join(filter(None, named))


def changes_in_words(changes: Sequence[ArgumentChange]) -> str:
    """Return the differences from the baseline as one sentence."""
    return "; ".join(change.words for change in changes)


def changes_from_baseline(operator: OperatorSuite, case: IndexedCase) -> tuple[ArgumentChange, ...]:
    """Return the differences of a case from its baseline, argument by argument."""
    if case.baseline is None:
        return ()
    baseline = operator.cases[case.baseline]
    inputs = (
        _input_change(operator, name, baseline.inputs.get(name), case.inputs.get(name))
        for name in dict.fromkeys([*baseline.inputs, *case.inputs])
        if baseline.inputs.get(name) != case.inputs.get(name)
    )
    attributes = (
        _attribute_change(name, baseline.attributes, case.attributes)
        for name in dict.fromkeys([*baseline.attributes, *case.attributes])
        if (name in baseline.attributes, baseline.attributes.get(name))
        != (name in case.attributes, case.attributes.get(name))
    )
    return (*inputs, *attributes)


def describe_tensor(
    operator: OperatorSuite, entry: StoredArray | GeneratedArray | DigestedArray
) -> tuple[str, str, str | None]:
    """Return the type and shape of a tensor, its layout, and its values where they are few."""
    layout = "c" if isinstance(entry, DigestedArray) else entry.layout
    values = None
    # The brackets of an array without elements say no more than its shape.
    if 0 < prod(entry.shape) <= MAX_LISTED_ELEMENTS and isinstance(entry, StoredArray):
        values = _values_text(operator.read_array(entry))
    return f"{entry.type}{list(entry.shape)}", layout, values


def _values_text(array: Array) -> str:
    """Return the values of an array, and its bits where the values do not determine them."""
    values = str(array.tolist())
    if is_exact_as_text(array):
        return values
    bits = array.reshape(-1).view(bits_dtype(array.dtype)).tolist()
    return f"{values}, bits {' '.join(f'0x{element:0{2 * array.itemsize}x}' for element in bits)}"


def _tensor_text(operator: OperatorSuite, entry: StoredArray | GeneratedArray) -> str:
    type_and_shape, layout, values = describe_tensor(operator, entry)
    return " ".join(filter(None, [type_and_shape, layout if layout != "c" else "", values]))


def _input_change(
    operator: OperatorSuite,
    name: str,
    before: StoredArray | GeneratedArray | None,
    after: StoredArray | GeneratedArray | None,
) -> ArgumentChange:
    before_text = None if before is None else _tensor_text(operator, before)
    after_text = None if after is None else _tensor_text(operator, after)
    if before is None or after is None:
        words = f"{name} is {'omitted' if after is None else f'{after_text} instead of omitted'}"
    else:
        differences = [*_tensor_differences(operator, before, after)] or ["has other elements"]
        words = f"{name} {' and '.join(differences)}"
        if before_text == after_text:
            after_text = f"{after_text} of other elements"
    return ArgumentChange(name, before_text, after_text, words)


def _tensor_differences(
    operator: OperatorSuite,
    before: StoredArray | GeneratedArray,
    after: StoredArray | GeneratedArray,
) -> Iterator[str]:
    """Yield how a tensor differs: in type, layout, and shape or values."""
    if before.type != after.type:
        yield f"is of {after.type} instead of {before.type}"
    if before.layout != after.layout:
        yield f"has the layout {after.layout} instead of {before.layout}"
    values: list[list[Any]] = []
    if isinstance(before, StoredArray) and isinstance(after, StoredArray):
        values = [operator.read_array(entry).ravel().tolist() for entry in (before, after)]
    are_lists = values and len(before.shape) == len(after.shape) == 1
    if before.shape != after.shape and not (are_lists and before.type == after.type):
        yield f"has the shape {list(after.shape)} instead of {list(before.shape)}"
    elif values and before.type == after.type and values[0] != values[1]:
        is_scalar = before.shape == ()
        yield (
            f"is {values[1][0]} instead of {values[0][0]}" if is_scalar else _list_change(*values)
        )


def _attribute_change(
    name: str, baseline: Mapping[str, Any], case: Mapping[str, Any]
) -> ArgumentChange:
    before, after = (
        json.dumps(attributes[name], ensure_ascii=False) if name in attributes else None
        for attributes in (baseline, case)
    )
    if after is None:
        words = f"{name} is omitted"
    elif before is None:
        words = f"{name} is {after} instead of omitted"
    else:
        words = f"{name} {_value_change(baseline[name], case[name])}"
    return ArgumentChange(name, before, after, words)


def _value_change(before: Any, after: Any) -> str:
    """Return how a plain value differs, by element or by field where it has some."""
    if isinstance(before, list) and isinstance(after, list):
        return _list_change(before, after)
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        fields = (
            f"{key} {_value_change(before[key], after[key])}"
            for key in before
            if before[key] != after[key]
        )
        return "has " + " and ".join(fields)
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
