"""Specs x backend -> results: Hypothesis searches for failing calls of each operator."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from opcert.backends.contract import Backend, close_backend
from opcert.backends.lookup import in_process_backend, load, with_reference_specs
from opcert.choices.choices import call_seed
from opcert.errors import OpcertError
from opcert.exploration.calls import OperatorCalls, trials
from opcert.exploration.counterexample import Counterexample, ExplorationResult
from opcert.isolation.supervised import CALL_TIMEOUT, SupervisedBackend, start_backend
from opcert.run.outcome import IsolatedBackend
from opcert.run.session import Session, Step, shortened
from opcert.specification.files import read_specs_in
from opcert.suite.support import declared_support

# Makes a fresh backend, which is closed after the block that uses it.
Open: TypeAlias = Callable[[], AbstractContextManager[Backend]]
MakeBackend: TypeAlias = Callable[[], Backend]

# Hypothesis remembers what it has tried, so it begins anew after so many trials.
_ROUND = 1000
# At which shares of an operator's time the search ends, and shrinking; then calls are dropped.
_SEARCH_END, _SHRINKING_END = 0.75, 0.95
# How many steps before a failure are kept, since some calls fail only after others.
_MAX_HISTORY = 400
# A backend that can be created in so many seconds is created anew for each trial that is shrunk.
_QUICK_START = 0.02
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


class Search:
    """The search for a counterexample of one operator, for a number of seconds."""

    def __init__(self, open_backend: Open, calls: OperatorCalls, seconds: float) -> None:
        self._open = open_backend
        self._calls, self._trials = calls, trials(calls)
        self._operator = calls.spec.operator
        self._seconds = seconds
        self._tried = 0
        self._declined = 0
        self._history: deque[Step] = deque(maxlen=_MAX_HISTORY)
        self._best: Counterexample | None = None
        # As it was found; and one that needs calls of former trials, which is second best.
        self._confirmed: Counterexample | None = None
        self._late: Counterexample | None = None

    def result(self) -> ExplorationResult:
        """Return the result so far."""
        best = self._best or self._late
        return ExplorationResult(self._operator, self._tried, self._declined, best)

    def run(self, seed: int) -> None:
        """Try calls until one fails or the time is up, and shrink what fails.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made, or made again.
        """
        requested = time.monotonic()
        with self._open() as backend:
            self._session, self._calls.support = Session(backend), declared_support(backend)
            self._begin = time.monotonic()
            is_isolated = isinstance(backend, IsolatedBackend)
            self._is_quick = not is_isolated and self._begin - requested < _QUICK_START
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
                for number in count():
                    seeded = with_seed(call_seed(self._operator, seed, number))
                    # A test with a seed has no database unless its settings come last.
                    test = setting(seeded(given(st.data())(self._attempt)))
                    with suppress(Unsatisfiable):
                        test()
            except _Stop as stop:
                if stop.__cause__ is not None:
                    raise stop.__cause__ from None
            except (_TrialError, Flaky):
                pass
            if self._best is not None and not self._best.repeatable:
                # It was shrunk in a process that may keep something of earlier calls.
                self._best = self._run(self._best.steps) or self._confirmed
            self._best = self._best or self._late
            if self._best is not None and self._best.repeatable:
                self._best = self._shortened(self._best)

    def _attempt(self, data: st.DataObject) -> None:
        """Try drawn calls; once some have failed, others fail only if they do so likewise."""
        share = _SHRINKING_END if self._best else _SEARCH_END
        if time.monotonic() > self._begin + share * self._seconds:
            raise _Stop
        try:
            if self._fails(data.draw(self._trials)):
                raise _TrialError
        except OpcertError as error:
            raise _Stop from error

    def _fails(self, steps: Sequence[Step]) -> bool:
        if self._best is not None:
            # To start a process for each trial would take long. Whether the failure depends on
            # earlier calls is checked at the end, on a fresh backend.
            smaller = self._run(steps, None if self._is_quick else self._session)
            if smaller is None or smaller.failure != self._best.failure:
                return False
            self._best = smaller
            return True
        self._tried += 1
        failing = self._run(steps, self._session)
        self._declined += self._session.declined
        if failing is not None:
            is_first = self._late is None
            # It is the result so far where the backend cannot be made again.
            self._late = self._late or failing
            self._best = self._confirmed = self._run(steps)
            if self._best is None and is_first:
                self._late = self._run(steps, before=self._history) or failing
        self._history.extend(steps)
        return self._best is not None

    def _run(
        self,
        steps: Sequence[Step],
        session: Session | None = None,
        before: Iterable[Step] = (),
    ) -> Counterexample | None:
        """Make calls, by default on a fresh backend; return them up to the first that fails.

        Raises:
            BackendError: the backend cannot be made again.
        """
        made = [*before, *steps]
        with self._open() if session is None else nullcontext(session.backend) as backend:
            first_fault = (session or Session(backend)).first_fault(made)
        if first_fault is None:
            return None
        number, fault = first_fault
        valid, failing = steps[0], made[: number + 1]
        return Counterexample(self._operator, fault, valid, failing, repeatable=session is None)

    def _shortened(self, counterexample: Counterexample) -> Counterexample:
        """Drop earlier calls without which the last one still fails in the same way."""
        best = counterexample

        def fails(steps: Sequence[Step]) -> bool:
            nonlocal best
            is_late = time.monotonic() > self._begin + self._seconds
            shorter = None if is_late else self._run(steps)
            if (
                shorter is None
                or shorter.failure != best.failure
                or len(shorter.steps) < len(steps)
            ):
                return False
            best = replace(shorter, valid=best.valid)
            return True

        shortened(counterexample.steps, fails)
        return best


def explore(
    backend: str | Backend | MakeBackend,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    minutes: float = 1,
    seed: int = 0,
    isolated: bool | None = None,
    timeout: float = CALL_TIMEOUT,
    memory: int = 0,
) -> Iterator[ExplorationResult]:
    """Try calls of each operator in turn, and yield the results.

    `backend` is an object, which is left open, a function that creates one, or a name for `load`.
    A backend that is loaded by name runs in a process of its own unless it is the reference;
    `isolated` overrides this. A call is a counterexample if it ends this process, takes longer than
    `timeout` seconds, or takes more than `memory` bytes (0 is no limit). The operators share the
    time equally; their preparation is not counted. If the search is interrupted, its result so far
    is yielded first. Hypothesis keeps what fails in the folder `.hypothesis`, and tries it first
    next time.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """
    folder = Path(specs) if specs is not None else None
    open_backend = _opener(backend, dict(options or {}), specs, isolated, timeout, memory)
    spec_files = read_specs_in(folder, operator)
    seconds = 60 * minutes
    share = seconds / len(spec_files)
    for remaining, spec_file in zip(range(len(spec_files), 0, -1), spec_files, strict=True):
        calls = OperatorCalls(spec_file)
        # Time that one operator does not use goes to the others; a hang takes none from them.
        search = Search(open_backend, calls, max(seconds / remaining, share))
        begin = time.monotonic()
        try:
            search.run(seed)
        finally:
            yield search.result()
        seconds -= time.monotonic() - begin


def _opener(
    backend: str | Backend | MakeBackend,
    options: dict[str, Any],
    specs: str | Path | None,
    isolated: bool | None,
    timeout: float,
    memory: int,
) -> Open:
    """Return a function that opens the backend; it is opened once to check that it can be."""
    if isinstance(backend, str):
        options = with_reference_specs(backend, options, specs)
        first = start_backend(backend, options, isolated, timeout=timeout, memory=memory)
        close_backend(first)
        if not isinstance(first, SupervisedBackend):
            return lambda: _made(lambda: load(backend, **options))

        def restarted() -> Backend:
            first.restart()
            return first

        return lambda: _made(restarted)
    if isinstance(backend, type) or (callable(backend) and not hasattr(backend, "run")):
        with _made(backend) as made:
            in_process_backend(made, isolated)
        return lambda: _made(backend)
    instance = in_process_backend(backend, isolated)
    return lambda: nullcontext(instance)


@contextmanager
def _made(make: MakeBackend) -> Iterator[Backend]:
    backend = make()
    try:
        yield backend
    finally:
        close_backend(backend)
