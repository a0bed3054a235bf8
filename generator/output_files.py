"""Writes files to a folder: each has its former content or the new one, never a part of it.

The files are made in a hidden folder within it, and then moved into place one by one. If opcert is
killed meanwhile, the hidden folder stays. By what it holds, the next command knows which of the
other files are opcert's own; then it removes the hidden folder. Links are never followed.
"""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from opcert.errors import OpcertError

# The contents of files by their path within a folder, with slashes.
FileContents = Mapping[str, bytes]

# The hidden folder, within the target: so it is on the same file system, even of a mount point.
STAGE = ".opcert-new"
_UNCHANGED = "nothing was changed"
_PARTLY_CHANGED = "some files were replaced; run the command again to replace all"

# The folders that this process has written to, for the message after an interrupt.
written: list[Path] = []


def check_output_folder(folder: Path) -> Path:
    """Check that files can be written to a folder, which need not exist; return its real path.

    Called before a long run, so that its result is not lost.

    Raises:
        OpcertError: a link or a file is in the way, or the folder cannot be created or written to.
    """
    with _writing(folder, _UNCHANGED):
        if folder.is_symlink():
            raise OpcertError(
                f"{folder}: is a link, which is not followed; name the folder that it leads to"
            )
        target = folder.resolve()
        existing = next(path for path in (target, *target.parents) if os.path.lexists(path))
        is_folder = existing.is_dir()
    if not is_folder:
        expected = "expected a folder, or a new path"
        raise OpcertError(f"{existing}: is not a folder; {expected}")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OpcertError(f"{existing}: cannot be written: Permission denied; name another folder")
    return target


def write_files(
    folder: Path, files: Iterable[tuple[str, bytes]], former: Collection[str] = ()
) -> None:
    """Write `files` to `folder`, and remove those of its `former` files that they do not replace.

    All other files in the folder stay. Each file is written as it comes; nothing in the folder
    changes before all have come. The last one, which may name the others, gets in place last.

    Raises:
        OpcertError: a file cannot be written; the message states whether something was changed.
    """
    target = check_output_folder(folder)
    stage, is_new = target / STAGE, not target.exists()
    names: list[str] = []
    try:
        with _writing(folder, _UNCHANGED):
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir(parents=True)
        for name, data in files:
            with _writing(folder, _UNCHANGED):
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_bytes(data)
            names.append(name)
        obsolete = sorted({*former}.difference(names))
        with _writing(folder, _UNCHANGED):
            for name in (*names, *obsolete):
                _refuse_links(target, name)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        if is_new:
            with suppress(OSError):
                target.rmdir()
        raise
    written.append(target)
    # If this fails, the hidden folder stays.
    with _writing(folder, _PARTLY_CHANGED):
        for name in names[:-1]:
            _move(stage, target, name)
        for name in obsolete:
            _remove(target, name)
        for name in names[-1:]:
            _move(stage, target, name)
        shutil.rmtree(stage)


def files_below(folder: Path, ignored: Collection[str] = (STAGE,)) -> Iterator[str]:
    """Yield the paths of all files below a folder, without folders that are named in `ignored`.

    Links count as files and are not followed; unreadable folders count as files too.
    """
    unreadable: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=unreadable.append):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in (*ignored, *links))
        for name in sorted([*names, *links]):
            yield (Path(parent) / name).relative_to(folder).as_posix()
    if folder.exists():
        yield from (Path(error.filename).relative_to(folder).as_posix() for error in unreadable)


@contextmanager
def _writing(folder: Path, advice: str) -> Iterator[None]:
    """Turn an error of the file system into a message with advice."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{folder}: cannot be written: {reason}; {advice}") from None


def _refuse_links(target: Path, name: str) -> None:
    for parent in PurePosixPath(name).parents:
        if (target / parent).is_symlink():
            raise OSError(0, f"{target / parent} is a link, which is not followed")


def _move(stage: Path, target: Path, name: str) -> None:
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (stage / name).replace(target / name)


def _remove(target: Path, name: str) -> None:
    """Remove a file, and the folders that are empty without it."""
    path = target / name
    path.unlink(missing_ok=True)
    while (path := path.parent) != target and path.is_dir() and not any(path.iterdir()):
        path.rmdir()
