"""A backend in a process of its own: watched, ended when it crashes or hangs, and started again."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from opcert.arrays import Array, InputArrays
from opcert.backends import DRIVER_PREFIX, Backend, load
from opcert.errors import BackendError
from opcert.isolation.driver_process import Driver
from opcert.isolation.process import START_TIMEOUT, WorkerFailure
from opcert.isolation.worker_process import Worker
from opcert.run import Difference, IsolatedBackend, Outcome

# How many seconds a call may take, where nothing else is said.
CALL_TIMEOUT = 60.0
# How many seconds a process has for leaving by itself.
EXIT_TIMEOUT = 2.0
# How often a backend that crashed is made again in vain before that is given up.
_REFUSALS = 3


class SupervisedBackend(IsolatedBackend):
    """Runs a backend in a process of its own, one call at a time: a driver, or what `load` finds.

    `delivery` says how arrays reach it: a driver gets them packed.
    """

    def __init__(
        self,
        backend: str,
        options: Mapping[str, Any] | None = None,
        *,
        timeout: float = CALL_TIMEOUT,
        memory: int = 0,
    ) -> None:
        """Start the process; a call may take `timeout` seconds, and it `memory` bytes, 0 for any.

        To start it has 300 seconds, or `timeout` where that is more.

        Raises:
            BackendError: the backend cannot be made.
        """
        self._backend, self._options = backend, dict(options or {})
        try:
            json.dumps(self._options)
        except (TypeError, ValueError):
            text = "options that are no plain values need the backend in this process"
            raise BackendError(f"backend '{backend}': {text}: isolated=False") from None
        self.delivery = "packed" if backend.startswith(DRIVER_PREFIX) else "strided"
        self._timeout, self._memory = timeout, memory
        self._worker: Worker | Driver | None = None
        self._refused = 0
        self._declared = False
        introduction = self._running().introduction
        self.name, self.version = introduction.name, introduction.version
        self.support, self.reuse = introduction.support, introduction.reuse
        self._declared = True

    def _running(self) -> Worker | Driver:
        if self._worker is None:
            if self._refused >= _REFUSALS:
                raise BackendError(f"it was refused {self._refused} times")
            self._worker = self._started()
            self._refused = 0
        return self._worker

    def _started(self) -> Worker | Driver:
        # A limit that is short for a call is no limit for compiling, or for a device.
        seconds = max(self._timeout, START_TIMEOUT)
        if self._backend.startswith(DRIVER_PREFIX):
            command = self._backend.removeprefix(DRIVER_PREFIX)
            return Driver(command, self._options, self._memory, seconds)
        path = [each for each in sys.path if each]
        # OpenVINO takes seconds to find out what it supports, and says the same each time.
        asked = {"path": path, "declares": not self._declared}
        start = {"backend": self._backend, "options": self._options, **asked}
        return Worker(start, self._memory, seconds)

    def outcome(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Mapping[str, Any],
        dirtied: Sequence[int] = (),
    ) -> Outcome:
        """Make a call; that the process crashes or hangs is an outcome of it."""
        try:
            worker = self._running()
        except BackendError as error:
            self._refused += 1
            return Outcome("crash", reason=f"it cannot be started again: {error}")
        try:
            if isinstance(worker, Driver):
                return worker.call(operator, inputs, attributes, self._timeout)
            return worker.call(operator, inputs, attributes, self._timeout, dirtied)
        except WorkerFailure as error:
            log = worker.log()
            self.stop()
            if error.observed == "protocol":
                fault = Difference("protocol", error.reason)
                return Outcome("rejected", reason=error.reason, fault=fault, log=log)
            return Outcome(error.observed, reason=error.reason, log=log)

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        """Make a call as any backend does.

        Raises:
            NotImplementedError, RuntimeError: as the backend, or since its process has ended.
        """
        outcome = self.outcome(operator, inputs, attributes)
        if outcome.observed == "unsupported":
            raise NotImplementedError(outcome.reason)
        if outcome.observed != "outputs":
            raise RuntimeError(outcome.reason)
        found: Sequence[Array] = outcome.outputs
        return found

    def close(self) -> None:
        """Let the process leave, and end it and every other that it has started."""
        if self._worker is not None:
            try:
                self._worker.exits_within(EXIT_TIMEOUT)
            finally:
                self.stop()

    def restart(self) -> None:
        """Make the backend afresh, in a new process.

        Raises:
            BackendError: it cannot be made again.
        """
        self.close()
        self._running()

    def stop(self) -> None:
        """End the process at once, and every other that it has started."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None


def start_backend(
    name: str,
    options: Mapping[str, Any],
    isolated: bool | None = None,
    *,
    timeout: float = CALL_TIMEOUT,
    memory: int = 0,
) -> Backend:
    """Return the backend that `load` finds: in a process of its own, but for the reference.

    `isolated` says otherwise, but for a driver, which always is a process. Where there are no
    processes as POSIX has them, it runs in this one.

    Raises:
        BackendError: it cannot be found or made.
    """
    if isolated and os.name != "posix":
        raise BackendError("a process of its own needs Linux or macOS; use isolated=None")
    if isolated or (isolated is None and name != "reference" and os.name == "posix"):
        return SupervisedBackend(name, options, timeout=timeout, memory=memory)
    return load(name, **options)
