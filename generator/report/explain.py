"""Case -> its description: the call, the purpose, the expected result, as text for a terminal."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Literal

from opcert.arrays.patterns import open_elements
from opcert.errors import OpcertError, did_you_mean, printable_line
from opcert.programs.case_programs import (
    ArgumentChange,
    case_reason,
    changes_from_baseline,
    describe_tensor,
)
from opcert.suite.format import (
    AmbiguityText,
    DigestedArray,
    DocumentText,
    ErratumText,
    GeneratedArray,
    IndexedCase,
    StoredArray,
)
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite


@dataclass(frozen=True)
class TensorDescription:
    """A tensor of a call; `values` are nested by dimension, or None if there are too many."""

    name: str
    type: str
    shape: tuple[int, ...]
    layout: str
    values: str | None

    def __str__(self) -> str:
        layout = f" {self.layout}" if self.layout != "c" else ""
        values = f" {self.values}" if self.values is not None else ""
        return f"{self.type}{list(self.shape)}{layout}{values}"


@dataclass(frozen=True)
class RuleDescription:
    """A rule with its clause and text."""

    id: str
    clause: str
    text: str


@dataclass(frozen=True)
class CaseDescription:
    """One case in full.

    A negative case has the rule that it violates, a positive case the behaviours that it exhibits.
    `changes` are the differences from the `baseline`. `ambiguity` is the full id of the ambiguity
    that the call touches, `ambiguity_text` its question and arguments. `open_elements` is the full
    id of the ambiguity that leaves elements of the outputs open, `open_text` its question, and
    `open_count` how many elements these are. `errata` are the errata that
    affect the expectation.
    """

    id: str
    operator: str
    document: DocumentText
    why: str
    expects: Literal["outputs", "rejection"]
    inputs: tuple[TensorDescription, ...]
    attributes: Mapping[str, str]
    outputs: tuple[TensorDescription, ...]
    violated_rule: RuleDescription | None
    behaviours: tuple[RuleDescription, ...]
    levels: Mapping[str, str]
    feature_levels: tuple[str, ...]
    baseline: str | None
    changes: tuple[ArgumentChange, ...]
    ambiguity: str | None
    ambiguity_text: AmbiguityText | None
    open_elements: str | None
    open_text: AmbiguityText | None
    open_count: int
    errata: Mapping[str, ErratumText]


def describe_case(operator: OperatorSuite, case: IndexedCase) -> CaseDescription:
    """Return the description of a case; it needs only the suite, not the spec."""

    def rule(name: str) -> RuleDescription:
        text = operator.index.rules[name]
        return RuleDescription(name, text.clause, text.text)

    def tensor(name: str, array: StoredArray | GeneratedArray | DigestedArray) -> TensorDescription:
        _, layout, values = describe_tensor(operator, array)
        return TensorDescription(name, array.type, array.shape, layout, values)

    attributes = {
        name: json.dumps(value, ensure_ascii=False) for name, value in case.attributes.items()
    }
    ambiguity, opened = case.ambiguity, case.open_elements
    open_count = 0
    if opened is not None:
        open_count = sum(int(open_elements(array).sum()) for array in operator.outputs(case))
    return CaseDescription(
        id=case.id,
        operator=operator.index.operator,
        document=operator.index.document,
        why=case_reason(operator, case),
        expects=case.expects,
        inputs=tuple(tensor(name, array) for name, array in case.inputs.items()),
        attributes=attributes,
        outputs=tuple(tensor(f"{i}", array) for i, array in enumerate(case.outputs)),
        violated_rule=rule(case.violated_rule) if case.violated_rule is not None else None,
        behaviours=tuple(map(rule, case.rules)) if case.expects == "outputs" else (),
        levels=case.levels,
        feature_levels=case.feature_levels,
        baseline=case.baseline,
        changes=changes_from_baseline(operator, case),
        ambiguity=ambiguity,
        ambiguity_text=operator.index.ambiguities[ambiguity] if ambiguity is not None else None,
        open_elements=opened,
        open_text=operator.index.ambiguities[opened] if opened is not None else None,
        open_count=open_count,
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


def explain_case(case: CaseDescription, program: str) -> str:
    """Return text for a terminal: the description of a case, and the program of its call."""
    # Text of specs and cases must not contain control characters of the terminal.
    texts = [
        "\n".join([printable_line(title), *(f"    {printable_line(line)}" for line in lines)])
        for title, lines in _sections(case)
    ]
    return "\n\n".join([*texts, f"```python\n{program}```"])


def _sections(case: CaseDescription) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the lines of each section."""
    document = case.document
    digest = f", SHA-256 {document.sha256}" if document.sha256 is not None else ""
    head = [case.why if case.baseline is None else f"one change to its baseline: {case.baseline}"]
    head += [change.words for change in case.changes]
    if case.feature_levels:
        head.append(f"in feature levels {', '.join(case.feature_levels)}")
    head.append(f"by the document {document.title}, {document.version}{digest}")
    if document.source is not None:
        head.append(f"from {document.source}")
    yield f"{case.id}, a case of {case.operator}", head

    call = [f"{tensor.name} = {tensor}" for tensor in case.inputs]
    yield "call", [*call, *(f"{name} = {v} (attribute)" for name, v in case.attributes.items())]

    if case.ambiguity_text is not None:
        text = case.ambiguity_text
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
        lines = [_rule(case.violated_rule)]
        if case.baseline is not None and case.ambiguity is None:
            lines.append(f"It counts only if the baseline passes: {case.baseline}")
        yield f"{by}: rejection, because the call violates", lines
    else:
        outputs = [f"output {tensor.name} = {tensor}" for tensor in case.outputs]
        yield f"{by}: {'outputs' if outputs else 'no outputs'}", outputs
    if case.open_text is not None:
        text = case.open_text
        yield (
            f"{case.open_count} of these elements are open, because of {case.open_elements}; "
            "all others are decisive",
            [f"({text.clause}) {text.text}", f"What they may be: {text.elements}"],
        )

    if case.behaviours:
        yield "behaviours", [_rule(rule) for rule in case.behaviours]
    if case.errata:
        errata = case.errata.values()
        yield "errata", [f"({e.clause}) {e.text} Read as: {e.reading}" for e in errata]
    if case.levels:
        yield "levels", [" ".join(f"{name}={level}" for name, level in case.levels.items())]


def _rule(rule: RuleDescription) -> str:
    return f"{rule.id} ({rule.clause}): {rule.text}"
