"""Driver -> what is right and wrong in how it speaks the protocol, step by step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from opcert.errors import BackendError, printable_line
from opcert.isolation.driver_probes import Probe, probes
from opcert.isolation.driver_process import Driver, started
from opcert.isolation.introduction import PARTS, mistakes
from opcert.isolation.messages import PROTOCOL
from opcert.isolation.process import WorkerFailure
from opcert.isolation.supervised import EXIT_TIMEOUT
from opcert.scope import checked_support
from opcert.suite import Suite

# How much of a reason, and how many lines of what was printed, are shown.
_BRIEF, _LINES = 100, 5


@dataclass(frozen=True)
class CheckStep:
    """One thing that a driver has to do, what was found, whether that is right, and its log."""

    what: str
    found: str
    right: bool = True
    printed: str = ""

    def __str__(self) -> str:
        head = f"{'ok' if self.right else 'WRONG':5}  {self.what}: {printable_line(self.found)}"
        lines = self.printed.strip().splitlines()[-_LINES:]
        return "\n".join([head, *(f"       printed: {printable_line(line)}" for line in lines)])


def check_driver(
    command: str, options: Mapping[str, Any], timeout: float, suite: Suite
) -> Iterator[CheckStep]:
    """Start a driver, talk with it, and yield what it does right and wrong, step by step.

    It has `timeout` seconds for its introduction, and for each answer. Behind a call that goes
    wrong it is started again.

    Raises:
        BackendError: the command cannot be started.
    """
    steps = [*_introduction(command, options, timeout)]
    yield from steps
    if all(each.right for each in steps):
        yield from _Talk(command, options, timeout).steps(suite)
    else:
        yield CheckStep("calls", "not tried before the handshake is right", False)


def _introduction(command: str, options: Mapping[str, Any], timeout: float) -> Iterator[CheckStep]:
    """Yield what is right and wrong in a handshake, by its parts."""
    process = started(command)
    try:
        found = process.ask({"protocol": PROTOCOL, "options": options}, timeout)
        foreign = process.foreign()
    except WorkerFailure as error:
        text = f"expected a line with a JSON object; {error.reason}"
        yield CheckStep("handshake", text, False, process.log())
        return
    finally:
        process.end()
    yield CheckStep("handshake", "a line with a JSON object")
    if "error" in found:
        yield CheckStep("error", f"it refuses: {found['error']}", False)
        return
    wrong = dict(mistakes(found))
    for part in (*PARTS, *(wrong.keys() - set(PARTS))):
        text = f"{found.get(part)!r}"
        brief = text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."
        yield CheckStep(part, wrong.get(part, brief), part not in wrong)
    if foreign:
        yield CheckStep("nothing behind it", f"expected no more than the line; {foreign}", False)


class _Talk:
    """The calls of a driver, which is started again behind one that goes wrong."""

    def __init__(self, command: str, options: Mapping[str, Any], timeout: float) -> None:
        self._command, self._options, self._timeout = command, options, timeout
        self._driver: Driver | None = None

    def steps(self, suite: Suite) -> Iterator[CheckStep]:
        """Yield what becomes of each call, and of the end."""
        try:
            declared = SimpleNamespace(support=self._running().introduction.support)
            for probe in probes(suite, checked_support(declared, suite)):
                yield self._asked(probe)
            yield self._left()
        except BackendError as error:
            yield CheckStep("start", f"{error}", False)
        finally:
            self._end()

    def _running(self) -> Driver:
        if self._driver is None:
            self._driver = Driver(self._command, self._options, 0, self._timeout)
        return self._driver

    def _end(self) -> None:
        if self._driver is not None:
            self._driver.end()
            self._driver = None

    def _asked(self, probe: Probe) -> CheckStep:
        what = f"call, {probe.what}"
        if probe.inputs is None:
            return CheckStep(what, "not tried: it declares no such call")
        driver = self._running()
        try:
            outcome = driver.call(probe.operator, probe.inputs, probe.attributes, self._timeout)
        except WorkerFailure as error:
            text = f"expected {_one_of(probe.answers)}; {error.observed}: {error.reason}"
            printed = driver.log()
            self._end()
            return CheckStep(what, text, False, printed)
        found = f"{outcome.observed} {outcome.reason[:_BRIEF]}".strip()
        if outcome.observed not in probe.answers:
            return CheckStep(what, f"expected {_one_of(probe.answers)}; found {found}", False)
        return CheckStep(what, found)

    def _left(self) -> CheckStep:
        left = self._running().exits_within(EXIT_TIMEOUT)
        found = (
            "it exits" if left else f"expected it to exit; it still runs {EXIT_TIMEOUT:g} s later"
        )
        return CheckStep("end of input", found, left)


def _one_of(answers: tuple[str, ...]) -> str:
    return " or ".join(answers)
