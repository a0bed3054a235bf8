"""A cause of failures -> its part of a report: the smallest case, how it shows, those alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opcert.backends import load_code
from opcert.certificate import Certificate
from opcert.programs import (
    CallText,
    InputText,
    array_expression,
    case_call_text,
    case_reason,
    is_self_contained,
    layout_expression,
    program,
)
from opcert.run import FATAL_OUTCOMES, ExcerptRow, excerpt_rows
from opcert.suite import CasesById, ErratumText, IndexedCase, OperatorSuite
from opcert.verdicts import (
    BACKEND_CONTRACT,
    Cause,
    ReproducedCall,
    Reproduction,
    SerializedCall,
    Status,
    Verdict,
    calls_of_case,
    representative_verdict,
)

# How many cases that are alike are named.
_NAMED = 8
# For a backend that was given as an object, which a report cannot name.
_OBJECT = "from my_backend import backend  # the object that was certified"


@dataclass(frozen=True)
class RuleText:
    """A rule that a failing case exercises."""

    id: str
    text: str
    clause: str


@dataclass(frozen=True)
class CauseSection:
    """Failures that are alike, with the smallest of them.

    `shows` says how the failure shows in a fresh process, above the `program` that shows it.
    `attributed` is how many rejections do not count because of these failures.
    """

    operator: str
    status: Status
    title: str
    number: str
    case: str
    call: str
    expected: str
    rules: Sequence[RuleText]
    errata: Sequence[ErratumText]
    contract: str
    detail: str
    log: str
    excerpt: Sequence[ExcerptRow]
    excerpt_of: str
    shows: str
    program: str
    alike: Sequence[str]
    more: int
    attributed: int


def cause_section(cause: Cause, certificate: Certificate, cases: CasesById) -> CauseSection:
    """Return what is shown of a cause; `cases` are those of the suite."""
    verdict = representative_verdict(cause, certificate.reproductions, cases)
    of, case = cases[verdict.case]
    others = [each.case for each in cause.verdicts if each is not verdict]
    excerpt = certificate.excerpts.get(case.id)
    lines = verdict.detail.splitlines()
    printed = [line.strip() for line in lines if line.startswith("    printed: ")]
    called = f"    in {of.call(case)}"
    said = [line for line in lines if line != called and not line.startswith("    printed: ")]
    contract = "" if cause.kind is None else BACKEND_CONTRACT.get(cause.kind, "")
    rules = (
        [case.violated_rule] if case.violated_rule else [r for r in case.rules if r == cause.rule]
    )
    reproduction = certificate.reproductions.get(case.id)
    return CauseSection(
        operator=cause.operator,
        status=verdict.status,
        title=f"{cause.rule or cause.operator}: {cause.kind or cause.status}",
        number=f"{len(cause.verdicts)} case{'s' * (len(cause.verdicts) > 1)}",
        case=case.id,
        call=of.call(case),
        expected=_expected(of, case),
        rules=[]
        if contract
        else [RuleText(r, (t := of.index.rules[r]).text, t.clause) for r in rules],
        errata=[
            erratum
            for erratum in of.index.errata.values()
            if not contract and {case.id, *rules} & set(erratum.affects)
        ],
        contract=contract,
        detail="\n".join(said),
        log="\n".join(line.removeprefix("printed: ") for line in printed),
        excerpt=[] if excerpt is None else list(excerpt_rows(excerpt)),
        excerpt_of="" if excerpt is None else excerpt.summary,
        shows=_shows(reproduction),
        program=failure_program(certificate, of, verdict),
        alike=others[:_NAMED],
        more=max(len(others) - _NAMED, 0),
        attributed=len(cause.attributed),
    )


def failure_program(certificate: Certificate, operator: OperatorSuite, verdict: Verdict) -> str:
    """Return a program that fails as a case did, or nothing where it would need the suite's pack.

    It makes the calls by which the failure was confirmed; without those, the case's own calls.
    """
    case = operator.cases[verdict.case]
    source, options = certificate.backend.source, certificate.backend.options
    backend = _OBJECT if source is None else load_code(source, options)
    first, _, _ = verdict.detail.partition("\n")
    remarks = [f"{case.id}: {verdict.kind or verdict.status}", " ".join(first.split())[:200]]
    ending = verdict.status if verdict.status in FATAL_OUTCOMES else verdict.kind
    ending = ending if ending in (*FATAL_OUTCOMES, "protocol") else None
    reproduction = certificate.reproductions.get(case.id)
    if reproduction is not None and reproduction.reduced:
        steps = [written_step(operator.index.operator, each) for each in reproduction.reduced]
        steps[-1] = replace(steps[-1], ending=ending)
        return program(steps, backend, [*remarks, "A smaller call that fails in the same way:"])
    calls = [] if reproduction is None else list(reproduction.calls)
    if not calls:
        baseline = (
            [ReproducedCall(case=case.baseline)] if case.violated_rule and case.baseline else []
        )
        calls = [*(baseline if verdict.kind == "state" else []), *calls_of_case(case)]
    if not is_self_contained([operator.cases[call.case] for call in calls]):
        return ""
    texts = [
        case_call_text(operator, operator.cases[call.case], _remark(call, case), call.inverted_data)
        for call in calls
    ]
    texts[-1] = replace(texts[-1], ending=ending)
    return program(texts, backend, remarks)


def written_step(operator: str, step: SerializedCall) -> CallText:
    """Return a call of a reduced failure as text."""
    inputs = {
        name: InputText(
            layout_expression(array_expression(given.array), given.shape, given.layout),
            (given.type, given.shape, given.layout),
        )
        for name, given in step.inputs.items()
    }
    outputs = (
        None if step.outputs is None else [array_expression(each.array) for each in step.outputs]
    )
    return CallText("", operator, inputs, step.attributes, outputs)


def _remark(call: ReproducedCall, case: IndexedCase) -> str:
    data = ", every bit of its data inverted" if call.inverted_data else ""
    if call.case == case.id:
        breaks = f", which breaks {case.violated_rule}" if case.violated_rule is not None else ""
        return f"the case{breaks}{data}"
    what = (
        "the valid call that the case changes" if call.case == case.baseline else "a case before it"
    )
    return f"{what}, {call.case}{data}"


def _shows(reproduction: Reproduction | None) -> str:
    if reproduction is None:
        return "Not confirmed in a fresh process."
    if reproduction.reproduced == "alone":
        return "Confirmed: it fails alone in a fresh process."
    if reproduction.reproduced == "never":
        return "It passes alone in a fresh process, and was not seen again."
    number = len(reproduction.calls) - 1
    calls = f"{number} other call{'s' * (number > 1)}"
    return f"It passes alone in a fresh process, and fails after {calls}."


def _expected(of: OperatorSuite, case: IndexedCase) -> str:
    if case.expects == "rejection":
        return f"a rejection, for it breaks {case.violated_rule}; {case_reason(of, case)}"
    outputs = ", ".join(f"{each.type}{list(each.shape)}" for each in case.outputs)
    return f"outputs {outputs}" if outputs else "no outputs"
