"""The process of a worker of opcert's own, which hosts a backend in Python."""

import ast
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, InputArrays
from opcert.backends.contract import Arguments
from opcert.errors import BackendError, describe_error
from opcert.isolation.messages import SharedArea, read_inputs_back, write_inputs
from opcert.isolation.process import Process, WorkerFailure
from opcert.isolation.worker import WATCHED_CALLS
from opcert.run.comparison import Difference
from opcert.run.outcome import Outcome

# How many calls are compared in one request: callers usually compare one call after the other.
_COMPARED_TOGETHER = 8
# How much of a text, and how many lines of source, are taken from an answer.
_MAX_TEXT_LENGTH, _MAX_LINES = 10_000, 100


class WorkerOutputs:
    """The outputs of a call, which the worker keeps as long as this object exists."""

    def __init__(self, worker: "Worker", number: int) -> None:
        self._worker, self._number = worker, number

    def __del__(self) -> None:
        self._worker.released.append(self._number)

    @property
    def changed(self) -> bool:
        """Whether something has written to them since the call returned."""
        return self._worker.outputs_changed(self._number)

    @property
    def are_lost(self) -> bool:
        """Whether they have ended with their process."""
        return self._worker.has_failed


class Worker(Process):
    """A worker process and its calls."""

    def __init__(self, memory: int) -> None:
        """Start the process, which then expects the handshake.

        Raises:
            BackendError: it cannot be started.
        """
        # A backend can write answers too, but not guess the ids of its calls.
        self._number = secrets.randbits(52)
        # The calls whose outputs have changed, and those compared on request since the last call.
        self._changed: set[int] = set()
        self._compared: set[int] = set()
        self.released: list[int] = []
        try:
            self._area = SharedArea()
            try:
                super().__init__(self._command, memory)
            except BaseException:
                self._area.close()
                raise
        except OSError as error:
            raise BackendError(f"a worker cannot be started: {error.strerror or error}") from None

    def _command(
        self, requests: int, replies: int, log: IO[bytes]
    ) -> tuple[Sequence[str], Mapping[str, Any]]:
        descriptors = (requests, replies, self._area.descriptor)
        words = [sys.executable, "-P", "-m", "opcert.isolation.worker", *map(str, descriptors)]
        return words, {"stdin": subprocess.DEVNULL, "stdout": log, "pass_fds": descriptors}

    def call(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Arguments,
        timeout: float,
        dirty_sizes: Sequence[int] = (),
    ) -> Outcome:
        """Make a call; the worker first dirties memory blocks of `dirty_sizes` bytes.

        Raises:
            WorkerFailure: the process crashed, hung or violated the protocol.
        """
        request = {**self._request(operator, inputs, attributes), "dirty_sizes": dirty_sizes}
        answer = self.exchange(request, timeout)
        # The backend can write to the pipe as well: any answer may be wrong in any way.
        try:
            return self._outcome(answer, inputs)
        except Exception as error:
            text = f"malformed answer: {describe_error(error)}"
            raise WorkerFailure("protocol", text[:_MAX_TEXT_LENGTH]) from None

    def native(
        self, operator: str, inputs: InputArrays, attributes: Arguments, timeout: float
    ) -> Any:
        """Return what `native_code` does in the process, or "" if another call was answered.

        Raises:
            WorkerFailure: the process crashed, hung or violated the protocol.
        """
        request = {**self._request(operator, inputs, attributes), "native": True}
        answer = self.exchange(request, timeout)
        return answer.get("native") if answer.get("id") == self._number else ""

    def run_program(
        self, program: str, setting: Mapping[str, str], timeout: float
    ) -> tuple[int, str]:
        """Return the exit status of a Python program, and what it printed as errors.

        `setting` are variables of its environment.

        Raises:
            WorkerFailure: it hung or took too much memory, or the process violated the protocol.
        """
        self._number += 1
        request = {"id": self._number, "program": program, "setting": setting}
        answer = self.exchange(request, timeout)
        status, errors = answer.get("status"), answer.get("errors")
        if type(status) is not int or not isinstance(errors, str):
            raise WorkerFailure("protocol", "malformed answer: no status of a program")
        return status, errors

    def _request(self, operator: str, inputs: InputArrays, attributes: Arguments) -> dict[str, Any]:
        descriptions, outputs_offset = write_inputs(self._area, inputs)
        self._number += 1
        released, self.released = self.released, []
        named = {"id": self._number, "operator": operator, "attributes": attributes}
        memory = {"outputs_offset": outputs_offset, "size": self._area.size, "release": released}
        return {**named, "inputs": descriptions, **memory}

    def _outcome(self, answer: Mapping[str, Any], inputs: InputArrays) -> Outcome:
        if answer["id"] != self._number:
            raise ValueError("an id of no call, or of another one")
        self._compared.clear()
        self._changed.update(answer["changed"])
        read_inputs_back(self._area, inputs)
        log = self.take_log()
        fault = None
        if answer["altered_inputs"]:
            if (name := answer["altered_inputs"][0]) not in inputs:
                raise ValueError("the name of no input")
            text = f"the call changed the form of its input '{name}'"
            fault = Difference("mutated-input", text)
        observed = answer["observed"]
        if observed in ("unsupported", "rejected"):
            reason, rejected_by = _text(answer["reason"]), answer["rejected_by"]
            if rejected_by not in (("runtime", "adapter") if observed == "rejected" else (None,)):
                raise ValueError(f"{observed}, and rejected_by {rejected_by}")
            lines = [_text(line) for line in answer["lines"][:_MAX_LINES]]
            return Outcome(
                observed, None, reason, fault, log=log, rejected_by=rejected_by, lines=lines
            )
        if observed != "outputs":
            raise ValueError(f"observed {observed}; expected outputs, unsupported or rejected")
        if "returned" in answer:
            outputs: Any = _placeholder(answer["returned"])
            return Outcome("outputs", outputs, fault=fault, log=log)
        self._area.follow(answer["size"])
        outputs = [self._output(description) for description in answer["outputs"]]
        remote = WorkerOutputs(self, self._number)
        return Outcome("outputs", outputs, fault=fault, remote=remote, log=log)

    def _output(self, description: Mapping[str, Any]) -> Any:
        """Return a copy of an output, or a placeholder for one that was not shared."""
        if "returned" in description:
            return _placeholder(description["returned"])
        dtype = _read_dtype(description["type"])
        # An array of objects in shared memory would be an array of another process's pointers.
        if "offset" not in description or dtype.hasobject:
            return np.broadcast_to(np.zeros((), dtype), description["shape"])
        return self._area.array(dtype, description["shape"], description["offset"]).copy()

    def outputs_changed(self, number: int) -> bool:
        """Whether the outputs of a call have changed; False if the worker has ended."""
        is_compared = number >= self._number - WATCHED_CALLS or number in self._compared
        if not is_compared and self.find_failure() is None:
            numbers = range(number, number + _COMPARED_TOGETHER)
            self._compared.update(numbers)
            # The end of the worker is not a fault of these outputs: `find_failure` returns it.
            with suppress(WorkerFailure, LookupError, TypeError):
                answer = self.exchange({"compare": [*numbers]}, self._timeout)
                self._changed.update(answer["changed"])
        return number in self._changed

    def kill(self) -> None:
        """Kill the process and its descendants, and release the memory that it shares."""
        super().kill()
        self._area.close()


def _text(value: Any) -> str:
    return str(value)[:_MAX_TEXT_LENGTH]


def _read_dtype(name: str) -> np.dtype[Any]:
    """Return the element type of an output by its name, which is that of NumPy if opcert has none.

    The name of a structured type is its list of fields. NumPy does not read all names that it has.
    """
    if name.startswith("["):
        fields: list[Any] = ast.literal_eval(name)
        return np.dtype(fields)
    with suppress(SyntaxError, TypeError, ValueError):
        return ELEMENT_TYPES[name] if name in ELEMENT_TYPES else np.dtype(name)
    return np.dtype("V1")


def _placeholder(type_name: str) -> object:
    """Return an object whose type has this name, in place of the backend's own object."""
    return type(_text(type_name), (), {})()
