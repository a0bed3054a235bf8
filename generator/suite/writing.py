"""Checks that a folder has only opcert's own files before it is replaced, and compares folders."""

import json
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from itertools import islice
from pathlib import Path

from opcert.errors import OpcertError, SuiteError
from opcert.output_files import (
    STAGE,
    FileContents,
    check_output_folder,
    files_below,
    write_files,
)
from opcert.suite.format import MANIFEST
from opcert.suite.suite import MAX_FILE_BYTES, read_manifest
from opcert.untrusted_files import open_untrusted, read_limited

# A mark is within this number of bytes from the beginning of a file.
_HEAD_BYTES = 400
# Folders that Python and pytest leave among tests, and that of a command that was killed.
_CACHES = ("__pycache__", ".pytest_cache", STAGE)
# A hand-written guide to the folder, which is kept although it is not part of the suite.
_GUIDE = "README.md"
# The maximum number of files that are read in a folder.
MAX_FILES = 10_000


def write_suite(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a suite to `folder`, each file as it comes, the manifest last.

    It replaces an earlier suite. A README.md in the folder is kept, and so is a file that another
    program writes meanwhile.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    target = check_output_folder(folder)
    # A command that was killed as it wrote has not put the manifest in place.
    own_files = _files_of_suite(target) | _files_of_suite(target / STAGE)
    guide = target / _GUIDE
    if guide.is_file() and not guide.is_symlink():
        own_files.add(_GUIDE)
    refuse_foreign_files(folder, files_below(target, _CACHES), own_files.__contains__, "a suite")
    write_files(folder, files, {*files_below(target)} - {_GUIDE})


def _files_of_suite(folder: Path) -> set[str]:
    """Return the names of the files of a suite in `folder`; none if there is no suite."""
    try:
        return {MANIFEST, *read_manifest(folder).files}
    except SuiteError:
        pass
    # Every format has `files`. A suite of another format is recognised only if it is intact.
    try:
        files = json.loads(read_limited(folder / MANIFEST, MAX_FILE_BYTES))["files"]
        for name, digest in files.items():
            if sha256(read_limited(folder / name, MAX_FILE_BYTES)).hexdigest() != digest:
                return set()
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return set()
    return {MANIFEST, *files} if files else set()


def replace_marked_folder(
    folder: Path, files: FileContents, marks: Collection[str], kind: str
) -> None:
    """Write `files` to `folder`, and replace an earlier folder if all of its files have a mark.

    A mark is a text near the beginning of a file. `kind` names the folder in messages, such as "a
    report".

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    target = check_marked_folder(folder, marks, kind)
    write_files(folder, files.items(), [*files_below(target)])


def check_marked_folder(folder: Path, marks: Collection[str], kind: str) -> Path:
    """Check that `replace_marked_folder` can write to `folder`; return its real path.

    Called before the files are made.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    target = check_output_folder(folder)

    def is_own(name: str) -> bool:
        return is_marked(target / name, marks)

    refuse_foreign_files(folder, files_below(target, _CACHES), is_own, kind)
    return target


def is_marked(path: Path, marks: Collection[str]) -> bool:
    """Whether a file has one of the marks near its beginning."""
    try:
        with open_untrusted(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return any(mark.encode() in head for mark in marks)


def refuse_foreign_files(
    folder: Path, names: Iterable[str], is_own: Callable[[str], bool], kind: str
) -> None:
    """Refuse to write to a folder that has files of other origin.

    `names` are the files in the folder. `kind` names the folder in messages.

    Raises:
        OpcertError: the folder has a file that is not opcert's own.
    """
    foreign = [*islice((name for name in names if not is_own(name)), 5)]
    if foreign:
        raise OpcertError(
            f"{folder}: contains {', '.join(foreign)}, not part of {kind} that opcert wrote; "
            "move it away, or name another folder"
        )


def folder_differences(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return the differences between the files in `folder` and `files`; ignore README.md.

    Raises:
        SuiteError: a file cannot be read.
    """
    unexpected = {*files_below(folder, _CACHES)} - {_GUIDE}
    differences: list[str] = []
    for name, data in files:
        if name not in unexpected:
            differences.append(f"missing: {name}")
        elif _content(folder / name) != data:
            differences.append(f"changed: {name}")
        unexpected.discard(name)
    return sorted([*differences, *(f"unexpected: {name}" for name in unexpected)])


def _content(path: Path) -> bytes:
    try:
        return read_limited(path, MAX_FILE_BYTES)
    except OSError as error:
        raise SuiteError(f"{error.filename}: cannot be read: {error.strerror}") from None
