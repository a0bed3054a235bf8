"""A run of `opcert certify` for each copy of a series, one after the other."""

import gc
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcert.commands.options import ExitCode, echo_line, interruption_text, print_error
from opcert.errors import OpcertError

if TYPE_CHECKING:
    from opcert.certificate.certificate import Certificate
    from opcert.certificate.series_result import BackendName
    from opcert.isolation.configuration import Configuration
    from opcert.report.series_page import CertifiedCopy
    from opcert.suite.format import CopyEntry
    from opcert.suite.series import Series
    from opcert.suite.suite import Suite

    # Certifies a copy, writes its certificate to a path, and resumes an earlier one.
    CertifyCopy = Callable[[Suite, Path, Certificate | None], ExitCode]

RESULTS = {
    ExitCode.SUCCESS: "conformant",
    ExitCode.FAILURE: "not conformant",
    ExitCode.INVALID_INPUT: "invalid input",
    ExitCode.INTERRUPTED: "interrupted",
}


def check_series_call(out: Path | None, selected: "Sequence[Configuration]", as_json: bool) -> None:
    """Check what a call needs, or must not have, to certify a series.

    Raises:
        OpcertError: it has several configurations or --json, or no --out.
    """
    if as_json:
        raise OpcertError("--json prints one certificate; name one copy of the series by --suite")
    if out is None:
        raise OpcertError("a series needs --out, the folder for the certificates of its copies")
    if len(selected) > 1:
        raise OpcertError(
            f"found {len(selected)} configurations and a series; choose one configuration"
        )


def certify_series(
    series: "Series",
    out: Path,
    certify_copy: "CertifyCopy",
    *,
    resume: bool,
    stop: bool,
    announce: Callable[[str], None],
) -> ExitCode:
    """Certify each copy in a folder of `out`, write the result of all; return the exit code.

    The exit code is the highest of the copies'. With `stop`, the first failure ends the run.
    `announce` is called with a sentence about what was done on the way.

    Raises:
        OpcertError: `out` cannot be written, or holds other files.
    """
    run = _SeriesRun(series, out, certify_copy, resume, announce)
    codes: list[ExitCode] = []
    for entry in series.manifest.copies:
        echo_line(f"{entry.folder}:")
        try:
            codes.append(run.certify(entry))
        except (OpcertError, OSError) as error:
            print_error(error)
            codes.append(ExitCode.INVALID_INPUT)
            # The next copy would have the same error.
            break
        except KeyboardInterrupt:
            echo_line(interruption_text(), err=True)
            codes.append(ExitCode.INTERRUPTED)
        if codes[-1] == ExitCode.INTERRUPTED or (stop and codes[-1] == ExitCode.FAILURE):
            break
    run.write()
    counts = Counter(RESULTS[code] for code in codes)
    counts["not started"] = len(series) - len(codes)
    results = ", ".join(f"{count} {text}" for text, count in counts.items() if count)
    echo_line(f"{len(series)} copies: {results}")
    return max(codes)


class _SeriesRun:
    """Certifies the copies of a series, and keeps what the page about all of them needs."""

    def __init__(
        self,
        series: "Series",
        out: Path,
        certify_copy: "CertifyCopy",
        resume: bool,
        announce: Callable[[str], None],
    ) -> None:
        from opcert.certificate.file import CERTIFICATE_FILE, refuse_path_in_suite
        from opcert.certificate.journal import JOURNAL_FILE
        from opcert.certificate.series_result import SERIES_RESULT_FILE
        from opcert.certificate.submission import submission_path
        from opcert.report.files import check_series_folder

        self._series, self._out, self._certify_copy = series, out, certify_copy
        self._announce = announce
        names = [entry.folder for entry in series.manifest.copies]
        check_series_folder(out, names)
        refuse_path_in_suite(out.resolve() / SERIES_RESULT_FILE, series.folder)
        self._targets = {name: submission_path(out / name, series.folder / name) for name in names}
        self._resume = resume
        kept = (self._targets[names[0]].with_name(n) for n in (CERTIFICATE_FILE, JOURNAL_FILE))
        if resume and not any(path.exists() for path in kept):
            first = self._targets[names[0]]
            raise OpcertError(f"{first}: No such file; expected the certificate to continue")
        self._copies: list[CertifiedCopy] = []
        self._identity: Mapping[str, Any] | None = None
        self._backend: BackendName | None = None
        # When the run began its first copy: older certificates are of a run that was replaced.
        self._began = ""

    def certify(self, entry: "CopyEntry") -> ExitCode:
        """Certify a copy, and return the exit code.

        A finished certificate of the interrupted run is kept. But the first copy is resumed all the
        same, which checks that the run has the same arguments, and so are copies with waivers,
        which may be unused.
        """
        from opcert.certificate.certify_suite import UnusedWaiverError

        target = self._targets[entry.folder]
        former = self._former(entry)
        is_kept = former is not None and self._is_finished(entry, former)
        if former is not None and is_kept and self._copies and former.waivers is None:
            self._announce(f"{former.conclusion}, as the earlier run found")
            code = ExitCode.SUCCESS if former.conformant else ExitCode.FAILURE
        else:
            try:
                code = self._certify_copy(self._series.open(entry), target, former)
            except UnusedWaiverError as error:
                # The waivers are wrong, but the certificate is written.
                print_error(error)
                code = ExitCode.INVALID_INPUT
        del former
        # Suites and certificates have cycles, and the next ones need their memory.
        gc.collect()
        self._keep(entry)
        return code

    def _former(self, entry: "CopyEntry") -> "Certificate | None":
        """Return what the run that is resumed had reached in a copy."""
        from opcert.certificate.journal import read_former_certificate

        folder = self._targets[entry.folder].parent
        former = read_former_certificate(folder) if self._resume else None
        return former if former is not None and former.platform.date >= self._began else None

    def _is_finished(self, entry: "CopyEntry", former: "Certificate") -> bool:
        from opcert.certificate.journal import JOURNAL_FILE

        # A journal lacks the cases that a killed run had not reached.
        was_killed = self._targets[entry.folder].with_name(JOURNAL_FILE).exists()
        return former.is_finished and not was_killed

    def _keep(self, entry: "CopyEntry") -> None:
        """Keep what the result has of the certificate of a copy.

        Raises:
            OpcertError: it is of another suite, or of another run than those before it.
        """
        from opcert.certificate.file import (
            json_differences,
            parse_certificate,
            read_certificate_bytes,
        )
        from opcert.certificate.series_result import backend_name, copy_result, identity_of_run
        from opcert.report.series_page import certified_copy

        target = self._targets[entry.folder]
        content = read_certificate_bytes(target)
        certificate = parse_certificate(content, target)
        identity = identity_of_run(certificate)
        found = {"suite": certificate.suite.digest, **identity}
        expected = {"suite": entry.digest, **(self._identity or identity)}
        for place, first, second in json_differences(expected, found):
            raise OpcertError(
                f"{target}: found {'.'.join(place)} {second}; expected {first}, as for the other "
                "copies; start a new run, without --resume"
            )
        self._identity, self._backend = identity, backend_name(certificate)
        self._began = self._began or certificate.platform.date
        result = copy_result(entry.folder, content, certificate)
        self._copies.append(certified_copy(result, certificate))

    def write(self) -> None:
        """Write the result of the copies that were certified, and the page about them.

        After an early end, it has the other copies that the resumed run had reached. The copies of
        a run that was replaced are removed.
        """
        from opcert.certificate.series_result import SERIES_RESULT_FILE, series_entry, series_result
        from opcert.output_files import write_files
        from opcert.report.files import render_series
        from opcert.report.series_page import SeriesPage

        if self._backend is None:
            return
        obsolete: list[str] = []
        for entry in self._series.manifest.copies[len(self._copies) :]:
            # A certificate that is damaged, or of a run with other arguments, stays.
            with suppress(OpcertError):
                obsolete += (f"{entry.folder}/{name}" for name in self._keep_reached(entry))
            gc.collect()
        copies = [copy.result for copy in self._copies]
        result = series_result(series_entry(self._series), self._backend, copies)
        page = render_series(SeriesPage(result, self._copies))
        files = {**page, SERIES_RESULT_FILE: result.to_json().encode()}
        write_files(self._out, files, obsolete)
        self._announce(f"wrote {self._out / SERIES_RESULT_FILE} and {', '.join(page)}")

    def _keep_reached(self, entry: "CopyEntry") -> Sequence[str]:
        """Keep what the run had reached in a copy; return the names of the other files there.

        Raises:
            OpcertError: the files are damaged, or of a run with other arguments.
        """
        from opcert.certificate.journal import JOURNAL_FILE, read_former_certificate
        from opcert.certificate.submission import own_files

        folder = self._targets[entry.folder].parent
        former = read_former_certificate(folder)
        if former is None or former.platform.date < self._began:
            return own_files(folder)
        if (folder / JOURNAL_FILE).exists():
            # The next run with --resume needs it; a certificate next to it is older.
            return [name for name in own_files(folder) if name != JOURNAL_FILE]
        if not self._resume:
            return own_files(folder)
        self._keep(entry)
        return []
