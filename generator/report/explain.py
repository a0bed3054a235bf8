"""Case -> its description: the call, the purpose, the expected result, as text; and its program."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from math import prod
from typing import Any

from opcert.arrays.element_types import bits_dtype
from opcert.arrays.golden import open_elements
from opcert.backends.native import is_exact_as_text
from opcert.errors import OpcertError, did_you_mean, printable_line
from opcert.programs import case_call_text, is_self_contained, write_program
from opcert.suite.format import DigestedArray, ErratumText, Index, IndexedCase, InputArray
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite

json_text = partial(json.dumps, ensure_ascii=False)
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
            text = None if after is None else _tensor_text(operator, after)
            changes[name] = "is omitted" if text is None else f"is {text} instead of omitted"
    for name in dict.fromkeys([*former.attributes, *case.attributes]):
        value, other = (values.get(name, ...) for values in (former.attributes, case.attributes))
        if other is ...:
            changes[name] = "is omitted"
        elif value is ...:
            changes[name] = f"is {json_text(other)} instead of omitted"
        elif value != other:
            changes[name] = _value_change(value, other)
    return {name: f"{name} {words}" for name, words in changes.items()}


def _tensor_text(operator: OperatorSuite, entry: InputArray | DigestedArray) -> str:
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
    operator: OperatorSuite, before: InputArray, after: InputArray
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
    return f"is {json_text(after)} instead of {json_text(before)}"


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


@dataclass(frozen=True)
class CaseDescription:
    """One case with its index, and its call in words.

    `inputs`, `attributes` and `outputs` are texts. `changes` are the differences from the baseline,
    `open_count` the number of elements of the outputs that an ambiguity leaves open, and `errata`
    those that affect the expectation.
    """

    case: IndexedCase
    index: Index
    why: str
    inputs: Mapping[str, str]
    attributes: Mapping[str, str]
    outputs: Sequence[str]
    changes: Mapping[str, str]
    open_count: int
    errata: Mapping[str, ErratumText]


def describe_case(operator: OperatorSuite, case: IndexedCase) -> CaseDescription:
    """Return the description of a case; it needs only the suite, not the spec."""
    outputs = operator.outputs(case) if case.open_elements is not None else []
    return CaseDescription(
        case=case,
        index=operator.index,
        why=case_reason(operator, case),
        inputs={name: _tensor_text(operator, array) for name, array in case.inputs.items()},
        attributes={name: json_text(value) for name, value in case.attributes.items()},
        outputs=[_tensor_text(operator, array) for array in case.outputs],
        changes=changes_from_baseline(operator, case),
        open_count=sum(int(open_elements(array).sum()) for array in outputs),
        errata={name: operator.index.errata[name] for name in operator.errata_of(case)},
    )


# The maximum number of matching cases that an error lists.
_LISTED = 8


def find_case(suite: Suite, name: str) -> tuple[OperatorSuite, IndexedCase]:
    """Return the case with the id `name`, or the only case whose id matches the glob `name`.

    Raises:
        OpcertError: no case matches, or several do.
    """
    cases = suite.cases
    if name in cases:
        return cases[name]
    matches = suite.select("*", name)
    if len(matches) == 1:
        return cases[matches[0]]
    if matches:
        listed = ", ".join(matches[:_LISTED]) + (", …" if len(matches) > _LISTED else "")
        raise OpcertError(f"{len(matches)} cases match '{name}', expected one: {listed}")
    near = did_you_mean(name, get_close_matches(name, [*cases], n=1))
    hint = near or "; expected an id from a certificate or an index, or a glob that one id matches"
    other = "a case of another suite needs --suite"
    raise OpcertError(f"{suite.folder} has no case '{name}'{hint} ({other})")


def explain_case(description: CaseDescription, program: str) -> str:
    """Return text for a terminal: the description of a case, and the program of its call."""
    # Text of specs and cases must not contain control characters of the terminal.
    texts = [
        "\n".join([printable_line(title), *(f"    {printable_line(line)}" for line in lines)])
        for title, lines in _sections(description)
    ]
    return "\n\n".join([*texts, f"```python\n{program}```"])


def _sections(description: CaseDescription) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the lines of each section."""
    case, index = description.case, description.index
    document = index.document
    digest = f", SHA-256 {document.sha256}" if document.sha256 is not None else ""
    of_baseline = f"one change to its baseline: {case.baseline}"
    head = [description.why if case.baseline is None else of_baseline]
    head += description.changes.values()
    if case.feature_levels:
        head.append(f"in feature levels {', '.join(case.feature_levels)}")
    head.append(f"by the document {document.title}, {document.version}{digest}")
    if document.source is not None:
        head.append(f"from {document.source}")
    yield f"{case.id}, a case of {index.operator}", head

    call = [f"{name} = {tensor}" for name, tensor in description.inputs.items()]
    attributes = [f"{name} = {value} (attribute)" for name, value in description.attributes.items()]
    yield "call", [*call, *attributes]

    if case.ambiguity is not None:
        text = index.ambiguities[case.ambiguity]
        reading = "invalid" if case.expects == "rejection" else "valid"
        yield (
            f"implementation-defined, because of {case.ambiguity}; it decides no certificate",
            [
                f"({text.clause}) {text.text}",
                f"It is valid: {text.valid}",
                f"It is invalid: {text.invalid}",
                f"The reference takes it to be {reading}.",
            ],
        )
    by = "expected" if case.ambiguity is None else "by the reference"
    if case.violated_rule is not None:
        lines = [_rule(case.violated_rule, index)]
        if case.baseline is not None and case.ambiguity is None:
            lines.append(f"It counts only if the baseline passes: {case.baseline}")
        yield f"{by}: rejection, because the call violates", lines
    else:
        outputs = [f"output {i} = {tensor}" for i, tensor in enumerate(description.outputs)]
        yield f"{by}: {'outputs' if outputs else 'no outputs'}", outputs
    if case.open_elements is not None:
        text = index.ambiguities[case.open_elements]
        yield (
            f"{description.open_count} of these elements are open, because of "
            f"{case.open_elements}; all others are decisive",
            [f"({text.clause}) {text.text}", f"What they may be: {text.elements}"],
        )

    if case.expects == "outputs" and case.rules:
        yield "behaviours", [_rule(name, index) for name in case.rules]
    if description.errata:
        errata = description.errata.values()
        yield "errata", [f"({e.clause}) {e.text} Read as: {e.reading}" for e in errata]


def _rule(name: str, index: Index) -> str:
    return f"{name} ({index.rules[name].clause}): {index.rules[name].text}"


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
    pack = (operator.folder / operator.entry.pack).resolve()
    if not pack.exists() and not is_self_contained([case]):
        raise OpcertError(
            f"the program of {case.id} needs arrays of a suite, which was generated for this "
            "command; write one by 'opcert generate' and pass it by --suite"
        )
    call = replace(case_call_text(operator, case), native=native)
    return write_program([call], backend, comments, str(pack))
