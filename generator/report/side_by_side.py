"""Counts of verdicts, what they mean, the command of a run, and certificates side by side."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote

from opcert.certificate.certificate import Certificate
from opcert.certificate.file import CLAIM_FILE, WAIVERS_FILE
from opcert.settings import DEFAULTS, OPTIONS, RunSettings
from opcert.specification.files import is_selected, shipped_operators
from opcert.suite.suite import Suite
from opcert.verdicts.cause_text import Bug, Cause, bugs_of
from opcert.verdicts.condition_text import condition_of
from opcert.verdicts.verdict import (
    BACKEND_CONTRACT,
    FAILURE_KINDS,
    FAILURE_STATUSES,
    STATUSES,
    Status,
    Verdict,
)

STATUS_MEANINGS: Mapping[Status, str] = {
    "pass": "The backend did what the document says.",
    "fail": "The result differs from what the document says, or breaks the contract of a backend.",
    "crash": "The process of the backend ended during the call.",
    "hang": "The call did not return within the time limit.",
    "not-run": "The run, or that of the operator, ended before this case.",
    "waived": "A known failure, for which the run has a waiver.",
    "unsupported": "The backend declares that it does not support the call, or declined it.",
    "out-of-claim": "The claim does not cover the call, so it was not made.",
    "implementation-defined": "The document leaves the result open, so the case decides nothing.",
}
_MEANINGS_WITHOUT_CONTRACT: Mapping[str, str] = {
    "count": "The number of outputs is wrong.",
    "dtype": "An output has a wrong element type.",
    "shape": "An output has a wrong shape.",
    "value": "An element of an output has a wrong value.",
    "bits": "All values are right, but bits of an element differ, as in a NaN. "
    "It does not block conformance; the grade is value-exact.",
    "accuracy": "A computed element lies outside of what the claimed arithmetic allows, though "
    "within a looser one. The document states no accuracy; opcert's convention does.",
    "accepted": "The call violates a rule, but the backend returned outputs.",
    "rejected": "The call is valid, but the backend rejected it.",
    "uncredited": "The call was rejected, as it must be, but its valid baseline did not pass. "
    "So the rejection does not show that the rule is checked.",
}
KIND_MEANINGS: Mapping[str, str] = {
    kind: _MEANINGS_WITHOUT_CONTRACT.get(kind)
    or f"The contract is broken: {BACKEND_CONTRACT[kind]}"
    for kind in FAILURE_KINDS
}


# What a kind of failure means, or the status of a failure without a kind.
FAILURE_MEANINGS: Mapping[str, str] = {**KIND_MEANINGS, **dict(STATUS_MEANINGS.items())}


# Statuses must be distinguishable without colour.
STATUS_MARKS: Mapping[Status, str] = {
    "pass": "\N{CHECK MARK}",
    "fail": "\N{BALLOT X}",
    "crash": "\N{DOUBLE EXCLAMATION MARK}",
    "hang": "\N{HORIZONTAL ELLIPSIS}",
    "not-run": "\N{WHITE SQUARE}",
    "waived": "\N{WHITE UP-POINTING TRIANGLE}",
    "unsupported": "\N{EN DASH}",
    "out-of-claim": "\N{WHITE CIRCLE}",
    "implementation-defined": "\N{WHITE DIAMOND}",
}
# The order in which a status determines the colour of a cell: statuses that block conformance, then
# verified ones, then reasons why nothing was verified.
_BY_SEVERITY: Sequence[Status] = (
    *("crash", "hang", "fail", "not-run", "waived", "pass"),
    *("unsupported", "implementation-defined", "out-of-claim"),
)


@dataclass(frozen=True)
class Tally:
    """The number of verdicts with each status."""

    counts: Mapping[Status, int]

    @property
    def cases(self) -> int:
        """The number of all verdicts."""
        return sum(self.counts.values())

    @property
    def status(self) -> Status:
        """The most severe status; `not-run` if there are no verdicts."""
        return next((status for status in _BY_SEVERITY if self.counts.get(status)), "not-run")

    @property
    def count(self) -> int:
        """The number of verdicts with the most severe status."""
        return self.counts.get(self.status, 0)

    @property
    def decisive_count(self) -> int:
        """The number of all failures if there are any, else of the most severe status."""
        failures = sum(n for status, n in self.counts.items() if status in FAILURE_STATUSES)
        return failures or self.count

    @property
    def others(self) -> Mapping[Status, int]:
        """The number of verdicts with each of the other statuses."""
        return {s: n for s in STATUSES if (n := self.counts.get(s)) and s != self.status}

    @property
    def summary(self) -> str:
        """All statuses with their numbers, such as "12 pass, 1 fail"."""
        return ", ".join(f"{n} {s}" for s in STATUSES if (n := self.counts.get(s)))


def count_statuses(verdicts: Iterable[Verdict]) -> Tally:
    """Return the tally of some verdicts."""
    return Tally(Counter(verdict.status for verdict in verdicts))


def describe_rejections(certificate: Certificate) -> str:
    """Return the share of passing rejections that came from the runtime, not its adapter."""
    runtime, adapter = (certificate.rejections[source] for source in ("runtime", "adapter"))
    return f"{runtime:,} of {runtime + adapter:,} rejections by the runtime itself"


# The placeholder for the folder of a suite that does not come with opcert.
SUITE_FOLDER = "SUITE"


def command_line(certificate: Certificate) -> str:
    """Return the command that makes the run again; a certificate has no folders of the machine.

    A backend that was passed as an object has a call of Python instead.
    """
    changes = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in _settings(certificate).changes().items()
    }
    suite = {} if _comes_with_opcert(certificate) else {"suite": SUITE_FOLDER}
    if certificate.backend.source is None:
        keywords = [f"{name}={value!r}" for name, value in {**suite, **changes}.items()]
        return f"opcert.certify({', '.join(['backend', *keywords])})"
    words = ["opcert", "certify", "--backend", certificate.backend.source]
    for name, option in certificate.backend.options.items():
        text = option if isinstance(option, str) else json.dumps(option)
        words += ["--backend-option", f"{name}={text}"]
    for name, value in suite.items():
        words += [f"--{name}", value]
    for name, value in changes.items():
        words.append(OPTIONS[name].names[0])
        if not OPTIONS[name].is_flag:
            words.append(f"{value:g}" if isinstance(value, float) else f"{value}")
    return " ".join(map(quote, words))


def _settings(certificate: Certificate) -> RunSettings:
    selection, run = certificate.selection, certificate.run
    named = certificate.backend.source not in (None, "reference")
    return RunSettings(
        operator=None if selection.operator == "*" else selection.operator,
        case=selection.case,
        profile=certificate.suite.profile if _comes_with_opcert(certificate) else "core",
        feature_level=selection.feature_level,
        claim=None if certificate.claim is None else Path(CLAIM_FILE),
        waivers=None if certificate.waivers is None else Path(WAIVERS_FILE),
        isolated=False if named and not run.isolated else None,
        timeout=run.timeout or DEFAULTS["timeout"],
        memory=(run.memory or 0) >> 20,
        jobs=run.jobs if run.cluster is None else 1,
    )


def _comes_with_opcert(certificate: Certificate) -> bool:
    """Whether `certify` finds or generates the suite by itself, from opcert's own specs."""
    suite, globs = certificate.suite, certificate.selection.operator
    core = Suite()
    if suite.digest == core.digest:
        return True
    selected = (name for name in shipped_operators() if is_selected(name, globs))
    return suite.seed == 0 and suite.specs.keys() == (
        core.operators.keys() if globs == "*" else {*selected}
    )


@dataclass(frozen=True)
class Column:
    """One of the certificates and its number."""

    number: int
    certificate: Certificate

    @property
    def name(self) -> str:
        """The backend's name, version and options."""
        backend = self.certificate.backend
        options = "".join(f" {key}={value}" for key, value in backend.options.items())
        return f"{backend.name} {backend.version}{options}"

    @cached_property
    def tally(self) -> Tally:
        """The counts of all verdicts."""
        return Tally(self.certificate.counts)

    def operator(self, name: str) -> Tally:
        """Return the counts of the verdicts of an operator."""
        return Tally(self.certificate.operators.get(name, {}))

    def cases_of(self, bug: Bug) -> int:
        """Return how many cases fail for a bug."""
        own = {*map(id, self.certificate.causes)}
        return sum(len(cause.cases) for cause in bug.causes if id(cause) in own)

    def severity(self, case: str) -> int:
        """Return how severely a case fails, waived or not; 0 if it passes, -1 if it is not decided.

        A difference in bits is less than any other failure, a crash or a hang is more.
        """
        verdict = self.certificate.by_case.get(case)
        if verdict is None or verdict.status not in ("pass", "waived", *FAILURE_STATUSES):
            return -1
        before = verdict.without_waiver()
        if before.status == "fail":
            return 1 if before.kind == "bits" else 2
        return 0 if before.status == "pass" else 3

    def result(self, case: str) -> str:
        """Return the status of a case with the kind of its failure, or "no verdict"."""
        verdict = self.certificate.by_case.get(case)
        if verdict is None:
            return "no verdict"
        return f"{verdict.status} ({verdict.kind})" if verdict.kind else verdict.status


@dataclass(frozen=True)
class Changes:
    """The causes and the cases whose results differ between the first certificate and another one.

    A new cause has no counterpart in the first certificate. A fixed one has none in the other, in
    which some of its cases pass and none fails, waived or not. A case is `regressed` if it fails in
    the other certificate, and passed in the first or failed less severely. It is `fixed` if it
    failed and passes.
    """

    column: Column
    new_causes: Sequence[Cause]
    fixed_causes: Sequence[Cause]
    regressed: Sequence[str]
    fixed: Sequence[str]
    other: Sequence[str]


class SideBySide:
    """Two or more certificates, each compared with the first."""

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self.columns = [Column(*numbered) for numbered in enumerate(certificates, 1)]

    @cached_property
    def operators(self) -> list[str]:
        """The operators with verdicts in any certificate."""
        names = (name for column in self.columns for name in column.certificate.operators)
        return list(dict.fromkeys(names))

    @cached_property
    def bugs(self) -> list[tuple[Bug, list[int]]]:
        """The bugs of all certificates, each with the number of its cases in each of them."""
        causes = [cause for column in self.columns for cause in column.certificate.causes]
        return [(bug, [column.cases_of(bug) for column in self.columns]) for bug in bugs_of(causes)]

    @cached_property
    def differing(self) -> list[str]:
        """The cases whose results differ between certificates."""
        cases = dict.fromkeys(c for column in self.columns for c in column.certificate.by_case)
        return [case for case in cases if len({column.result(case) for column in self.columns}) > 1]

    @property
    def changes(self) -> Iterator[Changes]:
        """The changes from the first certificate to each of the others."""
        first, *others = self.columns
        for column in others:
            differing = [c for c in self.differing if first.result(c) != column.result(c)]
            severities = [(case, first.severity(case), column.severity(case)) for case in differing]
            regressed = [case for case, was, is_ in severities if -1 < was < is_]
            fixed = [case for case, was, is_ in severities if was > is_ == 0]
            rest = [case for case in differing if case not in {*regressed, *fixed}]
            before, after = first.certificate.causes, column.certificate.causes
            gone = [
                cause
                for cause in _without_counterpart(before, after)
                # What the other run did not select, or does not support, is not fixed.
                if {0} <= {*map(column.severity, cause.cases)} <= {0, -1}
            ]
            new = _without_counterpart(after, before)
            yield Changes(column, new, gone, regressed, fixed, rest)


def _without_counterpart(causes: Sequence[Cause], others: Sequence[Cause]) -> list[Cause]:
    return [cause for cause in causes if not any(_is_same(cause, other) for other in others)]


def _is_same(one: Cause, other: Cause) -> bool:
    """Whether two causes of an operator agree in kind and condition, or in half of their cases.

    Without a condition, they agree if the same elements are wrong.

    A fixed part of a bug can change the condition that explains the rest.
    """
    if one.operator != other.operator:
        return False
    first, second = (condition_of(cause.condition) or cause.where for cause in (one, other))
    if first and first == second and {*one.kinds} & {*other.kinds}:
        return True
    shared = len({*one.cases} & {*other.cases})
    return 2 * shared >= min(len(one.cases), len(other.cases))
