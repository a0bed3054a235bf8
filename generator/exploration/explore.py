"""Specs x backend -> results: Hypothesis searches for failing calls of each operator."""

import time
from collections import Counter, deque
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
from opcert.exploration.known import KnownFailures
from opcert.isolation.supervised import CALL_TIMEOUT, SupervisedBackend, start_backend
from opcert.run.outcome import IsolatedBackend
from opcert.run.session import Session, Step, shortened
from opcert.specification.files import read_specs_in
from opcert.suite.support import declared_support
from opcert.verdicts.cause_text import Cause

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


class _Database(DirectoryBasedExampleDatabase):
    """Keeps the smallest trial of each failure, even if it is passed over, since it `is_known`."""

    is_known = False

    def delete(self, key: bytes, value: bytes) -> None:
        if not self.is_known:
            super().delete(key, value)

    def move(self, src: bytes, dest: bytes, value: bytes) -> None:  # noqa: ARG002
        super().delete(src, value)


class Search:
    """The search for counterexamples of one operator, for a number of seconds.

    A trial ends with its first failure, and is passed over if this is known.
    """

    def __init__(
        self, open_backend: Open, calls: OperatorCalls, known: KnownFailures, seconds: float
    ) -> None:
        self._open = open_backend
        self._calls, self._trials = calls, trials(calls)
        self._operator = calls.spec.operator
        self._known, self._database = known, _Database(_DATABASE / self._operator)
        self._seconds = seconds
        # When the search began, and when the shrinking of what it found ends.
        self._begin, self._shrinking_end = 0.0, 0.0
        self._rounds = count()
        self._counts: Counter[str] = Counter(tried=0, declined=0, known=0)
        self._history: deque[Step] = deque(maxlen=_MAX_HISTORY)
        self._best: Counterexample | None = None
        # As it was found; and one that needs calls of former trials, which is second best.
        self._confirmed: Counterexample | None = None
        self._late: Counterexample | None = None

    def result(self) -> ExplorationResult:
        """Return the result so far."""
        best = self._best or self._late
        return ExplorationResult(self._operator, counterexample=best, **self._counts)

    def pass_over(self, counterexample: Counterexample) -> None:
        """Search for other failures from now on."""
        self._known.add(counterexample)
        self._best = None
        if self._late is not None and not self._known.is_new(self._late):
            self._late = None

    def run(self, seed: int) -> None:
        """Try calls until one fails in a new way or the time is up, and shrink what fails.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made, or made again.
        """
        requested = time.monotonic()
        with self._open() as backend:
            self._session, self._calls.support = Session(backend), declared_support(backend)
            opened = time.monotonic()
            self._begin = self._begin or opened
            is_isolated = isinstance(backend, IsolatedBackend)
            self._is_quick = not is_isolated and opened - requested < _QUICK_START
            setting = settings(
                backend="opcert",
                database=self._database,
                deadline=None,
                max_examples=_ROUND,
                phases=(Phase.reuse, Phase.generate, Phase.shrink),
                print_blob=False,
                report_multiple_bugs=False,
                suppress_health_check=[*HealthCheck],
                verbosity=Verbosity.quiet,
            )
            try:
                for number in self._rounds:
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
        search_end = self._begin + _SEARCH_END * self._seconds
        if time.monotonic() > (self._shrinking_end if self._best else search_end):
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
            is_alike = smaller is not None and smaller.failure == self._best.failure
            if smaller is None or not is_alike or not self._known.is_new(smaller):
                return False
            self._best = smaller
            return True
        failing = self._run(steps, self._session)
        is_new = failing is not None and self._known.is_new(failing)
        self._database.is_known = failing is not None and not is_new
        is_declined = self._session.declined
        self._counts.update(tried=1, declined=is_declined, known=self._database.is_known)
        if not is_declined:
            self._known.record(steps[0], failing)
        if failing is not None and is_new:
            is_first = self._late is None
            # It is the result so far where the backend cannot be made again.
            self._late = self._late or failing
            self._best = self._confirmed = self._run(steps)
            now, end = time.monotonic(), self._begin + _SHRINKING_END * self._seconds
            # Half of the time is left for further searches.
            self._shrinking_end = now + (end - now) / 2
            if self._best is None and is_first:
                self._late = self._run(steps, before=self._history) or failing
        if not self._database.is_known:
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
    known: Iterable[Cause] = (),
) -> Iterator[ExplorationResult]:
    """Try calls of each operator in turn; yield each counterexample, and the end of each search.

    `backend` is an object, which is left open, a function that creates one, or a name for `load`. A
    backend that is loaded by name runs in a process of its own unless it is the reference;
    `isolated` overrides this. A call is a counterexample if it ends this process, takes longer than
    `timeout` seconds, or takes more than `memory` bytes (0 is no limit), unless one of the `known`
    causes explains it. The operators share the time equally; their preparation is not counted. If
    the search is interrupted, its result so far is yielded first. Hypothesis keeps what fails in
    the folder `.hypothesis`, and tries it first next time.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """
    folder = Path(specs) if specs is not None else None
    open_backend = _opener(backend, dict(options or {}), specs, isolated, timeout, memory)
    spec_files, known = read_specs_in(folder, operator), [*known]
    seconds = 60 * minutes
    share = seconds / len(spec_files)
    for remaining, spec_file in zip(range(len(spec_files), 0, -1), spec_files, strict=True):
        calls = OperatorCalls(spec_file)
        # Time that one operator does not use goes to the others; a hang takes none from them.
        failures = KnownFailures(spec_file, known)
        search = Search(open_backend, calls, failures, max(seconds / remaining, share))
        begin = time.monotonic()
        while True:
            try:
                search.run(seed)
            finally:
                result = search.result()
                yield result
            if result.counterexample is None:
                break
            search.pass_over(result.counterexample)
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
