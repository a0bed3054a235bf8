"""The journal of a run: its verdicts as they come, from which a run that was killed is resumed."""

import json
from contextlib import suppress
from io import BufferedWriter
from pathlib import Path
from time import monotonic

from pydantic import TypeAdapter, ValidationError

from opcert.certificate.certificate import Certificate
from opcert.certificate.file import (
    CERTIFICATE_FILE,
    parse_certificate,
    read_certificate,
    read_certificate_bytes,
)
from opcert.errors import OpcertError
from opcert.untrusted_files import open_untrusted
from opcert.verdicts.verdict import Verdict

JOURNAL_FILE = "journal.jsonl"
# It becomes the journal when it has what was reached before.
JOURNAL_DRAFT_FILE = f"{JOURNAL_FILE}.new"
_KEY = "opcert_journal"
_VERDICT = TypeAdapter(Verdict)
# What a killed process has not yet written is lost.
_FLUSH_SECONDS = 1.0


class Journal:
    """A file with a run and its verdicts: the first line describes the run, each other a verdict.

    A verdict that changes later, or when the run ends, has several lines; the last one counts.
    """

    def __init__(self, path: Path, certificate: Certificate) -> None:
        """Begin a journal with the verdicts that a certificate has so far.

        Raises:
            OpcertError: the file cannot be written.
        """
        without_results = certificate.replace(verdicts=(), excerpts={}, reproductions={}, causes=())
        header = {_KEY: without_results.to_dict()}
        draft = path.with_name(JOURNAL_DRAFT_FILE)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.unlink(missing_ok=True)
            self._file: BufferedWriter | None = draft.open("xb")
            self._file.write(json.dumps(header).encode() + b"\n")
            self._flushed = monotonic()
            for verdict in certificate.verdicts:
                if not verdict.is_left_to_run:
                    self.add(verdict.without_waiver())
            self._file.flush()
            draft.replace(path)
        except OSError as error:
            raise OpcertError(f"{draft}: cannot be written: {error.strerror}") from None

    def add(self, verdict: Verdict) -> None:
        """Append a verdict; after an error in writing, the run goes on without a journal."""
        if self._file is None:
            return
        try:
            self._file.write(_VERDICT.dump_json(verdict) + b"\n")
            if monotonic() - self._flushed > _FLUSH_SECONDS:
                self._file.flush()
                self._flushed = monotonic()
        except OSError:
            self.close()

    def close(self) -> None:
        """Write what is not yet written."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()


def read_journal(path: Path) -> Certificate:
    """Return the certificate of the verdicts in a journal.

    Raises:
        OpcertError: the file cannot be read, or is not a journal.
    """
    header, *lines = read_certificate_bytes(path).split(b"\n")
    try:
        run = json.loads(header)[_KEY]
        # The last line is empty, or was cut short.
        verdicts = [_VERDICT.validate_json(line) for line in lines[:-1]]
    except (ValueError, LookupError, TypeError, RecursionError, ValidationError):
        raise OpcertError(
            f"{path}: is not the journal of a run, or was changed; remove it, and start a new run"
        ) from None
    certificate = parse_certificate(json.dumps(run).encode(), path)
    return certificate.replace(verdicts=tuple({v.case: v for v in verdicts}.values()))


def is_journal(path: Path) -> bool:
    """Whether a path is a regular file that begins as a journal does."""
    start = f'{{"{_KEY}": '.encode()
    try:
        with open_untrusted(path) as file:
            found = file.read(len(start))
    except OSError:
        return False
    # A killed process leaves a draft empty.
    return found == start or (path.name == JOURNAL_DRAFT_FILE and not found)


def read_former_certificate(folder: Path) -> Certificate | None:
    """Return what a run in this folder had reached, if there was one.

    A run that was killed leaves a journal, which is newer than a certificate.

    Raises:
        OpcertError: the file cannot be read, or is not what its name says.
    """
    if (folder / JOURNAL_FILE).exists():
        return read_journal(folder / JOURNAL_FILE)
    certificate = folder / CERTIFICATE_FILE
    return read_certificate(certificate) if certificate.exists() else None
