"""Writes suites and other files of opcert, and replaces no folder that has files of others."""

import json
import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from opcert.errors import OpcertError, SuiteError
from opcert.suite.format import MANIFEST, MAX_FILE_BYTES, content_digest
from opcert.suite.suite import core_suite_folder, read_manifest
from opcert.system import (
    STAGE,
    FileContents,
    check_output_folder,
    files_below,
    open_untrusted,
    read_limited,
    write_files,
)

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
    own_files = _files_of_suite(target) | _files_of_suite(target / STAGE, partly_moved=True)
    guide = target / _GUIDE
    if guide.is_file() and not guide.is_symlink():
        own_files.add(_GUIDE)
    refuse_foreign_files(folder, files_below(target, _CACHES), own_files.__contains__, "a suite")
    write_files(folder, files, {*files_below(target)} - {_GUIDE})


def _files_of_suite(folder: Path, *, partly_moved: bool = False) -> set[str]:
    """Return the names of the files of a suite in `folder`; none if there is no suite."""
    with suppress(SuiteError):
        files = read_manifest(folder).files
        # The manifest does not name what `--format safetensors` adds.
        ends = (".jsonl.gz", ".safetensors")
        return {MANIFEST, *files, *(n.replace(*ends) for n in files if n.endswith(ends[0]))}
    # Every format has `files`. A suite of another format is recognised only if it is intact.
    try:
        files = json.loads(read_limited(folder / MANIFEST, MAX_FILE_BYTES))["files"]
        for name, digest in files.items():
            if partly_moved and not (folder / name).exists():
                continue
            if content_digest(name, read_limited(folder / name, MAX_FILE_BYTES)) != digest:
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
    write_files(folder, files.items(), [*files_below(check_marked_folder(folder, marks, kind))])


def check_marked_folder(folder: Path, marks: Collection[str], kind: str) -> Path:
    """Check that `replace_marked_folder` can write to `folder`; return its real path.

    Called before the files are made.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    target = check_output_folder(folder)
    names = files_below(target, _CACHES)
    refuse_foreign_files(folder, names, lambda name: is_marked(target / name, marks), kind)
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


def refuse_path_in_suite(target: Path, suite: Path | None) -> None:
    """Refuse a resolved path that is in the folder of the core suite or of `suite`.

    Raises:
        SuiteError: it is.
    """
    for folder in {core_suite_folder().resolve(), (suite or core_suite_folder()).resolve()}:
        if target.is_relative_to(folder):
            raise SuiteError(f"{target}: is inside the suite {folder}; expected a path outside")


def path_of_new_file(out: Path, suite: Path | None) -> Path:
    """Return the resolved path of the file `out`; its folder need not exist.

    Raises:
        OpcertError: the file exists, is in a suite's folder, or its folder cannot be made.
    """
    try:
        target = out.resolve()
        refuse_path_in_suite(target, suite)
        if os.path.lexists(out):
            raise OpcertError(f"{out}: exists; remove it or name another file with --out")
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{out}: cannot be made: {reason}") from None
    check_output_folder(target.parent)
    return target


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
        elif _digest(folder, name) != content_digest(name, data):
            differences.append(f"changed: {name}")
        unexpected.discard(name)
    return sorted([*differences, *(f"unexpected: {name}" for name in unexpected)])


def _digest(folder: Path, name: str) -> str | None:
    """Return the digest of the content of a file, or None if it is damaged."""
    try:
        return content_digest(name, read_limited(folder / name, MAX_FILE_BYTES))
    except OSError as error:
        raise SuiteError(f"{error.filename}: cannot be read: {error.strerror}") from None
    except ValueError:
        return None
