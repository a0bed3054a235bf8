"""A backend in a process of its own: its configurations, its end, its start, a check of it."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import quote

import numpy as np

from opcert.arrays.calls import flatten_variadic
from opcert.arrays.element_types import Array, InputArrays
from opcert.backends.contract import Arguments, Backend, check_backend
from opcert.backends.lookup import (
    DRIVER_PREFIX,
    SourceFiles,
    load,
    multiple_options,
    option_choices,
)
from opcert.errors import BackendError, printable_line
from opcert.isolation.driver_process import Driver
from opcert.isolation.handshake import perform_handshake
from opcert.isolation.messages import PROTOCOL
from opcert.isolation.process import START_TIMEOUT, WorkerFailure
from opcert.isolation.worker_process import Worker
from opcert.run.comparison import Difference
from opcert.run.outcome import IsolatedBackend, Outcome
from opcert.settings import RunSettings
from opcert.suite.suite import Suite, SuiteCase
from opcert.suite.support import checked_support

_DEFAULTS = RunSettings()
# How many seconds a process may take to exit by itself.
EXIT_TIMEOUT = 2.0
# How many more seconds than a call a program has, which imports the runtime and builds a model.
_IMPORT_SECONDS = 20.0
# How many starts of a process may fail in a row.
_MAX_FAILED_STARTS = 3


class SupervisedBackend(IsolatedBackend):
    """Runs a driver, or a backend that `load` finds, in a process of its own.

    `delivery` is how inputs reach the process: packed for a driver, else strided.
    """

    def __init__(
        self,
        backend: str,
        options: Arguments | None = None,
        settings: RunSettings = _DEFAULTS,
        files: SourceFiles | None = None,
    ) -> None:
        """Start the process, with the limits of the settings.

        The start may take 300 seconds, or the time limit of a call if longer. Each start compares
        the `files` of the backend's code with their digests.

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
        self._timeout, self._memory = settings.timeout, settings.memory_bytes
        self._worker: Worker | Driver | None = None
        self._failed_starts = 0
        self._files = SourceFiles(backend) if files is None else files
        # OpenVINO takes seconds to determine its support: request it only once.
        _, introduction = self._start(declares=True)
        self.name: str = introduction["name"]
        self.version: str = introduction["version"]
        self.support, self.reuse = introduction.get("support"), introduction.get("reuse")

    def _running_worker(self) -> Worker | Driver:
        """Return the process, after starting it if necessary.

        Raises:
            BackendError: it cannot be started, or has failed to start too often.
        """
        if self._worker is not None:
            return self._worker
        if self._failed_starts >= _MAX_FAILED_STARTS:
            raise BackendError(f"{self._failed_starts} starts have failed")
        worker, _ = self._start(declares=False)
        return worker

    def _start(self, *, declares: bool) -> tuple[Worker | Driver, Mapping[str, Any]]:
        """Start the process, and have it start the backend, which may declare its support.

        Raises:
            BackendError: one of them cannot be started.
        """
        self._files.check()
        request: dict[str, Any] = {"options": self._options}
        worker: Worker | Driver
        if self._backend.startswith(DRIVER_PREFIX):
            worker = Driver(self._backend.removeprefix(DRIVER_PREFIX), self._memory)
        else:
            request |= {"backend": self._backend, "path": sys.path, "declares": declares}
            worker = Worker(self._memory)
        try:
            # A limit that is short for a call is too short to compile, or to open a device.
            seconds = max(self._timeout, START_TIMEOUT)
            introduction = perform_handshake(worker, request, self._backend, seconds)
        except BaseException:
            worker.kill()
            raise
        self._worker, self._failed_starts = worker, 0
        return worker, introduction

    def call(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Arguments,
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

    def native(self, operator: str, inputs: InputArrays, attributes: Arguments) -> Any:
        """Return what `native_code` does in the process; a driver, and one that ends, give none."""
        worker = self._running_worker()
        if isinstance(worker, Driver):
            return ""
        try:
            return worker.native(operator, flatten_variadic(inputs), attributes, self._timeout)
        except WorkerFailure:
            self.stop()
            return ""

    def run_program(self, program: str, setting: Mapping[str, str]) -> tuple[int | None, str]:
        """Return the exit status of a Python program, and what it printed as errors.

        Its process is a child of the backend's, with the same limits. The status is None where it
        exceeds them; a driver runs none.

        Raises:
            BackendError: the backend cannot be started.
        """
        try:
            worker = self._running_worker()
            if isinstance(worker, Worker):
                return worker.run_program(program, setting, self._timeout + _IMPORT_SECONDS)
        except WorkerFailure as failure:
            self.stop()
            return None, failure.reason
        return None, ""

    def take_end(self) -> Outcome | None:
        """Return how the process has ended or failed since its last answer, if it has."""
        worker = self._worker
        failure = None if worker is None else worker.find_failure()
        return None if worker is None or failure is None else self._stopped(worker, failure)

    def _stopped(self, worker: Worker | Driver, failure: WorkerFailure) -> Outcome:
        """Stop the process, and return the outcome of its last call."""
        log = worker.take_log()
        self.stop()
        if failure.observed == "protocol":
            fault = Difference("protocol", failure.reason)
            return Outcome("rejected", reason=failure.reason, fault=fault, log=log)
        return Outcome(failure.observed, reason=failure.reason, log=log)

    def run(self, operator: str, inputs: InputArrays, attributes: Arguments) -> Sequence[Array]:
        """Make a call, as the contract of a backend requires.

        Raises:
            NotImplementedError: the backend does not support the call.
            RuntimeError: the backend rejected the call, or its process failed.
        """
        outcome = self.call(operator, flatten_variadic(inputs), attributes)
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
    backend: str | Backend,
    options: Arguments,
    settings: RunSettings = _DEFAULTS,
    files: SourceFiles | None = None,
) -> Backend:
    """Return a driver, or the backend that `load` finds, by default in a process of its own.

    An object runs in this process, and so does the reference, unless the settings ask for
    isolation; so does every backend where they exclude it, or the system has no POSIX processes. A
    driver always is a process. `files` are those of its code, which each start of a process checks.

    Raises:
        BackendError: it cannot be found or started, or is an object that is no backend.
    """
    isolated, has_processes = settings.isolated, os.name == "posix"
    if not isinstance(backend, str):
        if isolated:
            text = "a backend object runs in this process; to isolate it, pass its name as for"
            raise BackendError(f"{text} --backend")
        return check_backend(backend, type(backend).__name__)
    if isolated and not has_processes:
        raise BackendError("isolation needs Linux or macOS; use isolated=None")
    options = options_for(backend, options, settings)
    if isolated or (isolated is None and backend != "reference" and has_processes):
        return SupervisedBackend(backend, options, settings, files)
    return load(backend, **options)


def options_for(backend: str, options: Arguments, settings: RunSettings) -> Arguments:
    """Return the options of a named backend: the reference follows the specs of the settings."""
    if backend == "reference" and settings.specs is not None:
        return {"specs": str(settings.specs), **options}
    return options


@dataclass(frozen=True)
class Configuration:
    """The options of one run; `name`, a valid folder name, lists those that replaced an `all`."""

    name: str
    options: Arguments


def configurations(
    backend: str, options: Arguments | None = None, isolated: bool | None = None
) -> list[Configuration]:
    """Return the configurations that `options` select: one, unless an option is `all`.

    A separate process imports the backend, unless `isolated` is False. A backend that cannot be
    imported has one configuration, whose run reports the error.
    """
    requested = dict(options or {})
    # Only text is compared and sent: JSON cannot express every option.
    multiple = multiple_options(requested)
    choices = _choices(backend, multiple, isolated) if multiple else {}
    found = []
    for values in product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        parts = (f"{quote(key, '')}={quote(str(value), ' ')}" for key, value in chosen.items())
        found.append(Configuration(",".join(parts), {**requested, **chosen}))
    return found


def _choices(backend: str, options: Arguments, isolated: bool | None) -> Mapping[str, list[Any]]:
    if backend.startswith(DRIVER_PREFIX):
        return {}
    try:
        if isolated is False or os.name != "posix":
            return option_choices(backend, options)
        named = {"protocol": PROTOCOL, "backend": backend, "options": options, "path": sys.path}
        worker = Worker(memory=0)
        try:
            answer = worker.exchange({**named, "purpose": "choices"}, START_TIMEOUT)
        finally:
            worker.kill()
    except (BackendError, WorkerFailure):
        return {}
    choices: Mapping[str, list[Any]] = answer.get("choices", {})
    return choices


# The length of a reason, and the number of log lines, that a step prints at most.
_MAX_TEXT, _MAX_LINES = 500, 5
_ANSWERS = ("outputs", "rejected", "unsupported")
_UNKNOWN_OPERATOR = "opcert/no-such-operator"
# Values that hand-written JSON parsers often get wrong.
_ODD_ATTRIBUTES: Mapping[str, Any] = {
    "text": 'a "quoted" \\ back slash,\na new line, {[ and é \U0001f600',
    "integers": [0, -(2**63), 2**63 - 1],
    "nested": [[], [{"a": [True, False, None]}], {}],
    "fraction": -1.5e-3,
}


@dataclass(frozen=True)
class CheckStep:
    """A task of the driver, its result, whether the driver passed, and its log."""

    task: str
    result: str
    passed: bool = True
    log: str = ""

    def __str__(self) -> str:
        mark = "ok" if self.passed else "WRONG"
        printed = self.log.strip().splitlines()[-_MAX_LINES:]
        lines = (f"\n       printed: {printable_line(line)}" for line in printed)
        return f"{mark:5}  {self.task}: {printable_line(self.result)}{''.join(lines)}"


def check_driver(
    command: str, options: Arguments, settings: RunSettings, suite: Suite
) -> Iterator[CheckStep]:
    """Start a driver, end it after the handshake, make calls in a new process; yield each step.

    The limits of the settings are those of the process, of the handshake and of each answer. A
    failed call restarts the driver.

    Raises:
        BackendError: the command cannot be started.
    """
    name = f"{DRIVER_PREFIX}{command}"
    process = Driver(command, settings.memory_bytes)
    try:
        introduction = perform_handshake(process, {"options": options}, name, settings.timeout)
        yield CheckStep("handshake", f"{introduction['name']} {introduction['version']}")
        exits = process.exits_within(EXIT_TIMEOUT)
    except BackendError as error:
        yield CheckStep("handshake", str(error), False, process.take_log())
        return
    finally:
        process.kill()
    still_runs = f"expected the driver to exit; it still runs after {EXIT_TIMEOUT:g} s"
    yield CheckStep("end of input", "it exits" if exits else still_runs, exits)
    with closing(SupervisedBackend(name, options, settings)) as backend:
        data = {"data": np.arange(6, dtype=np.float32).reshape(2, 3)}
        task = "an unknown operator with odd attributes"
        yield _call(backend, task, _UNKNOWN_OPERATOR, data, _ODD_ATTRIBUTES, ("unsupported",))
        for case in _varied_cases(suite, backend):
            inputs = case.operator_suite.inputs(case.record)
            yield _call(backend, case.id, case.operator, inputs, case.attributes)


def _call(
    backend: SupervisedBackend,
    task: str,
    operator: str,
    inputs: Mapping[str, Array],
    attributes: Arguments,
    answers: tuple[str, ...] = _ANSWERS,
) -> CheckStep:
    outcome = backend.call(operator, inputs, attributes)
    observed = outcome.observed if outcome.fault is None else outcome.fault.kind
    answer = ": ".join(filter(None, [observed, outcome.reason[:_MAX_TEXT]]))
    if observed in answers:
        return CheckStep(f"call, {task}", answer)
    expected = " or ".join(answers)
    return CheckStep(f"call, {task}", f"expected {expected}; found {answer}", False, outcome.log)


def _varied_cases(suite: Suite, backend: SupervisedBackend) -> Iterator[SuiteCase]:
    """Yield the first declared cases of each operator and expectation, type and rank of inputs."""
    support, seen = checked_support(backend, suite), set[object]()
    for case in suite:
        shapes = [tensor.shape for tensor in case.record.inputs.values()]
        outcome = case.operator, case.expects
        traits = {outcome, case.record.type, *((len(shape), 0 in shape) for shape in shapes)}
        if not traits <= seen and not support.exclusion_reason(case.operator, case.record):
            seen |= traits
            yield case
