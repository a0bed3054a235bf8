"""Checks step by step whether a driver implements the protocol."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from opcert.errors import BackendError, printable_line
from opcert.isolation.driver_probes import Probe, probes
from opcert.isolation.driver_process import Driver, start_driver
from opcert.isolation.handshake import INTRODUCTION_KEYS, introduction_mistakes
from opcert.isolation.messages import PROTOCOL
from opcert.isolation.process import WorkerFailure
from opcert.isolation.supervised import EXIT_TIMEOUT
from opcert.scope.support import checked_support
from opcert.suite.suite import Suite

# The length of a value, and the number of log lines, that a step prints at most.
_MAX_TEXT, _MAX_LINES = 100, 5


@dataclass(frozen=True)
class CheckStep:
    """A task of the driver, its result, whether the driver passed, and its log."""

    task: str
    result: str
    passed: bool = True
    log: str = ""

    def __str__(self) -> str:
        mark = "ok" if self.passed else "WRONG"
        lines = self.log.strip().splitlines()[-_MAX_LINES:]
        return "\n".join(
            [
                f"{mark:5}  {self.task}: {printable_line(self.result)}",
                *(f"       printed: {printable_line(line)}" for line in lines),
            ]
        )


def check_driver(
    command: str, options: Mapping[str, Any], timeout: float, suite: Suite, memory: int = 0
) -> Iterator[CheckStep]:
    """Start a driver, perform the handshake and calls, and yield each step.

    The handshake and each answer may take `timeout` seconds, and the process `memory` bytes; 0 is
    no limit. A failed call restarts the driver.

    Raises:
        BackendError: the command cannot be started.
    """
    steps = [*_check_handshake(command, options, timeout, memory)]
    yield from steps
    if all(step.passed for step in steps):
        yield from _CallChecks(command, options, timeout, memory).steps(suite)
    else:
        yield CheckStep("calls", "not tried: the handshake is wrong", False)


def _check_handshake(
    command: str, options: Mapping[str, Any], timeout: float, memory: int
) -> Iterator[CheckStep]:
    """Yield a step for each key of the introduction."""
    process = start_driver(command, memory)
    try:
        answer = process.exchange({"protocol": PROTOCOL, "options": options}, timeout)
        unexpected = process.unexpected_output()
    except WorkerFailure as failure:
        text = f"expected a line with a JSON object; {failure.reason}"
        yield CheckStep("handshake", text, False, process.take_log())
        return
    finally:
        process.kill()
    yield CheckStep("handshake", "a line with a JSON object")
    if "error" in answer:
        yield CheckStep("error", f"the driver refuses to run: {answer['error']}", False)
        return
    mistakes = dict(introduction_mistakes(answer))
    for key in (*INTRODUCTION_KEYS, *(mistakes.keys() - set(INTRODUCTION_KEYS))):
        text = f"{answer.get(key)!r}"
        short = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."
        yield CheckStep(key, mistakes.get(key, short), key not in mistakes)
    if unexpected:
        text = f"expected nothing but the line; found {unexpected}"
        yield CheckStep("end of the handshake", text, False)


class _CallChecks:
    """Calls of a driver, which is restarted after a failure."""

    def __init__(
        self, command: str, options: Mapping[str, Any], timeout: float, memory: int
    ) -> None:
        self._command, self._options = command, options
        self._timeout, self._memory = timeout, memory
        self._driver: Driver | None = None

    def steps(self, suite: Suite) -> Iterator[CheckStep]:
        """Yield a step for each call, and one for the end of the driver."""
        try:
            backend = SimpleNamespace(support=self._running_driver().introduction.support)
            for probe in probes(suite, checked_support(backend, suite)):
                yield self._check_call(probe)
            exits = self._running_driver().exits_within(EXIT_TIMEOUT)
            text = "it exits"
            if not exits:
                text = f"expected the driver to exit; it still runs after {EXIT_TIMEOUT:g} s"
            yield CheckStep("end of input", text, exits)
        except BackendError as error:
            yield CheckStep("start", f"{error}", False)
        finally:
            self._kill()

    def _running_driver(self) -> Driver:
        if self._driver is None:
            self._driver = Driver(self._command, self._options, self._memory, self._timeout)
        return self._driver

    def _kill(self) -> None:
        if self._driver is not None:
            self._driver.kill()
            self._driver = None

    def _check_call(self, probe: Probe) -> CheckStep:
        task = f"call, {probe.description}"
        if probe.inputs is None:
            return CheckStep(task, "not tried: the driver declares no such call")
        driver = self._running_driver()
        expected = " or ".join(probe.answers)
        try:
            outcome = driver.call(probe.operator, probe.inputs, probe.attributes, self._timeout)
        except WorkerFailure as failure:
            log = driver.take_log()
            self._kill()
            text = f"expected {expected}; {failure.observed}: {failure.reason}"
            return CheckStep(task, text, False, log)
        answer = f"{outcome.observed} {outcome.reason[:_MAX_TEXT]}".strip()
        if outcome.observed not in probe.answers:
            return CheckStep(task, f"expected {expected}; found {answer}", False)
        return CheckStep(task, answer)
