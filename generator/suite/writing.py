"""Writes folders completely or not at all, and compares folders with expected files."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from opcert.errors import OpcertError, SuiteError
from opcert.suite.emit import FileContents
from opcert.suite.format import MANIFEST
from opcert.suite.suite import MAX_FILE_BYTES, read_manifest
from opcert.untrusted_files import check_folder, make_folder, read_limited

# A mark is within this number of bytes from the beginning of a file.
_HEAD_BYTES = 400
# Folders that Python and pytest leave among tests.
_CACHES = ("__pycache__", ".pytest_cache")
# A hand-written guide to the folder, which is kept although it is not part of the suite.
_GUIDE = "README.md"


def write_suite(folder: Path, files: FileContents) -> None:
    """Write a suite to `folder`, and replace an earlier one; keep a README.md in the folder.

    Raises:
        OpcertError: the folder holds other files, or cannot be written; nothing has changed.
    """
    check_suite_folder(folder)
    guide = folder / _GUIDE
    try:
        has_guide = guide.is_file() and not guide.is_symlink()
        kept = {_GUIDE: read_limited(guide, MAX_FILE_BYTES)} if has_guide else {}
    except OSError as error:
        raise _write_error(folder, error) from None
    _replace_folder(folder, {**files, **kept})


def check_suite_folder(folder: Path) -> None:
    """Check that a suite can be written to `folder`, before it is generated.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    _check_writable(folder)
    own_files = _files_of_suite(folder)
    guide = folder / _GUIDE
    if guide.is_file() and not guide.is_symlink():
        own_files.add(_GUIDE)
    refuse_foreign_files(folder, _files_in(folder.resolve()), own_files.__contains__, "a suite")


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
        OpcertError: the folder holds other files, or cannot be written; nothing has changed.
    """
    check_marked_folder(folder, marks, kind)
    _replace_folder(folder, files)


def check_marked_folder(folder: Path, marks: Collection[str], kind: str) -> None:
    """Check that `replace_marked_folder` can write to `folder`, before its files are made.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """

    def is_marked(name: str) -> bool:
        path = folder / name
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        return any(mark.encode() in head for mark in marks)

    _check_writable(folder)
    refuse_foreign_files(folder, _files_in(folder.resolve()), is_marked, kind)


def refuse_foreign_files(
    folder: Path, names: Iterable[str], is_own: Callable[[str], bool], kind: str
) -> None:
    """Refuse to write to a folder that has files of other origin.

    `names` are the files in the folder. `kind` names the folder in messages.

    Raises:
        OpcertError: the folder has a file that is not opcert's own.
    """
    foreign = sorted(name for name in names if not is_own(name))
    if foreign:
        raise OpcertError(
            f"{folder}: contains {', '.join(foreign[:5])}, not part of {kind} that opcert wrote; "
            "move it away, or name another folder"
        )


def _check_writable(folder: Path) -> None:
    """Check that a folder can be replaced or created.

    Raises:
        OpcertError: a file is in the way, or it cannot be written to.
    """
    try:
        target = folder.resolve()
        check_folder(target)
        if target.exists():
            # The new folder is written next to the former one, and takes its place.
            check_folder(target.parent)
    except (OSError, RuntimeError) as error:
        raise _write_error(folder, error) from None


def _replace_folder(folder: Path, files: FileContents) -> None:
    """Write `files` next to `folder` and rename the result, so that a failure changes nothing."""
    target = folder.resolve()
    make_folder(target.parent)
    try:
        new = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
    except OSError as error:
        raise _write_error(folder, error) from None
    try:
        for name, data in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        new.chmod(0o755)
        _exchange(new, target)
    except OSError as error:
        raise _write_error(folder, error) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _exchange(new: Path, target: Path) -> None:
    """Rename `new` to `target`, and restore an earlier `target` if renaming is interrupted."""
    former = new.with_name(new.name + ".former")
    try:
        if target.exists():
            target.rename(former)
        new.rename(target)
    finally:
        if former.exists() and not target.exists():
            former.rename(target)
        shutil.rmtree(former, ignore_errors=True)


def _write_error(folder: Path, error: Exception) -> OpcertError:
    reason = getattr(error, "strerror", None) or error
    return OpcertError(f"{folder}: cannot be written: {reason}; nothing was changed")


def folder_differences(folder: Path, files: FileContents) -> list[str]:
    """Return the differences between the files in `folder` and `files`; ignore README.md.

    Raises:
        SuiteError: a file cannot be read.
    """
    present = set(_files_in(folder)) - {_GUIDE}
    missing = [f"missing: {name}" for name in files.keys() - present]
    unexpected = [f"unexpected: {name}" for name in present - files.keys()]
    try:
        changed = [
            f"changed: {name}"
            for name in present & files.keys()
            if read_limited(folder / name, MAX_FILE_BYTES) != files[name]
        ]
    except OSError as error:
        raise SuiteError(f"{error.filename}: cannot be read: {error.strerror}") from None
    return sorted([*missing, *unexpected, *changed])


def _files_in(folder: Path) -> Iterator[str]:
    """Yield the paths of all files and links below `folder`, except the caches of Python."""
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = [name for name in folders if name not in (*_CACHES, *links)]
        for name in [*names, *links]:
            yield (Path(parent) / name).relative_to(folder).as_posix()
