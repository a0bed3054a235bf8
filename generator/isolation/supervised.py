"""A backend in a process of its own: killed when it crashes or hangs, and started again."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from opcert.arrays.element_types import Array, InputArrays
from opcert.backends.contract import Backend
from opcert.backends.lookup import DRIVER_PREFIX, load
from opcert.backends.source_files import SourceFiles
from opcert.errors import BackendError
from opcert.isolation.driver_process import Driver
from opcert.isolation.process import START_TIMEOUT, WorkerFailure
from opcert.isolation.worker_process import Worker
from opcert.run.comparison import Difference
from opcert.run.outcome import IsolatedBackend, Outcome

# How many seconds a call may take by default.
CALL_TIMEOUT = 60.0
# How many seconds a process may take to exit by itself.
EXIT_TIMEOUT = 2.0
# How many starts of a process may fail in a row.
_MAX_FAILED_STARTS = 3


class SupervisedBackend(IsolatedBackend):
    """Runs a driver, or a backend that `load` finds, in a process of its own.

    `delivery` is how inputs reach the process: packed for a driver, else strided.
    """

    def __init__(
        self,
        backend: str,
        options: Mapping[str, Any] | None = None,
        *,
        timeout: float = CALL_TIMEOUT,
        memory: int = 0,
        files: SourceFiles | None = None,
    ) -> None:
        """Start the process; a call may take `timeout` seconds, the process `memory` bytes.

        A `memory` of 0 is no limit. The start may take 300 seconds, or `timeout` if longer. Each
        start compares the `files` of the backend's code with their digests.

        Raises:
            BackendError: the backend cannot be started.
        """
        self._backend, self._options = backend, dict(options or {})
        try:
            json.dumps(self._options)
        except (TypeError, ValueError):
            raise BackendError(
                f"backend '{backend}': options that JSON cannot express need the backend in this "
                "process: isolated=False"
            ) from None
        self.delivery = "packed" if backend.startswith(DRIVER_PREFIX) else "strided"
        self._timeout, self._memory = timeout, memory
        self._worker: Worker | Driver | None = None
        self._failed_starts = 0
        self._is_first_start = True
        self._files = SourceFiles(backend) if files is None else files
        introduction = self._running_worker().introduction
        self._is_first_start = False
        self.name, self.version = introduction.name, introduction.version
        self.support, self.reuse = introduction.support, introduction.reuse

    def _running_worker(self) -> Worker | Driver:
        """Return the process, after starting it if necessary.

        Raises:
            BackendError: it cannot be started, or has failed to start too often.
        """
        if self._worker is not None:
            return self._worker
        if self._failed_starts >= _MAX_FAILED_STARTS:
            raise BackendError(f"{self._failed_starts} starts have failed")
        self._files.check()
        # A limit that is short for a call is too short to compile, or to open a device.
        seconds = max(self._timeout, START_TIMEOUT)
        if self._backend.startswith(DRIVER_PREFIX):
            command = self._backend.removeprefix(DRIVER_PREFIX)
            self._worker = Driver(command, self._options, self._memory, seconds)
        else:
            request = {
                "backend": self._backend,
                "options": self._options,
                "path": [folder for folder in sys.path if folder],
                # OpenVINO takes seconds to determine its support: request it only once.
                "declares": self._is_first_start,
            }
            self._worker = Worker(request, self._memory, seconds)
        self._failed_starts = 0
        return self._worker

    def call(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Mapping[str, Any],
        dirty_sizes: Sequence[int] = (),
    ) -> Outcome:
        """Make a call; a crash, a hang or a protocol violation is an outcome."""
        try:
            worker = self._running_worker()
        except BackendError as error:
            self._failed_starts += 1
            return Outcome("crash", reason=f"the backend cannot be started again: {error}")
        try:
            if isinstance(worker, Driver):
                return worker.call(operator, inputs, attributes, self._timeout)
            return worker.call(operator, inputs, attributes, self._timeout, dirty_sizes)
        except WorkerFailure as failure:
            return self._stopped(worker, failure)

    def take_end(self) -> Outcome | None:
        """Return how the process has ended or failed since its last answer, if it has."""
        worker = self._worker
        failure = None if worker is None else worker.process.find_failure()
        return None if worker is None or failure is None else self._stopped(worker, failure)

    def _stopped(self, worker: Worker | Driver, failure: WorkerFailure) -> Outcome:
        """Stop the process, and return the outcome of its last call."""
        log = worker.take_log()
        self.stop()
        if failure.observed == "protocol":
            fault = Difference("protocol", failure.reason)
            return Outcome("rejected", reason=failure.reason, fault=fault, log=log)
        return Outcome(failure.observed, reason=failure.reason, log=log)

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        """Make a call, as the contract of a backend requires.

        Raises:
            NotImplementedError: the backend does not support the call.
            RuntimeError: the backend rejected the call, or its process failed.
        """
        outcome = self.call(operator, inputs, attributes)
        if outcome.observed == "unsupported":
            raise NotImplementedError(outcome.reason)
        if outcome.observed != "outputs":
            raise RuntimeError(outcome.reason)
        outputs: Sequence[Array] = outcome.outputs
        return outputs

    def close(self) -> None:
        """Wait for the process to exit, then kill it and its descendants."""
        if self._worker is not None:
            try:
                self._worker.exits_within(EXIT_TIMEOUT)
            finally:
                self.stop()

    def restart(self) -> None:
        """Start the backend anew, in a new process.

        Raises:
            BackendError: it cannot be started.
        """
        self.close()
        self._running_worker()

    def stop(self) -> None:
        """Kill the process and its descendants."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


def start_backend(
    name: str,
    options: Mapping[str, Any],
    isolated: bool | None = None,
    *,
    timeout: float = CALL_TIMEOUT,
    memory: int = 0,
    files: SourceFiles | None = None,
) -> Backend:
    """Return a driver, or the backend that `load` finds, by default in a process of its own.

    The reference runs in this process, unless `isolated` is true; so does every backend where
    `isolated` is false or the system has no POSIX processes. A driver always is a process. `files`
    are those of its code, which each start of a process checks.

    Raises:
        BackendError: it cannot be found or started.
    """
    has_processes = os.name == "posix"
    if isolated and not has_processes:
        raise BackendError("isolation needs Linux or macOS; use isolated=None")
    if isolated or (isolated is None and name != "reference" and has_processes):
        return SupervisedBackend(name, options, timeout=timeout, memory=memory, files=files)
    return load(name, **options)
