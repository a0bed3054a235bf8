"""A process that answers: started, asked, waited for, watched while it works, and ended."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Literal

import numpy as np
import psutil

from opcert.arrays import Array
from opcert.isolation.messages import ROOM, line_of, spin_until_ready

# How many seconds a backend may take to be made.
START_TIMEOUT = 300.0
# How long a call may take before its memory is looked at, and how often it then is.
_PATIENCE, _OFTEN = 0.02, 0.1
# How many seconds a process that answers no more has for leaving.
_LEAVES = 1.0
# How much of what a call prints is kept, and how much a file of it may take.
_LOGGED, _PRINTED = 2000, 1 << 24
_LONGEST_LINE = 1 << 24
# Up to how many bytes a request is written at once, so that the process wakes up for it once.
_AT_ONCE = 1 << 16
# How much of what is no answer is shown.
_SHOWN = 80

# Starts the process, given what it reads, what it writes, and where it may print.
Start = Callable[[int, int, IO[bytes]], subprocess.Popen[bytes]]


class WorkerFailure(Exception):
    """Tells that the process is gone: what was observed, and why."""

    def __init__(self, observed: Literal["crash", "hang", "protocol"], reason: str) -> None:
        super().__init__(reason)
        self.observed, self.reason = observed, reason


class Process:
    """A process with a pipe each way; whatever becomes of it is an `EndedError`."""

    def __init__(self, start: Start, memory: int) -> None:
        """Start it; it may take `memory` bytes, 0 for any."""
        self._memory = memory
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- as long as the process
        self._logged = 0
        self._rest = bytearray()
        self._timeout, self._deadline = START_TIMEOUT, time.monotonic() + START_TIMEOUT
        theirs, self._requests = os.pipe()
        self._replies, answers = os.pipe()
        try:
            self._process = start(theirs, answers, self._log)
        except BaseException:
            os.close(self._requests)
            os.close(self._replies)
            self._log.close()
            raise
        finally:
            os.close(theirs)
            os.close(answers)
        self._open = [self._requests, self._replies]
        for descriptor in self._open:
            os.set_blocking(descriptor, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._replies, select.POLLIN)
        self._writable.register(self._requests, select.POLLOUT)

    def ask(
        self, request: Mapping[str, Any], timeout: float, arrays: Sequence[bytes | memoryview] = ()
    ) -> dict[str, Any]:
        """Send a line, and arrays behind it; return the line that comes back in time.

        Raises:
            EndedError: the process has ended, takes too long, or says what cannot be understood.
        """
        self._timeout, self._deadline = timeout, time.monotonic() + timeout
        parts = [line_of(request), *arrays]
        if sum(map(len, parts)) <= _AT_ONCE:
            parts = [b"".join(parts)]
        for each in parts:
            self._write(memoryview(each))
        text = self._line()
        try:
            answer = json.loads(text.decode())
        except (ValueError, RecursionError):
            raise WorkerFailure("protocol", f"{_shown(text)} is no line of JSON") from None
        if not isinstance(answer, dict):
            raise WorkerFailure("protocol", f"{_shown(text)} is no JSON object")
        return answer

    def _write(self, data: memoryview) -> None:
        while data:
            try:
                data = data[os.write(self._requests, data) :]
            except BlockingIOError:
                self._wait(self._writable)
            except OSError:
                raise self._ended() from None

    def _line(self) -> bytes:
        searched = 0
        while b"\n" not in self._rest[searched:]:
            searched = len(self._rest)
            if searched > _LONGEST_LINE:
                text = f"{_shown(self._rest)} and on for {_LONGEST_LINE} bytes without a newline"
                raise WorkerFailure("protocol", text)
            self._receive()
        found, _, self._rest = self._rest.partition(b"\n")
        return bytes(found)

    def read(self, size: int) -> Array:
        """Return the `size` bytes that follow an answer.

        Raises:
            EndedError: they do not come, in the time of the question.
        """
        if size > ROOM:
            raise WorkerFailure("protocol", f"{size} bytes of outputs; at most {ROOM} are read")
        found = np.empty(size, np.uint8)
        count = min(size, len(self._rest))
        found.data[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        while count < size:
            try:
                self._wait(self._readable)
                came = os.readv(self._replies, [found.data[count:]])
                if not came:
                    raise self._ended()
            except WorkerFailure as error:
                text = f"{error.reason}; {count} of {size} bytes of outputs had come"
                raise WorkerFailure(error.observed, text) from None
            count += came
        return found

    def foreign(self) -> str:
        """Return what was written beyond what is understood, as it is shown; nothing if nothing."""
        if self._readable.poll(0):
            with suppress(OSError):
                self._rest += os.read(self._replies, 1 << 20)
        return _shown(self._rest) if self._rest else ""

    def _receive(self) -> None:
        """Wait for bytes, and add them to those that are not used yet."""
        self._wait(self._readable)
        chunk = os.read(self._replies, 1 << 20)
        if not chunk:
            raise self._ended()
        self._rest += chunk

    def _wait(self, until: "select.poll") -> None:
        if spin_until_ready(until):
            return
        pause = _PATIENCE
        while not until.poll(1000 * min(pause, max(self._deadline - time.monotonic(), 0))):
            if self._process.poll() is not None and not until.poll(0):
                raise self._ended()
            if time.monotonic() >= self._deadline:
                begun = f"; it began with {_shown(self._rest)}" if self._rest else ""
                raise WorkerFailure("hang", f"no answer within {self._timeout:g} s{begun}")
            self._look_at_memory()
            pause = _OFTEN

    def _look_at_memory(self) -> None:
        self._shorten_log()
        try:
            used = psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return
        if self._memory and used > self._memory:
            text = f"it took {used >> 20} MiB of memory; the limit is {self._memory >> 20}"
            raise WorkerFailure("crash", text)

    def _shorten_log(self) -> None:
        """Forget what was printed where it takes too much room."""
        if os.fstat(self._log.fileno()).st_size > _PRINTED:
            os.ftruncate(self._log.fileno(), 0)
            # The process writes where this descriptor stands: they share it.
            os.lseek(self._log.fileno(), 0, os.SEEK_SET)
            self._logged = 0

    def _ended(self) -> WorkerFailure:
        try:
            code = self._process.wait(_LEAVES)
        except subprocess.TimeoutExpired:
            return WorkerFailure("protocol", "it closed its end of the conversation")
        if code < 0:
            return WorkerFailure("crash", f"the process was ended by {_signal(-code)}")
        return WorkerFailure("crash", f"the process exited with {code}")

    @property
    def alive(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.poll() is None

    def log(self) -> str:
        """Return what was printed since the last time, or the end of it."""
        size = os.fstat(self._log.fileno()).st_size
        if size == self._logged:
            return ""
        begin = max(self._logged if self._logged < size else 0, size - _LOGGED)
        self._logged = size
        text = os.pread(self._log.fileno(), size - begin, begin)
        self._shorten_log()
        return text.decode(errors="replace")

    def exits_within(self, seconds: float) -> bool:
        """Ask nothing more, and say whether the process ends by itself in that time."""
        os.close(self._requests)
        self._open.remove(self._requests)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """End the process and every other of its session."""
        for descriptor in self._open:
            os.close(descriptor)
        try:
            others = psutil.Process(self._process.pid).children(recursive=True)
        except psutil.Error:
            others = []
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for other in others:
            with suppress(psutil.Error):
                other.kill()
        self._process.wait()
        self._log.close()


def _shown(text: bytes | bytearray) -> str:
    """Return the beginning of `text` as Python writes it."""
    more = f" and {len(text) - _SHOWN} bytes more" if len(text) > _SHOWN else ""
    return f"{bytes(text[:_SHOWN])!r}{more}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
