"""The section of a report on one cause of failures: a case, confirmation, program."""

from collections.abc import Mapping, Sequence
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
    output_expression,
    write_program,
)
from opcert.run import FATAL_OUTCOMES, ExcerptRow, excerpt_rows
from opcert.suite import CasesById, ErratumText, IndexedCase, OperatorSuite, RuleText
from opcert.verdicts import (
    BACKEND_CONTRACT,
    Cause,
    ReproducedCall,
    Reproduction,
    SerializedCall,
    Status,
    Verdict,
    calls_of_case,
)

# The maximum number of similar cases that a section lists.
_NAMED_CASES = 8
# For a backend that was passed as an object, which no program can load.
_OBJECT_BACKEND = "from my_backend import backend  # the object that was certified"
_PRINTED = "    printed: "


@dataclass(frozen=True)
class CauseSection:
    """The failures of one cause.

    Attributes:
        count: How many cases fail, as "3 cases".
        title: The cause as a sentence.
        case: Its representative, to which `call`, `expected`, `detail` and `program` belong.
        rules: The rules that the case violates or exhibits; none for a breach of the `contract`.
        detail: The observation, without the printed output of the backend, which is in `log`.
        excerpt: The elements around the first difference; `excerpt_summary` locates them.
        confirmation: Whether the failure occurs again in a fresh process.
        program: A program that fails in the same way, or "" if it would need the pack.
        similar: Other failing cases; `more_similar` is the number of cases beyond these.
        uncredited: The number of rejections that do not count because these valid calls fail.
    """

    operator: str
    status: Status
    title: str
    count: str
    case: str
    call: str
    expected: str
    rules: Mapping[str, RuleText]
    errata: Sequence[ErratumText]
    contract: str
    detail: str
    log: str
    excerpt: Sequence[ExcerptRow]
    excerpt_summary: str
    confirmation: str
    program: str
    similar: Sequence[str]
    more_similar: int
    uncredited: int


def cause_section(cause: Cause, certificate: Certificate, cases: CasesById) -> CauseSection:
    """Return the section of a cause; `cases` are those of the suite."""
    by_case = {verdict.case: verdict for verdict in certificate.verdicts}
    verdict = by_case[cause.representative]
    operator, case = cases[verdict.case]
    call = operator.describe_call(case)
    contract = BACKEND_CONTRACT.get(verdict.kind, "") if verdict.kind else ""
    rules = [case.violated_rule] if case.violated_rule else verdict.rules[:1]
    cited_rules = {
        rule: operator.index.rules[rule] for rule in rules if rule in case.rules and not contract
    }
    lines = verdict.detail.splitlines()
    printed = [line.removeprefix(_PRINTED) for line in lines if line.startswith(_PRINTED)]
    # The section has separate fields for the call and the printed output.
    detail = [line for line in lines if line != f"    in {call}" and not line.startswith(_PRINTED)]
    excerpt = certificate.excerpts.get(case.id)
    similar = [other for other in cause.cases if other != verdict.case]
    return CauseSection(
        operator=cause.operator,
        status=verdict.status,
        title=cause.sentence,
        count=f"{len(cause.cases)} case{'s' * (len(cause.cases) > 1)}",
        case=case.id,
        call=call,
        expected=_describe_expected(operator, case),
        rules=cited_rules,
        errata=[
            erratum
            for erratum in operator.index.errata.values()
            if not contract and {case.id, *cited_rules} & set(erratum.affects)
        ],
        contract=contract,
        detail="\n".join(detail),
        log="\n".join(line.strip() for line in printed),
        excerpt=[] if excerpt is None else list(excerpt_rows(excerpt)),
        excerpt_summary="" if excerpt is None else excerpt.summary,
        confirmation=_describe_reproduction(certificate.reproductions.get(case.id)),
        program=failure_program(certificate, operator, verdict),
        similar=similar[:_NAMED_CASES],
        more_similar=max(len(similar) - _NAMED_CASES, 0),
        uncredited=len(cause.attributed),
    )


def failure_program(certificate: Certificate, operator: OperatorSuite, verdict: Verdict) -> str:
    """Return a program that fails in the same way as a case, or "" if it would need the pack.

    It makes the calls that confirmed the failure, reduced if possible, or the case's own calls if
    the failure was not confirmed.
    """
    case = operator.cases[verdict.case]
    source, options = certificate.backend.source, certificate.backend.options
    backend = _OBJECT_BACKEND if source is None else load_code(source, options)
    first_line, _, _ = verdict.detail.partition("\n")
    remarks = [f"{case.id}: {verdict.kind or verdict.status}", " ".join(first_line.split())[:200]]
    # A call that ends the process cannot be checked, so the program announces the end instead.
    ending = verdict.status if verdict.status in FATAL_OUTCOMES else verdict.kind
    ending = ending if ending in (*FATAL_OUTCOMES, "protocol") else None
    reproduction = certificate.reproductions.get(case.id)
    if reproduction is not None and reproduction.reduced:
        calls = [_call_text(operator.index.operator, call) for call in reproduction.reduced]
        remarks.append("A smaller call that fails in the same way:")
    else:
        reproduced = [] if reproduction is None else list(reproduction.calls)
        if not reproduced:
            reproduced = list(calls_of_case(case))
            if verdict.kind == "state" and case.violated_rule and case.baseline:
                reproduced.insert(0, ReproducedCall(case=case.baseline))
        if not is_self_contained([operator.cases[call.case] for call in reproduced]):
            return ""
        calls = [
            case_call_text(
                operator, operator.cases[call.case], _remark(call, case), call.inverted_data
            )
            for call in reproduced
        ]
    calls[-1] = replace(calls[-1], ending=ending)
    return write_program(calls, backend, remarks)


def _call_text(operator: str, call: SerializedCall) -> CallText:
    """Return a call of a reduced failure as Python text."""
    inputs = {
        name: InputText(
            layout_expression(array_expression(record.array), record.shape, record.layout),
            (record.type, record.shape, record.layout),
        )
        for name, record in call.inputs.items()
    }
    outputs = None
    if call.outputs is not None:
        outputs = [output_expression(record.array) for record in call.outputs]
    return CallText("", operator, inputs, call.attributes, outputs)


def _remark(call: ReproducedCall, case: IndexedCase) -> str:
    """Return a comment on a call of the program of `case`."""
    data = ", every bit of its data inverted" if call.inverted_data else ""
    if call.case == case.id:
        violates = f", which violates {case.violated_rule}" if case.violated_rule else ""
        return f"the case{violates}{data}"
    relation = "the baseline" if call.case == case.baseline else "an earlier case"
    return f"{relation}, {call.case}{data}"


def _describe_reproduction(reproduction: Reproduction | None) -> str:
    if reproduction is None:
        return "Not confirmed in a fresh process."
    if reproduction.reproduced == "alone":
        return "Confirmed: it fails alone in a fresh process."
    if reproduction.reproduced == "never":
        return "It passed alone in a fresh process, and did not fail again."
    count = len(reproduction.calls) - 1
    calls = f"{count} other call{'s' * (count > 1)}"
    return f"It passes alone in a fresh process, and fails after {calls}."


def _describe_expected(operator: OperatorSuite, case: IndexedCase) -> str:
    if case.expects == "rejection":
        reason = case_reason(operator, case)
        return f"a rejection, because the call violates {case.violated_rule}; {reason}"
    outputs = ", ".join(f"{output.type}{list(output.shape)}" for output in case.outputs)
    return f"outputs {outputs}" if outputs else "no outputs"
