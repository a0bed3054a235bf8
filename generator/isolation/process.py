"""A child process that answers messages: started, watched, and killed."""

import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import psutil

from opcert.arrays.element_types import Array
from opcert.isolation.messages import READ_BYTES, encode_message, is_ready_soon

# How many seconds the construction of a backend may take.
START_TIMEOUT = 300.0
# How many seconds a call runs before the memory is measured, and the interval of measurements, of
# one call and of many quick ones.
_FIRST_MEASUREMENT, _MEASUREMENT_INTERVAL = 0.02, 0.1
_INTERVAL_OF_QUICK_CALLS = 0.5
# How many seconds a process may take to exit after it closed its output, also on a busy machine.
_EXIT_SECONDS = 10.0
# The maximum sizes in bytes of the log of a call, and of the log file.
_LOG_BYTES, _LOG_FILE_BYTES = 2000, 1 << 24
_MAX_LINE = 1 << 24
# Messages up to this size are written at once, so that the process wakes up only once.
_SINGLE_WRITE = 1 << 16
# How many bytes of unexpected output a message quotes.
_QUOTED_BYTES = 80
# Descendants have this variable too, whatever session and parent they have.
_MARK = "OPCERT_PROCESS"
# How often the system is searched for descendants, which may start others in the meantime, and for
# how many seconds such a process may have no environment, since it is about to run a program.
_SEARCHES, _EXEC_SECONDS, _EXEC_PAUSE = 10, 1.0, 0.01
# Flags of a task in Linux's /proc/PID/stat: it exits, or a signal has killed it.
_ENDING = 0x4 | 0x400

# Returns the command that starts the process, and what connects it as options of `Popen`, given the
# descriptors of its input and output, and its log.
Start = Callable[[int, int, IO[bytes]], tuple[Sequence[str], Mapping[str, Any]]]


class WorkerFailure(Exception):
    """A worker or a driver crashed, hung, or violated the protocol."""

    def __init__(self, observed: Literal["crash", "hang", "protocol"], reason: str) -> None:
        super().__init__(reason)
        self.observed, self.reason = observed, reason


class Process:
    """A child process with a pipe each way; its failures raise `WorkerFailure`."""

    def __init__(self, start: Start, memory: int) -> None:
        """Start the process, with a limit of `memory` bytes; 0 is no limit."""
        self._memory = memory
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- as long as the process
        self._log_position = 0
        self._unread = bytearray()
        # What runs opcert may be ended in the same way, with the processes that opcert starts.
        self._mark = f"{os.environ.get(_MARK, '')}/{secrets.token_hex(16)}"
        self._failure: WorkerFailure | None = None
        self._known: list[psutil.Process] = []
        self._next_measurement = 0.0
        self._timeout, self._deadline = START_TIMEOUT, time.monotonic() + START_TIMEOUT
        child_input, self._requests = os.pipe()
        self._replies, child_output = os.pipe()
        try:
            command, connections = start(child_input, child_output, self._log)
            self._process: subprocess.Popen[Any] = subprocess.Popen(  # noqa: S603 -- the user's own
                command,
                stderr=self._log,
                start_new_session=True,
                env={**os.environ, _MARK: self._mark},
                **connections,
            )
        except BaseException:
            os.close(self._requests)
            os.close(self._replies)
            self._log.close()
            raise
        finally:
            os.close(child_input)
            os.close(child_output)
        self._open = [self._requests, self._replies]
        for descriptor in self._open:
            os.set_blocking(descriptor, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._replies, select.POLLIN)
        self._writable.register(self._requests, select.POLLOUT)

    def exchange(
        self, message: Mapping[str, Any], timeout: float, arrays: Sequence[bytes | memoryview] = ()
    ) -> dict[str, Any]:
        """Send a message and the arrays after it; return the answer, due in `timeout` seconds.

        Raises:
            WorkerFailure: the process has ended, takes too long, or its answer is not JSON.
        """
        self._timeout, self._deadline = timeout, time.monotonic() + timeout
        parts = [encode_message(message), *arrays]
        if sum(map(len, parts)) <= _SINGLE_WRITE:
            parts = [b"".join(parts)]
        try:
            for part in parts:
                self._write(memoryview(part))
            return self._read_answer()
        except WorkerFailure as failure:
            self._failure = failure
            raise

    def _read_answer(self) -> dict[str, Any]:
        line = self._read_line()
        if self._memory and time.monotonic() >= self._next_measurement:
            self._check_memory()
        try:
            answer = json.loads(line.decode())
        except (ValueError, RecursionError):
            raise WorkerFailure("protocol", f"{_quote(line)} is not a line of JSON") from None
        if not isinstance(answer, dict):
            raise WorkerFailure("protocol", f"{_quote(line)} is not a JSON object")
        return answer

    def read_bytes(self, size: int) -> Array:
        """Return the `size` bytes that follow an answer, due by the deadline of the answer.

        Raises:
            WorkerFailure: fewer bytes arrive.
        """
        content = np.empty(size, np.uint8)
        count = min(size, len(self._unread))
        content.data[:count] = self._unread[:count]
        self._unread = self._unread[count:]
        while count < size:
            try:
                self._wait(self._readable)
                received = os.readv(self._replies, [content.data[count:]])
                if not received:
                    raise self._end_of_output()
            except WorkerFailure as failure:
                text = f"{failure.reason}; {count} of {size} bytes of outputs had come"
                raise WorkerFailure(failure.observed, text) from None
            count += received
        return content

    def unexpected_output(self) -> str:
        """Return a quotation of output beyond the answers, or ""."""
        if self._readable.poll(0):
            with suppress(OSError):
                self._unread += os.read(self._replies, READ_BYTES)
        return _quote(self._unread) if self._unread else ""

    def _write(self, data: memoryview) -> None:
        while data:
            try:
                data = data[os.write(self._requests, data) :]
            except BlockingIOError:
                self._wait(self._writable)
            except OSError:
                raise self._end_of_output() from None

    def _read_line(self) -> bytes:
        searched = 0
        while b"\n" not in self._unread[searched:]:
            searched = len(self._unread)
            if searched > _MAX_LINE:
                text = f"{_quote(self._unread)}: no newline within {_MAX_LINE} bytes"
                raise WorkerFailure("protocol", text)
            self._wait(self._readable)
            if not (chunk := os.read(self._replies, READ_BYTES)):
                raise self._end_of_output()
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return bytes(line)

    def _wait(self, ready: "select.poll") -> None:
        """Wait for a descriptor, and enforce the limits of memory, log and time."""
        if is_ready_soon(ready):
            return
        pause = _FIRST_MEASUREMENT
        while not ready.poll(1000 * min(pause, max(self._deadline - time.monotonic(), 0))):
            # A process may exit right after it answers, so poll once more.
            if self._process.poll() is not None and not ready.poll(0):
                raise self._end_of_output()
            if time.monotonic() >= self._deadline:
                partial = f"; it began with {_quote(self._unread)}" if self._unread else ""
                raise WorkerFailure("hang", f"no answer within {self._timeout:g} s{partial}")
            self._truncate_log()
            self._check_memory()
            pause = _MEASUREMENT_INTERVAL

    def _check_memory(self) -> None:
        """Enforce the limit on the memory of the process and its descendants together."""
        if not self._memory:
            return
        self._next_measurement = time.monotonic() + _INTERVAL_OF_QUICK_CALLS
        used = 0
        for process in self._living():
            with suppress(psutil.Error):
                used += process.memory_info().rss
        if used > self._memory:
            text = f"it used {used >> 20} MiB of memory; the limit is {self._memory >> 20}"
            raise WorkerFailure("crash", text)

    def _end_of_output(self, ended: str = "the process closed its output") -> WorkerFailure:
        """Return how the process ends; if it does not, then only something of it has `ended`."""
        try:
            code = self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return WorkerFailure("hang", f"{ended} without exiting")
        how = f"was ended by {_signal_name(-code)}" if code < 0 else f"exited with {code}"
        return WorkerFailure("crash", f"the process {how}")

    def find_failure(self) -> WorkerFailure | None:
        """Return how the process has ended or failed since its last answer, if it has."""
        if self._failure is None and (self._process.poll() is not None or self._is_ending()):
            failure = self._end_of_output("the process ended its main thread")
            text = f"after the call had been answered: {failure.reason}"
            self._failure = WorkerFailure(failure.observed, text)
        elif self._failure is None and (text := self.unexpected_output()):
            self._failure = WorkerFailure("protocol", f"unexpected output after the answer: {text}")
        return self._failure

    @property
    def has_failed(self) -> bool:
        """Whether it has ended or failed, as far as that is known."""
        return self._failure is not None or self._process.returncode is not None

    def _is_ending(self) -> bool:
        """Whether Linux is ending the process or its main thread, which `poll` shows later."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_bytes()
        except OSError:
            return False
        # The name of the program, in parentheses, may have spaces.
        state, *fields = stat.rpartition(b") ")[2].split()
        return state in (b"Z", b"X") or bool(int(fields[5]) & _ENDING)

    def take_log(self) -> str:
        """Return the end of the output that the process printed since the last call."""
        size = os.fstat(self._log.fileno()).st_size
        if size == self._log_position:
            return ""
        start = max(self._log_position if self._log_position < size else 0, size - _LOG_BYTES)
        self._log_position = size
        text = b""
        # The child shares the flags of the file: with O_DIRECT, not every place can be read.
        with suppress(OSError):
            text = os.pread(self._log.fileno(), size - start, start)
        self._truncate_log()
        return text.decode(errors="replace")

    def _truncate_log(self) -> None:
        if os.fstat(self._log.fileno()).st_size > _LOG_FILE_BYTES:
            os.ftruncate(self._log.fileno(), 0)
            # The child writes on at the file position, which both processes share.
            os.lseek(self._log.fileno(), 0, os.SEEK_SET)
            self._log_position = 0

    def exits_within(self, seconds: float) -> bool:
        """Close the input of the process; return whether it exits within `seconds`."""
        # A descendant without the mark is found only as long as its parent runs.
        self._known = self._living()
        os.close(self._requests)
        self._open.remove(self._requests)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """Kill the process and its descendants, also those that are no longer its children."""
        # Once each: an interrupt in here may call this again.
        while self._open:
            os.close(self._open.pop())
        processes = [*self._known, *self._living()]
        self._process.kill()
        # Its session, where there are sessions.
        with suppress(AttributeError, ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for process in processes:
            with suppress(psutil.Error):
                process.kill()
        for _ in range(_SEARCHES):
            if not self._kill_marked():
                break
        self._log.close()

    def _kill_marked(self) -> bool:
        """Kill all processes that have the mark; return whether there was one."""
        was_there = False
        # The newest first: one that starts another and exits would be gone when its turn comes.
        for pid in sorted(psutil.pids(), reverse=True):
            with suppress(psutil.Error):
                process = psutil.Process(pid)
                if self._is_marked(process):
                    was_there = True
                    process.kill()
        return was_there

    def _living(self) -> list[psutil.Process]:
        """Return the process and its descendants, if it runs."""
        with suppress(psutil.Error):
            process = psutil.Process(self._process.pid)
            return [process, *process.children(recursive=True)]
        return []

    def _is_marked(self, process: psutil.Process) -> bool:
        """Whether this process, or a descendant of it, has started another one."""
        try:
            while not (environment := process.environ()):
                age = time.time() - process.create_time()
                if age > _EXEC_SECONDS or process.status() == psutil.STATUS_ZOMBIE:
                    break
                time.sleep(_EXEC_PAUSE)
            return environment.get(_MARK, "").startswith(self._mark)
        except (psutil.Error, OSError):
            return False


def _quote(text: bytes | bytearray) -> str:
    """Return the beginning of `text` as a Python literal."""
    rest = len(text) - _QUOTED_BYTES
    return f"{bytes(text[:_QUOTED_BYTES])!r}" + (f" and {rest} more bytes" if rest > 0 else "")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
