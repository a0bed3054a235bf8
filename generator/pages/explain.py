"""The id of a case -> the case in a suite; the account of a case -> text for a screen."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from opcert.generator.errors import OpcertError, did_you_mean, one_line
from opcert.generator.pages.accounts import CaseAccount, Change, RuleAccount
from opcert.generator.suite.format import IndexedCase
from opcert.generator.suite.operator_suite import OperatorSuite
from opcert.generator.suite.suite import Suite

# How many of the cases that a glob matches are named.
_NAMED = 8


def found_case(suite: Suite, name: str) -> tuple[OperatorSuite, IndexedCase]:
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


def told(account: CaseAccount, program: str) -> str:
    """Return what a screen shows of a case, with a program that makes its call."""
    parts = [
        _lines(_head(account)),
        _lines(["calls", *_call(account)]),
        _lines(_expected(account)),
        *map(_lines, _reasons(account)),
        f"```python\n{program}```",
    ]
    return "\n\n".join(parts)


def _lines(told: Iterable[str]) -> str:
    return "\n".join(map(one_line, told))


def _head(account: CaseAccount) -> Iterator[str]:
    yield f"{account.id}, a case of {account.operator}"
    beside = f": {account.twin}" if account.twin is not None else ""
    yield f"    {account.why}{beside}"
    yield from map(_change, account.changes)
    if account.feature_levels:
        yield f"    in feature levels {', '.join(account.feature_levels)}"


def _change(change: Change) -> str:
    before, after = ("left out" if each is None else each for each in (change.before, change.after))
    return f"    {change.name}: {before} becomes {after}"


def _call(account: CaseAccount) -> Iterator[str]:
    for tensor in account.inputs:
        yield f"    {tensor.name} = {tensor}"
    for name, value in account.attributes.items():
        yield f"    {name} = {value} (attribute)"


def _expected(account: CaseAccount) -> Iterator[str]:
    if account.ambiguity is not None:
        yield f"implementation-defined, for {account.ambiguity}; it decides no certificate"
        point = account.open_point
        if point is not None:
            yield f"    {point.clause}: {point.text} The reference: {point.choice}"
    if account.broken is not None:
        yield "expects rejection, for it breaks"
        yield _rule(account.broken)
        if account.twin is not None and account.ambiguity is None:
            yield f"    It counts only where the valid call, {account.twin}, passes."
        return
    yield "expects" if account.outputs else "expects no outputs"
    for tensor in account.outputs:
        yield f"    output {tensor.name} = {tensor}"


def _reasons(account: CaseAccount) -> Iterator[Sequence[str]]:
    if account.shown:
        yield ["shows", *map(_rule, account.shown)]
    if account.levels:
        pairs = (f"{factor}={level}" for factor, level in account.levels.items())
        yield ["drawn for", f"    {' '.join(pairs)}"]


def _rule(rule: RuleAccount) -> str:
    return f"    {rule.id} ({rule.clause}): {rule.text}"
