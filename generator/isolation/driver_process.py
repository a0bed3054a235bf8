"""The process of a driver, which hosts a backend in any language."""

import shlex
from collections.abc import Mapping
from math import prod
from typing import Any, Literal

from pydantic import ValidationError

from opcert.arrays.element_types import ELEMENT_TYPES, Array, InputArrays, bit_width
from opcert.backends.contract import Arguments
from opcert.errors import BackendError, did_you_mean
from opcert.isolation.messages import MAX_OUTPUT_BYTES, pack_inputs
from opcert.isolation.process import Process, WorkerFailure
from opcert.run.outcome import Outcome, Rejecter
from opcert.suite.format import StrictModel

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


class Driver(Process):
    """A driver process and its calls."""

    def __init__(self, command: str, memory: int) -> None:
        """Start a driver by a command, which is split into words as in a shell.

        It then expects the handshake.

        Raises:
            BackendError: the command cannot be split or started.
        """
        self._number = 0
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BackendError(f"driver '{command}' cannot be split into words: {error}") from None
        if not words:
            raise BackendError("'driver:' has no command; expected driver:COMMAND")
        try:
            super().__init__(lambda *ends: (words, {"stdin": ends[0], "stdout": ends[1]}), memory)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BackendError(f"driver '{words[0]}' cannot be started: {reason}") from None

    def call(
        self, operator: str, inputs: InputArrays, attributes: Arguments, timeout: float
    ) -> Outcome:
        """Make a call.

        Raises:
            WorkerFailure: the process crashed, hung or violated the protocol.
        """
        self._refuse_unexpected_output("between calls")
        self._number += 1
        descriptions, contents = pack_inputs(inputs)
        named = {"id": self._number, "operator": operator, "attributes": attributes}
        request = {**named, "inputs": descriptions}
        answer = _parse_answer(self.exchange(request, timeout, contents), self._number)
        outputs = [self._read_output(i, output) for i, output in enumerate(answer.outputs or ())]
        self._refuse_unexpected_output("after the answer and its outputs")
        log = self.take_log()
        if answer.observed == "outputs":
            return Outcome("outputs", outputs, remote=_ReceivedOutputs(), log=log)
        reason = answer.reason[:_MAX_REASON_LENGTH].encode(errors="replace").decode()
        rejected_by = answer.rejected_by or "runtime" if answer.observed == "rejected" else None
        return Outcome(answer.observed, reason=reason, log=log, rejected_by=rejected_by)

    def _read_output(self, position: int, description: _OutputDescription) -> Array:
        content = self.read_bytes(description.bytes)
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
        if found := self.unexpected_output():
            text = f"unexpected output {when}: {found}; stdout is for answers alone"
            raise WorkerFailure("protocol", text)


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
