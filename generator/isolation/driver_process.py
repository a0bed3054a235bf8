"""A driver: a program in any language that runs operators, asked over its stdin and stdout."""

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from math import prod
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from opcert.arrays import ELEMENT_TYPES, Array, InputArrays, bit_width
from opcert.errors import BackendError, did_you_mean
from opcert.isolation.introduction import handshake
from opcert.isolation.messages import ROOM, packed
from opcert.isolation.process import Process, WorkerFailure
from opcert.run import Outcome, Rejecter

# The most dimensions that an array of NumPy has.
_DIMENSIONS = 64
_REASON = 500


class _Described(BaseModel):
    """An output whose bytes follow the answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    type: str
    shape: list[int]
    bytes: int

    def mistake(self) -> str | None:
        """Return what is wrong with it, if anything is."""
        if self.type not in ELEMENT_TYPES:
            return f"type '{self.type}'{did_you_mean(self.type, list(ELEMENT_TYPES))}"
        if len(self.shape) > _DIMENSIONS or any(not 0 <= n < 1 << 63 for n in self.shape):
            shape = f"{self.shape[:_DIMENSIONS]}"
            return f"shape {shape}; expected at most {_DIMENSIONS} extents, none negative"
        taken = prod(self.shape) * ELEMENT_TYPES[self.type].itemsize
        if self.bytes != taken:
            return f"{self.bytes} bytes; {self.type}{self.shape} takes {taken}"
        return None


class _Answer(BaseModel):
    """What a driver says of a call."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: int
    observed: Literal["outputs", "rejected", "unsupported"]
    reason: str = ""
    rejected_by: Rejecter | None = None
    outputs: list[_Described] | None = None

    def mistake(self, number: int) -> str | None:
        """Return what is wrong with it as an answer to call `number`, if anything is."""
        if self.id != number:
            return f"it is of call {self.id}; expected {number}"
        if (self.outputs is None) == (self.observed == "outputs"):
            needs = "needs" if self.outputs is None else "has no"
            return f"observed '{self.observed}' {needs} 'outputs'"
        if self.rejected_by is not None and self.observed != "rejected":
            return f"observed '{self.observed}' has no 'rejected_by'"
        described = self.outputs or []
        for place, each in enumerate(described):
            wrong = each.mistake()
            if wrong is not None:
                return f"output {place}: {wrong}"
        total = sum(each.bytes for each in described)
        return f"{total} bytes of outputs; at most {ROOM} are read" if total > ROOM else None


class _Copies:
    """Outputs that nothing else writes to, since they came as bytes."""

    changed = False


class Driver:
    """One process that runs a driver, and what is said to it."""

    def __init__(
        self, command: str, options: Mapping[str, Any], memory: int, seconds: float
    ) -> None:
        """Start it, and have it introduce itself in so many seconds.

        Raises:
            BackendError: it cannot be started, or says what cannot be understood.
        """
        self._number = 0
        self.process = started(command, memory)
        try:
            asked = {"options": options}
            self.introduction = handshake(self.process, asked, f"driver:{command}", seconds)
        except BaseException:
            self.end()
            raise

    def call(
        self, operator: str, inputs: InputArrays, attributes: Mapping[str, Any], timeout: float
    ) -> Outcome:
        """Make a call.

        Raises:
            EndedError: the process has ended, was ended, or says what cannot be understood.
        """
        self._nothing_more("it wrote between calls")
        self._number += 1
        said, contents = packed(inputs)
        request = {
            "id": self._number,
            "operator": operator,
            "attributes": attributes,
            "inputs": said,
        }
        answer = _answer(self.process.ask(request, timeout, contents), self._number)
        outputs = [self._output(*each) for each in enumerate(answer.outputs or ())]
        self._nothing_more("more than the answer and its outputs")
        if answer.observed == "outputs":
            return Outcome("outputs", outputs, kept=_Copies(), log=self.log())
        reason = answer.reason[:_REASON].encode(errors="replace").decode()
        rejected_by = answer.rejected_by or "runtime" if answer.observed == "rejected" else None
        return Outcome(answer.observed, reason=reason, log=self.log(), rejected_by=rejected_by)

    def _output(self, place: int, described: _Described) -> Array:
        content = self.process.read(described.bytes)
        highest = (1 << bit_width(described.type)) - 1
        if highest < 255 and content.size and content.max() > highest:
            found = int(content.max())
            text = f"output {place}: a byte {found:#04x}; {described.type} has at most {highest}"
            raise WorkerFailure("protocol", text)
        try:
            return content.view(ELEMENT_TYPES[described.type]).reshape(described.shape)
        except ValueError as error:
            raise WorkerFailure("protocol", f"output {place}: {error}") from None

    def _nothing_more(self, what: str) -> None:
        foreign = self.process.foreign()
        if foreign:
            raise WorkerFailure("protocol", f"{what}: {foreign}; stdout is for answers alone")

    def log(self) -> str:
        """Return what was printed since the last time, or the end of it."""
        return self.process.log()

    def exits_within(self, seconds: float) -> bool:
        """Ask nothing more, and say whether the process ends by itself in that time."""
        return self.process.exits_within(seconds)

    def end(self) -> None:
        """End the process and every other of its session."""
        self.process.end()


def started(command: str, memory: int = 0) -> Process:
    """Start a driver, by a command that is split as a shell would split it.

    Raises:
        BackendError: it cannot be split or started.
    """
    words = _words(command)

    def start(requests: int, replies: int, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 -- the user's own program
            words, stdin=requests, stdout=replies, stderr=log, start_new_session=True
        )

    try:
        return Process(start, memory)
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or error
        raise BackendError(f"driver '{words[0]}' cannot be started: {text}") from None


def _words(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BackendError(f"driver '{command}' cannot be split into words: {error}") from None
    if not words:
        raise BackendError("'driver:' has no command; expected driver:COMMAND")
    return words


def _answer(found: Mapping[str, Any], number: int) -> _Answer:
    try:
        answer = _Answer.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        given = "" if first["type"] == "missing" else f", found {first['input']!r}"[:100]
        text = f"an answer of another form: {where}: {first['msg']}{given}"
        raise WorkerFailure("protocol", text) from None
    wrong = answer.mistake(number)
    if wrong is not None:
        raise WorkerFailure("protocol", f"an answer of another form: {wrong}")
    return answer
