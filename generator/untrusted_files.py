"""Files from outside: safe opening, and reading up to a limit."""

import io
import os
import stat
from pathlib import Path

# How much is read at once of a file that has no size.
_CHUNK = 1 << 20


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
        # `read(limit)` would reserve memory of this size first. A pipe has no size.
        data = b"" if size > limit else file.read(size + 1)
        while size < len(data) <= limit and (more := file.read(_CHUNK)):
            data += more
    if max(size, len(data)) > limit:
        raise OSError(0, f"more than {limit >> 20} MiB", str(path))
    return data


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
