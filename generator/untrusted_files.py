"""Paths that a user or a stranger names: opened without waiting in vain, read to a limit, made."""

import io
import os
import stat
from pathlib import Path

from opcert.errors import OpcertError


def open_untrusted(path: Path) -> io.BufferedReader:
    """Open a file that a stranger wrote: no link, nothing that could be waited for in vain.

    Raises:
        OSError: there is none, or it is something else; its `strerror` says so.
    """
    if path.is_symlink():
        raise OSError(0, "a link, which is not followed", str(path))
    return _opened(path, getattr(os, "O_NOFOLLOW", 0), pipes=False)


def read_limited(path: Path, most: int, *, pipes: bool = False) -> bytes:
    """Return what is in a file, of `most` bytes at most, to which links may lead.

    With `pipes` it may be one, as a shell puts it in the place of a file.

    Raises:
        OSError: there is none, it is something else, or larger; its `strerror` says so.
        ValueError: the path is none.
    """
    with _opened(path, 0, pipes) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > most else file.read(most + 1)
    if max(size, len(data)) > most:
        raise OSError(0, f"more than {most >> 20} MiB", str(path))
    return data


def make_folder(folder: Path) -> None:
    """Make a folder, and those that it is in, where they are not there yet.

    Raises:
        OpcertError: there is a file in its place or in that of one that it is in, it cannot be
            made, or nothing can be written to it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        found = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
        raise OpcertError(f"{found}: is no folder; expected one, or nothing") from None
    except OSError as error:
        raise OpcertError(f"{folder}: cannot be made: {error.strerror or error}") from None
    # Before a run whose certificate would be lost.
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OpcertError(f"{folder}: cannot be written: Permission denied; name another folder")


def _opened(path: Path, flags: int, pipes: bool) -> io.BufferedReader:
    flags |= os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if pipes and stat.S_ISFIFO(mode):
        # Who writes may take time; where nobody does, it is at its end.
        os.set_blocking(descriptor, True)
    elif not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "a folder, not a file" if stat.S_ISDIR(mode) else "not a file"
        raise OSError(0, what, str(path))
    return os.fdopen(descriptor, "rb")
