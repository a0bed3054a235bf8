"""A case of a suite -> in words, why it exists: its levels, or what tells it from its baseline."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from opcert.arrays import Array, bits_dtype
from opcert.programs.literals import is_exact_as_text
from opcert.suite import DigestedArray, GeneratedArray, IndexedCase, OperatorSuite, StoredArray

# Of up to how many elements the values of a tensor are written, and of a list that changes.
MAX_LISTED_ELEMENTS = 32
_LISTED = 8


@dataclass(frozen=True)
class ArgumentChange:
    """What became of one argument of the baseline; None stands for an argument that is left out."""

    name: str
    before: str | None
    after: str | None
    words: str


def case_reason(operator: OperatorSuite, case: IndexedCase) -> str:
    """Return in words why a case exists: its example, its levels, or its change to the baseline."""
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
    """Return what tells a case from its baseline as one sentence."""
    return "; ".join(change.words for change in changes)


def changes_from_baseline(operator: OperatorSuite, case: IndexedCase) -> tuple[ArgumentChange, ...]:
    """Return what tells a case from its baseline, argument by argument."""
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
    operator: OperatorSuite, given: StoredArray | GeneratedArray | DigestedArray
) -> tuple[str, str, str | None]:
    """Return the type and shape of a tensor, its layout, and its values where they are few."""
    layout = "c" if isinstance(given, DigestedArray) else given.layout
    values = None
    if prod(given.shape) <= MAX_LISTED_ELEMENTS and isinstance(given, StoredArray):
        values = _values(operator.read_array(given))
    return f"{given.type}{list(given.shape)}", layout, values


def _values(array: Array) -> str:
    """Write the values of an array, and its bits where they do not give them."""
    values = str(array.tolist())
    if is_exact_as_text(array):
        return values
    bits = array.reshape(-1).view(bits_dtype(array.dtype)).tolist()
    return f"{values}, bits {' '.join(f'0x{each:0{2 * array.itemsize}x}' for each in bits)}"


def _whole(operator: OperatorSuite, given: StoredArray | GeneratedArray) -> str:
    form, layout, values = describe_tensor(operator, given)
    return " ".join(filter(None, [form, layout if layout != "c" else "", values]))


def _input_change(
    operator: OperatorSuite,
    name: str,
    before: StoredArray | GeneratedArray | None,
    after: StoredArray | GeneratedArray | None,
) -> ArgumentChange:
    if before is None or after is None:
        given = before or after
        text = "" if given is None else _whole(operator, given)
        words = f"{name} is left out" if after is None else f"{name} is {text} instead of left out"
        return ArgumentChange(name, text if before else None, text if after else None, words)
    parts = [*_input_words(operator, before, after)] or ["has other elements"]
    texts = [_whole(operator, each) for each in (before, after)]
    if texts[0] == texts[1]:
        texts[1] = f"{texts[1]} of other elements"
    return ArgumentChange(name, texts[0], texts[1], f"{name} {' and '.join(parts)}")


def _input_words(
    operator: OperatorSuite,
    before: StoredArray | GeneratedArray,
    after: StoredArray | GeneratedArray,
) -> Iterator[str]:
    """Yield what became of an input: its type, its shape, its layout, its values."""
    if before.type != after.type:
        yield f"is of {after.type} instead of {before.type}"
    if before.layout != after.layout:
        yield f"lies in memory as {after.layout} instead of {before.layout}"
    values = [
        operator.read_array(each).ravel().tolist()
        for each in (before, after)
        if isinstance(each, StoredArray)
    ]
    lists = len(before.shape) == len(after.shape) == 1
    if before.shape != after.shape and not (lists and len(values) == len((before, after))):
        yield f"has the shape {list(after.shape)} instead of {list(before.shape)}"
    elif (
        len(values) == len((before, after)) and before.type == after.type and values[0] != values[1]
    ):
        if before.shape == ():
            yield f"is {values[1][0]} instead of {values[0][0]}"
        else:
            yield _list_words(*values)
    elif before.shape != after.shape:
        yield f"has the shape {list(after.shape)} instead of {list(before.shape)}"


def _attribute_change(
    name: str, baseline: Mapping[str, Any], case: Mapping[str, Any]
) -> ArgumentChange:
    before, after = (
        json.dumps(each[name], ensure_ascii=False) if name in each else None
        for each in (baseline, case)
    )
    if after is None:
        words = f"{name} is left out"
    elif before is None:
        words = f"{name} is {after} instead of left out"
    else:
        words = f"{name} {_value_words(baseline[name], case[name])}"
    return ArgumentChange(name, before, after, words)


def _value_words(before: Any, after: Any) -> str:
    """Return what became of a plain value, by element or field where it has some."""
    if isinstance(before, list) and isinstance(after, list):
        return _list_words(before, after)
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        fields = (
            f"{key} {_value_words(before[key], after[key])}"
            for key in before
            if before[key] != after[key]
        )
        return "has " + " and ".join(fields)
    texts = [json.dumps(each, ensure_ascii=False) for each in (after, before)]
    return f"is {texts[0]} instead of {texts[1]}"


def _list_words(before: Sequence[Any], after: Sequence[Any]) -> str:
    """Return what became of a list: all of it where it is short, else the elements that differ."""
    plain = not any(isinstance(each, dict | list) for each in (*before, *after))
    if plain and max(len(before), len(after)) <= _LISTED:
        return f"is {list(after)} instead of {list(before)}"
    if len(before) != len(after):
        return f"has {len(after)} elements instead of {len(before)}"
    places = [k for k, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    if len(places) > 1 and len(places) == len(before):
        first = _value_words(before[0], after[0])
        return f"differs in all of its {len(places)} elements; the first {first}"
    k = places[0] if places else 0
    more = f", and {len(places) - 1} more differ" if len(places) > 1 else ""
    return f"has an element {k} that {_value_words(before[k], after[k])}{more}"
