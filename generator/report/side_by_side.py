"""Certificates side by side: the verdicts by operator, and the changes between certificates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from opcert.certificate.certificate import Certificate
from opcert.report.tallies import Tally, count_statuses
from opcert.verdicts.causes import Cause
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict


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

    @property
    def headline(self) -> str:
        """Whether the backend is conformant, and the grade."""
        return self.certificate.conclusion

    @cached_property
    def tally(self) -> Tally:
        """The counts of all verdicts."""
        return Tally(self.certificate.counts)

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdicts by case."""
        return {verdict.case: verdict for verdict in self.certificate.verdicts}

    def operator(self, name: str) -> Tally:
        """Return the counts of the verdicts of an operator."""
        return count_statuses(v for v in self.certificate.verdicts if v.operator == name)

    def result(self, case: str) -> str:
        """Return the status of a case with the kind of its failure, or "no verdict"."""
        verdict = self.verdicts.get(case)
        if verdict is None:
            return "no verdict"
        return f"{verdict.status} ({verdict.kind})" if verdict.kind else verdict.status


@dataclass(frozen=True)
class CauseChange:
    """A cause, with the numbers of its failing cases in the first certificate and in the other."""

    cause: Cause
    before: int
    after: int


@dataclass(frozen=True)
class Changes:
    """The causes and the cases whose results differ between the first certificate and another one.

    A new cause has no counterpart in the first certificate. A fixed one has none in the other, in
    which at least one of its cases passes. The others remain. `regressed` cases passed in the
    first certificate and fail in the other; `fixed` is the reverse.
    """

    column: Column
    new_causes: Sequence[CauseChange]
    fixed_causes: Sequence[CauseChange]
    remaining_causes: Sequence[CauseChange]
    regressed: Sequence[str]
    fixed: Sequence[str]
    other: Sequence[str]


class SideBySide:
    """Two or more certificates, each compared with the first."""

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self.columns = [Column(*numbered) for numbered in enumerate(certificates, 1)]

    @property
    def conformant(self) -> bool:
        """Whether all backends are conformant."""
        return all(column.certificate.conformant for column in self.columns)

    @cached_property
    def operators(self) -> list[str]:
        """The operators with verdicts in any certificate."""
        names = (name for column in self.columns for name in column.certificate.operators)
        return list(dict.fromkeys(names))

    @property
    def suites(self) -> list[str]:
        """The distinct digests of the certificates' suites."""
        return list(dict.fromkeys(column.certificate.suite.digest for column in self.columns))

    @cached_property
    def differing(self) -> list[str]:
        """The cases whose results differ between certificates."""
        cases = dict.fromkeys(case for column in self.columns for case in column.verdicts)
        return [case for case in cases if len({column.result(case) for column in self.columns}) > 1]

    @property
    def changes(self) -> Iterator[Changes]:
        """The changes from the first certificate to each of the others."""
        first, *others = self.columns
        for column in others:
            differing = [c for c in self.differing if first.result(c) != column.result(c)]
            regressed = [case for case in differing if _passes_then_fails(case, first, column)]
            fixed = [case for case in differing if _passes_then_fails(case, column, first)]
            rest = [case for case in differing if case not in {*regressed, *fixed}]
            yield Changes(column, *_cause_changes(first, column), regressed, fixed, rest)


def _cause_changes(
    first: Column, other: Column
) -> tuple[list[CauseChange], list[CauseChange], list[CauseChange]]:
    """Return the new, the fixed and the remaining causes of `other`, compared with `first`."""
    new: list[CauseChange] = []
    remaining: list[CauseChange] = []
    continued: set[int] = set()
    for cause in other.certificate.causes:
        same = [i for i, former in enumerate(first.certificate.causes) if _is_same(former, cause)]
        continued.update(same)
        before = sum(len(first.certificate.causes[i].cases) for i in same)
        (remaining if same else new).append(CauseChange(cause, before, len(cause.cases)))
    fixed = []
    for i, cause in enumerate(first.certificate.causes):
        # What the other run did not select, or does not support, is not fixed.
        passing = any(
            (verdict := other.verdicts.get(case)) is not None and verdict.status == "pass"
            for case in cause.cases
        )
        if i not in continued and passing:
            fixed.append(CauseChange(cause, len(cause.cases), 0))
    return new, fixed, remaining


def _is_same(former: Cause, current: Cause) -> bool:
    """Whether two causes of an operator agree in kind and condition, or in half of their cases.

    A fixed part of a bug can change the condition that explains the rest.
    """
    if former.operator != current.operator:
        return False
    first, second = (
        [(term.factor, term.levels) for term in cause.condition] for cause in (former, current)
    )
    if first and first == second and {*former.kinds} & {*current.kinds}:
        return True
    shared = len({*former.cases} & {*current.cases})
    return 2 * shared >= min(len(former.cases), len(current.cases))


def _passes_then_fails(case: str, before: Column, after: Column) -> bool:
    passing, failing = before.verdicts.get(case), after.verdicts.get(case)
    return (
        passing is not None
        and failing is not None
        and passing.status == "pass"
        and failing.status in (*FAILURE_STATUSES, "waived")
    )
