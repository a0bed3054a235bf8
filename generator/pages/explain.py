"""Finds a case of a suite by its id, and describes it as text for a terminal."""

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from opcert.errors import OpcertError, did_you_mean, printable_line
from opcert.pages.case_descriptions import CaseDescription, RuleDescription
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite

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
