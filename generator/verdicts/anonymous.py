"""What a backend says -> the same without the names and folders of the machine that it ran on."""

import getpass
import re
import site
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from opcert.run import Outcome

# An absolute path with its last part: of POSIX, of a URL of a file, of Windows. What stands below
# /dev is a device, by the same name on any machine.
_PATH = re.compile(
    r"(?:(?<=file://)|(?<![\w./\\<>~-]))(?!/dev/)/(?:[\w.@+,=~-]+/)+([\w.@+,=~-]*)"
    r"|(?<!\w)[A-Za-z]:\\(?:[^\\/:*?\"<>|\s]+\\)*([^\\/:*?\"<>|\s]*)"
)
# Names that say nothing of anybody; shorter ones would be found within what is said.
_ANYBODY = ("localhost", "root", "user")
_SHORTEST = 3


def without_names(text: str) -> str:
    """Return `text` with marks in the place of known folders, other paths, host and user."""
    if not text:
        return text
    for found, mark in _marks():
        text = found.sub(mark, text)
    return text


def anonymous(outcome: Outcome) -> Outcome:
    """Return an outcome whose texts a certificate may hold."""
    fault = outcome.fault
    return replace(
        outcome,
        reason=without_names(outcome.reason),
        log=without_names(outcome.log),
        fault=None if fault is None else replace(fault, text=without_names(fault.text)),
    )


@cache
def _marks() -> Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """Return what is looked for, in this order, and what takes its place."""
    folders = [
        (re.compile(rf"{re.escape(folder)}(?![\w-])"), mark)
        # The innermost first.
        for folder, mark in sorted(_folders(), key=lambda each: -len(each[0]))
    ]
    names = [
        (re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"), mark)
        for name, mark in _names()
        if name not in _ANYBODY and len(name) >= _SHORTEST
    ]
    return [*folders, (_PATH, lambda found: f"<path>/{found[1] or found[2] or ''}"), *names]


def _folders() -> Iterator[tuple[str, str]]:
    known = [
        ("<temp>", [tempfile.gettempdir()]),
        ("<python>", [sys.prefix, sys.base_prefix]),
        ("<packages>", [*site.getsitepackages(), site.getusersitepackages()]),
    ]
    # There need be no home, and the current folder may be gone.
    with suppress(OSError, RuntimeError):
        known.append(("<home>", [str(Path.home())]))
    with suppress(OSError):
        known.append(("<here>", [str(Path.cwd())]))
    for mark, folders in known:
        for form in {each for folder in folders for each in (folder, str(Path(folder).resolve()))}:
            # A folder that every path begins with says nothing.
            if len(Path(form).parts) > 1:
                yield form, mark


def _names() -> Iterator[tuple[str, str]]:
    host = socket.gethostname()
    yield from ((host, "<host>"), (host.partition(".")[0], "<host>"))
    # There need be no name, as in a container.
    with suppress(OSError, KeyError, ImportError):
        yield getpass.getuser(), "<user>"
