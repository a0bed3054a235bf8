"""Causes x backend -> deciding calls: each matches one condition of a cause, and not another one.

Where all cases match both of two conditions or neither, no verdict says which one makes them fail.
A few further calls do, as in adaptive testing after a covering array (Niu, Nie, Lei and Chan,
"Identifying failure-inducing combinations using tuple relationship", 2013).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import permutations
from random import Random

from opcert.backends.contract import Backend
from opcert.cases.observation import Observer
from opcert.combinatorics.diagnosis import Condition
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.exploration.trials import Trials
from opcert.run.session import Session, SessionStep
from opcert.specification.files import SpecFile
from opcert.verdicts.case_levels import call_levels, matches
from opcert.verdicts.causes import Cause
from opcert.verdicts.deciding_call import DECIDABLE_KINDS, DecidingCall
from opcert.verdicts.reproduction import SerializedCall

# How many calls are made for each two conditions, in either direction, and how many are drawn to
# find them.
_CALLS, _DRAWS = 2, 60
# The most elements of all inputs and outputs of a call, since the certificate has them.
_MAX_ELEMENTS = 1 << 10


def deciding_calls(
    backend: Backend,
    causes: Sequence[Cause],
    spec_files: Mapping[str, SpecFile],
) -> list[DecidingCall]:
    """Make the calls that separate the conditions of causes; calls of the suite are none of them.

    Calls are drawn from the plan of the spec. Conditions that no valid call can separate, such as
    mutations, get none, nor does what the backend declines.
    """
    calls: list[DecidingCall] = []
    session = Session(backend)
    open_causes = [c for c in causes if c.alternatives and DECIDABLE_KINDS.issuperset(c.kinds)]
    for operator in dict.fromkeys(cause.operator for cause in open_causes):
        if operator not in spec_files:
            continue
        # A spec that contradicts itself on a fresh call is no reason to lose the verdicts.
        with suppress(OpcertError):
            drawing = _Drawing(spec_files[operator])
            for cause in (cause for cause in open_causes if cause.operator == operator):
                conditions: list[Condition] = [
                    tuple((term.factor, term.levels) for term in terms)
                    for terms in (cause.condition, *cause.alternatives)
                ]
                for wanted, unwanted in permutations(conditions, 2):
                    for step in drawing.steps(wanted, unwanted):
                        fault = session.first_fault([step])
                        if not session.declined:
                            calls.append(_deciding_call(step, fault and fault[1].kind))
    return calls


def _deciding_call(step: SessionStep, kind: object) -> DecidingCall:
    return DecidingCall.model_validate(
        {
            "operator": step.operator,
            "call": SerializedCall.from_step(step),
            "data_inputs": step.data_inputs,
            "kind": kind,
        }
    )


class _Drawing:
    """Draws calls of one operator."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._trials = Trials(spec_file, {spec_file.spec.operator: spec_file.reference})
        self._observer = Observer(spec_file.spec)

    def steps(self, wanted: Condition, unwanted: Condition) -> Iterator[SessionStep]:
        """Yield a few calls that match one condition, and not the other one."""
        random = Random(f"{wanted}|{unwanted}")  # noqa: S311 -- draws, no secrets
        trials = self._trials.restricted_to(self._levels(wanted, unwanted))
        if trials is None:
            return
        count = 0
        for _ in range(_DRAWS):
            step = None
            # A call that cannot be built, or that contradicts the spec, is drawn again.
            with suppress(ExpressionError, Inapplicable, OpcertError):
                step = trials.draw_valid(random.randrange, random.random)
            if step is not None and self._separates(step, wanted, unwanted):
                yield step
                count += 1
                if count == _CALLS:
                    return

    def _levels(self, wanted: Condition, unwanted: Condition) -> dict[str, Collection[str]]:
        """Return which levels calls may have, of the factors of the spec."""
        levels: dict[str, Collection[str]] = {
            name: own for name, own in wanted if name in self._observer.levels
        }
        for name, others in unwanted:
            if name in self._observer.levels and (name, others) not in wanted:
                own = levels.get(name, self._observer.levels[name])
                levels[name] = [level for level in own if level not in others]
        return levels

    def _separates(self, step: SessionStep, wanted: Condition, unwanted: Condition) -> bool:
        arrays = [*step.inputs.values(), *(step.golden or ())]
        if sum(array.size for array in arrays) > _MAX_ELEMENTS:
            return False
        points = call_levels(self._observer, _deciding_call(step, None).planned)
        return matches(points, wanted) and not matches(points, unwanted)
