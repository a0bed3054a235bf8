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

import psutil

from opcert.generator.messages import ROOM, line_of, soon

# How many seconds a backend may take to be made.
START = 300.0
# How long a call may take before its memory is looked at, and how often it then is.
_PATIENCE, _OFTEN = 0.02, 0.1
# How much of what a call prints is kept, and how much a file of it may take.
_LOGGED, _PRINTED = 2000, 1 << 24
_LONGEST_LINE = 1 << 24

# Starts the process, given what it reads, what it writes, and where it may print.
Start = Callable[[int, int, IO[bytes]], subprocess.Popen[bytes]]


class EndedError(Exception):
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
        self._rest = b""
        self._timeout, self._deadline = START, time.monotonic() + START
        theirs, self._requests = os.pipe()
        self._replies, answers = os.pipe()
        try:
            self._process = start(theirs, answers, self._log)
        finally:
            os.close(theirs)
            os.close(answers)
        for descriptor in (self._requests, self._replies):
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
        for each in (line_of(request), *arrays):
            self._write(memoryview(each))
        text = self._line()
        try:
            answer = json.loads(text)
        except ValueError:
            raise EndedError("protocol", f"{text[:80]!r} is no answer") from None
        if not isinstance(answer, dict):
            raise EndedError("protocol", f"{text[:80]!r} is no answer: expected an object")
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
        while b"\n" not in self._rest:
            if len(self._rest) > _LONGEST_LINE:
                raise EndedError("protocol", f"a line longer than {_LONGEST_LINE} bytes")
            self._receive()
        found, _, self._rest = self._rest.partition(b"\n")
        return found

    def read(self, size: int) -> bytearray:
        """Return the `size` bytes that follow an answer.

        Raises:
            EndedError: they do not come, in the time of the question.
        """
        if size > ROOM:
            raise EndedError("protocol", f"{size} bytes of outputs; at most {ROOM} are read")
        found = bytearray(self._rest[:size])
        self._rest = self._rest[size:]
        while len(found) < size:
            self._receive()
            missing = size - len(found)
            found += self._rest[:missing]
            self._rest = self._rest[missing:]
        return found

    def _receive(self) -> None:
        """Wait for bytes, and add them to those that are not used yet."""
        self._wait(self._readable)
        chunk = os.read(self._replies, 1 << 20)
        if not chunk:
            raise self._ended()
        self._rest += chunk

    def _wait(self, until: "select.poll") -> None:
        if soon(until):
            return
        pause = _PATIENCE
        while not until.poll(1000 * min(pause, max(self._deadline - time.monotonic(), 0))):
            if self._process.poll() is not None and not until.poll(0):
                raise self._ended()
            if time.monotonic() >= self._deadline:
                raise EndedError("hang", f"no answer within {self._timeout:g} s")
            self._look_at_memory()
            pause = _OFTEN

    def _look_at_memory(self) -> None:
        if os.fstat(self._log.fileno()).st_size > _PRINTED:
            os.ftruncate(self._log.fileno(), 0)
        try:
            used = psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return
        if self._memory and used > self._memory:
            text = f"it took {used >> 20} MiB of memory; the limit is {self._memory >> 20}"
            raise EndedError("crash", text)

    def _ended(self) -> EndedError:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return EndedError("protocol", "it closed its end of the conversation")
        if code < 0:
            return EndedError("crash", f"the process was ended by {_signal(-code)}")
        return EndedError("crash", f"the process exited with {code}")

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
        return text.decode(errors="replace")

    def end(self) -> None:
        """End the process and every other of its session."""
        for descriptor in (self._requests, self._replies):
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


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
