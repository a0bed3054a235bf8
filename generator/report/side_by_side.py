"""Certificates side by side: what each backend does with each operator, and what differs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from opcert.certificate import Certificate
from opcert.report.tallies import Tally, count_statuses
from opcert.verdicts import FAILURE_STATUSES, Verdict


@dataclass(frozen=True)
class Column:
    """One of the certificates: its number, its backend, and what else tells it from the others."""

    number: int
    certificate: Certificate

    @property
    def name(self) -> str:
        """The backend's name and version, with its options."""
        backend = self.certificate.backend
        options = "".join(f" {key}={value}" for key, value in backend.options.items())
        return f"{backend.name} {backend.version}{options}"

    @property
    def headline(self) -> str:
        """The answer."""
        return self.certificate.conclusion

    @cached_property
    def tally(self) -> Tally:
        """All verdicts."""
        return Tally(self.certificate.counts)

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdicts by case."""
        return {each.case: each for each in self.certificate.verdicts}

    def operator(self, name: str) -> Tally:
        """Return the verdicts of an operator."""
        return count_statuses(v for v in self.certificate.verdicts if v.operator == name)

    def said(self, case: str) -> str:
        """Return the status of a case, and the kind of its failure."""
        verdict = self.verdicts.get(case)
        if verdict is None:
            return "not in it"
        return f"{verdict.status} ({verdict.kind})" if verdict.kind else verdict.status


@dataclass(frozen=True)
class Since:
    """What became of the cases of the first certificate in another one."""

    name: str
    regressed: Sequence[str]
    mended: Sequence[str]
    otherwise: Sequence[str]


class SideBySide:
    """Two certificates or more; the first is what the others are held against."""

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self.columns = [Column(number, each) for number, each in enumerate(certificates, 1)]

    @property
    def conformant(self) -> bool:
        """Whether all are conformant."""
        return all(each.certificate.conformant for each in self.columns)

    @cached_property
    def operators(self) -> list[str]:
        """The operators that any of them has verdicts of."""
        found = (name for each in self.columns for name in each.certificate.operators)
        return list(dict.fromkeys(found))

    @property
    def suites(self) -> list[str]:
        """The digests of their suites, each once."""
        return list(dict.fromkeys(each.certificate.suite.digest for each in self.columns))

    @cached_property
    def differing(self) -> list[str]:
        """The cases that are not the same in all of them, in their order."""
        cases = dict.fromkeys(case for each in self.columns for case in each.verdicts)
        return [case for case in cases if len({each.said(case) for each in self.columns}) > 1]

    @property
    def since(self) -> Iterator[Since]:
        """What became of each case of the first one in the others."""
        first, *others = self.columns
        for other in others:
            changed = [case for case in self.differing if first.said(case) != other.said(case)]
            regressed = [case for case in changed if _went(case, first, other)]
            mended = [case for case in changed if _went(case, other, first)]
            rest = sorted({*changed} - {*regressed, *mended}, key=changed.index)
            yield Since(other.name, regressed, mended, rest)


def _went(case: str, before: Column, after: Column) -> bool:
    """Whether a case passes in one certificate and fails in the other."""
    one, other = before.verdicts.get(case), after.verdicts.get(case)
    return one is not None and other is not None and one.status == "pass" and _fails(other)


def _fails(verdict: Verdict) -> bool:
    return verdict.status in FAILURE_STATUSES or verdict.status == "waived"
