"""Case -> its description: the call, the purpose, the expected result, as text for a terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from opcert.arrays.patterns import open_elements
from opcert.errors import OpcertError, did_you_mean, printable_line
from opcert.programs.case_programs import case_reason, changes_from_baseline, tensor_text
from opcert.suite.format import ErratumText, Index, IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite


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
        inputs={name: tensor_text(operator, array) for name, array in case.inputs.items()},
        attributes={
            name: json.dumps(value, ensure_ascii=False) for name, value in case.attributes.items()
        },
        outputs=[tensor_text(operator, array) for array in case.outputs],
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
    matches = [case for case in cases if fnmatchcase(case, name)]
    if len(matches) == 1:
        return cases[matches[0]]
    if matches:
        listed = ", ".join(matches[:_LISTED]) + (", …" if len(matches) > _LISTED else "")
        raise OpcertError(f"{len(matches)} cases match '{name}', expected one: {listed}")
    near = did_you_mean(name, get_close_matches(name, [*cases], n=1))
    hint = near or "; expected an id from a certificate or an index, or a glob that one id matches"
    raise OpcertError(f"{suite.folder} has no case '{name}'{hint}")


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
