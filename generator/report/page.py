"""Certificate + suite -> the content of the HTML report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opcert.arrays import ELEMENT_TYPES
from opcert.certificate import Certificate
from opcert.report.cause_section import CauseSection, cause_section
from opcert.report.tallies import STATUS_MARKS, Tally, count_statuses, describe_rejections
from opcert.scope import Waiver
from opcert.suite import IndexedCase, Suite
from opcert.verdicts import FAILURE_STATUSES, STATUSES, Status, Verdict

_STATUS_EXPLANATIONS: Mapping[Status, str] = {
    "unsupported": "the backend declares that it does not support the call, or declines it",
    "waived": "a known failure with a waiver, listed below",
    "out-of-claim": "outside the claim, and not run",
    "implementation-defined": "the document leaves the result open, so the case decides nothing",
    "not-run": "the run ended before the case",
}
# The list of cases has this many characters of each observation.
_OBSERVATION_LENGTH = 200


@dataclass(frozen=True)
class MatrixRow:
    """An operator with its declared implementation and a tally for each type."""

    operator: str
    how: str
    cells: Mapping[str, Tally]


@dataclass(frozen=True)
class RuleRow(Tally):
    """A rule with the tally of the cases that exercise it."""

    id: str
    text: str
    clause: str


@dataclass(frozen=True)
class OperatorRules:
    """The rules of an operator."""

    operator: str
    rules: Sequence[RuleRow]


@dataclass(frozen=True)
class FeatureLevelRow(Tally):
    """A feature level of an operator with the tally of its cases."""

    operator: str
    level: str


@dataclass(frozen=True)
class WaiverRow:
    """A waiver, the cases and rules that it matches, and the kind of failure."""

    matches: str
    kind: str
    waiver: Waiver


class ReportPage:
    """The content of the report of a certificate."""

    def __init__(self, certificate: Certificate, suite: Suite) -> None:
        self.certificate = certificate
        self._suite = suite
        self._verdicts: dict[str, list[Verdict]] = {name: [] for name in certificate.operators}
        for verdict in certificate.verdicts:
            self._verdicts[verdict.operator].append(verdict)

    @property
    def backend(self) -> str:
        """The backend's name and version."""
        return f"{self.certificate.backend.name} {self.certificate.backend.version}"

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """The names and values of the conditions of the run."""
        certificate = self.certificate
        for operator, names in certificate.excluded.items():
            yield f"Excluded of {operator}", ", ".join(names)
        if certificate.rejections["adapter"]:
            yield "Rejections", describe_rejections(certificate)
        if certificate.backend.options:
            options = certificate.backend.options.items()
            yield "Options", ", ".join(f"{key}={value}" for key, value in options)
        suite = certificate.suite
        yield "Suite", f"{suite.profile}, seed {suite.seed}, {suite.digest}"
        selection = (
            f"{key.replace('_', ' ')} {value}"
            for key, value in certificate.selection
            if value not in ("*", None)
        )
        yield "Selection", ", ".join(selection) or "everything"
        claim = certificate.claim
        if claim is None:
            yield "Claim", "none; the scope is what the backend declares"
        else:
            yield "Claim", f"{', '.join(claim.content.operators)} ({claim.sha256})"
        run = certificate.run
        limits = f"with {run.timeout:g} s for each call" if run.timeout else "without time limits"
        process = "a process of its own" if run.isolated else "opcert's process"
        yield "Calls", f"in {process}, {limits}"
        platform = certificate.platform
        yield (
            "Platform",
            f"{platform.system} {platform.machine}, Python {platform.python}, "
            f"NumPy {platform.numpy}",
        )
        yield "Date", platform.date.replace("T", " ")

    @property
    def counts(self) -> dict[Status, int]:
        """The number of verdicts with each status that occurs."""
        return {status: count for status, count in self.certificate.counts.items() if count}

    @property
    def explanations(self) -> str:
        """Explanations of those statuses that occur and need one."""
        texts = [
            f"{status}: {text}"
            for status, text in _STATUS_EXPLANATIONS.items()
            if status in self.counts
        ]
        return "; ".join(texts) + "." if texts else ""

    @property
    def operators(self) -> list[str]:
        """The operators with verdicts."""
        return list(self._verdicts)

    @cached_property
    def types(self) -> list[str]:
        """The types of the cases' first inputs, in the order of `ELEMENT_TYPES`."""
        types = {self._case(verdict).type for verdict in self.certificate.verdicts}
        return [name for name in ELEMENT_TYPES if name in types]

    def _case(self, verdict: Verdict) -> IndexedCase:
        return self._suite.cases[verdict.case].record

    @property
    def matrix(self) -> list[MatrixRow]:
        """A row for each operator."""
        support = self.certificate.backend.support or {}
        rows = []
        for operator, verdicts in self._verdicts.items():
            by_type: dict[str, list[Verdict]] = {name: [] for name in self.types}
            for verdict in verdicts:
                by_type[self._case(verdict).type].append(verdict)
            how = support[operator].how if operator in support else ""
            cells = {name: count_statuses(of_type) for name, of_type in by_type.items()}
            rows.append(MatrixRow(operator, how, cells))
        return rows

    @property
    def feature_levels(self) -> list[FeatureLevelRow]:
        """A row for each feature level of each operator."""
        rows = []
        for operator, verdicts in self._verdicts.items():
            suite = self._suite.operators[operator]
            for level in suite.index.feature_levels:
                in_level = []
                for verdict in verdicts:
                    case = suite.cases[verdict.case]
                    # A rejection is in the feature levels of its baseline.
                    if level in suite.cases[case.baseline or case.id].feature_levels:
                        in_level.append(verdict)
                rows.append(FeatureLevelRow(count_statuses(in_level).counts, operator, level))
        return rows

    @cached_property
    def rules(self) -> list[OperatorRules]:
        """The rules of each operator that cases exercise."""
        rules = []
        for operator, verdicts in self._verdicts.items():
            by_rule: dict[str, list[Verdict]] = {}
            for verdict in verdicts:
                for rule in verdict.rules if verdict.counts_for_rules else ():
                    by_rule.setdefault(rule, []).append(verdict)
            rows = [
                RuleRow(count_statuses(by_rule[rule]).counts, rule, text.text, text.clause)
                for rule, text in self._suite.operators[operator].index.rules.items()
                if rule in by_rule
            ]
            rules.append(OperatorRules(operator, rows))
        return rules

    @cached_property
    def causes(self) -> list[CauseSection]:
        """A section for each cause of failures, the most severe first."""
        return [
            cause_section(cause, self.certificate, self._suite.cases)
            for cause in self.certificate.causes
        ]

    @property
    def waivers(self) -> list[WaiverRow]:
        """The waivers of the run."""
        if self.certificate.waivers is None:
            return []
        return [
            WaiverRow(
                " ".join(filter(None, (waiver.case, waiver.rule))), waiver.kind or "any", waiver
            )
            for waiver in self.certificate.waivers.content
        ]

    @cached_property
    def data(self) -> dict[str, Any]:
        """The data of the list of cases for report.js, in which numbers replace names."""
        verdicts = self.certificate.verdicts
        kinds = sorted({verdict.kind for verdict in verdicts if verdict.kind is not None})
        rules = list(dict.fromkeys(rule for verdict in verdicts for rule in verdict.rules))
        rule_numbers = {rule: number for number, rule in enumerate(rules)}
        return {
            "operators": self.operators,
            "types": self.types,
            "statuses": [
                {
                    "name": status,
                    "mark": STATUS_MARKS[status],
                    "failure": status in FAILURE_STATUSES,
                }
                for status in STATUSES
            ],
            "kinds": kinds,
            "rules": rules,
            "cases": [
                [
                    verdict.case,
                    self.operators.index(verdict.operator),
                    self.types.index(self._case(verdict).type),
                    STATUSES.index(verdict.status),
                    None if verdict.kind is None else kinds.index(verdict.kind),
                    [rule_numbers[rule] for rule in verdict.rules],
                    verdict.detail.partition("\n")[0][:_OBSERVATION_LENGTH],
                ]
                for verdict in verdicts
            ],
        }
