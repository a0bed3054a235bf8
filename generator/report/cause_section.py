"""The section of a report on one cause of failures: its case to read first, and its program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opcert.backends.lookup import load_code
from opcert.certificate.certificate import Certificate
from opcert.pages.case_descriptions import describe_case
from opcert.programs.case_programs import case_call_text, is_self_contained
from opcert.programs.literals import array_expression, layout_expression, output_expression
from opcert.programs.program import CallText, InputText, write_program
from opcert.report.explanations import meaning_of_failure
from opcert.run.excerpts import ExcerptRow, excerpt_rows
from opcert.run.outcome import FATAL_OUTCOMES
from opcert.suite.format import ErratumText, IndexedCase, RuleText
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts.cause_text import Term
from opcert.verdicts.causes import Cause
from opcert.verdicts.reproduction import ReproducedCall, Reproduction, SerializedCall, calls_of_case
from opcert.verdicts.verdict import BACKEND_CONTRACT, Status, Verdict

# For a backend that was passed as an object, which no program can load.
_OBJECT_BACKEND = "from my_backend import backend  # the object that was certified"
_PRINTED = "    printed: "
_IN_OTHER_PLACES = ("    in ", "    contract: ", "    confirmed: ")


@dataclass(frozen=True)
class CauseSection:
    """The failures of one cause.

    Attributes:
        number: The position of the cause in the certificate, from 1.
        statement: The cause in words; `figures` say how many cases match and fail.
        kinds: The kinds of the failures with their meanings, the most frequent first.
        count: The number of failing cases.
        unmatched: Those failing cases that do not match the condition.
        alternatives: Other conditions, in words, that match exactly the same cases.
        case: The representative failing case, to which all attributes below belong.
        call: The arguments of its call as "name = value".
        rules: The rules that the case violates or exhibits; none for a breach of the `contract`.
        detail: The observation, without the printed output of the backend, which is in `log`.
        excerpt: The elements around the first difference; `excerpt_summary` locates them.
        confirmation: Whether the failure occurs again in a fresh process.
        program: A program that fails in the same way, or "" if it would need the pack.
        uncredited: The number of rejections that do not count because these valid calls fail.
    """

    number: int
    operator: str
    status: Status
    statement: str
    figures: str
    kinds: Mapping[str, str]
    count: int
    unmatched: Sequence[str]
    alternatives: Sequence[str]
    case: str
    call: Sequence[str]
    reason: str
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
    uncredited: int


def cause_section(
    number: int, cause: Cause, verdict: Verdict, certificate: Certificate, suite: Suite
) -> CauseSection:
    """Return the section of a cause; `verdict` is that of its representative case."""
    operator, case = suite.cases[verdict.case]
    description = describe_case(operator, case)
    contract = BACKEND_CONTRACT.get(verdict.kind, "") if verdict.kind else ""
    cited_rules = {} if contract else {rule: operator.index.rules[rule] for rule in case.rules}
    # The others of a valid call are behaviours that it merely exhibits as well.
    main_rules = list(cited_rules)[:1]
    observed, printed = observation_lines(verdict)
    excerpt = certificate.excerpts.get(case.id)
    return CauseSection(
        number=number,
        operator=cause.operator,
        status=verdict.status,
        statement=cause.statement,
        figures=cause.figures,
        kinds={kind: meaning_of_failure(kind) for kind in cause.kinds},
        count=len(cause.cases),
        unmatched=cause.unmatched,
        alternatives=_in_words(cause.alternatives),
        case=case.id,
        call=[
            *(f"{tensor.name} = {tensor}" for tensor in description.inputs),
            *(f"{name} = {value}" for name, value in description.attributes.items()),
        ],
        reason=description.why,
        expected=expectation(case),
        rules=cited_rules,
        errata=[
            erratum
            for erratum in operator.index.errata.values()
            if not contract and {case.id, *main_rules} & set(erratum.affects)
        ],
        contract=contract,
        detail="\n".join(observed),
        log="\n".join(printed),
        excerpt=[] if excerpt is None else list(excerpt_rows(excerpt)),
        excerpt_summary="" if excerpt is None else excerpt.summary,
        confirmation=_describe_reproduction(certificate.reproductions.get(case.id)),
        program=failure_program(certificate, operator, verdict),
        uncredited=len(cause.attributed),
    )


def _in_words(conditions: Sequence[Sequence[Term]]) -> list[str]:
    return [" and ".join(term.text for term in condition) for condition in conditions]


def observation_lines(verdict: Verdict) -> tuple[list[str], list[str]]:
    """Return the lines of what was observed, and those that the backend printed.

    The call, the rule, the contract and the confirmation have separate places in a report.
    """
    observed, printed = [], []
    for line in verdict.detail.splitlines():
        if line.startswith(_PRINTED):
            printed.append(line.removeprefix(_PRINTED))
        elif not line.startswith((*_IN_OTHER_PLACES, *_rule_starts(verdict))):
            observed.append(line)
    return observed, printed


def _rule_starts(verdict: Verdict) -> list[str]:
    return [f"    {rule} (" for rule in verdict.rules]


def expectation(case: IndexedCase) -> str:
    """Return what a case expects in words: a rejection and its rule, or the types and shapes."""
    left_open = " The document leaves it open; this is the reading of the reference."
    remark = left_open if case.ambiguity is not None else ""
    if case.expects == "rejection":
        return f"A rejection, because the call violates {case.violated_rule}.{remark}"
    outputs = ", ".join(f"{output.type}{list(output.shape)}" for output in case.outputs)
    if not outputs:
        return f"No outputs.{remark}"
    count = len(case.outputs)
    return f"{count} output{'s' * (count > 1)}: {outputs}.{remark}"


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
