"""One worker: its process, what is said to it, what it prints, and how it ends."""

import ast
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

import numpy as np
import psutil

from opcert.generator.buffers import Inputs
from opcert.generator.comparison import Difference
from opcert.generator.element_types import ELEMENT_TYPES
from opcert.generator.errors import BackendError
from opcert.generator.messages import Area, put, say, taken_back
from opcert.generator.run import Outcome
from opcert.generator.worker import RECENT

# How many seconds a backend may take to be made.
START = 300.0
# How long a call may take before its memory is looked at, and how often it then is.
_PATIENCE, _OFTEN = 0.02, 0.1
# How much of what a call prints is kept, and how much a file of it may take.
_LOGGED, _PRINTED = 2000, 1 << 24
_LONGEST_LINE = 1 << 24


class EndedError(Exception):
    """Tells that the process is gone: what was observed, and why."""

    def __init__(self, observed: Literal["crash", "hang", "protocol"], reason: str) -> None:
        super().__init__(reason)
        self.observed, self.reason = observed, reason


class Kept:
    """The outputs of a call, which the worker keeps for as long as this is kept."""

    def __init__(self, worker: "Worker", number: int) -> None:
        self._worker, self._number = worker, number
        weakref.finalize(self, worker.dropped.append, number)

    @property
    def changed(self) -> bool:
        """Whether they have been written to since."""
        return self._worker.has_changed(self._number)


class Worker:
    """One process, and what is said to it."""

    def __init__(self, start: Mapping[str, Any], memory: int) -> None:
        self._memory = memory
        self._area = Area()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- as long as the process
        self._logged = 0
        self._number = 0
        self._changed: set[int] = set()
        self._looked: set[int] = set()
        self.dropped: list[int] = []
        self._rest = b""
        theirs, self._requests = os.pipe()
        self._replies, answers = os.pipe()
        descriptors = (theirs, answers, self._area.descriptor)
        self._process = subprocess.Popen(  # noqa: S603 -- this very Python
            [sys.executable, "-P", "-m", "opcert.generator.worker", *map(str, descriptors)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=descriptors,
            start_new_session=True,
        )
        os.close(theirs)
        os.close(answers)
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)
        self.introduction = self._introduced(start)

    def _introduced(self, start: Mapping[str, Any]) -> dict[str, Any]:
        try:
            introduction = self._answer(start, START)
        except EndedError as error:
            text = f"backend '{start['backend']}' cannot be made: {error.reason}"
            log = self.log()
            self.end()
            raise BackendError(f"{text}\n{log}" if log else text) from None
        except BaseException:
            self.end()
            raise
        if "error" in introduction:
            self.end()
            raise BackendError(introduction["error"])
        return introduction

    def call(
        self, operator: str, inputs: Inputs, attributes: Mapping[str, Any], timeout: float
    ) -> Outcome:
        """Make a call.

        Raises:
            EndedError: the process has ended, was ended, or says what cannot be understood.
        """
        placed, free = put(self._area, inputs)
        self._number += 1
        dropped, self.dropped[:] = list(self.dropped), []
        request = {
            "id": self._number,
            "operator": operator,
            "attributes": attributes,
            "inputs": placed,
            "free": free,
            "size": self._area.size,
            "drop": dropped,
        }
        answer = self._answer(request, timeout)
        try:
            return self._outcome(answer, inputs)
        except (LookupError, SyntaxError, TypeError, ValueError) as error:
            raise EndedError("protocol", f"an answer of another form: {error}") from None

    def _outcome(self, answer: Mapping[str, Any], inputs: Inputs) -> Outcome:
        self._looked = set(range(self._number - RECENT, self._number + 1))
        self._changed.update(answer["changed"])
        taken_back(self._area, inputs)
        log = self.log()
        observed = answer["observed"]
        fault = None
        if answer["spoiled"]:
            text = f"the call changed the form of its input '{answer['spoiled'][0]}'"
            fault = Difference("mutated-input", text)
        if observed in ("unsupported", "rejected"):
            return Outcome(observed, reason=str(answer["reason"]), fault=fault, log=log)
        if "returned" in answer:
            outputs: Any = _stand_in(answer["returned"])
            return Outcome("outputs", outputs, fault=fault, log=log)
        self._area.reach(answer["size"])
        outputs = [self._output(each) for each in answer["outputs"]]
        return Outcome("outputs", outputs, fault=fault, kept=Kept(self, self._number), log=log)

    def _output(self, described: Mapping[str, Any]) -> Any:
        """Return a copy of an output, or what stands for one that was not handed over."""
        if "returned" in described:
            return _stand_in(described["returned"])
        dtype = ELEMENT_TYPES.get(described["type"])
        if dtype is None:
            dtype = _dtype(described["type"])
        if "offset" not in described:
            return np.broadcast_to(np.zeros((), dtype), described["shape"])
        return self._area.array(dtype, described["shape"], described["offset"]).copy()

    def has_changed(self, number: int) -> bool:
        """Whether the outputs of a call have changed, as far as the process can still tell."""
        if number not in self._looked and self._process.poll() is None:
            self._looked.add(number)
            try:
                answer = self._answer({"look": number}, START)
                self._changed.update(answer["changed"])
            except (EndedError, LookupError, TypeError):
                return False
        return number in self._changed

    def _answer(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        try:
            say(self._requests, request)
        except OSError:
            raise self._ended() from None
        text = self._line(time.monotonic() + timeout, timeout)
        try:
            answer: dict[str, Any] = json.loads(text)
        except ValueError:
            raise EndedError("protocol", f"{text[:80]!r} is no answer") from None
        return answer

    def _line(self, deadline: float, timeout: float) -> bytes:
        begun = time.monotonic()
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0:
                raise EndedError("hang", f"no answer within {timeout:g} s")
            waited = time.monotonic() - begun
            pause = _PATIENCE if waited < _PATIENCE else _OFTEN
            if self._poll.poll(1000 * min(pause, left)):
                chunk = os.read(self._replies, 1 << 16)
                if not chunk or len(self._rest) > _LONGEST_LINE:
                    raise self._ended()
                self._rest += chunk
            elif self._process.poll() is not None:
                raise self._ended()
            else:
                self._look_at_memory()
        found, _, self._rest = self._rest.partition(b"\n")
        return found

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
        for descriptor in (self._requests, self._replies, self._area.descriptor):
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


def _stand_in(name: str) -> object:
    """Return something of a type of that name: what it was cannot be told by a process."""
    return type(str(name), (), {})()


def _dtype(name: str) -> np.dtype[Any]:
    """Return the type that NumPy calls so; one of records is called after its fields."""
    return np.dtype(ast.literal_eval(name) if name.startswith("[") else name)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
