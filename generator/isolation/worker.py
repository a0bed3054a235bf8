"""The process that hosts a backend for a supervisor: `python -m …isolation.worker FD FD FD`.

It reads requests from the first file descriptor, answers on the second, and shares the memory of
the third. Output that the backend prints goes to the log of the process.
"""

import json
import os
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array, type_name
from opcert.arrays.layouts import ArrayMemory, array_properties
from opcert.backends.contract import Backend, as_backend_error, close_backend, declared_reuse
from opcert.backends.lookup import load, option_choices
from opcert.errors import BackendError, class_name, describe_error
from opcert.isolation.messages import (
    MAX_OUTPUT_BYTES,
    PROTOCOL,
    SharedArea,
    align,
    map_inputs,
    receive_lines,
    send_message,
)
from opcert.run.outcome import call_backend, native_code, rejection
from opcert.system import end_with_parent

# The number of earlier calls whose outputs are compared again for every answer.
WATCHED_CALLS = 3
# How many bytes of what a program printed an answer has; it may list the elements of outputs.
_MAX_ERRORS = 1 << 20


@dataclass(frozen=True)
class _ReturnedOutputs:
    """Outputs as the backend returned them, with their memory and a copy of their bytes."""

    outputs: Sequence[Array]
    memories: Sequence[ArrayMemory]
    contents: Sequence[bytes]

    @property
    def changed(self) -> bool:
        return not all(memory.is_readable for memory in self.memories) or any(
            array.tobytes() != content
            for array, content in zip(self.outputs, self.contents, strict=True)
        )


class _Host:
    """A backend, the memory for the arrays of its calls, and the outputs that it returned."""

    def __init__(self, backend: Backend, area: SharedArea) -> None:
        self._backend = backend
        self._area = area
        self._pid = os.getpid()
        self._returned: dict[int, _ReturnedOutputs] = {}
        self._watched: deque[int] = deque(maxlen=WATCHED_CALLS)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request: make a call, write it, run a program, or compare earlier outputs."""
        for number in request.get("release", ()):
            self._returned.pop(number, None)
        if "compare" in request:
            return {"changed": self._changed(request["compare"])}
        if "program" in request:
            return _run_program(request)
        self._area.grow(request["size"])
        inputs = map_inputs(self._area, request["inputs"])
        if request.get("native"):
            call = request["operator"], inputs, request["attributes"]
            return {"id": request["id"], "native": native_code(self._backend, *call)}
        properties = {name: array_properties(array) for name, array in inputs.items()}
        watched = list(self._watched)
        answer = self._call(request, inputs)
        # Without its memory the process ends now, and not in a later call, which is not at fault.
        self._area.check()
        altered = [n for n, array in inputs.items() if array_properties(array) != properties[n]]
        answer["changed"], answer["altered_inputs"] = self._changed(watched), altered
        return answer

    def _changed(self, numbers: Sequence[int]) -> list[int]:
        return [n for n in numbers if n in self._returned and self._returned[n].changed]

    def _call(self, request: dict[str, Any], inputs: dict[str, Array]) -> dict[str, Any]:
        operator, attributes = request["operator"], request["attributes"]
        try:
            dirty_sizes = request["dirty_sizes"]
            outcome = call_backend(self._backend, operator, inputs, attributes, dirty_sizes)
        except KeyboardInterrupt as error:
            # The backend raised it itself: a user's interrupt reaches the supervisor alone.
            outcome = rejection(error)
        if os.getpid() != self._pid:
            # A child process that the backend forked has returned from the call as well.
            os._exit(0)
        answer = {"id": request["id"], "observed": outcome.observed}
        if outcome.observed != "outputs":
            answer |= {"reason": outcome.reason, "rejected_by": outcome.rejected_by}
            return {**answer, "lines": outcome.lines}
        if not isinstance(outcome.outputs, list):
            return {**answer, "returned": class_name(outcome.outputs)}
        return {**answer, **self._share_outputs(request, outcome.outputs)}

    def _share_outputs(self, request: dict[str, Any], outputs: Sequence[Any]) -> dict[str, Any]:
        """Copy outputs to the shared memory, except those that it cannot hold."""
        descriptions: list[dict[str, Any]] = []
        end = request["outputs_offset"]
        for output in outputs:
            if not isinstance(output, np.ndarray):
                descriptions.append({"returned": class_name(output)})
                continue
            description = {"type": type_name(output.dtype), "shape": output.shape}
            if not output.dtype.hasobject and end + output.nbytes <= MAX_OUTPUT_BYTES:
                self._area.grow(align(end + output.nbytes))
                self._area.array(output.dtype, output.shape, end)[...] = output
                description["offset"] = end
                end = align(end + output.nbytes)
            descriptions.append(description)
        if all("offset" in description for description in descriptions):
            contents = [array.tobytes() for array in outputs]
            memories = [ArrayMemory(array) for array in outputs]
            self._returned[request["id"]] = _ReturnedOutputs(outputs, memories, contents)
            self._watched.append(request["id"])
        return {"outputs": descriptions, "size": self._area.size}


def _run_program(request: dict[str, Any]) -> dict[str, Any]:
    """Run a program in a process of its own, which the supervisor of this one limits as well."""
    ended = subprocess.run(
        [sys.executable, "-"],
        input=request["program"].encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **request["setting"]},
        check=False,
    )
    errors = ended.stderr[:_MAX_ERRORS].decode(errors="replace")
    return {"id": request["id"], "status": ended.returncode, "errors": errors}


def _start(request: dict[str, Any]) -> tuple[Backend | None, dict[str, Any]]:
    """Return the backend that the first request names, if any, and the answer."""
    if request["protocol"] != PROTOCOL:
        return None, {"error": f"protocol {request['protocol']}; this worker has {PROTOCOL}"}
    sys.path += [folder for folder in request["path"] if folder not in ("", *sys.path)]
    try:
        if request.get("purpose") == "choices":
            return None, {"choices": option_choices(request["backend"], request["options"])}
        backend = load(request["backend"], **request["options"])
        support = _declared_support(backend) if request["declares"] else None
        reuse = declared_reuse(backend)
    except BackendError as error:
        return None, {"error": str(error)}
    except KeyboardInterrupt:
        # A worker gets no interrupt of the terminal: the backend raised it.
        return None, {"error": f"{request['backend']}: raised KeyboardInterrupt"}
    named = {"protocol": PROTOCOL, "name": backend.name, "version": backend.version}
    return backend, {**named, "support": support, "reuse": reuse}


def _declared_support(backend: Backend) -> dict[str, Any] | None:
    with as_backend_error("support"):
        support = getattr(backend, "support", None)
    if support is None:
        return None
    # Most backends declare nothing, and their workers start faster without pydantic.
    from opcert.suite.support import declared_support  # noqa: PLC0415

    return declared_support(SimpleNamespace(support=support)).to_dict()


def serve(requests: int, replies: int, memory: int) -> None:
    """Host the backend that the first request names until the sender closes the pipe."""
    area = SharedArea(memory)
    messages = (json.loads(line.decode()) for line in receive_lines(requests))
    backend, introduction = _start(next(messages))
    send_message(replies, introduction)
    if backend is None:
        return
    host = _Host(backend, area)
    for request in messages:
        send_message(replies, host.answer(request))
    close_backend(backend)


def _report(failure: Exception) -> None:
    """Write one line about a failure of this module to the log, not a traceback of opcert.

    Usually the backend has closed a descriptor, or changed a module that opcert uses as well.
    """
    place = traceback.extract_tb(failure.__traceback__)[-1]
    error = f"{describe_error(failure)} ({place.filename}:{place.lineno})"
    os.write(2, f"opcert's part of this process failed: {error}\n".encode(errors="replace"))


if __name__ == "__main__":
    end_with_parent()
    try:
        serve(*map(int, sys.argv[1:]))
    except Exception as failure:
        try:
            _report(failure)
        finally:
            os._exit(1)
    # Threads that the backend still runs must not keep the process alive.
    os._exit(0)
