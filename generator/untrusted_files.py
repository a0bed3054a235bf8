"""Files and folders from outside: safe opening, reading up to a limit, folders to write to."""

import io
import os
import stat
from pathlib import Path

from opcert.errors import OpcertError


def open_untrusted(path: Path) -> io.BufferedReader:
    """Open an untrusted regular file, without following links or waiting for pipes.

    Raises:
        OSError: it does not exist or is not a regular file; `strerror` states which.
    """
    if path.is_symlink():
        raise OSError(0, "a link, which is not followed", str(path))
    return _open_regular(path, getattr(os, "O_NOFOLLOW", 0), pipes=False)


def read_limited(path: Path, limit: int, *, pipes: bool = False) -> bytes:
    """Return the content of a file of up to `limit` bytes; links are followed.

    With `pipes` it may be a pipe, as from the process substitution of a shell.

    Raises:
        OSError: it does not exist, is not a file, or is larger; `strerror` states which.
        ValueError: the path is not valid.
    """
    with _open_regular(path, 0, pipes) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > limit else file.read(limit + 1)
    if max(size, len(data)) > limit:
        raise OSError(0, f"more than {limit >> 20} MiB", str(path))
    return data


def check_folder(folder: Path) -> None:
    """Check that files can be written to a folder, which need not exist; create nothing.

    Called before a long run, so that its result is not lost.

    Raises:
        OpcertError: a file is in the way, or the folder cannot be created or written to.
    """
    existing = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not existing.is_dir():
        expected = "expected a folder, or a new path"
        raise OpcertError(f"{existing}: is not a folder; {expected}")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OpcertError(f"{existing}: cannot be written: Permission denied; name another folder")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless they exist.

    Raises:
        OpcertError: it cannot be created or written to.
    """
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OpcertError(f"{folder}: cannot be created: {error.strerror or error}") from None


def _open_regular(path: Path, flags: int, pipes: bool) -> io.BufferedReader:
    # Without O_NONBLOCK, opening a pipe that nobody writes to would never return.
    flags |= os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if pipes and stat.S_ISFIFO(mode):
        # A writer may take its time; without one, the pipe reads as empty.
        os.set_blocking(descriptor, True)
    elif not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = "a folder, not a file" if stat.S_ISDIR(mode) else "not a file"
        raise OSError(0, kind, str(path))
    return os.fdopen(descriptor, "rb")
