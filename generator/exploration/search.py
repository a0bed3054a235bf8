"""Trials x backend -> a finding: fresh calls that Hypothesis draws, and shrinks where one fails."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from random import Random
from typing import TypeAlias

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable

from opcert.generator.arrays.calls import Call
from opcert.generator.backends import Backend
from opcert.generator.errors import BackendError, OpcertError
from opcert.generator.exploration.trials import Trial, Trials
from opcert.generator.run.outcome import Isolated
from opcert.generator.run.stage import Fault, Stage, Step
from opcert.generator.run.support import declared_support

# Makes a backend afresh, and closes it behind the block that uses it.
Open: TypeAlias = Callable[[], AbstractContextManager[Backend]]

# Of the time for an operator, what is left to make a finding small.
_SHRINKING = 0.25
# How many draws of the samplers Hypothesis controls; those behind them follow from a seed.
_CONTROLLED = 48
# How many steps before a finding are kept, for what only shows behind others.
_HISTORY = 400
# Up to how many seconds a backend may take to be made for every call that is tried.
_QUICK = 0.02


@dataclass(frozen=True)
class Finding:
    """Calls of which the last goes wrong, and how.

    `call` is the valid one that was tried, in the step `valid`. What is not `repeatable` showed
    once, and not again on a backend made afresh.
    """

    operator: str
    difference: Fault
    call: Call
    valid: Step
    steps: Sequence[Step]
    repeatable: bool = True


@dataclass(frozen=True)
class Explored:
    """What became of one operator: how many calls were tried, and what was found.

    `declined` are those of the tried that the backend does not support.
    """

    operator: str
    tried: int
    declined: int
    finding: Finding | None


class _WentWrongError(Exception):
    """Tells Hypothesis that a call goes wrong."""


class _Stop(BaseException):
    """Ends a search past Hypothesis, which takes any Exception for a failure to shrink."""

    def __init__(self, error: OpcertError | None = None) -> None:
        super().__init__()
        self.error = error


class _Chance:
    """Draws that Hypothesis controls, and behind them ones that follow from a seed."""

    def __init__(self, controlled: Random, tail: int) -> None:
        self._controlled = controlled
        self._tail = Random(tail)  # noqa: S311 -- draws, no secrets
        self._left = _CONTROLLED

    def __call__(self) -> float:
        self._left -= 1
        return (self._controlled if self._left >= 0 else self._tail).random()


@cache
def _integers(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


@st.composite
def _drawn(draw: st.DrawFn, trials: Trials) -> Trial | None:
    def below(n: int) -> int:
        return draw(_integers(n)) if n > 1 else 0

    chance = _Chance(draw(st.randoms(use_true_random=False)), below(1 << 16))
    try:
        return trials.drawn(below, chance)
    except OpcertError as error:
        raise _Stop(error) from None


class Search:
    """The search of one operator: trials until one goes wrong, then smaller ones."""

    def __init__(self, opened: Open, trials: Trials, seconds: float) -> None:
        self._opened = opened
        self._trials = trials
        self._seconds = seconds
        self._history: deque[Step] = deque(maxlen=_HISTORY)
        self.tried = 0
        self._declined = 0
        self.best: Finding | None = None
        self._last: Finding | None = None
        # The first one, as it was confirmed.
        self._first: Finding | None = None

    def explored(self) -> Explored:
        """Return what became of the operator so far."""
        return Explored(self._trials.spec.operator, self.tried, self._declined, self.best)

    def run(self, seed_of_all: int) -> None:
        """Try calls until the time is up, or the least call that goes wrong is found.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made.
        """
        asked = time.monotonic()
        with self._opened() as backend:
            self._stage = Stage(backend)
            self._support = declared_support(backend)
            self._all = self._support.declared is None
            self._begun = time.monotonic()
            self._quick = not isinstance(backend, Isolated) and self._begun - asked < _QUICK
            self._hunt(seed_of_all)
            if self.best is not None and self.best.repeatable:
                self.best = self._reduced(self.best)

    def _hunt(self, seed_of_all: int) -> None:
        """Try calls until the time is up; keep the least finding.

        Raises:
            OpcertError: the spec is at fault, or the backend cannot be made again.
        """

        @seed(seed_of_all)
        @settings(
            max_examples=1 << 40,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
        )
        @given(_drawn(self._trials))
        def goes_well(trial: Trial | None) -> None:
            try:
                if trial is not None:
                    self._try(trial)
            except BackendError as error:
                raise _Stop(error) from None

        try:
            goes_well()
        except _WentWrongError:
            # Hypothesis ends with the least one once more.
            self.best = self._last
        except (Flaky, Unsatisfiable):
            pass
        except _Stop as stop:
            if stop.error is not None:
                raise stop.error from None

    def _time_is_up(self) -> bool:
        share = 1 if self.best else 1 - _SHRINKING
        return time.monotonic() - self._begun > share * self._seconds

    def _try(self, trial: Trial) -> None:
        if self._time_is_up():
            raise _Stop
        self.tried += 1
        steps = trial.steps if self._all else self._trials.supported(trial, self._support)
        found = self._first_fault(steps)
        if found is None:
            self._declined += self._stage.declined or not steps
            self._history.extend(steps)
            return
        number, difference = found
        finding = Finding(
            self._trials.spec.operator,
            difference,
            trial.call,
            steps[0],
            steps[: number + 1],
        )
        if self.best is None:
            self.best = self._first = self._confirmed(finding)
        elif difference.kind != self.best.difference.kind:
            return
        else:
            self.best = min(self.best, finding, key=_weight)
        self._last = finding
        raise _WentWrongError

    def _first_fault(self, steps: Sequence[Step]) -> tuple[int, Fault] | None:
        if self.best is None or not self._quick:
            return self._stage.first_fault(steps)
        return self._afresh(steps)

    def _afresh(self, steps: Sequence[Step]) -> tuple[int, Fault] | None:
        """Play steps on a backend made afresh."""
        with self._opened() as backend:
            return Stage(backend).first_fault(steps)

    def _confirmed(self, finding: Finding) -> Finding:
        """Return a first finding as it shows afresh, if need be behind earlier steps.

        Raises:
            _Stop: it does not show alone, so that there is nothing to shrink.
            BackendError: the backend cannot be made again.
        """
        self.best = replace(finding, repeatable=False)
        alone = self._shown(finding, finding.steps)
        if alone is not None:
            return alone
        earlier, count = list(self._history), 1
        while not self._time_is_up():
            behind = self._shown(finding, [*earlier[-count:], *finding.steps])
            if behind is not None:
                self.best = behind
                break
            if count >= len(earlier):
                break
            count *= 4
        raise _Stop

    def _shown(self, finding: Finding, steps: Sequence[Step]) -> Finding | None:
        """Return the finding with `steps` up to where they go wrong, if they do."""
        found = self._afresh(steps)
        if found is None:
            return None
        number, difference = found
        return replace(finding, difference=difference, steps=steps[: number + 1])

    def _reduced(self, finding: Finding) -> Finding:
        """Leave out each step before the last without which it goes wrong all the same."""
        confirmed = finding is self._first
        if confirmed and len(finding.steps) == 1:
            return finding
        last = self._same(finding, finding.steps[-1:])
        if last is not None:
            return last
        # What was made small behind other calls may need those.
        if not confirmed and self._first and not self._same(finding, finding.steps):
            return self._reduced(self._first)
        number = 0
        while number < len(finding.steps) - 1 and not self._time_is_up():
            fewer = self._same(finding, [*finding.steps[:number], *finding.steps[number + 1 :]])
            if fewer is None:
                number += 1
            finding = fewer or finding
        return finding

    def _same(self, finding: Finding, steps: Sequence[Step]) -> Finding | None:
        """Return the finding with `steps`, if they go wrong in the same way."""
        shown = self._shown(finding, steps)
        same = shown is not None and shown.difference.kind == finding.difference.kind
        return shown if same else None


def _weight(finding: Finding) -> tuple[int, int]:
    """Rank findings by the size of their calls, for when the time is up before Hypothesis is."""
    shapes = [array.shape for step in finding.steps for array in step.inputs.values()]
    return sum(prod(max(n, 1) for n in shape) for shape in shapes), sum(map(len, shapes))
