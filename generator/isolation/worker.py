"""The process that hosts a backend for a supervisor: `python -m …isolation.worker FD FD FD`.

It reads requests from the first file descriptor, answers on the second, and shares the memory of
the third. What the backend prints goes elsewhere.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from opcert.arrays import Array, array_properties, type_name
from opcert.backends import (
    Backend,
    as_backend_error,
    close_backend,
    declared_reuse,
    load,
    option_choices,
)
from opcert.errors import BackendError, describe_error
from opcert.isolation.messages import PROTOCOL, ROOM, Area, aligned, got, lines, say
from opcert.run import Outcome, call_backend, dirty_freed_memory

# The outputs of how many calls are looked at again behind every call.
RECENT = 3


@dataclass(frozen=True)
class _Kept:
    """Outputs as the backend returned them, and what was in them then."""

    outputs: Sequence[Array]
    elements: Sequence[bytes]

    @property
    def changed(self) -> bool:
        return any(
            array.tobytes() != before
            for array, before in zip(self.outputs, self.elements, strict=True)
        )


class _Host:
    """A backend, the memory in which calls come, and what it returned."""

    def __init__(self, backend: Backend, area: Area) -> None:
        self._backend = backend
        self._area = area
        self._process = os.getpid()
        self._kept: dict[int, _Kept] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        for number in request.get("drop", ()):
            self._kept.pop(number, None)
        if "look" in request:
            return {"changed": self._changed(request["look"])}
        self._area.reach(request["size"])
        inputs = got(self._area, request["inputs"])
        forms = {name: array_properties(array) for name, array in inputs.items()}
        recent = list(self._kept)[-RECENT:]
        dirty_freed_memory(request["dirty"])
        answer = self._called(request, inputs)
        spoiled = [
            name for name, before in forms.items() if array_properties(inputs[name]) != before
        ]
        return {**answer, "changed": self._changed(recent), "spoiled": spoiled}

    def _changed(self, numbers: Sequence[int]) -> list[int]:
        return [each for each in numbers if each in self._kept and self._kept[each].changed]

    def _called(self, request: dict[str, Any], inputs: dict[str, Array]) -> dict[str, Any]:
        try:
            outcome = call_backend(
                self._backend, request["operator"], inputs, request["attributes"]
            )
        except KeyboardInterrupt as error:
            outcome = Outcome("rejected", reason=describe_error(error), rejected_by="runtime")
        if os.getpid() != self._process:
            # A child that the backend has made, and that came back with it.
            os._exit(0)
        answer = {
            "id": request["id"],
            "observed": outcome.observed,
            "reason": outcome.reason,
            "rejected_by": outcome.rejected_by,
        }
        if outcome.observed != "outputs":
            return answer
        if not isinstance(outcome.outputs, list):
            return {**answer, "returned": type(outcome.outputs).__name__}
        return {**answer, **self._laid(request, outcome.outputs)}

    def _laid(self, request: dict[str, Any], outputs: Sequence[Any]) -> dict[str, Any]:
        """Lay outputs in the memory, as far as they are what can be laid there."""
        described: list[dict[str, Any]] = []
        end = request["free"]
        for each in outputs:
            if not isinstance(each, np.ndarray):
                described.append({"returned": type(each).__name__})
                continue
            at = {"type": type_name(each.dtype), "shape": each.shape}
            if each.dtype.hasobject or end + each.nbytes > ROOM:
                described.append(at)
                continue
            self._area.reach(aligned(end + each.nbytes))
            self._area.array(each.dtype, each.shape, end)[...] = each
            described.append({**at, "offset": end})
            end = aligned(end + each.nbytes)
        arrays = [each for each in outputs if isinstance(each, np.ndarray)]
        if all("offset" in each for each in described):
            self._kept[request["id"]] = _Kept(arrays, [each.tobytes() for each in arrays])
        return {"outputs": described, "size": self._area.size}


def _made(request: dict[str, Any]) -> tuple[Backend | None, dict[str, Any]]:
    """Return the backend that is asked for, and how it introduces itself."""
    if request["protocol"] != PROTOCOL:
        return None, {"error": f"protocol {request['protocol']}; this worker speaks {PROTOCOL}"}
    sys.path += [each for each in request["path"] if each not in sys.path]
    try:
        if request.get("ask") == "choices":
            return None, {"choices": option_choices(request["backend"], request["options"])}
        backend = load(request["backend"], **request["options"])
        support = _declared(backend) if request["declares"] else None
        reuse = declared_reuse(backend)
    except BackendError as error:
        return None, {"error": str(error)}
    named = {"name": backend.name, "version": backend.version}
    return backend, {"protocol": PROTOCOL, **named, "support": support, "reuse": reuse}


def _declared(backend: Backend) -> dict[str, Any] | None:
    """Return what a backend declares, without what checks it where that is nothing."""
    with as_backend_error("support"):
        declared = getattr(backend, "support", None)
    if declared is None:
        return None
    from opcert.scope import declared_support

    return declared_support(SimpleNamespace(support=declared)).to_dict()


def serve(requests: int, replies: int, area: Area) -> None:
    """Answer requests until there are no more."""
    asked = map(json.loads, lines(requests))
    backend, introduction = _made(next(asked))
    say(replies, introduction)
    if backend is None:
        return
    host = _Host(backend, area)
    for request in asked:
        say(replies, host.answer(request))
    close_backend(backend)


def main() -> None:
    """Host the backend that the first request names."""
    requests, replies, memory = map(int, sys.argv[1:])
    serve(requests, replies, Area(memory))
    # What threads the backend has left do not keep the process.
    os._exit(0)


if __name__ == "__main__":
    main()
