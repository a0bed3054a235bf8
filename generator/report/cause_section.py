"""The cases of a report as data for report.js, and the section on one cause of failures."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from opcert.backends.lookup import load_code
from opcert.certificate.certificate import Certificate
from opcert.report import side_by_side
from opcert.report.explain import case_reason, describe_case
from opcert.run.comparison import excerpt_rows
from opcert.suite.format import IndexedCase
from opcert.suite.suite import Suite
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.failure_program import DIRTY_MEMORY, failure_program
from opcert.verdicts.reproduction import NativeResult, Reproduction
from opcert.verdicts.verdict import (
    BACKEND_CONTRACT,
    CONTRACT_LINE,
    FAILURE_STATUSES,
    STATUSES,
    Verdict,
)

# For a backend that was passed as an object, which no program can load.
OBJECT_BACKEND = "from my_backend import backend  # the object that was certified"
_NATIVE_RESULTS: dict[NativeResult | None, str] = {
    None: "",
    "fails": "It failed when it was run.",
    "fails-in-dirty-memory": "It depends on what memory held before: when it was run, it passed, "
    f"but failed with {DIRTY_MEMORY} in its environment.",
    "ends-otherwise": "In the API of the runtime, without opcert, the same call did not fail so "
    "when it was run.",
}
_PRINTED = "    printed: "
_IN_OTHER_PLACES = ("    in ", CONTRACT_LINE, "    confirmed: ")


def cause_section(
    number: int, cause: Cause, certificate: Certificate, suite: Suite
) -> dict[str, Any]:
    """Return what a report says of a cause.

    `number` is the position of the cause in the certificate, from 1. `kinds` are the kinds of the
    failures with their meanings, the most frequent first. All else is about the representative:
    `line` is its call, and `call` has the arguments as "name = value". A breach of the `contract`
    has no `rules`. `how` is what the backend declares of the operator. `detail` lacks the printed
    output of the backend, which is in `log`. `excerpt` has the elements around the first
    difference. `program` fails in the same way; it is empty if it would need the pack. `native` is
    the same in the API of the runtime, if the backend has written it and it fails so;
    `native_result` is how it ended when it was run.
    """
    verdict = certificate.by_case[cause.representative]
    operator, case = suite.cases[verdict.case]
    description = describe_case(operator, case)
    contract = BACKEND_CONTRACT.get(verdict.kind, "") if verdict.kind else ""
    cited_rules = {} if contract else {rule: operator.index.rules[rule] for rule in case.rules}
    # The others of a valid call are behaviours that it merely exhibits as well.
    main_rules = list(cited_rules)[:1]
    observed, printed = observation_lines(verdict)
    excerpt = certificate.excerpts.get(case.id)
    reproduction = certificate.reproductions.get(case.id)
    result = None if reproduction is None else reproduction.native_result
    fails_so = result != "ends-otherwise"
    native = failure_program(operator, verdict, reproduction) if fails_so else ""
    support = (certificate.backend.support or {}).get(verdict.operator)
    source, options = certificate.backend.source, certificate.backend.options
    backend = OBJECT_BACKEND if source is None else load_code(source, options)
    return {
        "number": number,
        "cause": cause,
        "kinds": {kind: side_by_side.FAILURE_MEANINGS[kind] for kind in cause.kinds},
        "verdict": verdict,
        "description": description,
        "line": operator.describe_call(case),
        "call": [
            f"{name} = {value}"
            for name, value in (*description.inputs.items(), *description.attributes.items())
        ],
        "expected": expectation(case),
        "rules": cited_rules,
        "errata": [
            erratum
            for erratum in operator.index.errata.values()
            if not contract and {case.id, *main_rules} & set(erratum.affects)
        ],
        "contract": contract,
        # A bare "native" says nothing of the call.
        "how": support.how if support is not None and ":" in support.how else "",
        "detail": "\n".join(observed),
        "log": "\n".join(printed),
        "excerpt": [] if excerpt is None else list(excerpt_rows(excerpt)),
        "excerpt_summary": "" if excerpt is None else excerpt.summary,
        "confirmation": _describe_reproduction(reproduction),
        "program": failure_program(operator, verdict, reproduction, backend),
        "native": native,
        "native_result": _NATIVE_RESULTS[result],
    }


def observation_lines(verdict: Verdict) -> tuple[list[str], list[str]]:
    """Return the lines of what was observed, and those that the backend printed.

    The call, the rule, the contract and the confirmation have separate places in a report.
    """
    in_other_places = (*_IN_OTHER_PLACES, *(f"    {rule} (" for rule in verdict.rules))
    observed, printed = [], []
    for line in verdict.detail.splitlines():
        if line.startswith(_PRINTED):
            printed.append(line.removeprefix(_PRINTED))
        elif not line.startswith(in_other_places):
            observed.append(line)
    return observed, printed


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


def _describe_reproduction(reproduction: Reproduction | None) -> str:
    if reproduction is None:
        return "Not tried in a fresh process."
    if reproduction.reproduced == "alone":
        return "Confirmed: it fails alone in a fresh process."
    if reproduction.reproduced == "never":
        return "In a fresh process, it did not fail in this way again."
    if (relation := reproduction.relation) is not None:
        return f"In a fresh process, it does not fail in this way alone, but after {relation.text}."
    count = len(reproduction.calls) - 1
    calls = f"{count} other call{'s' * (count > 1)}"
    return f"In a fresh process, it does not fail in this way alone, but after {calls}."


# The list of cases has this many characters of each observation; an opened case has all of it.
_OBSERVATION_LENGTH = 200


class _Numbering(dict[str, int]):
    """Texts in the order of their first use; a text that occurs often is stored once."""

    def number(self, text: str) -> int:
        return self.setdefault(text, len(self))


class CaseFacts(NamedTuple):
    """What the report needs to know of every case."""

    type: str
    feature_levels: Collection[str]
    example: str


def list_data(
    certificate: Certificate,
    facts: Mapping[str, CaseFacts],
    types: Sequence[str],
    feature_levels: Sequence[str],
) -> dict[str, Any]:
    """Return what the list of cases shows and filters; `facts` are those of each case."""
    operators, kinds, rules = _Numbering(), _Numbering(), _Numbering()
    levels = {level: number for number, level in enumerate(feature_levels)}
    numbered = enumerate(certificate.causes, 1)
    cause_numbers = {
        case: number for number, cause in numbered for case in (*cause.cases, *cause.attributed)
    }
    rows = []
    for verdict in certificate.verdicts:
        case = facts[verdict.case]
        rows.append(
            [
                verdict.case,
                operators.number(verdict.operator),
                types.index(case.type),
                STATUSES.index(verdict.status),
                -1 if verdict.kind is None else kinds.number(verdict.kind),
                [rules.number(rule) for rule in verdict.rules],
                cause_numbers.get(verdict.case, 0),
                sum(1 << levels[level] for level in case.feature_levels),
                _listed_observation(verdict),
            ]
        )
    return {
        "operators": [*operators],
        "types": [*types],
        "statuses": [
            {
                "name": status,
                "mark": side_by_side.STATUS_MARKS[status],
                "failure": status in FAILURE_STATUSES,
                "meaning": side_by_side.STATUS_MEANINGS[status],
            }
            for status in STATUSES
        ],
        "kinds": [{"name": kind, "meaning": side_by_side.KIND_MEANINGS[kind]} for kind in kinds],
        "rules": [*rules],
        "levels": [*levels],
        "cases": rows,
        # Apart, since the digest of a report leaves them out.
        "times": [verdict.seconds for verdict in certificate.verdicts],
    }


def _listed_observation(verdict: Verdict) -> str:
    return verdict.summary[:_OBSERVATION_LENGTH]


def detail_data(certificate: Certificate, suite: Suite) -> dict[str, Any]:
    """Return what an opened case shows, parsed by the page only when a case is opened.

    `cases` are those whose results a reader looks into, by number in the list: the call, the
    expectation, the difference from the baseline, and the baseline's number, -1 if it has none.
    `failures` have the observations that the list cuts, and what was printed.
    """
    positions = {verdict.case: i for i, verdict in enumerate(certificate.verdicts)}
    expectations, cases, observations = _Numbering(), {}, {}
    for i, verdict in enumerate(certificate.verdicts):
        if verdict.status in ("pass", "unsupported", "not-run", "out-of-claim"):
            continue
        operator_suite, case = suite.cases[verdict.case]
        cases[i] = [
            operator_suite.describe_call(case),
            expectations.number(expectation(case)),
            case_reason(operator_suite, case),
            -1 if case.baseline is None else positions.get(case.baseline, -1),
        ]
        observed, printed = map("\n".join, observation_lines(verdict))
        if printed or observed != _listed_observation(verdict):
            observations[i] = [observed, printed]
    return {"expectations": [*expectations], "cases": cases, "failures": observations}
