"""Checks whether a driver follows the protocol: its handshake, its end, and a few calls."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from opcert.backends.lookup import DRIVER_PREFIX
from opcert.errors import BackendError, printable_line
from opcert.isolation.driver_process import start_driver
from opcert.isolation.handshake import perform_handshake
from opcert.isolation.supervised import EXIT_TIMEOUT, SupervisedBackend
from opcert.scope.support import checked_support
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite

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
    """Start a driver, end it after the handshake, make calls in a new process; yield each step.

    The handshake and each answer may take `timeout` seconds, and the process `memory` bytes; 0 is
    no limit. A failed call restarts the driver.

    Raises:
        BackendError: the command cannot be started.
    """
    name = f"{DRIVER_PREFIX}{command}"
    process = start_driver(command, memory)
    try:
        introduction = perform_handshake(process, {"options": options}, name, timeout)
        yield CheckStep("handshake", f"{introduction.name} {introduction.version}")
        exits = process.exits_within(EXIT_TIMEOUT)
    except BackendError as error:
        yield CheckStep("handshake", str(error), False, process.take_log())
        return
    finally:
        process.kill()
    still_runs = f"expected the driver to exit; it still runs after {EXIT_TIMEOUT:g} s"
    yield CheckStep("end of input", "it exits" if exits else still_runs, exits)
    backend = SupervisedBackend(name, options, timeout=timeout, memory=memory)
    try:
        data = {"data": np.arange(6, dtype=np.float32).reshape(2, 3)}
        task = "an unknown operator with odd attributes"
        yield _call(backend, task, _UNKNOWN_OPERATOR, data, _ODD_ATTRIBUTES, ("unsupported",))
        for operator, case in _varied_cases(suite, backend):
            inputs = operator.inputs(case)
            yield _call(backend, case.id, operator.index.operator, inputs, case.attributes)
    finally:
        backend.close()


def _call(
    backend: SupervisedBackend,
    task: str,
    operator: str,
    inputs: Mapping[str, Array],
    attributes: Mapping[str, Any],
    answers: tuple[str, ...] = _ANSWERS,
) -> CheckStep:
    outcome = backend.call(operator, inputs, attributes)
    observed = outcome.observed if outcome.fault is None else outcome.fault.kind
    answer = f"{observed} {outcome.reason[:_MAX_TEXT]}".strip()
    if observed in answers:
        return CheckStep(f"call, {task}", answer)
    expected = " or ".join(answers)
    return CheckStep(f"call, {task}", f"expected {expected}; found {answer}", False, outcome.log)


def _varied_cases(
    suite: Suite, backend: SupervisedBackend
) -> Iterator[tuple[OperatorSuite, IndexedCase]]:
    """Yield the first declared cases of each operator and expectation, type and rank of inputs."""
    support, seen = checked_support(backend, suite), set[object]()
    for operator, case in suite:
        name = operator.index.operator
        shapes = [tensor.shape for tensor in case.inputs.values()]
        traits = {(name, case.expects), case.type, *((len(s), 0 in s) for s in shapes)}
        if not traits <= seen and not support.exclusion_reason(name, case):
            seen |= traits
            yield operator, case
