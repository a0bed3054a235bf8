"""Standard streams that tolerate closed pipes and full disks, and the progress of a run."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, TextIO

from opcert.commands.options import ExitCode, echo_line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from opcert.certificate.certify_suite import OnVerdict
    from opcert.verdicts.verdict import Verdict


class _TolerantWriter(io.RawIOBase):
    """Writes to another file; after the first error, keeps it and discards further output."""

    def __init__(self, file: io.RawIOBase | BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._file.isatty()

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: "ReadableBuffer", /) -> int | None:
        if self.error is None:
            try:
                return self._file.write(data)
            except OSError as error:
                self.error = error
        return memoryview(data).nbytes


@contextmanager
def tolerant_output() -> Iterator[None]:
    """Let a command finish although it cannot print; then exit with `OUTPUT_LOST`."""
    (sys.stdout, out), (sys.stderr, _) = _tolerant(sys.stdout), _tolerant(sys.stderr)
    try:
        yield
    finally:
        sys.stdout.flush()
        if out.error is not None:
            text = f"opcert: error: output could not be printed: {out.error.strerror}"
            print(text, file=sys.stderr)
            sys.exit(ExitCode.OUTPUT_LOST)


def _tolerant(stream: TextIO | None) -> tuple[TextIO, _TolerantWriter]:
    if stream is None:
        # Python has no stream if the shell has closed it.
        raw = _TolerantWriter(io.FileIO(os.devnull, "w"))
        raw.error = OSError(0, "it is closed")
        return io.TextIOWrapper(io.BufferedWriter(raw)), raw
    stream.flush()
    buffer = stream.buffer
    raw = _TolerantWriter(getattr(buffer, "raw", buffer))
    text = io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, "backslashreplace", line_buffering=True
    )
    return text, raw


@contextmanager
def case_progress(quiet: bool, verbose: bool) -> Iterator["OnVerdict"]:
    """Print the progress of a run to stderr: nothing, a line for each case, or as usual."""
    from opcert.report.terminal import console, progress

    def print_verdict(verdict: "Verdict", number: int, total: int) -> None:
        kind = f" ({verdict.kind})" if verdict.kind else ""
        echo_line(f"{number}/{total} {verdict.case}: {verdict.status}{kind}", err=True)

    if verbose:
        yield print_verdict
    elif quiet:
        yield lambda *_: None
    else:
        with progress(console(stderr=True)) as on_verdict:
            yield on_verdict
