"""The processes that host a backend: a worker of opcert's own, and a driver."""

import ast
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import prod
from typing import IO, Any, Literal

import numpy as np
from pydantic import ValidationError

from opcert.arrays.element_types import ELEMENT_TYPES, Array, InputArrays, bit_width
from opcert.errors import BackendError, describe_error, did_you_mean
from opcert.isolation.messages import (
    MAX_OUTPUT_BYTES,
    PROTOCOL,
    SharedArea,
    pack_inputs,
    read_inputs_back,
    write_inputs,
)
from opcert.isolation.process import START_TIMEOUT, Process, WorkerFailure, perform_handshake
from opcert.isolation.worker import WATCHED_CALLS
from opcert.run.comparison import Difference
from opcert.run.outcome import Outcome, Rejecter
from opcert.suite.format import StrictModel

# How many calls are compared in one request: callers usually compare one call after the other.
_COMPARED_TOGETHER = 8
# How much of a text, and how many lines of source, are taken from an answer.
_MAX_TEXT_LENGTH, _MAX_LINES = 10_000, 100


def ask_worker(request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a worker for one request, and return its answer.

    Raises:
        WorkerFailure: it does not answer.
        BackendError: it cannot be started.
    """
    area, process = _start_process(memory=0)
    try:
        return process.exchange({"protocol": PROTOCOL, **request}, START_TIMEOUT)
    finally:
        process.kill()
        os.close(area.descriptor)


def _start_process(memory: int) -> tuple[SharedArea, Process]:
    """Start a worker; return it with the memory that it shares."""
    try:
        area = SharedArea()
        try:
            return area, Process(partial(_spawn, area), memory)
        except BaseException:
            os.close(area.descriptor)
            raise
    except OSError as error:
        raise BackendError(f"a worker cannot be started: {error.strerror or error}") from None


def _spawn(
    area: SharedArea, requests: int, replies: int, log: IO[bytes], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    descriptors = (requests, replies, area.descriptor)
    return subprocess.Popen(  # noqa: S603 -- this very Python
        [sys.executable, "-P", "-m", "opcert.isolation.worker", *map(str, descriptors)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=descriptors,
        start_new_session=True,
        env=environment,
    )


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
        return self._worker.process.has_failed


class Worker:
    """A worker process and its calls."""

    def __init__(self, start: Mapping[str, Any], memory: int, seconds: float) -> None:
        """Start the process, and have it construct the backend within `seconds`.

        Raises:
            BackendError: the process cannot be started, or the backend cannot be constructed.
        """
        # A backend can write answers too, but not guess the ids of its calls.
        self._number = secrets.randbits(52)
        self._timeout = seconds
        # The calls whose outputs have changed, and those compared on request since the last call.
        self._changed: set[int] = set()
        self._compared: set[int] = set()
        self.released: list[int] = []
        self._area, self.process = _start_process(memory)
        try:
            self.introduction = perform_handshake(self.process, start, start["backend"], seconds)
        except BaseException:
            self.kill()
            raise

    def call(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Mapping[str, Any],
        timeout: float,
        dirty_sizes: Sequence[int] = (),
    ) -> Outcome:
        """Make a call; the worker first dirties memory blocks of `dirty_sizes` bytes.

        Raises:
            WorkerFailure: the process crashed, hung or violated the protocol.
        """
        descriptions, outputs_offset = write_inputs(self._area, inputs)
        self._number, self._timeout = self._number + 1, timeout
        released, self.released = self.released, []
        request = {
            "id": self._number,
            "operator": operator,
            "attributes": attributes,
            "inputs": descriptions,
            "outputs_offset": outputs_offset,
            "size": self._area.size,
            "release": released,
            "dirty_sizes": dirty_sizes,
        }
        answer = self.process.exchange(request, timeout)
        # The backend can write to the pipe as well: any answer may be wrong in any way.
        try:
            return self._outcome(answer, inputs)
        except Exception as error:
            text = f"malformed answer: {describe_error(error)}"
            raise WorkerFailure("protocol", text[:_MAX_TEXT_LENGTH]) from None

    def _outcome(self, answer: Mapping[str, Any], inputs: InputArrays) -> Outcome:
        if answer["id"] != self._number:
            raise ValueError("an id of no call, or of another one")
        self._compared.clear()
        self._changed.update(answer["changed"])
        read_inputs_back(self._area, inputs)
        log = self.process.take_log()
        fault = None
        if answer["altered_inputs"]:
            text = f"the call changed the form of its input '{answer['altered_inputs'][0]}'"
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
        name = description["type"]
        # The name of a structured type is its list of fields.
        fields = ast.literal_eval(name) if name.startswith("[") else name
        dtype = ELEMENT_TYPES[name] if name in ELEMENT_TYPES else np.dtype(fields)
        # An array of objects in shared memory would be an array of another process's pointers.
        if "offset" not in description or dtype.hasobject:
            return np.broadcast_to(np.zeros((), dtype), description["shape"])
        return self._area.array(dtype, description["shape"], description["offset"]).copy()

    def outputs_changed(self, number: int) -> bool:
        """Whether the outputs of a call have changed; False if the worker has ended."""
        is_compared = number >= self._number - WATCHED_CALLS or number in self._compared
        if not is_compared and self.process.find_failure() is None:
            numbers = range(number, number + _COMPARED_TOGETHER)
            self._compared.update(numbers)
            # The end of the worker is not a fault of these outputs: `find_failure` returns it.
            with suppress(WorkerFailure, LookupError, TypeError):
                answer = self.process.exchange({"compare": [*numbers]}, self._timeout)
                self._changed.update(answer["changed"])
        return number in self._changed

    def kill(self) -> None:
        """Kill the process, its session and its descendants."""
        self.process.kill()
        self._area.close()


def _text(value: Any) -> str:
    return str(value)[:_MAX_TEXT_LENGTH]


def _placeholder(type_name: str) -> object:
    """Return an object whose type has this name, in place of the backend's own object."""
    return type(_text(type_name), (), {})()


# The maximum rank of a NumPy array.
_MAX_RANK = 64
_MAX_REASON_LENGTH = 500


class _OutputDescription(StrictModel):
    """The description of an output, whose bytes follow the answer."""

    type: str
    shape: list[int]
    bytes: int

    def find_mistake(self) -> str | None:
        """Return the mistake in the description, or None."""
        if self.type not in ELEMENT_TYPES:
            hint = did_you_mean(self.type, list(ELEMENT_TYPES))
            return f"unknown type '{self.type}'{hint}"
        if len(self.shape) > _MAX_RANK or any(not 0 <= extent < 1 << 63 for extent in self.shape):
            shape = f"{self.shape[:_MAX_RANK]}"
            return f"shape {shape}; expected at most {_MAX_RANK} extents, none negative"
        size = prod(self.shape) * ELEMENT_TYPES[self.type].itemsize
        if self.bytes != size:
            return f"{self.bytes} bytes; {self.type}{self.shape} has {size}"
        return None


class _Answer(StrictModel):
    """The answer of a driver to a call."""

    id: int
    observed: Literal["outputs", "rejected", "unsupported"]
    reason: str = ""
    rejected_by: Rejecter | None = None
    outputs: list[_OutputDescription] | None = None

    def find_mistake(self, number: int) -> str | None:
        """Return the mistake in the answer to call `number`, or None."""
        if self.id != number:
            return f"id {self.id}; expected {number}"
        if (self.outputs is None) == (self.observed == "outputs"):
            verb = "needs" if self.outputs is None else "has no"
            return f"observed '{self.observed}' {verb} 'outputs'"
        if self.rejected_by is not None and self.observed != "rejected":
            return f"observed '{self.observed}' has no 'rejected_by'"
        outputs = self.outputs or []
        for position, output in enumerate(outputs):
            if (mistake := output.find_mistake()) is not None:
                return f"output {position}: {mistake}"
        total = sum(output.bytes for output in outputs)
        if total > MAX_OUTPUT_BYTES:
            return f"{total} bytes of outputs; at most {MAX_OUTPUT_BYTES} are read"
        return None


class _ReceivedOutputs:
    """Outputs received as bytes, which the driver cannot change afterwards."""

    changed = are_lost = False


class Driver:
    """A driver process and its calls."""

    def __init__(
        self, command: str, options: Mapping[str, Any], memory: int, seconds: float
    ) -> None:
        """Start the process, and perform the handshake within `seconds`.

        Raises:
            BackendError: it cannot be started, or the handshake fails.
        """
        self._number = 0
        self.process = start_driver(command, memory)
        try:
            self.introduction = perform_handshake(
                self.process, {"options": options}, f"driver:{command}", seconds
            )
        except BaseException:
            self.kill()
            raise

    def call(
        self, operator: str, inputs: InputArrays, attributes: Mapping[str, Any], timeout: float
    ) -> Outcome:
        """Make a call.

        Raises:
            WorkerFailure: the process crashed, hung or violated the protocol.
        """
        self._refuse_unexpected_output("between calls")
        self._number += 1
        descriptions, contents = pack_inputs(inputs)
        request = {
            "id": self._number,
            "operator": operator,
            "attributes": attributes,
            "inputs": descriptions,
        }
        answer = _parse_answer(self.process.exchange(request, timeout, contents), self._number)
        outputs = [self._read_output(i, output) for i, output in enumerate(answer.outputs or ())]
        self._refuse_unexpected_output("after the answer and its outputs")
        log = self.process.take_log()
        if answer.observed == "outputs":
            return Outcome("outputs", outputs, remote=_ReceivedOutputs(), log=log)
        reason = answer.reason[:_MAX_REASON_LENGTH].encode(errors="replace").decode()
        rejected_by = answer.rejected_by or "runtime" if answer.observed == "rejected" else None
        return Outcome(answer.observed, reason=reason, log=log, rejected_by=rejected_by)

    def _read_output(self, position: int, description: _OutputDescription) -> Array:
        content = self.process.read_bytes(description.bytes)
        # A boolean or a 4-bit element takes a whole byte, whose upper bits must be zero.
        highest = (1 << bit_width(description.type)) - 1
        if highest < 255 and content.size and content.max() > highest:
            byte = f"{int(content.max()):#04x}"
            text = f"output {position}: a byte {byte}; {description.type} has at most {highest}"
            raise WorkerFailure("protocol", text)
        try:
            return content.view(ELEMENT_TYPES[description.type]).reshape(description.shape)
        except ValueError as error:
            raise WorkerFailure("protocol", f"output {position}: {error}") from None

    def _refuse_unexpected_output(self, when: str) -> None:
        if found := self.process.unexpected_output():
            text = f"unexpected output {when}: {found}; stdout is for answers alone"
            raise WorkerFailure("protocol", text)

    def kill(self) -> None:
        """Kill the process, its session and its descendants."""
        self.process.kill()


def start_driver(command: str, memory: int = 0) -> Process:
    """Start a driver by a command, which is split into words as in a shell.

    Raises:
        BackendError: the command cannot be split or started.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BackendError(f"driver '{command}' cannot be split into words: {error}") from None
    if not words:
        raise BackendError("'driver:' has no command; expected driver:COMMAND")

    def spawn(
        requests: int, replies: int, log: IO[bytes], environment: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 -- the user's own program
            words,
            stdin=requests,
            stdout=replies,
            stderr=log,
            start_new_session=True,
            env=environment,
        )

    try:
        return Process(spawn, memory)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BackendError(f"driver '{words[0]}' cannot be started: {reason}") from None


def _parse_answer(message: Mapping[str, Any], number: int) -> _Answer:
    try:
        answer = _Answer.model_validate(message)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        value = "" if first["type"] == "missing" else f", found {first['input']!r}"[:100]
        text = f"malformed answer: {place}: {first['msg']}{value}"
        raise WorkerFailure("protocol", text) from None
    if (mistake := answer.find_mistake(number)) is not None:
        raise WorkerFailure("protocol", f"malformed answer: {mistake}")
    return answer
