"""Trials x backend -> a counterexample: random trials until one fails, which is then reduced."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

from opcert.arrays.calls import Call
from opcert.arrays.patterns import materialize_numbered
from opcert.backends.contract import Backend
from opcert.choices.choices import Choices, Replay, call_seed
from opcert.errors import ExpressionError
from opcert.exploration.trials import Trial, Trials
from opcert.run.call_protocol import Session, SessionFault, SessionStep
from opcert.run.outcome import IsolatedBackend
from opcert.suite.support import declared_support
from opcert.verdicts.reduction import Candidate, Reduction

# Makes a fresh backend, which is closed after the block that uses it.
Open: TypeAlias = Callable[[], AbstractContextManager[Backend]]
# How a call fails: the kind, and the rule that it violates.
Failure: TypeAlias = tuple[str, str | None]

# The share of an operator's time that is kept for reducing a counterexample.
_REDUCTION_SHARE = 0.25
# How many steps before a failure are kept, since some calls fail only after others.
_MAX_HISTORY = 400
# A backend that can be created in so many seconds is created anew for each reduced call.
_QUICK_START = 0.02


@dataclass(frozen=True)
class Counterexample:
    """Steps of which the last one fails, and its fault.

    `call` is the valid call of the trial, and `valid` its step. A counterexample that is not
    `repeatable` failed once, and not again on a fresh backend.
    """

    operator: str
    fault: SessionFault
    call: Call
    valid: SessionStep
    steps: Sequence[SessionStep]
    repeatable: bool = True

    @property
    def failure(self) -> Failure:
        """The kind of its fault, and the rule that its last call violates."""
        return self.fault.kind, self.steps[-1].rule


@dataclass(frozen=True)
class ExplorationResult:
    """The result for one operator: how many calls were tried, and a counterexample if one failed.

    `declined` counts the tried calls that the backend does not support.
    """

    operator: str
    tried: int
    declined: int
    counterexample: Counterexample | None


def _guides(operator: str, seed: int) -> Iterator[Choices]:
    """Yield what answers the choices of each trial.

    Every second trial differs from the one before it in one choice, so that a backend which wrongly
    keeps state between calls mixes them up.
    """
    for number in count():
        choices = Choices(call_seed(operator, seed, number))
        yield choices
        if names := [*choices.levels]:
            anew = names[choices.integer("anew", 0, len(names) - 1)]
            yield Replay(choices, anew, call_seed(operator, seed, number, anew))


class Search:
    """The search for a counterexample of one operator, for a number of seconds."""

    def __init__(self, open_backend: Open, trials: Trials, seconds: float) -> None:
        self._open = open_backend
        self._trials = trials
        self._seconds = seconds
        self._history: deque[SessionStep] = deque(maxlen=_MAX_HISTORY)
        self._tried = 0
        self._declined = 0
        self._best: Counterexample | None = None

    def result(self) -> ExplorationResult:
        """Return the result so far."""
        operator = self._trials.spec.operator
        return ExplorationResult(operator, self._tried, self._declined, self._best)

    def run(self, seed: int) -> None:
        """Try calls until one fails or the time is up, and reduce the failing call.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made, or made again.
        """
        requested = time.monotonic()
        with self._open() as backend:
            self._session = Session(backend)
            self._support = declared_support(backend)
            self._begin = time.monotonic()
            is_isolated = isinstance(backend, IsolatedBackend)
            self._is_quick = not is_isolated and self._begin - requested < _QUICK_START
            trial = self._first_failing(_guides(self._trials.spec.operator, seed))
            if trial is None or self._best is None:
                return
            # Reduced last, since a large call that fails alone is easier to understand than a small
            # one that fails after four hundred others.
            self._best = self._confirm(self._best)
            if self._best.repeatable and self._best.steps[0] is self._best.valid:
                self._best = self._reduce(trial, self._best)
            if self._best.repeatable:
                self._best = self._drop_steps(self._best)

    def _is_time_up(self) -> bool:
        share = 1 if self._best else 1 - _REDUCTION_SHARE
        return time.monotonic() - self._begin > share * self._seconds

    def _first_failing(self, guides: Iterator[Choices]) -> Trial | None:
        """Return the first trial that fails in time, and record it as a counterexample."""
        while not self._is_time_up():
            trial = self._trials.draw(next(guides))
            if trial is None:
                continue
            self._tried += 1
            steps = self._supported_steps(trial)
            first_fault = self._session.first_fault(steps)
            if first_fault is not None:
                number, fault = first_fault
                operator, failing = self._trials.spec.operator, steps[: number + 1]
                self._best = Counterexample(operator, fault, trial.call, steps[0], failing, False)
                return trial
            self._declined += self._session.declined or not steps
            self._history.extend(steps)
        return None

    def _supported_steps(self, trial: Trial) -> Sequence[SessionStep]:
        is_everything = self._support.declared is None
        return trial.steps if is_everything else self._trials.supported_steps(trial, self._support)

    def _confirm(self, counterexample: Counterexample) -> Counterexample:
        """Reproduce a failure on a fresh backend, after as many earlier steps as necessary.

        Raises:
            BackendError: the backend cannot be made again.
        """
        earlier, count = list(self._history), 0
        while True:
            before = earlier[len(earlier) - count :]
            reproduced = self._reproduce(counterexample, [*before, *counterexample.steps])
            if reproduced is not None:
                return reproduced
            if count == len(earlier) or self._is_time_up():
                return counterexample
            count = min(max(1, 4 * count), len(earlier))

    def _reproduce(
        self, counterexample: Counterexample, steps: Sequence[SessionStep]
    ) -> Counterexample | None:
        """Run steps on a fresh backend; return those up to the first failure, if there is one."""
        with self._open() as backend:
            first_fault = Session(backend).first_fault(steps)
        if first_fault is None:
            return None
        number, fault = first_fault
        return replace(counterexample, fault=fault, steps=steps[: number + 1], repeatable=True)

    def _same_failure(
        self, counterexample: Counterexample, steps: Sequence[SessionStep]
    ) -> Counterexample | None:
        """Return the counterexample with other `steps`, if they fail in the same way."""
        reproduced = self._reproduce(counterexample, steps)
        is_same = reproduced is not None and reproduced.failure == counterexample.failure
        return reproduced if is_same else None

    def _reduce(self, trial: Trial, counterexample: Counterexample) -> Counterexample:
        """Return a counterexample of a smaller valid call, whose trial fails in the same way."""
        # The levels of a reduced call are unknown, so that it might be one the backend excludes.
        declared = (self._support.declared or {}).get(self._trials.spec.operator)
        if declared is not None and any("=" in excluded for excluded in declared.excluded):
            return counterexample

        def trial_steps(valid: SessionStep) -> Sequence[SessionStep]:
            try:
                return self._supported_steps(self._trials.of_step(trial, valid))
            except ExpressionError:
                # A law cannot be evaluated on it.
                return []

        def fails(steps: Sequence[SessionStep]) -> bool:
            if self._is_time_up():
                return False
            candidate_steps = trial_steps(steps[0])
            if self._is_quick:
                return self._same_failure(counterexample, candidate_steps) is not None
            # To start a process for each call would take long. Whether the failure depends on
            # earlier calls is checked below, on a fresh backend.
            if (first_fault := self._session.first_fault(candidate_steps)) is None:
                return False
            number, fault = first_fault
            return (fault.kind, candidate_steps[number].rule) == counterexample.failure

        reduction = Reduction(self._trials.file, None, [False], fails)
        start = Candidate.from_step(counterexample.valid)
        # Numbered elements are easier to read than a pattern, if the call fails with them too.
        numbered = start.with_inputs(
            **{name: materialize_numbered(start.call.inputs[name]) for name in start.data_inputs}
        )
        steps = reduction.steps(numbered)
        if steps and fails(steps):
            start = numbered
        remaining = self._begin + self._seconds - time.monotonic()
        smallest = reduction.reduce(start, remaining) or start
        steps = reduction.steps(smallest)
        reduced = self._same_failure(counterexample, trial_steps(steps[0])) if steps else None
        if reduced is None:
            return counterexample
        return replace(reduced, call=smallest.call, valid=reduced.steps[0])

    def _drop_steps(self, counterexample: Counterexample) -> Counterexample:
        """Drop each earlier step without which the last step still fails in the same way."""
        if last := self._same_failure(counterexample, counterexample.steps[-1:]):
            return last
        number = 0
        while number < len(counterexample.steps) - 1 and not self._is_time_up():
            steps = counterexample.steps
            shorter = self._same_failure(counterexample, [*steps[:number], *steps[number + 1 :]])
            if shorter is None:
                number += 1
            else:
                counterexample = shorter
        return counterexample
