"""Certificate + suite -> what its page shows: the answer, the picture, the causes, every case."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opcert.arrays import ELEMENT_TYPES
from opcert.certificate import Certificate
from opcert.report.cause_section import CauseSection, cause_section
from opcert.report.tallies import STATUS_MARKS, Tally, count_statuses, rejections
from opcert.scope import Waiver
from opcert.suite import IndexedCase, Suite
from opcert.verdicts import FAILURE_STATUSES, STATUSES, Status, Verdict, group_by_cause

_EXPLAINED: Mapping[Status, str] = {
    "unsupported": "the backend does not have it, and said so",
    "waived": "a known failure, owned up to below",
    "out-of-claim": "beyond what was claimed, and not run",
    "implementation-defined": "the document leaves it open, so it decides nothing",
    "not-run": "not reached",
}
# How much of what was observed is in the list of cases.
_OBSERVED = 200


@dataclass(frozen=True)
class MatrixRow:
    """An operator: how the backend has it, and a cell for each type."""

    operator: str
    how: str
    cells: Mapping[str, Tally]


@dataclass(frozen=True)
class RuleRow(Tally):
    """A rule, with the verdicts of the cases that exercise it."""

    id: str
    text: str
    clause: str


@dataclass(frozen=True)
class RulesOfOperator:
    """The rules of an operator."""

    operator: str
    rules: Sequence[RuleRow]


@dataclass(frozen=True)
class LevelRow(Tally):
    """A feature level of an operator."""

    operator: str
    level: str


@dataclass(frozen=True)
class WaiverRow:
    """A waiver, and what it speaks of."""

    about: str
    kind: str
    waiver: Waiver


class ReportPage:
    """What the page of a certificate shows; `suite` is the one that it is of."""

    def __init__(self, certificate: Certificate, suite: Suite) -> None:
        self._certificate = certificate
        self._suite = suite
        self._cases = suite.cases

    @property
    def conformant(self) -> bool:
        """Whether the backend is conformant."""
        return self._certificate.conformant

    @property
    def backend(self) -> str:
        """The backend's name and version."""
        return f"{self._certificate.backend.name} {self._certificate.backend.version}"

    @property
    def headline(self) -> str:
        """The answer."""
        return self._certificate.conclusion

    @property
    def reasons(self) -> Sequence[str]:
        """Why it is not conformant."""
        return self._certificate.reasons

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """What the answer is about, by name."""
        of = self._certificate
        for operator, names in of.excluded.items():
            yield f"Excluded of {operator}", ", ".join(names)
        if of.rejections["adapter"]:
            yield "Rejections", rejections(of)
        if of.backend.options:
            yield "Options", ", ".join(f"{k}={v}" for k, v in of.backend.options.items())
        suite = of.suite
        yield "Suite", f"{suite.profile}, seed {suite.seed}, {suite.digest}"
        chosen = [(k.replace("_", " "), v) for k, v in of.selection if v not in ("*", None)]
        yield "Selection", ", ".join(f"{key} {value}" for key, value in chosen) or "everything"
        if of.claim is not None:
            yield "Claim", f"{', '.join(of.claim.content.operators)} ({of.claim.sha256})"
        else:
            yield "Claim", "none; the scope is what the backend declares"
        run = of.run
        how = f"each call had {run.timeout:g} s" if run.timeout else "no limits"
        yield "Calls", f"in a process of its own, {how}" if run.isolated else "in opcert's process"
        here = of.platform
        yield "Platform", f"{here.system} {here.machine}, Python {here.python}, NumPy {here.numpy}"
        yield "Date", here.date.replace("T", " ")

    @property
    def opcert(self) -> str:
        """The version of opcert that ran."""
        return self._certificate.platform.opcert

    @property
    def counts(self) -> dict[Status, int]:
        """How many verdicts have each status that there is."""
        return {status: n for status, n in self._certificate.counts.items() if n}

    @property
    def cases(self) -> int:
        """How many verdicts there are."""
        return len(self._certificate.verdicts)

    @property
    def explained(self) -> str:
        """What those statuses mean that do not speak for themselves."""
        said = [f"{status}: {text}" for status, text in _EXPLAINED.items() if status in self.counts]
        return "; ".join(said) + "." if said else ""

    @cached_property
    def operators(self) -> list[str]:
        """The operators that there are verdicts of."""
        return list(self._certificate.operators)

    @cached_property
    def types(self) -> list[str]:
        """The types of the first inputs of the cases."""
        found = {self._case(each).type for each in self._certificate.verdicts}
        return [each for each in ELEMENT_TYPES if each in found]

    def _case(self, verdict: Verdict) -> IndexedCase:
        return self._cases[verdict.case][1]

    @cached_property
    def matrix(self) -> list[MatrixRow]:
        """The operators, with the verdicts of each type."""
        return list(self._matrix())

    def _matrix(self) -> Iterator[MatrixRow]:
        support = self._certificate.backend.support or {}
        for operator, verdicts in self._by_operator.items():
            how = support[operator].how if operator in support else ""
            of_type: dict[str, list[Verdict]] = {each: [] for each in self.types}
            for each in verdicts:
                of_type[self._case(each).type].append(each)
            cells = {each: count_statuses(found) for each, found in of_type.items()}
            yield MatrixRow(operator, how, cells)

    @cached_property
    def _by_operator(self) -> dict[str, list[Verdict]]:
        found: dict[str, list[Verdict]] = {}
        for each in self._certificate.verdicts:
            found.setdefault(each.operator, []).append(each)
        return found

    @cached_property
    def levels(self) -> list[LevelRow]:
        """The feature levels of the operators that have some."""
        return [
            LevelRow(
                count_statuses([v for v in verdicts if level in self._levels(v)]).counts,
                name,
                level,
            )
            for name, verdicts in self._by_operator.items()
            for level in self._suite.operators[name].index.feature_levels
        ]

    def _levels(self, verdict: Verdict) -> Sequence[str]:
        """The feature levels that a case is in: a changed call is in those of the valid one."""
        of, case = self._cases[verdict.case]
        return (case if case.baseline is None else of.cases[case.baseline]).feature_levels

    @cached_property
    def rules(self) -> list[RulesOfOperator]:
        """The rules of each operator, with the verdicts of the cases that exercise them."""
        return [
            RulesOfOperator(name, list(self._rules(name, verdicts)))
            for name, verdicts in self._by_operator.items()
        ]

    def _rules(self, operator: str, verdicts: Sequence[Verdict]) -> Iterator[RuleRow]:
        of_rule: dict[str, Counter[Status]] = {}
        for verdict in verdicts:
            for rule in verdict.rules if verdict.counts_for_rules else ():
                of_rule.setdefault(rule, Counter())[verdict.status] += 1
        for rule, text in self._suite.operators[operator].index.rules.items():
            if rule in of_rule:
                yield RuleRow(of_rule[rule], rule, text.text, text.clause)

    @cached_property
    def causes(self) -> list[CauseSection]:
        """The failures, by cause."""
        found = group_by_cause(self._certificate.verdicts)
        return [cause_section(each, self._certificate, self._cases) for each in found]

    @property
    def waivers(self) -> list[WaiverRow]:
        """The waivers of the run."""
        known = () if self._certificate.waivers is None else self._certificate.waivers.content
        return [
            WaiverRow(" ".join(filter(None, (each.case, each.rule))), each.kind or "any", each)
            for each in known
        ]

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the list of cases is made of in the browser: numbers stand for names."""
        kinds = sorted({v.kind for v in self._certificate.verdicts if v.kind is not None})
        rules = list(dict.fromkeys(r for v in self._certificate.verdicts for r in v.rules))
        number_of = {name: number for number, name in enumerate(rules)}
        return {
            "operators": self.operators,
            "types": self.types,
            "statuses": [
                {"name": each, "mark": STATUS_MARKS[each], "failure": each in FAILURE_STATUSES}
                for each in STATUSES
            ],
            "kinds": kinds,
            "rules": rules,
            "cases": [
                [
                    each.case,
                    self.operators.index(each.operator),
                    self.types.index(self._case(each).type),
                    STATUSES.index(each.status),
                    None if each.kind is None else kinds.index(each.kind),
                    [number_of[rule] for rule in each.rules],
                    each.detail.partition("\n")[0][:_OBSERVED],
                ]
                for each in self._certificate.verdicts
            ],
        }
