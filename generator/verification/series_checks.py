"""Checks the result of a series against the certificates of its copies."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from opcert.certificate.file import json_differences
from opcert.certificate.journal import JOURNAL_FILE, is_journal
from opcert.certificate.series_result import (
    SERIES_RESULT_FILE,
    SeriesEntry,
    SeriesResult,
    result_mistakes,
    series_entry,
    series_result,
)
from opcert.output_files import files_below
from opcert.report.files import render_series
from opcert.report.series_page import CertifiedCopy, SeriesPage
from opcert.suite.format import COPY_FOLDER, CopyEntry
from opcert.suite.series import Series, series_digest
from opcert.untrusted_files import open_untrusted
from opcert.verification.verdict_checks import Finding


def series_findings(
    folder: Path, result: SeriesResult, copies: Sequence[CertifiedCopy], series: Series | None
) -> Iterator[Finding]:
    """Yield the findings about the result of a series in `folder`, and about the page next to it.

    `copies` have what follows from the certificates, in the order of the result. Without `series`,
    its digest follows from the certificates, if there are those of all copies.
    """
    yield from (Finding(*mistake) for mistake in result_mistakes(result))
    yield from _copy_findings(result, copies)
    of_copies = [copy.result for copy in copies]
    suite = _expected_entry(result, copies) if series is None else series_entry(series)
    backend = copies[0].backend if copies else result.backend
    expected = series_result(suite, backend, of_copies)
    differences = json_differences(result.model_dump(mode="json"), expected.model_dump(mode="json"))
    is_sound = True
    for place, found, follows in differences:
        is_sound = False
        text = f"found {found}; expected {follows}, which follows from the certificates"
        yield Finding(f"{SERIES_RESULT_FILE}: {'.'.join(place)}", text)
    if is_sound:
        yield from _file_findings(folder, result, copies)


def _copy_findings(result: SeriesResult, copies: Sequence[CertifiedCopy]) -> Iterator[Finding]:
    """Yield the copies that are of another profile or of another backend."""
    for copy in copies:
        name = copy.result.folder
        if copy.profile != result.suite.profile:
            text = f"found a suite of profile {copy.profile}; expected {result.suite.profile}"
            yield Finding(name, text)
        if copy.backend != result.backend:
            found_name, expected = (
                f"{backend.name} {backend.version}" for backend in (copy.backend, result.backend)
            )
            yield Finding(name, f"found a certificate of {found_name}; expected {expected}")


def _expected_entry(result: SeriesResult, copies: Sequence[CertifiedCopy]) -> SeriesEntry:
    """Return the entry of the series of all copies; the stated one if copies are missing."""
    if len(copies) != result.suite.copies:
        return result.suite
    entries = [
        CopyEntry(
            folder=copy.result.folder,
            seed=copy.result.seed,
            digest=copy.result.suite,
            cases=copy.result.cases,
        )
        for copy in copies
    ]
    digest = series_digest(copies[0].profile, entries)
    return SeriesEntry(
        profile=copies[0].profile, seed=entries[0].seed, digest=digest, copies=len(entries)
    )


def _file_findings(
    folder: Path, result: SeriesResult, copies: Sequence[CertifiedCopy]
) -> Iterator[Finding]:
    """Yield the other files in a folder, and the differences of the page and of the result."""
    expected = {
        **render_series(SeriesPage(result, copies)),
        SERIES_RESULT_FILE: result.to_json().encode(),
    }
    for name, content in expected.items():
        try:
            with open_untrusted(folder / name) as file:
                found = file.read(len(content) + 1)
        except OSError as error:
            yield Finding(name, f"{error.strerror}; expected a file that opcert wrote")
            continue
        if found != content:
            yield Finding(name, "differs from what opcert writes for these certificates")
    known = {*expected, *(copy.result.folder for copy in copies)}
    for path in sorted(folder.iterdir()):
        if path.name not in known and not _is_unfinished_copy(path):
            yield Finding(path.name, "the result does not name this file; expected no other files")


def _is_unfinished_copy(folder: Path) -> bool:
    """Whether a folder has the journal of a copy, from which the run is resumed, and no more."""
    if folder.is_symlink() or not re.fullmatch(COPY_FOLDER, folder.name):
        return False
    return [*files_below(folder)] == [JOURNAL_FILE] and is_journal(folder / JOURNAL_FILE)
