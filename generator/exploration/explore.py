"""Specs x backend -> results: Hypothesis searches for failing calls of each operator."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from opcert.backends.contract import Backend, close_backend
from opcert.cases.mutations import mutations_of
from opcert.choices import call_seed
from opcert.errors import OpcertError, printable_line
from opcert.exploration.calls import OperatorCalls, call_line, trials
from opcert.isolation.supervised import start_backend
from opcert.programs import step_text, write_program
from opcert.run.outcome import IsolatedBackend
from opcert.run.session import FaultKind, Session, SessionFault, Step
from opcert.settings import RunSettings
from opcert.specification.files import SpecFile, read_specs_in
from opcert.suite.support import declared_support
from opcert.verdicts.call_levels import LevelledCalls
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.reduction import shortened

# Hypothesis remembers what it has tried, so it begins anew after so many trials.
_ROUND = 1000
# At which share of an operator's time the search ends: what it finds is shrunk in the rest.
_SEARCH_END = 0.75
# Where Hypothesis keeps what fails, for each operator.
_DATABASE = Path(".hypothesis") / "opcert"


class _TrialError(Exception):
    """Reports to Hypothesis that a trial fails."""


class _Stop(BaseException):
    """Ends a search; Hypothesis lets it pass."""


class _Uniform(HypothesisProvider):
    """Draws any integer of a range as often, since roles decide which values are worth a try.

    By itself, Hypothesis would repeat parts of a trial, and take constants from loaded modules.
    """

    def draw_integer(self, min_value: int, max_value: int, **_: Any) -> int:  # type: ignore[override]
        return self._random.randint(min_value, max_value)  # type: ignore[union-attr]


AVAILABLE_PROVIDERS["opcert"] = _Uniform


@dataclass(frozen=True)
class Counterexample:
    """Steps of which the last one fails, and its fault.

    One that is not `repeatable` failed once, and not again on a fresh backend.
    """

    operator: str
    fault: SessionFault
    steps: Sequence[Step]
    repeatable: bool = True

    @property
    def failure(self) -> tuple[FaultKind, str | None]:
        """The kind of its fault, and the rule that its last call violates."""
        return self.fault.kind, self.steps[-1].rule

    def program(self, setup: str) -> str:
        """Return a program that fails likewise; `setup` are the lines that define `backend`.

        It needs NumPy, the imports of these lines, and ml_dtypes where NumPy lacks a type.
        """
        fatal_kind = self.fault.kind if self.fault.kind in ("crash", "hang", "protocol") else None
        calls = [step_text(step, _remark(step)) for step in self.steps]
        calls[-1] = replace(calls[-1], ending=fatal_kind)
        title = f"{self.operator}, {self.fault.kind}: {printable_line(self.fault.text)}"
        return write_program(calls, setup, [title])


def _remark(step: Step) -> str:
    if step.golden is None:
        return f"one change to a valid call ({step.relation}) violates {step.rule}"
    return step.relation or "a valid call"


@dataclass(frozen=True)
class ExplorationResult:
    """The result for one operator so far: how many calls were tried, and a counterexample if found.

    `declined` counts the tried calls that the backend does not support, `known` those that fail in
    a known way, `found` the counterexamples before this one.
    """

    operator: str
    tried: int
    declined: int
    counterexample: Counterexample | None
    known: int = 0
    found: int = 0

    def text(self, setup: Callable[[], str]) -> str:
        """Return the result as text; `setup` returns the lines of Python that define `backend`."""
        if not self.tried:
            return f"{self.operator}: no call was tried; raise --minutes"
        counts = {"not supported": self.declined, "with known failures": self.known}
        parts = [f", {count} of them {what}" for what, count in counts.items() if count]
        line = f"{self.operator}: {self.tried} call{'s' * (self.tried != 1)} tried{''.join(parts)}"
        counterexample = self.counterexample
        if counterexample is None:
            return f"{line}, nothing {'else ' if self.known or self.found else ''}found"
        once = "" if counterexample.repeatable else "; seen once, and not again on a fresh backend"
        fault = counterexample.fault
        head = f"{line}, found ({fault.kind}): {printable_line(fault.text)}{once}"
        call, program = call_line(counterexample.steps[-1]), counterexample.program(setup())
        return f"{head}\n    {call}\n\n```python\n{program}```\n"


class Search:
    """The search for counterexamples of one operator, for a number of seconds.

    A trial ends with its first failure, and is passed over if this is known: if a cause of a
    certificate explains it, or if one of its kind was found before, of calls that must be rejected
    one of its kind and rule. It counts as failing if it fails again on a fresh backend. A backend
    in this process is made anew for each trial that is shrunk, so that nothing is left of others.
    """

    def __init__(
        self,
        make_backend: Callable[[], Backend],
        spec_file: SpecFile,
        causes: Iterable[Cause],
        seconds: float,
    ) -> None:
        self._make_backend, self._backend = make_backend, ExitStack()
        self._calls, self._levels = OperatorCalls(spec_file), LevelledCalls(spec_file)
        self._operator = spec_file.spec.operator
        self._trials = trials(self._calls)
        self._mutations = {mutation.name: mutation for mutation in mutations_of(spec_file.spec)}
        self._causes = [cause for cause in causes if cause.operator == self._operator]
        self._found: set[tuple[FaultKind, str | None]] = set()
        self._counts: Counter[str] = Counter(tried=0, declined=0, known=0)
        self._best: Counterexample | None = None
        # As it was found; and one that failed once, and not again.
        self._first: Counterexample | None = None
        self._once: Counterexample | None = None
        self._renew()
        begin = time.monotonic()
        self._search_end, self._end = begin + _SEARCH_END * seconds, begin + seconds
        self._deadline = self._search_end

    def results(self, seed: int) -> Iterator[ExplorationResult]:
        """Yield what each search for further failures finds, up to the first that finds nothing.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made, or made again.
        """
        numbers = count()
        with self._backend:
            while True:
                self._best = self._once = None
                self._deadline = self._search_end
                try:
                    self._search(call_seed(self._operator, seed, number) for number in numbers)
                finally:
                    best = self._best or self._once
                    counts = {**self._counts, "found": len(self._found)}
                    yield ExplorationResult(self._operator, counterexample=best, **counts)
                if best is None:
                    return
                self._found.add(best.failure)

    def _search(self, seeds: Iterable[int]) -> None:
        """Try calls until one fails in a new way or the time is up, and shrink what fails."""
        setting = settings(
            backend="opcert",
            database=DirectoryBasedExampleDatabase(_DATABASE / self._operator),
            deadline=None,
            max_examples=_ROUND,
            phases=(Phase.reuse, Phase.generate, Phase.shrink),
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=[*HealthCheck],
            verbosity=Verbosity.quiet,
        )
        try:
            for seed in seeds:
                # A test with a seed has no database unless its settings come last.
                test = setting(with_seed(seed)(given(st.data())(self._attempt)))
                with suppress(Unsatisfiable):
                    test()
        except _Stop as stop:
            if stop.__cause__ is not None:
                raise stop.__cause__ from None
        except (_TrialError, Flaky):
            pass
        if self._best is not None and self._is_isolated and not self._fails_again(self._best.steps):
            # It was shrunk in a process that may keep something of earlier calls.
            self._best = self._first
        if self._best is not None:
            shortened(self._best.steps, self._fails_again)

    def _is_new(self, failing: Counterexample) -> bool:
        """Whether a failure is not known, of steps that begin with the valid call."""
        if failing.failure in self._found or not self._causes:
            return failing.failure not in self._found
        step = failing.steps[-1]
        if step.golden is not None:
            points = self._levels.points_of(step)
        else:
            change = self._mutations[step.relation].change
            points = self._levels.invalid_points(failing.steps[0], step, change)
        return not any(cause.explains(failing.fault.kind, points or [{}]) for cause in self._causes)

    def _renew(self) -> None:
        """Close the backend, if there is one, and make it anew."""
        self._backend.close()
        backend = self._make_backend()
        self._backend.callback(close_backend, backend)
        self._session, self._calls.support = Session(backend), declared_support(backend)

    def _attempt(self, data: st.DataObject) -> None:
        """Try drawn calls; once some have failed, others fail only if they do so likewise."""
        if time.monotonic() > self._deadline:
            raise _Stop
        try:
            if self._fails(data.draw(self._trials)):
                raise _TrialError
        except OpcertError as error:
            raise _Stop from error

    def _fails(self, steps: Sequence[Step]) -> bool:
        best = self._best
        # To start a process for each trial would take long: whether the failure depends on earlier
        # calls is checked at the end.
        failing = self._run(steps, fresh=best is not None and not self._is_isolated)
        is_new = failing is not None and self._is_new(failing)
        if best is None:
            is_known = failing is not None and not is_new
            self._counts.update(tried=1, declined=self._session.declined, known=is_known)
        if failing is None or not is_new or (best and failing.failure != best.failure):
            return False
        if best is not None:
            self._best = failing
            return True
        # It is the result so far where the backend cannot be made again.
        self._once = replace(failing, repeatable=False)
        self._best = self._first = self._run(steps, fresh=True)
        if self._best is None:
            return False
        # Half of the time is left for further searches.
        self._deadline = (time.monotonic() + self._end) / 2
        return True

    @property
    def _is_isolated(self) -> bool:
        return isinstance(self._session.backend, IsolatedBackend)

    def _run(self, steps: Sequence[Step], *, fresh: bool = False) -> Counterexample | None:
        """Make calls; return them up to the first that fails.

        Raises:
            BackendError: the backend cannot be made again.
        """
        if fresh:
            self._renew()
        first_fault = self._session.first_fault(steps)
        if first_fault is None:
            return None
        number, fault = first_fault
        return Counterexample(self._operator, fault, steps[: number + 1])

    def _fails_again(self, steps: Sequence[Step]) -> bool:
        """Whether the last step, and none before, fails as the best does, on a fresh backend."""
        best = self._best
        again = None if time.monotonic() > self._end else self._run(steps, fresh=True)
        if best is None or again is None or again.failure != best.failure:
            return False
        if len(again.steps) < len(steps):
            return False
        self._best = again
        return True


def explore(
    backend: str | Callable[[], Backend],
    settings: RunSettings,
    *,
    options: Mapping[str, Any] | None = None,
    minutes: float = 1,
    seed: int = 0,
    known: Iterable[Cause] = (),
) -> Iterator[ExplorationResult]:
    """Try calls of each operator in turn; yield each counterexample, and the end of each search.

    `backend` is a name for `load`, or a function that makes a backend in this process. A call is a
    counterexample if its result is wrong, if it ends the process, or if it exceeds the limits of
    the settings, unless one of the `known` causes explains it. The operators share the time
    equally; their preparation is not counted. If the search is interrupted, its result so far is
    yielded first. Hypothesis keeps what fails in the folder `.hypothesis`, and tries it first next
    time.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """

    def make_backend() -> Backend:
        started = backend if isinstance(backend, str) else backend()
        return start_backend(started, options or {}, settings)

    spec_files, known = read_specs_in(settings.specs, settings.operator), [*known]
    seconds = 60 * minutes
    share = seconds / len(spec_files)
    for remaining, spec_file in zip(range(len(spec_files), 0, -1), spec_files, strict=True):
        # Time that one operator does not use goes to the others; a hang takes none from them.
        search = Search(make_backend, spec_file, known, max(seconds / remaining, share))
        begin = time.monotonic()
        yield from search.results(seed)
        seconds -= time.monotonic() - begin
