"""A worker: a process that hosts a backend, and shares the memory in which its calls lie."""

import ast
import os
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import IO, Any

import numpy as np

from opcert.arrays import ELEMENT_TYPES, InputArrays
from opcert.errors import BackendError
from opcert.isolation.introduction import handshake
from opcert.isolation.messages import PROTOCOL, Area, put, taken_back
from opcert.isolation.process import START_TIMEOUT, Process, WorkerFailure
from opcert.isolation.worker import RECENT
from opcert.run import Difference, Outcome

# Who looks at the outputs of a call mostly looks at those of so many behind it next.
_NEAR = 8


def answered(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a worker says to one request, after which it ends.

    Raises:
        EndedError: it does not answer.
        BackendError: it cannot be started.
    """
    area, process = _begun(memory=0)
    try:
        return process.ask({"protocol": PROTOCOL, **request}, START_TIMEOUT)
    finally:
        process.end()
        os.close(area.descriptor)


def _begun(memory: int) -> tuple[Area, Process]:
    """Start a worker, and return it with the memory that is shared with it."""
    try:
        area = Area()
        try:
            return area, Process(partial(_started, area), memory)
        except BaseException:
            os.close(area.descriptor)
            raise
    except OSError as error:
        raise BackendError(f"a worker cannot be started: {error.strerror or error}") from None


def _started(area: Area, requests: int, replies: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
    descriptors = (requests, replies, area.descriptor)
    return subprocess.Popen(  # noqa: S603 -- this very Python
        [sys.executable, "-P", "-m", "opcert.isolation.worker", *map(str, descriptors)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=descriptors,
        start_new_session=True,
    )


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
    """One process that runs opcert's worker, and what is said to it."""

    def __init__(self, start: Mapping[str, Any], memory: int, seconds: float) -> None:
        """Start it, and have it make the backend in so many seconds.

        Raises:
            BackendError: it cannot be started, or the backend cannot be made.
        """
        self._number = 0
        self._changed: set[int] = set()
        self._looked: set[int] = set()
        self.dropped: list[int] = []
        self._area, self._process = _begun(memory)
        try:
            self.introduction = handshake(self._process, start, start["backend"], seconds)
        except BaseException:
            self.end()
            raise

    def call(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Mapping[str, Any],
        timeout: float,
        dirtied: Sequence[int] = (),
    ) -> Outcome:
        """Make a call, for which memory of the sizes in `dirtied` is dirtied there.

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
            "dirty": dirtied,
        }
        answer = self._process.ask(request, timeout)
        try:
            return self._outcome(answer, inputs)
        except (LookupError, SyntaxError, TypeError, ValueError) as error:
            raise WorkerFailure("protocol", f"an answer of another form: {error}") from None

    def _outcome(self, answer: Mapping[str, Any], inputs: InputArrays) -> Outcome:
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
            reason, rejected_by = str(answer["reason"]), answer["rejected_by"]
            return Outcome(observed, None, reason, fault, log=log, rejected_by=rejected_by)
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
        if number not in self._looked and self._process.alive:
            near = range(number, number + _NEAR)
            self._looked.update(near)
            try:
                self._changed.update(self._process.ask({"look": [*near]}, START_TIMEOUT)["changed"])
            except (WorkerFailure, LookupError, TypeError):
                return False
        return number in self._changed

    def log(self) -> str:
        """Return what was printed since the last time, or the end of it."""
        return self._process.log()

    def exits_within(self, seconds: float) -> bool:
        """Ask nothing more, and say whether the process ends by itself in that time."""
        return self._process.exits_within(seconds)

    def end(self) -> None:
        """End the process and every other of its session."""
        self._process.end()
        os.close(self._area.descriptor)


def _stand_in(name: str) -> object:
    """Return something of a type of that name: what it was cannot be told by a process."""
    return type(str(name), (), {})()


def _dtype(name: str) -> np.dtype[Any]:
    """Return the type that NumPy calls so; one of records is called after its fields."""
    return np.dtype(ast.literal_eval(name) if name.startswith("[") else name)
