"""The certificates of a series -> one page: operators and causes of all copies together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from posixpath import join
from urllib.parse import quote

from opcert.certificate.certificate import Certificate
from opcert.certificate.file import CERTIFICATE_FILE, parse_certificate, read_certificate_bytes
from opcert.certificate.series_result import (
    SERIES_RESULT_FILE,
    BackendName,
    CopyResult,
    SeriesResult,
    backend_name,
    copy_result,
    read_series_result,
    result_mistakes,
    series_result,
)
from opcert.errors import OpcertError
from opcert.report.tallies import Tally
from opcert.verdicts.verdict import STATUSES, Status

# The file of the report of a certificate.
REPORT_FILE = "report.html"


@dataclass(frozen=True)
class CopyCause:
    """A cause in the certificate of a copy, with its number there and its number of failures."""

    number: int
    operator: str
    statement: str
    kinds: tuple[str, ...]
    failures: int


@dataclass(frozen=True)
class CertifiedCopy:
    """What the page has of the certificate of a copy, which is large."""

    result: CopyResult
    profile: str
    backend: BackendName
    conclusion: str
    has_report: bool
    operators: Mapping[str, Mapping[Status, int]]
    causes: Sequence[CopyCause]

    @property
    def tally(self) -> Tally:
        """The counts of all verdicts."""
        return Tally(self.result.counts)


def certified_copy(result: CopyResult, certificate: Certificate) -> CertifiedCopy:
    """Return what the page has of a certificate."""
    return CertifiedCopy(
        result=result,
        profile=certificate.suite.profile,
        backend=backend_name(certificate),
        conclusion=certificate.conclusion,
        has_report=certificate.is_finished,
        operators=certificate.operators,
        causes=[
            CopyCause(number, cause.operator, cause.statement, cause.kinds, len(cause.cases))
            for number, cause in enumerate(certificate.causes, 1)
        ],
    )


@dataclass
class SeriesCause:
    """The causes with one statement, by the folder of the copy."""

    operator: str
    statement: str
    kinds: dict[str, None] = field(default_factory=dict)
    places: dict[str, list[CopyCause]] = field(default_factory=dict)

    @property
    def failures(self) -> int:
        """The number of failures in all copies."""
        return sum(cause.failures for causes in self.places.values() for cause in causes)


class SeriesPage:
    """The content of the page of a series; `base` is the path from it to the copies' folders."""

    def __init__(
        self, result: SeriesResult, copies: Sequence[CertifiedCopy], base: str = ""
    ) -> None:
        self.result, self.copies = result, copies
        self._base = base
        self._with_report = {copy.result.folder for copy in copies if copy.has_report}

    @property
    def backend(self) -> str:
        """The backend's name and version."""
        return f"{self.result.backend.name} {self.result.backend.version}"

    @property
    def tally(self) -> Tally:
        """The counts of all verdicts."""
        return Tally(self.result.counts)

    @property
    def conclusion(self) -> str:
        """Whether the backend conforms to all copies."""
        failed = sum(not copy.result.conformant for copy in self.copies)
        total = self.result.suite.copies
        if self.result.conformant:
            return f"Conformant in all {total} copies"
        if len(self.copies) < total:
            return f"Not conformant: {failed} of {len(self.copies)} certified copies, of {total}"
        return f"Not conformant in {failed} of {total} copies"

    @property
    def conclusion_line(self) -> str:
        """One line with the conclusion, the backend and the series."""
        word, *rest = self.conclusion.partition("onformant")
        text = f"{word}{rest[0]}".upper() + rest[1]
        suite = self.result.suite
        return f"{text}: {self.backend} on {suite.profile} series {suite.digest[:12]}"

    @cached_property
    def statuses(self) -> list[Status]:
        """The statuses that occur."""
        return [status for status in STATUSES if self.result.counts.get(status)]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns for them; they hold numbers."""
        return [f"#{status}" for status in self.statuses]

    @cached_property
    def operators(self) -> dict[str, Tally]:
        """The counts of all copies by operator."""
        counts: dict[str, Counter[Status]] = {}
        for copy in self.copies:
            for operator, of_copy in copy.operators.items():
                counts.setdefault(operator, Counter()).update(of_copy)
        return {operator: Tally(total) for operator, total in counts.items()}

    @cached_property
    def causes(self) -> list[SeriesCause]:
        """The causes of all copies, merged by operator and statement; the most frequent first."""
        merged: dict[tuple[str, str], SeriesCause] = {}
        for copy in self.copies:
            for cause in copy.causes:
                key = cause.operator, cause.statement
                entry = merged.setdefault(key, SeriesCause(*key))
                entry.kinds |= dict.fromkeys(cause.kinds)
                entry.places.setdefault(copy.result.folder, []).append(cause)
        return sorted(merged.values(), key=lambda c: (-len(c.places), -c.failures))

    def link(self, folder: str, cause: CopyCause | None = None) -> str:
        """Return the address of a copy's report, or of a cause in it; empty if it has no report."""
        if folder not in self._with_report:
            return ""
        fragment = "" if cause is None else f"#cause-{cause.number}"
        return f"{quote(join(self._base, folder, REPORT_FILE))}{fragment}"


def read_series_page(folder: Path, base: str = "") -> SeriesPage:
    """Return the page of the certificates of a series in `folder`; see `SeriesPage` for `base`.

    Raises:
        OpcertError: a file cannot be read, the result contradicts itself, or a certificate is not
            the one that it states.
    """
    result = read_series_result(folder)
    follows = series_result(result.suite, result.backend, result.copies)
    if result != follows or any(result_mistakes(result)):
        raise OpcertError(
            f"{folder / SERIES_RESULT_FILE}: contradicts itself; `opcert verify` lists how"
        )
    copies = []
    for stated in result.copies:
        file = folder / stated.folder / CERTIFICATE_FILE
        content = read_certificate_bytes(file)
        certificate = parse_certificate(content, file)
        if copy_result(stated.folder, content, certificate) != stated:
            raise OpcertError(
                f"{file}: is not the certificate that {SERIES_RESULT_FILE} states; resume the run "
                "by `opcert certify --resume`, which writes it again"
            )
        copies.append(certified_copy(stated, certificate))
    return SeriesPage(result, copies, base)
