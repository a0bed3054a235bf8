"""What opcert asks of the system: to read, import and write files, and to end with its parent."""

import ctypes
import importlib.util
import io
import os
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from opcert.errors import OpcertError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

# Of Linux's prctl.
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Have Linux kill this process with the thread that started it, even in the middle of a call.

    Elsewhere, this process ends when it next waits for its parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


# What ends a command: Ctrl-C, a service manager, a closed terminal.
INTERRUPTS = [signal.Signals[n] for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


def hold_interrupts(held: bool, *numbers: signal.Signals) -> None:
    """Let signals wait, or take those that came; a process started meanwhile never gets them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if held else signal.SIG_UNBLOCK, numbers)


@cache
def import_file(path: Path) -> ModuleType:
    """Import the Python file at `path`, once.

    Raises:
        OSError, SyntaxError, ImportError: it cannot be read or imported.
    """
    name = f"opcert_file_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


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


# The contents of files by their path within a folder, with slashes.
FileContents = Mapping[str, bytes]

# The hidden folder, within the target: so it is on the same file system, even of a mount point.
STAGE = ".opcert-new"
# File systems have no longer names.
_MAX_NAME_BYTES = 255
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
            text = "is a link, which is not followed; name the folder that it leads to"
            raise OpcertError(f"{folder}: {text}")
        target = folder.resolve()
        existing = next(path for path in (target, *target.parents) if os.path.lexists(path))
        is_folder = existing.is_dir()
    if any(len(os.fsencode(part)) > _MAX_NAME_BYTES for part in target.parts):
        raise OpcertError(f"{folder}: cannot be written: File name too long; {_UNCHANGED}")
    if not is_folder:
        raise OpcertError(f"{existing}: is not a folder; expected a folder, or a new path")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OpcertError(f"{existing}: cannot be written: Permission denied; name another folder")
    return target


def write_files(
    folder: Path,
    files: Iterable[tuple[str, bytes | Iterable[bytes]]],
    former: Collection[str] = (),
) -> None:
    """Write `files` to `folder`, and remove those of its `former` files that they do not replace.

    All other files in the folder stay. Each file is written as it comes, whole or in parts; nothing
    in the folder changes before all have come. The last one, which may name the others, gets in
    place last.

    Raises:
        OpcertError: a file cannot be written; the message states whether something was changed.
    """
    target = check_output_folder(folder)
    stage, is_new = target / STAGE, not target.exists()
    names: list[str] = []
    try:
        with _writing(folder, _UNCHANGED):
            if stage.is_symlink() or stage.is_file():
                stage.unlink()
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir(parents=True)
        for name, data in files:
            with _writing(folder, _UNCHANGED):
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                with (stage / name).open("wb") as file:
                    file.writelines([data] if isinstance(data, bytes) else data)
            names.append(name)
        obsolete = sorted({*former}.difference(names))
        with _writing(folder, _UNCHANGED):
            folders = (target / p for name in (*names, *obsolete) for p in Path(name).parents)
            if link := next(filter(Path.is_symlink, folders), None):
                raise OSError(0, f"{link} is a link, which is not followed")
            paths = (target / name for name in names if not (target / name).is_symlink())
            if path := next(filter(Path.is_dir, paths), None):
                raise OSError(0, f"{path} is a folder; expected a file or nothing")
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        if is_new:
            with suppress(OSError):
                target.rmdir()
        raise
    written.append(target)
    # If this fails, the hidden folder stays.
    with _writing(folder, _PARTLY_CHANGED):
        for name in (*names[:-1], *obsolete, *names[-1:]):
            path = target / name
            if name in obsolete:
                path.unlink(missing_ok=True)
                # With the folders that are empty without it.
                while (path := path.parent) != target and path.is_dir() and not any(path.iterdir()):
                    path.rmdir()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                (stage / name).replace(path)
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


def template_environment(**filters: Callable[..., Any]) -> "Environment":
    """Return a new environment with these filters; values in HTML templates are escaped."""
    # Few processes render anything.
    import jinja2  # noqa: PLC0415

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("opcert"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(["jinja"]),
    )
    environment.filters |= filters
    return environment


@cache
def code_template(name: str) -> "Template":
    """Return a template of Python code, in which `literal` writes a value."""
    return template_environment(literal=repr).get_template(name)


# What a reference may take while its spec is checked: seconds of a processor and bytes for a call,
# the bytes of its outputs, and how many calls may run out of time. A call that waits may take six
# times as long, since other programs may have the processor.
MAX_SECONDS, MAX_MEMORY, MAX_OUTPUT_BYTES, _MAX_TIMEOUTS = 5, 1 << 30, 1 << 28, 5
# The memory of this process in pages, on Linux.
_STATM = Path("/proc/self/statm")


def limited(function: Callable[..., Any], *, memory: int = MAX_MEMORY) -> Callable[..., Any]:
    """Return a function of NumPy with limits of time, memory and the size of its outputs.

    A call beyond them raises TimeoutError or MemoryError, and so does each one after several that
    ran out of time. Time and memory are limited on Linux, in the main thread. They replace limits
    that the function has already.
    """
    function = getattr(function, "unlimited", function)
    timeouts = 0

    def expire(*_: object) -> None:
        nonlocal timeouts
        timeouts += 1
        raise TimeoutError(f"more than {MAX_SECONDS} s for one call")

    @wraps(function)
    def call(**arguments: Any) -> Any:
        if timeouts >= _MAX_TIMEOUTS:
            raise TimeoutError(f"more than {MAX_SECONDS} s for each of {timeouts} calls")
        with _limits(expire, memory):
            outputs = function(**arguments)
        parts = outputs if isinstance(outputs, list) else ()
        if (size := sum(getattr(part, "nbytes", 0) for part in parts)) > MAX_OUTPUT_BYTES:
            raise MemoryError(f"outputs of {size:,} bytes; expected {MAX_OUTPUT_BYTES:,} at most")
        return outputs

    call.unlimited = function  # type: ignore[attr-defined]
    return call


@contextmanager
def _limits(expire: Callable[..., None], memory: int) -> Iterator[None]:
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource  # noqa: PLC0415 -- other systems have none

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(_STATM.read_bytes().split()[0])
    most = pages * resource.getpagesize() + memory
    former = {n: signal.signal(n, expire) for n in (signal.SIGVTALRM, signal.SIGALRM)}
    resource.setrlimit(resource.RLIMIT_AS, (most if soft < 0 else min(soft, most), hard))
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 6 * MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in former.items():
            signal.signal(number, handler)
