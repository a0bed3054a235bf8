"""Failures of one operator -> those that are new."""

from collections import deque
from collections.abc import Iterable

import numpy as np

from opcert.cases.case import Change
from opcert.cases.mutations import mutations_of
from opcert.diagnosis import Condition, Point, explain_failures
from opcert.exploration.counterexample import Counterexample
from opcert.run.session import Step
from opcert.specification.files import SpecFile
from opcert.verdicts.case_levels import LevelledCalls, level_table
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.fresh import FreshCall, have_different_elements, unmatched_terms
from opcert.verdicts.reduction import Candidate

# Failures of one kind are diagnosed when there are so many, and each time when there are twice as
# many. A condition that explains fewer of them may do so by chance.
_MIN_DIAGNOSED, _MIN_EXPLAINED = 8, 4
# How many of the last calls are diagnosed.
_MAX_CALLS = 1000


class KnownFailures:
    """Tells new failures of an operator from those that a cause explains, or that were found.

    A failure is known if one of the causes of a certificate explains it. Else it is new if it is
    the first of its kind or, of calls that must be rejected, the first of a rule. Valid calls may
    fail alike for several causes: the failures are diagnosed as those of a suite are, and one is
    new if a condition explains it that explains none of the counterexamples.
    """

    def __init__(self, spec_file: SpecFile, causes: Iterable[Cause]) -> None:
        spec = spec_file.spec
        self._levels = LevelledCalls(spec_file)
        self._mutations = {mutation.name: mutation for mutation in mutations_of(spec)}
        self._causes = [cause for cause in causes if cause.operator == spec.operator]
        self._found: list[tuple[tuple[str, str | None], list[Point]]] = []
        self._calls: deque[tuple[FreshCall, list[Point]]] = deque(maxlen=_MAX_CALLS)
        self._conditions: dict[str, list[Condition]] = {}

    def add(self, counterexample: Counterexample) -> None:
        """Add a counterexample: from now on, failures like it are known."""
        self._found.append((counterexample.failure, self._points(counterexample)))

    def explains(self, failing: Counterexample) -> bool:
        """Whether a cause explains a failure."""
        if not self._causes:
            return False
        points = self._points(failing)
        return any(cause.explains(failing.fault.kind, points) for cause in self._causes)

    def is_new(self, failing: Counterexample) -> bool:
        """Whether a failure is new."""
        if self.explains(failing):
            return False
        alike = [points for failure, points in self._found if failure == failing.failure]
        if not alike or failing.steps[-1].golden is None:
            return not alike
        conditions = self._conditions.get(failing.fault.kind, [])
        # A counterexample that no condition explains most likely has the cause of most failures.
        taken = [c for points in alike for c in _matching(points, conditions) or conditions[:1]]
        own = _matching(self._points(failing), conditions)
        return bool(own) and not any(condition in taken for condition in own)

    def record(self, step: Step, failing: Counterexample | None) -> None:
        """Record a valid call, and whether it is the one that fails."""
        is_failing = failing is not None and failing.steps[-1] is step
        failure = failing.fault.kind if failing is not None and is_failing else None
        shows = have_different_elements(step.golden or ())
        call = FreshCall(number=0, failure=failure, shows=shows)
        self._calls.append((call, self._levels_of(step)))
        if failure is None:
            return
        failed = np.array([call.failure == failure for call, _ in self._calls])
        count = int(failed.sum())
        if count >= _MIN_DIAGNOSED and count.bit_count() == 1:
            passed = np.array([call.could_fail(failure) for call, _ in self._calls])
            table = level_table([points for _, points in self._calls])
            self._conditions[failure] = [
                explanation.condition
                for explanation in explain_failures(table, failed, passed)
                if explanation.condition and explanation.explained.sum() >= _MIN_EXPLAINED
            ]

    def _points(self, failing: Counterexample) -> list[Point]:
        """Return the levels of the call that fails, at each of its points."""
        step = failing.steps[-1]
        if step.golden is not None:
            return self._levels_of(step)
        mutation = self._mutations[step.relation]
        change = Change(mutation.kind, mutation.argument, mutation.position)
        return self._levels.invalid_points(failing.valid, step, change) or [{}]

    def _levels_of(self, step: Step) -> list[Point]:
        candidate = Candidate.from_step(step)
        return self._levels.points(candidate.call, lambda: candidate) or [{}]


def _matching(points: list[Point], conditions: Iterable[Condition]) -> list[Condition]:
    return [condition for condition in conditions if not unmatched_terms(points, condition)]
