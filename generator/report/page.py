"""Certificate + suite -> the content of the HTML report, and the scope that it states."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.certificate.certificate import Certificate, Platform, WorkerPlatform
from opcert.report.cause_section import CaseFacts, cause_section, list_data
from opcert.report.side_by_side import KIND_MEANINGS, Tally, count_statuses, describe_rejections
from opcert.suite.format import Index, RuleText
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts.cause_text import Bug, bugs_of
from opcert.verdicts.verdict import FAILURE_STATUSES, Status, Verdict

# A filter by text has this many characters of a reason; the list has no more of some.
_FILTER_LENGTH = 150


@dataclass(frozen=True)
class ScopeReason:
    """A reason why cases do not count, the number of these cases, and the filter that lists them.

    `count` is 0 where the reason is not bound to cases.
    """

    text: str
    count: int = 0
    filter: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScopePart:
    """One part of the scope: its name, a sentence, and the reasons with their cases."""

    name: str
    text: str
    reasons: Sequence[ScopeReason] = ()


def scope_parts(certificate: Certificate) -> Iterator[ScopePart]:
    """Yield what was selected, claimed, declared out of scope, declined and excluded."""
    selection, suite = certificate.selection, certificate.suite
    chosen = [
        f"{name.replace('_', ' ')} {value}" for name, value in selection if value not in ("*", None)
    ]
    of_suite = f"{len(certificate.verdicts):,} of the {suite.cases:,} cases of the suite"
    what = ", ".join(chosen) or "everything"
    yield ScopePart("Selected", f"{what[0].upper()}{what[1:]}: {of_suite}.")

    claim = certificate.claim
    if claim is None:
        yield ScopePart("Claimed", "There is no claim. The scope is what the backend declares.")
    else:
        names = ", ".join(claim.content.operators)
        text = f"{names}. The claim has the digest {claim.sha256[:12]}."
        yield ScopePart("Claimed", text, _reasons(certificate, "out-of-claim", ran=False))

    declared = certificate.backend.support
    if declared is None:
        text = "The backend declares nothing, so every operator and every call is in scope."
    else:
        text = f"The backend declares support of {_count(len(declared), 'operator')}."
    declared_out = _reasons(certificate, "unsupported", ran=False)
    if declared is not None and not declared_out:
        text += " No selected case is outside of it."
    yield ScopePart("Declared out", text, declared_out)

    declined = _reasons(certificate, "unsupported", ran=True)
    if declined:
        text = "The backend declined these calls when they were made; they are whole types."
        yield ScopePart("Declined", text, declined)

    excluded = [
        ScopeReason(f"{operator}: {', '.join(names)}")
        for operator, names in certificate.excluded.items()
    ]
    text = "The claim or the declaration excludes these rules and levels."
    yield ScopePart("Excluded", text if excluded else "No rule and no level is excluded.", excluded)


def _reasons(certificate: Certificate, status: Status, *, ran: bool) -> list[ScopeReason]:
    """Return the reasons of the verdicts with a status, the most frequent first."""
    counts = Counter(
        verdict.detail.partition("\n")[0]
        for verdict in certificate.verdicts
        if verdict.status == status and (verdict.observed != "not-run") is ran
    )
    return [
        ScopeReason(_shortened(text), count, {"status": status, "text": text[:_FILTER_LENGTH]})
        for text, count in counts.most_common()
    ]


def _shortened(text: str) -> str:
    """Return a reason without the words that the name of the part says already."""
    return text.removeprefix("the declared support excludes ").removeprefix("the claim excludes ")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


@dataclass(frozen=True)
class MatrixRow:
    """An operator with its declared implementation, its tally, and that of each type.

    A type is not `defined` if the document gives the operator no such type. Its tally then counts
    calls that must be rejected.
    """

    operator: str
    how: str
    tally: Tally
    cells: Mapping[str, Tally]
    defined: Collection[str]


class ReportPage:
    """The content of the report of a certificate."""

    def __init__(self, certificate: Certificate, suite: Suite) -> None:
        self.certificate = certificate
        self._suite = suite
        self._verdicts: dict[str, list[Verdict]] = {name: [] for name in certificate.operators}
        for verdict in certificate.verdicts:
            self._verdicts[verdict.operator].append(verdict)
        # Memory may not have room for the cases of all operators, so each operator is read once.
        self._indexes: dict[str, Index] = {}
        self._facts: dict[str, CaseFacts] = {}
        self._defined_types: dict[str, Collection[str]] = {}
        for operator in self._verdicts:
            self._read(suite.operators[operator])

    def _read(self, operator: OperatorSuite) -> None:
        name, defined = operator.index.operator, set[str]()
        self._indexes[name], self._defined_types[name] = operator.index, defined
        judged = {verdict.case for verdict in self._verdicts[name]}
        for case in operator.cases.values():
            if case.id in judged:
                self._facts[case.id] = CaseFacts(case.type, case.feature_levels, case.example)
            # Where the document has a type, the suite has a call of it that need not be rejected.
            if case.expects == "outputs" or case.ambiguity is not None:
                defined.add(case.type)

    @property
    def backend(self) -> str:
        """The backend's name and version."""
        return f"{self.certificate.backend.name} {self.certificate.backend.version}"

    @property
    def answer(self) -> str:
        """The number of failures and bugs, or what was verified, as a sentence."""
        counts = self.certificate.counts
        failures = counts["fail"] + counts["crash"] + counts["hang"]
        decided = failures + counts["pass"] + counts["waived"]
        total = len(self.certificate.verdicts)
        others = f" The other {total - decided:,} decide nothing." if total > decided else ""
        if not decided:
            return "No case was decided."
        if not failures:
            return f"{counts['pass']:,} of {decided:,} decisive cases pass.{others}"
        what, examples = _count(len(self.bugs), "bug"), len(self.failing_examples)
        if examples:
            what += f", {_count(examples, 'documented example')} among the failures"
        return f"{failures:,} of {decided:,} decisive cases fail: {what}.{others}"

    @cached_property
    def failing_examples(self) -> list[tuple[Verdict, str]]:
        """The failures of documented examples, each with what the document states."""
        failures = (v for v in self.certificate.verdicts if v.status in FAILURE_STATUSES)
        stated = ((verdict, self._facts[verdict.case].example) for verdict in failures)
        return [(verdict, example) for verdict, example in stated if example]

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """The names and values of the conditions of the run."""
        certificate = self.certificate
        if certificate.rejections["adapter"]:
            yield "Rejections", describe_rejections(certificate)
        if certificate.backend.options:
            options = certificate.backend.options.items()
            yield "Options", ", ".join(f"{key}={value}" for key, value in options)
        if certificate.backend.reuse:
            yield "Reuse", certificate.backend.reuse
        suite = certificate.suite
        yield "Suite", f"{suite.profile}, seed {suite.seed}, {suite.digest}"
        run = certificate.run
        limits = f"with {run.timeout:g} s for each call" if run.timeout else "without time limits"
        process = "a process of its own" if run.isolated else "opcert's process"
        yield "Calls", f"in {process}, {limits}"
        platform = certificate.platform
        yield "Platform", f"{_machine(platform)}, opcert {platform.opcert}"
        if run.changed:
            files = ", ".join(run.changed)
            yield "Changed", f"{files}: during the run, so verdicts may be of different versions"
        if run.jobs > 1:
            yield "Processes", f"{run.jobs} at once"
        for worker in run.cluster.platforms if run.cluster else ():
            device = f", device {worker.device}" if worker.device else ""
            yield "Workers", f"{worker.cases:,} cases on {_machine(worker)}{device}"
        if run.cluster and run.cluster.lost:
            yield "Lost workers", f"{run.cluster.lost}: what ran on them was run again"

    @property
    def times(self) -> Iterator[tuple[str, str]]:
        """The names and values of the times of the run, which differ from run to run."""
        certificate = self.certificate
        yield "Started", _readable(certificate.platform.date)
        if certificate.run.resumed:
            yield "Resumed", ", ".join(map(_readable, certificate.run.resumed))
        yield "Duration", f"{_duration(certificate.seconds)} in calls and their checks"

    @property
    def counts(self) -> dict[Status, int]:
        """The number of verdicts with each status that occurs."""
        return {status: count for status, count in self.certificate.counts.items() if count}

    @property
    def kinds(self) -> dict[str, tuple[int, str]]:
        """The number of verdicts of each kind of failure that occurs, and what the kind means."""
        counts = Counter(verdict.kind for verdict in self.certificate.verdicts)
        return {kind: (count, KIND_MEANINGS[kind]) for kind, count in counts.most_common() if kind}

    @cached_property
    def types(self) -> list[str]:
        """The types of the cases' first inputs, in the order of `ELEMENT_TYPES`."""
        types = {facts.type for facts in self._facts.values()}
        return [name for name in ELEMENT_TYPES if name in types]

    @cached_property
    def matrix(self) -> list[MatrixRow]:
        """A row for each operator."""
        support = self.certificate.backend.support or {}
        rows = []
        for operator, verdicts in self._verdicts.items():
            cells = {
                name: count_statuses(v for v in verdicts if self._facts[v.case].type == name)
                for name in self.types
            }
            how = support[operator].how if operator in support else ""
            defined = self._defined_types[operator]
            rows.append(MatrixRow(operator, how, count_statuses(verdicts), cells, defined))
        return rows

    @cached_property
    def feature_levels(self) -> list[tuple[str, str, Tally]]:
        """Each feature level of each operator that the backend supports, with its tally."""
        return [
            (operator, level, count_statuses(v for v in verdicts if level in self._levels(v)))
            for operator, verdicts in self._verdicts.items()
            if any(verdict.status not in ("unsupported", "not-run") for verdict in verdicts)
            for level in self._indexes[operator].feature_levels
        ]

    def _levels(self, verdict: Verdict) -> Collection[str]:
        return self._facts[verdict.case].feature_levels

    @cached_property
    def rules(self) -> Sequence[tuple[str, Tally, Mapping[str, tuple[RuleText, Tally]]]]:
        """Each operator with its tally, and the rules that its cases exercise with theirs."""
        rules = []
        for operator, verdicts in self._verdicts.items():
            by_rule: dict[str, list[Verdict]] = {}
            for verdict in verdicts:
                for rule in verdict.rules if verdict.counts_for_rules else ():
                    by_rule.setdefault(rule, []).append(verdict)
            rows = {
                rule: (text, count_statuses(by_rule[rule]))
                for rule, text in self._indexes[operator].rules.items()
                if rule in by_rule
            }
            rules.append((operator, count_statuses(verdicts), rows))
        return rules

    @cached_property
    def bugs(self) -> list[tuple[Bug, list[dict[str, Any]]]]:
        """The bugs, the most severe first, each with a section for each of its causes."""
        causes = self.certificate.causes
        sections = {
            id(cause): cause_section(number, cause, self.certificate, self._suite)
            for number, cause in enumerate(causes, 1)
        }
        return [(bug, [sections[id(cause)] for cause in bug.causes]) for bug in bugs_of(causes)]

    @cached_property
    def list_data(self) -> dict[str, Any]:
        """The data of the list of cases for report.js."""
        levels = {level for index in self._indexes.values() for level in index.feature_levels}
        return list_data(self.certificate, self._facts, self.types, sorted(levels))


def _machine(of: Platform | WorkerPlatform) -> str:
    """Return the system, the processor and the versions with which calls ran, in words."""
    return f"{of.system} {of.machine}, Python {of.python}, NumPy {of.numpy}"


def _readable(timestamp: str) -> str:
    return timestamp.replace("T", " ").replace("+00:00", " UTC")


def _duration(seconds: float) -> str:
    """Return a duration with two units at most."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
