"""What is printed, to the end of a run: also where its reader has left, or a disk is full."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# The exit code where what was found is not told.
UNTOLD = 3


class _Patient(io.RawIOBase):
    """Writes to another file for as long as that can be written; then keeps why it cannot."""

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
def patient_output() -> Iterator[None]:
    """Let nothing end for what cannot be printed; exit with `UNTOLD` once all is done."""
    (sys.stdout, out), (sys.stderr, _) = _patient(sys.stdout), _patient(sys.stderr)
    try:
        yield
    finally:
        sys.stdout.flush()
        if out.error is not None:
            reason = out.error.strerror
            print(f"opcert: what was found cannot be printed: {reason}", file=sys.stderr)
            sys.exit(UNTOLD)


def _patient(stream: TextIO | None) -> tuple[TextIO, _Patient]:
    if stream is None:
        # It was closed before the start.
        raw = _Patient(io.FileIO(os.devnull, "w"))
        raw.error = OSError(0, "it is closed")
        return io.TextIOWrapper(io.BufferedWriter(raw)), raw
    stream.flush()
    buffer = stream.buffer
    raw = _Patient(getattr(buffer, "raw", buffer))
    text = io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, "backslashreplace", line_buffering=True
    )
    return text, raw
