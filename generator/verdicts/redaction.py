"""Redaction: removes names and folders of the machine from the texts of a backend."""

import getpass
import re
import site
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from opcert.run.outcome import Outcome

# An absolute path and its last part: of POSIX, of a file URL, of Windows. A path below /dev is a
# device, which has the same name on any machine.
_PATH = re.compile(
    r"(?:(?<=file://)|(?<![\w./\\<>~-]))(?!/dev/)/(?:[\w.@+,=~-]+/)+([\w.@+,=~-]*)"
    r"|(?<!\w)[A-Za-z]:\\(?:[^\\/:*?\"<>|\s]+\\)*([^\\/:*?\"<>|\s]*)"
)
# Names that identify nobody, and the minimum length: shorter names match ordinary words.
_GENERIC_NAMES = ("localhost", "root", "user")
_SHORTEST_NAME = 3

Replacement = str | Callable[[re.Match[str]], str]


def redact_text(text: str) -> str:
    """Return `text` with placeholders for known folders, other absolute paths, host and user."""
    if text:
        for pattern, replacement in _replacements():
            text = pattern.sub(replacement, text)
    return text


def redact_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome with redacted texts, fit for a certificate."""
    fault = outcome.fault
    if not (fault or outcome.reason or outcome.log or outcome.lines):
        return outcome
    return replace(
        outcome,
        reason=redact_text(outcome.reason),
        log=redact_text(outcome.log),
        lines=[redact_text(line) for line in outcome.lines],
        fault=None if fault is None else replace(fault, text=redact_text(fault.text)),
    )


@cache
def _replacements() -> Sequence[tuple[re.Pattern[str], Replacement]]:
    """Return the patterns to replace, in order: known folders, other paths, host and user."""
    known = [
        ("<temp>", [tempfile.gettempdir()]),
        ("<python>", [sys.prefix, sys.base_prefix]),
        ("<packages>", [*site.getsitepackages(), site.getusersitepackages()]),
    ]
    # A process may have no home, and its current folder may have been removed.
    with suppress(OSError, RuntimeError):
        known.append(("<home>", [str(Path.home())]))
    with suppress(OSError):
        known.append(("<here>", [str(Path.cwd())]))
    folders = {
        (form, placeholder)
        for placeholder, paths in known
        for path in paths
        for form in (path, str(Path(path).resolve()))
        # The root is a prefix of every path and identifies nothing.
        if len(Path(form).parts) > 1
    }
    host = socket.gethostname()
    names = [(host, "<host>"), (host.partition(".")[0], "<host>")]
    # A process may run under a user without a name, as in a container.
    with suppress(OSError, KeyError, ImportError):
        names.append((getpass.getuser(), "<user>"))
    return [
        *(
            (re.compile(rf"{re.escape(folder)}(?![\w-])"), placeholder)
            # Inner folders first, so that the longest known prefix is replaced.
            for folder, placeholder in sorted(folders, key=lambda pair: -len(pair[0]))
        ),
        (_PATH, lambda match: f"<path>/{match[1] or match[2] or ''}"),
        *(
            (re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"), placeholder)
            for name, placeholder in names
            if name not in _GENERIC_NAMES and len(name) >= _SHORTEST_NAME
        ),
    ]
