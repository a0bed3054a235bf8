"""Failures of one operator -> those that are new."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import product

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

# After so many failures of a kind, these are diagnosed again. Conditions may fit by chance: those
# of so many diagnoses in turn must agree, and one counts that explains so many failures.
_INTERVAL, _DIAGNOSES, _MIN_EXPLAINED = 16, 3, 4
# How many of the last calls are diagnosed.
_MAX_CALLS = 500


class KnownFailures:
    """Decides which failures of an operator are new.

    A failure is known if one of the causes of a certificate explains it. Else it is new if it is
    the first of its kind or, of calls that must be rejected, the first of a kind and a rule. Valid
    calls may fail alike for several causes. So their failures are diagnosed as those of a suite
    are, and one is new if a condition explains it that has no level in common with those of the
    counterexamples.
    """

    def __init__(self, spec_file: SpecFile, causes: Iterable[Cause]) -> None:
        spec = spec_file.spec
        self._levels = LevelledCalls(spec_file)
        self._mutations = {mutation.name: mutation for mutation in mutations_of(spec)}
        self._causes = [cause for cause in causes if cause.operator == spec.operator]
        self._found: list[tuple[tuple[str, str | None], list[Point]]] = []
        self._calls: deque[tuple[FreshCall, list[Point]]] = deque(maxlen=_MAX_CALLS)
        self._diagnoses: defaultdict[str, deque[list[Condition]]] = defaultdict(
            lambda: deque(maxlen=_DIAGNOSES)
        )
        self._failed: Counter[str] = Counter()

    def add(self, counterexample: Counterexample) -> None:
        """Add a counterexample: from now on, failures like it are known."""
        self._found.append((counterexample.failure, self._points(counterexample)))

    def is_new(self, failing: Counterexample) -> bool:
        """Whether a failure is new."""
        kind, points = failing.fault.kind, self._points(failing)
        if any(cause.explains(kind, points) for cause in self._causes):
            return False
        alike = [found for failure, found in self._found if failure == failing.failure]
        if not alike or failing.steps[-1].golden is None:
            return not alike
        diagnoses = self._diagnoses[kind]
        return len(diagnoses) == _DIAGNOSES and all(
            _have_another_cause(points, alike, conditions) for conditions in diagnoses
        )

    def record(self, step: Step, failing: Counterexample | None) -> None:
        """Record a valid call, and whether it is the one that fails."""
        is_failing = failing is not None and failing.steps[-1] is step
        failure = failing.fault.kind if failing is not None and is_failing else None
        shows = have_different_elements(step.golden or ())
        call = FreshCall(number=0, failure=failure, shows=shows)
        self._calls.append((call, self._levels.points_of(step) or [{}]))
        if failure is None:
            return
        self._failed[failure] += 1
        if self._failed[failure] % _INTERVAL == 0:
            failed = np.array([call.failure == failure for call, _ in self._calls])
            passed = np.array([call.could_fail(failure) for call, _ in self._calls])
            table = level_table([points for _, points in self._calls])
            self._diagnoses[failure].append(
                [
                    explanation.condition
                    for explanation in explain_failures(table, failed, passed)
                    if explanation.condition and explanation.explained.sum() >= _MIN_EXPLAINED
                ]
            )

    def _points(self, failing: Counterexample) -> list[Point]:
        """Return the levels of the call that fails, at each of its points."""
        step = failing.steps[-1]
        if step.golden is not None:
            return self._levels.points_of(step) or [{}]
        mutation = self._mutations[step.relation]
        change = Change(mutation.kind, mutation.argument, mutation.position)
        return self._levels.invalid_points(failing.valid, step, change) or [{}]


def _have_another_cause(
    points: list[Point], found: Iterable[list[Point]], conditions: Sequence[Condition]
) -> bool:
    """Whether a condition explains a failure that is unlike those of counterexamples."""
    # A counterexample that no condition explains most likely has the cause of most failures.
    taken = [c for other in found for c in _matching(other, conditions) or conditions[:1]]
    own = _matching(points, conditions)
    return bool(own) and not any(_are_related(c, other) for c in own for other in taken)


def _matching(points: list[Point], conditions: Iterable[Condition]) -> list[Condition]:
    return [condition for condition in conditions if not unmatched_terms(points, condition)]


def _are_related(one: Condition, other: Condition) -> bool:
    """Whether two conditions have a level in common, as those of one bug often have."""
    pairs = product(one, other)
    return any(name == factor and {*a} & {*b} for (name, a), (factor, b) in pairs)
