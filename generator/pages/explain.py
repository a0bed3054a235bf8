"""The id of a case -> the case in a suite; the account of a case -> text for a screen."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from opcert.errors import OpcertError, did_you_mean, printable_line
from opcert.pages.case_descriptions import CaseDescription, RuleDescription
from opcert.suite import IndexedCase, OperatorSuite, Suite

# How many of the cases that a glob matches are named.
_NAMED = 8


def find_case(suite: Suite, name: str) -> tuple[OperatorSuite, IndexedCase]:
    """Return the case of the id `name`, or the only one whose id matches it as a glob.

    Raises:
        OpcertError: there is no such case, or there are several.
    """
    cases = suite.cases
    if name in cases:
        return cases[name]
    matched = [each for each in cases if fnmatchcase(each, name)]
    if len(matched) == 1:
        return cases[matched[0]]
    if matched:
        more = ", …" if len(matched) > _NAMED else ""
        named = ", ".join(matched[:_NAMED])
        raise OpcertError(f"{len(matched)} cases match '{name}', expected one: {named}{more}")
    near = did_you_mean(name, get_close_matches(name, [*cases], n=1))
    hint = near or "; expected an id from a certificate or an index, or a glob that one id matches"
    raise OpcertError(f"{suite.folder} has no case '{name}'{hint}")


def explain_case(account: CaseDescription, program: str) -> str:
    """Return what a screen shows of a case, with a program that makes its call."""
    parts = [
        _lines(_head(account)),
        _lines(["calls", *_call(account)]),
        _lines(_expected(account)),
        *map(_lines, _open_point(account)),
        *map(_lines, _reasons(account)),
        f"```python\n{program}```",
    ]
    return "\n\n".join(parts)


def _lines(explain_case: Iterable[str]) -> str:
    return "\n".join(map(printable_line, explain_case))


def _head(account: CaseDescription) -> Iterator[str]:
    yield f"{account.id}, a case of {account.operator}"
    if account.baseline is None:
        yield f"    {account.why}"
    else:
        yield f"    one change to its baseline: {account.baseline}"
    yield from (f"    {change.words}" for change in account.changes)
    if account.feature_levels:
        yield f"    in feature levels {', '.join(account.feature_levels)}"
    document = account.document
    digest = f", SHA-256 {document.sha256}" if document.sha256 is not None else ""
    yield f"    by the document {document.title}, {document.version}{digest}"


def _call(account: CaseDescription) -> Iterator[str]:
    for tensor in account.inputs:
        yield f"    {tensor.name} = {tensor}"
    for name, value in account.attributes.items():
        yield f"    {name} = {value} (attribute)"


def _expected(account: CaseDescription) -> Iterator[str]:
    if account.ambiguity is not None:
        yield f"implementation-defined, for {account.ambiguity}; it decides no certificate"
    if account.broken is not None:
        says = "the reference rejects it" if account.ambiguity is not None else "expects rejection"
        yield f"{says}, for it breaks"
        yield _rule(account.broken)
        if account.baseline is not None and account.ambiguity is None:
            yield f"    It counts only where the valid call, {account.baseline}, passes."
        return
    says = "the reference gives" if account.ambiguity is not None else "expects"
    yield says if account.outputs else f"{says} no outputs"
    for tensor in account.outputs:
        yield f"    output {tensor.name} = {tensor}"


def _open_point(account: CaseDescription) -> Iterator[Sequence[str]]:
    """Yield the question that the document leaves open, and an argument for either answer."""
    point = account.open_point
    if point is not None:
        yield [
            f"open ({point.clause})",
            f"    {point.text}",
            f"    It is valid: {point.valid}",
            f"    It is invalid: {point.invalid}",
            f"    The reference takes it to be {_reading(account)}.",
        ]


def _reading(account: CaseDescription) -> str:
    return "invalid" if account.expects == "rejection" else "valid"


def _reasons(account: CaseDescription) -> Iterator[Sequence[str]]:
    if account.shown:
        yield ["shows", *map(_rule, account.shown)]
    if account.errata:
        errata = account.errata.values()
        yield ["errata", *(f"    ({e.clause}) {e.text} Read as: {e.reading}" for e in errata)]
    if account.levels:
        pairs = (f"{factor}={level}" for factor, level in account.levels.items())
        yield ["drawn for", f"    {' '.join(pairs)}"]


def _rule(rule: RuleDescription) -> str:
    return f"    {rule.id} ({rule.clause}): {rule.text}"
