"""Files -> a folder, whole or not at all; and whether a folder holds just these files."""

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from opcert.errors import OpcertError, SuiteError
from opcert.suite.emit import FileContents
from opcert.suite.format import MANIFEST
from opcert.suite.suite import LARGEST, read_manifest
from opcert.untrusted_files import make_folder, read_limited

# How far into a file its mark stands.
_HEAD = 400
# What Python and pytest leave behind in a folder of tests.
_CACHES = ("__pycache__", ".pytest_cache")
# Written by people for the readers of the folder. It is no part of the suite, and is kept.
_GUIDE = "README.md"


def write_suite(folder: Path, files: FileContents) -> None:
    """Put a suite of just `files` at `folder`, in the place of one that is there.

    A README.md in the folder is kept.

    Raises:
        OpcertError: the folder holds something else, or cannot be written; nothing has changed.
    """
    try:
        ours = {MANIFEST, *read_manifest(folder).files}
    except SuiteError:
        # None is there, or one of another form, which is not ours.
        ours = set()
    guide = folder / _GUIDE
    try:
        has_guide = guide.is_file() and not guide.is_symlink()
        kept = {_GUIDE: read_limited(guide, LARGEST)} if has_guide else {}
    except OSError as error:
        raise _unwritten(folder, error) from None
    ours.update(kept)
    refuse_foreign_files(folder, files_in(folder.resolve()), ours.__contains__, "a suite")
    replace_folder(folder, {**files, **kept})


def replace_folder(folder: Path, files: FileContents) -> None:
    """Put a folder of just `files` at `folder`, in the place of one that is there.

    It is written beside `folder` and moved into its place: a run that fails or is interrupted
    leaves what was there as it was.

    Raises:
        OpcertError: there is a file, or it cannot be written; nothing has changed.
    """
    target = folder.resolve()
    if target.exists() and not target.is_dir():
        raise OpcertError(f"{folder}: a file; expected a folder, or nothing")
    make_folder(target.parent)
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
    except OSError as error:
        raise _unwritten(folder, error) from None
    try:
        for name, data in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        fresh.chmod(0o755)
        _exchange(fresh, target)
    except OSError as error:
        raise _unwritten(folder, error) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def replace_marked_folder(
    folder: Path, files: FileContents, marks: Collection[str], kind: str
) -> None:
    """Put a folder of just `files` at `folder`, in the place of one whose files all have a mark.

    `marks` are what such files say near their beginning, `kind` is what they are a part of.

    Raises:
        OpcertError: there is another file, or it cannot be written; nothing has changed.
    """
    names = files_in(folder.resolve())
    refuse_foreign_files(folder, names, lambda name: _is_marked(folder / name, marks), kind)
    replace_folder(folder, files)


def refuse_foreign_files(
    folder: Path, names: Iterable[str], is_ours: Callable[[str], bool], kind: str
) -> None:
    """Refuse to write to a folder that holds anything but what opcert wrote there before.

    `names` are the files in it, `kind` is what those that are ours are a part of.

    Raises:
        OpcertError: it holds something else.
    """
    strangers = sorted(name for name in names if not is_ours(name))
    if strangers:
        held = f"holds {', '.join(strangers[:5])}, no part of {kind} as opcert wrote it"
        raise OpcertError(f"{folder}: {held}; move it away, or name another folder")


def _is_marked(path: Path, marks: Collection[str]) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return any(mark.encode() in head for mark in marks)


def _exchange(fresh: Path, target: Path) -> None:
    """Move `fresh` to `target`, and what was there to where `fresh` was."""
    former = fresh.with_name(fresh.name + ".former")
    try:
        if target.exists():
            target.rename(former)
        fresh.rename(target)
    finally:
        if former.exists() and not target.exists():
            former.rename(target)
        shutil.rmtree(former, ignore_errors=True)


def _unwritten(folder: Path, error: OSError) -> OpcertError:
    reason = error.strerror or error
    return OpcertError(f"{folder}: cannot be written: {reason}; what was there is as it was")


def files_in(folder: Path) -> Iterator[str]:
    """Yield every file and link below `folder` by path, but what Python leaves behind."""
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = [name for name in folders if name not in (*_CACHES, *links)]
        for name in [*names, *links]:
            yield (Path(parent) / name).relative_to(folder).as_posix()


def differences(folder: Path, files: FileContents) -> list[str]:
    """Say how the files in `folder` differ from `files`, one line each; a README.md is ignored.

    Raises:
        SuiteError: one of them cannot be read.
    """
    found = set(files_in(folder)) - {_GUIDE}
    try:
        held = {name: read_limited(folder / name, LARGEST) for name in found & files.keys()}
    except OSError as error:
        raise SuiteError(f"{error.filename}: cannot be read: {error.strerror}") from None
    missing = [f"missing: {name}" for name in files.keys() - found]
    beyond = [f"not generated: {name}" for name in found - files.keys()]
    changed = [f"differs: {name}" for name, data in held.items() if data != files[name]]
    return sorted([*missing, *beyond, *changed])
