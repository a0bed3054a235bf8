"""A cause of failures -> what its part of a report shows: the smallest case, and those alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from opcert.generator.certificate.certificate import Certificate
from opcert.generator.pages.case_programs import program_of, stands_alone
from opcert.generator.pages.reasons import reason_of
from opcert.generator.run.excerpts import Shown, shown
from opcert.generator.run.rehearsal import INVERTED
from opcert.generator.suite.format import IndexedCase
from opcert.generator.suite.operator_suite import OperatorSuite
from opcert.generator.suite.suite import Cases
from opcert.generator.verdicts.causes import Cause
from opcert.generator.verdicts.verdict import Status

# How many cases that are alike are named.
_NAMED = 8


@dataclass(frozen=True)
class RuleText:
    """A rule that a failing case exercises."""

    id: str
    text: str
    clause: str


@dataclass(frozen=True)
class CausePage:
    """Failures that are alike, with the smallest of them."""

    operator: str
    status: Status
    title: str
    number: str
    case: str
    call: str
    expected: str
    rules: Sequence[RuleText]
    detail: str
    log: str
    excerpt: Sequence[Shown]
    excerpt_of: str
    inverted: bool
    program: str
    alike: Sequence[str]
    more: int


def cause_page(cause: Cause, certificate: Certificate, cases: Cases) -> CausePage:
    """Return what is shown of a cause; `cases` are those of the suite."""
    verdict = cause.smallest(cases)
    of, case = cases[verdict.case]
    others = [each.case for each in cause.verdicts if each is not verdict]
    excerpt = certificate.excerpts.get(case.id)
    lines = verdict.detail.splitlines()
    printed = [line.strip() for line in lines if line.startswith("    printed: ")]
    called = f"    in {of.call(case)}"
    said = [line for line in lines if line != called and not line.startswith("    printed: ")]
    rules = [case.rule] if case.rule else [r for r in case.rules if r == cause.rule]
    return CausePage(
        operator=cause.operator,
        status=verdict.status,
        title=f"{cause.rule or cause.operator}: {cause.kind or cause.status}",
        number=f"{len(cause.verdicts)} case{'s' * (len(cause.verdicts) > 1)}",
        case=case.id,
        call=of.call(case),
        expected=_expected(of, case),
        rules=[RuleText(r, (t := of.index.rules[r]).text, t.clause) for r in rules],
        detail="\n".join(said),
        log="\n".join(line.removeprefix("printed: ") for line in printed),
        excerpt=[] if excerpt is None else list(shown(excerpt)),
        excerpt_of="" if excerpt is None else excerpt.told,
        inverted=verdict.detail.startswith(INVERTED),
        program=program_of(of, case) if stands_alone(case) else "",
        alike=others[:_NAMED],
        more=max(len(others) - _NAMED, 0),
    )


def _expected(of: OperatorSuite, case: IndexedCase) -> str:
    if case.expects == "rejection":
        return f"a rejection, for it breaks {case.rule}; {reason_of(of, case)}"
    outputs = ", ".join(f"{each.type}{list(each.shape)}" for each in case.outputs)
    return f"outputs {outputs}" if outputs else "no outputs"
