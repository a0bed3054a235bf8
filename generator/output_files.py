"""Writes files to a folder: all of them or none, also if the process is killed meanwhile.

The files are prepared in a hidden folder, a *stage*. Then one of two ways puts them in place:

- A folder without other files is exchanged as a whole, with a stage next to it. Linux does this in
  one step. Elsewhere the former folder is moved away first, and moved back if that was all.
- A folder that cannot be exchanged has a stage within it: it has files of a user, is a mount point
  or the current folder, or its parent cannot be written to. Its files are replaced one by one, in
  the order in which they were given. A *plan*, written before the first is replaced, lets the next
  command complete what a killed one began.

A stage is filled file by file, so that a large suite is never in memory as a whole. It is locked as
long as its process lives. The next command that writes to the same place completes, undoes or
removes the stages of dead processes. Links are never followed.
"""

import ctypes
import json
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from secrets import token_hex

from opcert.errors import OpcertError

if sys.platform != "win32":
    import fcntl

# The contents of files by their path within a folder, with slashes.
FileContents = Mapping[str, bytes]

_STAGE, _NEW, _FORMER, _PLAN = ".opcert-", "new", "former", "plan.json"
# Where folders cannot be locked, a stage of this age in seconds belongs to no process any more.
_ABANDONED = 24 * 3600
_NEW_SECONDS = 10
# Of Linux's renameat2.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2

# The folders that this process has written to, for the message after an interrupt.
written: list[Path] = []


def check_output_folder(folder: Path) -> Path:
    """Check that files can be written to a folder, which need not exist; return its real path.

    Called before a long run, so that its result is not lost. What a killed process left there is
    completed, undone or removed; otherwise nothing is changed.

    Raises:
        OpcertError: a link or a file is in the way, or the folder cannot be created or written to.
    """
    try:
        if folder.is_symlink():
            raise OpcertError(
                f"{folder}: is a link, which is not followed; name the folder that it leads to"
            )
        target = folder.resolve()
        for place in (target.parent, target):
            _settle(place)
        existing = next(path for path in (target, *target.parents) if os.path.lexists(path))
        is_folder = existing.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise _write_error(folder, error) from None
    if not is_folder:
        expected = "expected a folder, or a new path"
        raise OpcertError(f"{existing}: is not a folder; {expected}")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OpcertError(f"{existing}: cannot be written: Permission denied; name another folder")
    return target


def write_files(folder: Path, files: FileContents, former: Collection[str] = ()) -> None:
    """Write `files` to `folder`, and remove those of its `former` files that they do not replace.

    All other files in the folder stay. `former` are the names of the files of an earlier command.

    Raises:
        OpcertError: a file cannot be written; the message states whether something was changed.
    """
    is_former = frozenset(former).__contains__
    has_others = not all(map(is_former, files_below(check_output_folder(folder))))
    with prepare_files(folder, within=has_others) as prepared:
        for name, data in files.items():
            prepared.add(name, data)
        prepared.put_in_place(former)


@contextmanager
def prepare_files(folder: Path, *, within: bool = False) -> Iterator["PreparedFiles"]:
    """Make a stage for files of `folder`, to be filled one by one and then put in place.

    Nothing is changed until `put_in_place` is called. `within` is whether the folder has other
    files, which stay, so that it cannot be exchanged.

    Raises:
        OpcertError: the folder cannot be written.
    """
    target = check_output_folder(folder)
    with ExitStack() as stages:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            place = target if within or _must_stay(target) else target.parent
            try:
                stage = stages.enter_context(_stage(place))
            except OSError:
                if not target.is_dir():
                    raise
                stage = stages.enter_context(_stage(target))
            (stage / _NEW).mkdir()
        except OSError as error:
            raise _write_error(folder, error) from None
        yield PreparedFiles(folder, target, stage)


class PreparedFiles:
    """Files in a stage, which are not yet in their folder."""

    def __init__(self, folder: Path, target: Path, stage: Path) -> None:
        self._folder, self._target, self._stage = folder, target, stage
        self._names: list[str] = []

    def add(self, name: str, data: bytes) -> None:
        """Write the file with a path within the folder to the stage.

        Raises:
            OpcertError: it cannot be written.
        """
        path = self._stage / _NEW / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except (OSError, ValueError) as error:
            raise _write_error(self._folder, error) from None
        self._names.append(name)

    def put_in_place(self, former: Collection[str] = ()) -> None:
        """Move all files to the folder, and remove those of its `former` files that are not new.

        All other files in the folder stay.

        Raises:
            OpcertError: a file cannot be written; the message states whether something was changed.
        """
        names = self._names
        added = frozenset(names)
        obsolete = [name for name in former if name not in added]
        try:
            if self._stage.parent == self._target:
                _replace_each(self._stage, self._target, names, obsolete)
            elif not self._exchange(former):
                with _stage(self._target) as stage:
                    shutil.move(self._stage / _NEW, stage / _NEW)
                    _replace_each(stage, self._target, names, obsolete)
        except (OSError, ValueError) as error:
            raise _write_error(self._folder, error) from None

    def _exchange(self, former: Collection[str]) -> bool:
        """Exchange the folder as a whole, and return True; False where that is not possible."""
        is_former = frozenset(former).__contains__
        if not all(map(is_former, files_below(self._target))):
            return False
        try:
            _exchange_folder(self._stage, self._target)
        except OSError:
            if not self._target.is_dir():
                raise
            return False
        return True


def files_below(
    folder: Path, ignored: Collection[str] = (), *, stages: bool = False
) -> Iterator[str]:
    """Yield the paths of all files below a folder, without folders that are named in `ignored`.

    Stages are left out, unless `stages` is set. Links count as files and are not followed;
    unreadable folders count as files too.
    """
    unreadable: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=unreadable.append):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(
            name
            for name in folders
            if name not in (*ignored, *links) and (stages or not name.startswith(_STAGE))
        )
        for name in sorted([*names, *links]):
            yield (Path(parent) / name).relative_to(folder).as_posix()
    if folder.exists():
        yield from (Path(error.filename).relative_to(folder).as_posix() for error in unreadable)


def _exchange_folder(stage: Path, target: Path) -> None:
    """Put the new folder in a stage in the place of `target`."""
    new, exists = stage / _NEW, target.is_dir()
    if exists:
        new.chmod(target.stat().st_mode & 0o7777)
    identity = new.stat().st_ino
    try:
        if not exists:
            new.rename(target)
        elif not _exchange(new, target):
            former = stage / _FORMER / target.name
            former.parent.mkdir()
            try:
                target.rename(former)
                new.rename(target)
            finally:
                _restore(stage)
    finally:
        # An interrupt may have come after the last step.
        with suppress(OSError):
            if target.stat().st_ino == identity:
                written.append(target)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step, and return True; False where the system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    places = (_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second))
    return rename is not None and rename(*places, _RENAME_EXCHANGE) == 0


def _replace_each(stage: Path, target: Path, names: Sequence[str], obsolete: Sequence[str]) -> None:
    """Replace files of `target` one by one, by those in a stage within it."""
    draft, plan = stage / f"{_PLAN}.draft", stage / _PLAN
    draft.write_text(json.dumps({"remove": [*obsolete], "move": [*names]}), "utf-8")
    try:
        draft.rename(plan)
        _complete(stage, target)
    finally:
        if not draft.exists():
            # After an interrupt, the rest is done first.
            if plan.exists():
                _complete(stage, target)
            written.append(target)


class _IncompleteError(OSError):
    """Some files were replaced, and others could not be."""


def _complete(stage: Path, target: Path) -> None:
    """Do what the plan of a stage within `target` says and is not yet done."""
    removed, moved = _read_plan(stage / _PLAN)
    try:
        for path in removed:
            if not any((target / parent).is_symlink() for parent in path.parents):
                (target / path).unlink(missing_ok=True)
                _remove_empty_parents(target / path, target)
        for path in moved:
            if (stage / _NEW / path).exists():
                for parent in reversed(path.parents):
                    if (target / parent).is_symlink():
                        raise OSError(0, f"{target / parent} is a link, which is not followed")
                    (target / parent).mkdir(exist_ok=True)
                (stage / _NEW / path).replace(target / path)
    except OSError as error:
        raise _IncompleteError(error.errno, error.strerror) from None
    (stage / _PLAN).unlink()


def _read_plan(path: Path) -> Sequence[Sequence[PurePosixPath]]:
    """Return the files to remove and the files to move; none if opcert did not write the plan."""
    try:
        plan = json.loads(path.read_bytes())
        lists = [[PurePosixPath(name) for name in plan[key]] for key in ("remove", "move")]
    except (ValueError, TypeError, LookupError, RecursionError):
        return [], []
    # Whoever handed in the folder may have made it up.
    paths = [path for listed in lists for path in listed]
    is_safe = all(p.parts and not p.is_absolute() and ".." not in p.parts for p in paths)
    return lists if is_safe else ([], [])


def _remove_empty_parents(path: Path, root: Path) -> None:
    for parent in path.parents:
        if parent == root or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()


@contextmanager
def _stage(parent: Path) -> Iterator[Path]:
    """Make a locked stage in `parent`; remove it afterwards, unless it has a plan to complete."""
    stage, lock = parent / f"{_STAGE}{token_hex(4)}", None
    try:
        stage.mkdir(0o700)
        lock = _lock(stage)
        yield stage
    finally:
        try:
            if not (stage / _PLAN).exists():
                shutil.rmtree(stage, ignore_errors=True)
        finally:
            if lock is not None:
                os.close(lock)


def _lock(stage: Path, wait: bool = True) -> int | None:
    """Return a descriptor that locks a stage; None if its process lives, or may live."""
    if sys.platform == "win32":
        is_abandoned = time.time() - stage.stat().st_mtime > _ABANDONED
        return os.open(os.devnull, os.O_RDONLY) if wait or is_abandoned else None
    descriptor = os.open(stage, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        is_own = os.fstat(descriptor).st_uid == os.geteuid()
        if not wait and not is_own:
            raise BlockingIOError
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        # A file system without locks: the stage is used, and no other process ever removes it.
        if not wait:
            os.close(descriptor)
            return None
    return descriptor


def _settle(folder: Path) -> None:
    """Complete, undo or remove the stages that dead processes left in a folder."""
    try:
        stages = [path for path in folder.iterdir() if path.name.startswith(_STAGE)]
    except OSError:
        return
    for stage in stages:
        with suppress(OSError):
            lock = _lock(stage, wait=False)
            if lock is None:
                continue
            try:
                # A new stage is empty for a moment before it is locked.
                age = time.time() - stage.stat().st_mtime
                if age < _NEW_SECONDS and not any(stage.iterdir()):
                    continue
                if (stage / _PLAN).is_file():
                    _complete(stage, folder)
                _restore(stage)
                shutil.rmtree(stage)
            finally:
                os.close(lock)


def _restore(stage: Path) -> None:
    """Move a former folder back, if nothing has taken its place."""
    for former in (stage / _FORMER).glob("*"):
        place = stage.parent / former.name
        if not os.path.lexists(place):
            former.rename(place)


def _must_stay(target: Path) -> bool:
    """Whether a folder is a mount point, or has the current folder, which would see no new file."""
    try:
        return target.is_mount() or Path.cwd().is_relative_to(target)
    except OSError:
        return False


def _write_error(folder: Path, error: Exception) -> OpcertError:
    if isinstance(error, _IncompleteError):
        advice = "some files were replaced; run the command again to replace all"
    else:
        advice = "nothing was changed"
    reason = getattr(error, "strerror", None) or error
    return OpcertError(f"{folder}: cannot be written: {reason}; {advice}")
