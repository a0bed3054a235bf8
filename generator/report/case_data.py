"""The cases of a report as data for report.js, in which numbers replace names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opcert.certificate.certificate import Certificate
from opcert.programs.reasons import case_reason
from opcert.report.cause_section import expectation, failure_program, observation_lines
from opcert.report.explanations import KIND_MEANINGS, STATUS_MEANINGS
from opcert.report.tallies import STATUS_MARKS
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import FAILURE_STATUSES, STATUSES, Verdict

# The list of cases has this many characters of each observation; an opened case has all of it.
_OBSERVATION_LENGTH = 200
# A report of thousands of failures has the programs of some of each cause only, and of none that
# is longer than a reader would read.
_PROGRAMS_OF_A_CAUSE = 50
_MAX_PROGRAM_LENGTH = 20_000


@dataclass
class _Numbering:
    """Texts in the order of their first use; a text that occurs often is stored once."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    @property
    def texts(self) -> list[str]:
        return [*self.numbers]


def list_data(certificate: Certificate, suite: Suite, types: Sequence[str]) -> dict[str, Any]:
    """Return what the list of cases shows and filters."""
    operators, kinds, rules = _Numbering(), _Numbering(), _Numbering()
    indexes = (suite.operators[name].index for name in certificate.operators)
    feature_levels = sorted({level for index in indexes for level in index.feature_levels})
    levels = {level: number for number, level in enumerate(feature_levels)}
    numbered = enumerate(certificate.causes, 1)
    cause_numbers = {
        case: number for number, cause in numbered for case in (*cause.cases, *cause.attributed)
    }
    rows = []
    for verdict in certificate.verdicts:
        _, case = suite.cases[verdict.case]
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
                verdict.detail.partition("\n")[0][:_OBSERVATION_LENGTH],
            ]
        )
    return {
        "operators": operators.texts,
        "types": [*types],
        "statuses": [
            {
                "name": status,
                "mark": STATUS_MARKS[status],
                "failure": status in FAILURE_STATUSES,
                "meaning": STATUS_MEANINGS[status],
            }
            for status in STATUSES
        ],
        "kinds": [{"name": kind, "meaning": KIND_MEANINGS[kind]} for kind in kinds.texts],
        "rules": rules.texts,
        "levels": [*levels],
        "cases": rows,
        # Apart, since the digest of a report leaves them out.
        "times": [verdict.seconds for verdict in certificate.verdicts],
    }


def detail_data(certificate: Certificate, suite: Suite) -> dict[str, Any]:
    """Return what an opened case shows, parsed by the page only when a case is opened.

    `cases` are in the order of the list: the call, the expectation, the difference from the
    baseline, the numbers of its levels, and the baseline's number in the list, -1 if it has none.
    `failures` have the whole observation by number, and `programs` the numbers of their `blocks`.
    """
    positions = {verdict.case: i for i, verdict in enumerate(certificate.verdicts)}
    expectations, blocks, factors = _Numbering(), _Numbering(), {}
    factor_levels: dict[str, dict[str, _Numbering]] = {}
    for operator in certificate.operators:
        named = suite.operators[operator].index.factors
        factors[operator] = [*named]
        factor_levels[operator] = {name: _Numbering() for name in named}
    rows, observations = [], {}
    for i, verdict in enumerate(certificate.verdicts):
        operator_suite, case = suite.cases[verdict.case]
        numberings = factor_levels[verdict.operator]
        levels = [numberings[name].number(level) for name, level in case.levels.items()]
        has_reason = case.baseline is not None or case.example
        rows.append(
            [
                operator_suite.describe_call(case),
                expectations.number(expectation(case)),
                case_reason(operator_suite, case) if has_reason else "",
                levels,
                -1 if case.baseline is None else positions.get(case.baseline, -1),
            ]
        )
        if verdict.status in (*FAILURE_STATUSES, "waived"):
            observed, printed = observation_lines(verdict)
            observations[i] = ["\n".join(observed), "\n".join(printed)]
    return {
        "factors": factors,
        "levels": {
            operator: [
                [
                    [level, suite.operators[operator].index.factors[name][level]]
                    for level in of.texts
                ]
                for name, of in named.items()
            ]
            for operator, named in factor_levels.items()
        },
        "expectations": expectations.texts,
        "cases": rows,
        "failures": observations,
        "programs": {
            positions[verdict.case]: [blocks.number(block) for block in program_blocks(program)]
            for verdict, program in _programs(certificate, suite)
        },
        "blocks": blocks.texts,
    }


def _programs(certificate: Certificate, suite: Suite) -> list[tuple[Verdict, str]]:
    """Return the failures whose programs the report has, with the programs."""
    verdicts = {verdict.case: verdict for verdict in certificate.verdicts}
    programs = []
    for cause in certificate.causes:
        for case in cause.cases[:_PROGRAMS_OF_A_CAUSE]:
            operator, _ = suite.cases[case]
            program = failure_program(certificate, operator, verdicts[case])
            if 0 < len(program) <= _MAX_PROGRAM_LENGTH:
                programs.append((verdicts[case], program))
    return programs


def program_blocks(program: str) -> list[str]:
    """Return the parts of a program between its blank lines; many programs share most of them."""
    return re.split(r"(?<=\n\n)", program)
