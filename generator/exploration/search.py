"""Trials x backend -> a counterexample: fresh calls at random, the first that fails made small."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from opcert.arrays import Call, materialize_numbered
from opcert.backends import Backend
from opcert.errors import ExpressionError
from opcert.exploration.trials import Trial, Trials
from opcert.run import IsolatedBackend, Session, SessionFault, SessionStep
from opcert.scope import declared_support
from opcert.verdicts import Candidate, Reduction

# Makes a backend afresh, and closes it behind the block that uses it.
Open: TypeAlias = Callable[[], AbstractContextManager[Backend]]
# How a call goes wrong: the kind, and the rule that it breaks.
Sort: TypeAlias = tuple[str, str | None]

# Of the time for an operator, what is left to make a counterexample small.
_REDUCING = 0.25
# How many steps before a counterexample are kept, for what only shows behind others.
_HISTORY = 400
# Up to how many seconds a backend may take to be made for every call that is tried.
_QUICK = 0.02


@dataclass(frozen=True)
class Counterexample:
    """Calls of which the last goes wrong, and how.

    `call` is the valid one that was tried, in the step `valid`. What is not `repeatable` showed
    once, and not again on a backend made afresh.
    """

    operator: str
    difference: SessionFault
    call: Call
    valid: SessionStep
    steps: Sequence[SessionStep]
    repeatable: bool = True

    @property
    def sort(self) -> Sort:
        """How it goes wrong."""
        return self.difference.kind, self.steps[-1].rule


@dataclass(frozen=True)
class ExplorationResult:
    """What became of one operator: how many calls were tried, and what was found.

    `declined` are those of the tried that the backend does not support.
    """

    operator: str
    tried: int
    declined: int
    counterexample: Counterexample | None


class _Chance:
    """Draws at random, for every other trial the first ones of the trial before again.

    What a backend keeps between calls shows where they differ in little.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 -- draws, no secrets
        self._drawn: list[float] = []
        self._again: list[float] = []

    def begin(self) -> None:
        """Begin a trial."""
        count = int(max(0.0, 2 * self._random.random() - 1) * len(self._drawn))
        self._again, self._drawn = self._drawn[:count][::-1], []

    def __call__(self) -> float:
        self._drawn.append(self._again.pop() if self._again else self._random.random())
        return self._drawn[-1]

    def below(self, n: int) -> int:
        """Draw an integer from 0 to below `n`."""
        return int(self() * n)


class Search:
    """The search of one operator: trials until one goes wrong, then smaller ones."""

    def __init__(self, opened: Open, trials: Trials, seconds: float) -> None:
        self._opened = opened
        self._trials = trials
        self._seconds = seconds
        self._history: deque[SessionStep] = deque(maxlen=_HISTORY)
        self.tried = 0
        self._declined = 0
        self.best: Counterexample | None = None

    def explored(self) -> ExplorationResult:
        """Return what became of the operator so far."""
        return ExplorationResult(self._trials.spec.operator, self.tried, self._declined, self.best)

    def run(self, seed: int) -> None:
        """Try calls until the time is up, or one goes wrong, which is made small.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made, or made again.
        """
        asked = time.monotonic()
        with self._opened() as backend:
            self._stage = Session(backend)
            self._support = declared_support(backend)
            self._begun = time.monotonic()
            self._quick = not isinstance(backend, IsolatedBackend) and self._begun - asked < _QUICK
            trial = self._hunted(_Chance(seed))
            if trial is None or self.best is None:
                return
            self.best = self._confirmed(self.best)
            if self.best.repeatable and self.best.steps[0] is self.best.valid:
                self.best = self._reduced(trial, self.best)
            if self.best.repeatable:
                self.best = self._shortened(self.best)

    def _time_is_up(self) -> bool:
        share = 1 if self.best else 1 - _REDUCING
        return time.monotonic() - self._begun > share * self._seconds

    def _hunted(self, random_source: _Chance) -> Trial | None:
        """Return the first trial that goes wrong in time, and keep what goes wrong as `best`."""
        while not self._time_is_up():
            random_source.begin()
            trial = self._trials.drawn(random_source.below, random_source)
            if trial is None:
                continue
            self.tried += 1
            steps = self._supported(trial)
            fault = self._stage.first_fault(steps)
            if fault is not None:
                self.best = self._finding(trial, steps, fault)
                return trial
            self._declined += self._stage.declined or not steps
            self._history.extend(steps)
        return None

    def _supported(self, trial: Trial) -> Sequence[SessionStep]:
        everything = self._support.declared is None
        return trial.steps if everything else self._trials.supported(trial, self._support)

    def _finding(
        self, trial: Trial, steps: Sequence[SessionStep], fault: tuple[int, SessionFault]
    ) -> Counterexample:
        number, difference = fault
        operator, played = self._trials.spec.operator, steps[: number + 1]
        return Counterexample(operator, difference, trial.call, steps[0], played, repeatable=False)

    def _confirmed(self, counterexample: Counterexample) -> Counterexample:
        """Return a counterexample as it shows on a backend made afresh, if need be behind earlier steps.

        Raises:
            BackendError: the backend cannot be made again.
        """
        earlier, count = list(self._history), 0
        while True:
            behind = earlier[len(earlier) - count :]
            shown = self._shown(counterexample, [*behind, *counterexample.steps])
            if shown is not None:
                return shown
            if count == len(earlier) or self._time_is_up():
                return counterexample
            count = min(max(1, 4 * count), len(earlier))

    def _shown(
        self, counterexample: Counterexample, steps: Sequence[SessionStep]
    ) -> Counterexample | None:
        """Return the counterexample with `steps` up to where they go wrong afresh, if they do."""
        with self._opened() as backend:
            fault = Session(backend).first_fault(steps)
        if fault is None:
            return None
        number, difference = fault
        return replace(
            counterexample, difference=difference, steps=steps[: number + 1], repeatable=True
        )

    def _same(
        self, counterexample: Counterexample, steps: Sequence[SessionStep]
    ) -> Counterexample | None:
        """Return the counterexample with `steps`, if they go wrong in the same way."""
        shown = self._shown(counterexample, steps)
        return shown if shown is not None and shown.sort == counterexample.sort else None

    def _reduced(self, trial: Trial, counterexample: Counterexample) -> Counterexample:
        """Return the counterexample of a smaller valid call, with what belongs beside that one."""
        if not self._may_be_reduced():
            return counterexample

        def smaller(valid: SessionStep) -> Sequence[SessionStep]:
            try:
                return self._supported(self._trials.beside(trial, valid))
            except ExpressionError:
                # A law has no answer for it.
                return []

        def fails(steps: Sequence[SessionStep]) -> bool:
            if self._time_is_up():
                return False
            trial_steps = smaller(steps[0])
            if self._quick:
                return self._same(counterexample, trial_steps) is not None
            # To make a process for each call takes long; what depends on earlier calls shows below.
            fault = self._stage.first_fault(trial_steps)
            return fault is not None and _sort(fault, trial_steps) == counterexample.sort

        reduction = Reduction(self._trials.file, None, [False], fails)
        start = Candidate.from_step(counterexample.valid)
        # Numbered elements are read more easily than those of a pattern, where they fail too.
        numbered = start.with_inputs(
            **{name: materialize_numbered(start.call.inputs[name]) for name in start.data_inputs}
        )
        steps = reduction.steps(numbered)
        if steps and fails(steps):
            start = numbered
        left = self._begun + self._seconds - time.monotonic()
        least = reduction.reduce(start, left) or start
        steps = reduction.steps(least)
        found = self._same(counterexample, smaller(steps[0])) if steps else None
        return (
            counterexample
            if found is None
            else replace(found, call=least.call, valid=found.steps[0])
        )

    def _may_be_reduced(self) -> bool:
        """Whether the declaration excludes no level: those of a smaller call are not known."""
        declared = (self._support.declared or {}).get(self._trials.spec.operator)
        return declared is None or not any("=" in each for each in declared.excluded)

    def _shortened(self, counterexample: Counterexample) -> Counterexample:
        """Leave out each step before the last without which it goes wrong all the same."""
        last = self._same(counterexample, counterexample.steps[-1:])
        if last is not None:
            return last
        number = 0
        while number < len(counterexample.steps) - 1 and not self._time_is_up():
            fewer = self._same(
                counterexample,
                [*counterexample.steps[:number], *counterexample.steps[number + 1 :]],
            )
            if fewer is None:
                number += 1
            counterexample = fewer or counterexample
        return counterexample


def _sort(fault: tuple[int, SessionFault], steps: Sequence[SessionStep]) -> Sort:
    number, difference = fault
    return difference.kind, steps[number].rule
