"""Certificates side by side: the verdicts by operator, and the changes between certificates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from opcert.certificate import Certificate
from opcert.report.tallies import Tally, count_statuses
from opcert.verdicts import FAILURE_STATUSES, Verdict


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
class Changes:
    """The cases whose results differ between the first certificate and another one.

    `regressed` cases passed in the first certificate and fail in the other; `fixed` is the reverse.
    """

    column: Column
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
            yield Changes(column, regressed, fixed, rest)


def _passes_then_fails(case: str, before: Column, after: Column) -> bool:
    passing, failing = before.verdicts.get(case), after.verdicts.get(case)
    return (
        passing is not None
        and failing is not None
        and passing.status == "pass"
        and failing.status in (*FAILURE_STATUSES, "waived")
    )
