"""Earlier calls, made again after a run: which of them a failure needs."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from opcert.arrays.element_types import same_bytes, type_name
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.session import HELD, NOT_OF_STATE, Session, Step, step_of
from opcert.specification.files import SpecFile
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.call_facts import CONTENT, differing, facts_of, facts_of_outputs
from opcert.verdicts.cause_text import easiest_to_read
from opcert.verdicts.dependence import (
    Known,
    Trial,
    candidates,
    common_facts,
    most_alike,
    relation_of,
)
from opcert.verdicts.reduction import StepMaker, call_of, elements_to_read, shortened
from opcert.verdicts.reproduction import (
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
)

# Kinds of failure that only several calls together can show.
KINDS_OF_SEVERAL_CALLS = ("aliased-output", "mutated-input", "unstable")
# A call is printed with its elements if it has no more.
MAX_LISTED = 1000
# How many processes the search for calls to leave out may start, and its seconds.
_SHORTENING = 40, 45.0
# From how many cases parts are taken for further trials, and how often a part is changed.
_VARIED, _VARIATIONS = 40, 2
# Of how many failures that need an earlier call one is chosen.
_MADE_ALONE = 8
# How many trials may contradict a relation, and each of its facts.
_QUESTIONED = 2
# Fewer trials do not separate what matters about earlier calls.
_MIN_TRIALS = 8


def counting_as(failure: str | None) -> Callable[[str], bool]:
    """Return what says whether a kind of fault counts as a failure of the run; None is any."""

    def counts(kind: str) -> bool:
        # These may show in any way.
        is_any = failure in (None, *KINDS_OF_SEVERAL_CALLS)
        return is_any or kind == failure or (failure == "state" and kind not in NOT_OF_STATE)

    return counts


class Limit:
    """How many steps a search may take: so it finds the same on a busy machine.

    Its seconds are several times what the steps take, and end it on a slow device.
    """

    def __init__(self, count: int, seconds: float, whole: "Limit | None" = None) -> None:
        """Begin a search of so many steps at the most, which may be part of a `whole` one."""
        self._left, self._end, self._whole = count, time.monotonic() + seconds, whole

    def take(self, count: int = 1) -> None:
        """Count steps."""
        self._left -= count
        if self._whole is not None:
            self._whole.take(count)

    @property
    def is_reached(self) -> bool:
        """Whether the search must end."""
        is_over = self._left <= 0 or time.monotonic() > self._end
        return is_over or (self._whole is not None and self._whole.is_reached)


class FreshProcess:
    """Makes calls in fresh processes of a backend, so many at the most."""

    def __init__(self, backend: SupervisedBackend, count: int, seconds: float) -> None:
        """Begin a search."""
        self._backend = backend
        self._whole = self._limit = Limit(count, seconds)

    def begin(self, count: int, seconds: float) -> None:
        """Begin a part of the search, which has limits of its own."""
        self._limit = Limit(count, seconds, self._whole)

    @property
    def is_over(self) -> bool:
        """Whether the search or this part of it must end."""
        return self._limit.is_reached

    def session(self, held: int = HELD) -> Session:
        """Start a process, and return a session in it."""
        self._backend.restart()
        self._limit.take()
        return Session(self._backend, held=held)

    def failing_calls(
        self,
        operator: OperatorSuite,
        calls: Sequence[ReproducedCall],
        failure: str | None = None,
        start: int = 0,
    ) -> list[ReproducedCall]:
        """Make calls in a fresh process; return them up to the first that fails, or [].

        That one is not before `start`, and fails in the same way as a `failure` of the run, where a
        single call can.
        """
        # One after the other, since there may be thousands.
        steps = (step_of(operator, operator.cases[call.case], call.inverted_data) for call in calls)
        held = len(calls) if failure == "aliased-output" else HELD
        fault = self.session(held).first_fault(steps, counting_as(failure), start)
        return [] if fault is None else list(calls[: fault[0] + 1])

    def passes_alone(self, operator: OperatorSuite, case: str, failure: str | None) -> bool:
        """Whether no call of a case fails so, or at all, in a process that has made no other."""
        calls = self.failing_calls(operator, calls_of_case(operator.cases[case]), failure)
        # A wrong value may need the earlier calls of its own case.
        return not calls or (
            len(calls) > 1 and not self.failing_calls(operator, calls[-1:], failure)
        )

    def easiest_that_passes(self, operator: OperatorSuite, cases: Sequence[str]) -> str | None:
        """Return a case that is easy to read, and passes alone, if one of a few does.

        What fails alone in another way says little about what earlier calls do.
        """
        easiest = easiest_to_read(operator, cases)[:_MADE_ALONE]
        return next((case for case in easiest if self.passes_alone(operator, case, None)), None)

    def shorten(
        self, operator: OperatorSuite, calls: Sequence[ReproducedCall], failure: str | None
    ) -> Sequence[ReproducedCall]:
        """Leave out calls without which the last one still fails, as far as the limits allow."""
        limit = Limit(*_SHORTENING)

        def fails(fewer: Sequence[ReproducedCall]) -> bool:
            if limit.is_reached:
                return False
            limit.take()
            return bool(self.failing_calls(operator, fewer, failure, len(fewer) - 1))

        return shortened(calls, fails)


class EarlierCalls:
    """Finds what earlier calls have in common that make calls of an operator fail."""

    def __init__(
        self,
        process: FreshProcess,
        operator: OperatorSuite,
        spec_file: SpecFile | None,
        known: Mapping[str, Known],
        kind: str | None,
    ) -> None:
        """Prepare for failures of a kind of an operator; `known` are its cases in run order."""
        self._process, self._operator, self._known = process, operator, known
        self._spec_file = spec_file
        self._maker = None if spec_file is None else StepMaker(spec_file)
        # A call that has other bits alone fails in another way after related calls.
        self._failure = kind if kind in (*NOT_OF_STATE, *KINDS_OF_SEVERAL_CALLS) else "state"

    def related(self, reproduction: Reproduction) -> Reproduction:
        """Return a reproduction by two calls with the relation between them.

        It is missing if the limits allow too few trials, or if they separate nothing.
        """
        known = self._known
        first, last = reproduction.calls
        pair, target = self._most_alike_pair(first, last), self._target(last)
        different = () if pair is None else differing(*map(self._facts, pair))
        trials = [Trial(known[first.case], target, True)]
        trials += self._trials(candidates(target, [*known.values()]), last)
        trials += [] if pair is None else self._variations(pair[0], known[last.case])
        # The program of the report makes the call that is the easiest to read.
        failing = (t.first.case for t in trials if t.fails and t.first.case in known)
        firsts = easiest_to_read(self._operator, failing)
        calls = (ReproducedCall(case=firsts[0]), last) if first.case != last.case else (first, last)
        self._question(last, trials, different)
        found = relation_of(trials, different)
        relation = found if found.is_evident and len(trials) >= _MIN_TRIALS else None
        update = {"relation": relation, "calls": calls, "reduced": self._serialized(pair)}
        return reproduction.model_copy(update=update)

    def _most_alike_pair(
        self, first: ReproducedCall, last: ReproducedCall
    ) -> tuple[Step, Step] | None:
        """Return a valid earlier call and the one that fails after it, as alike as possible.

        As in delta debugging, the calls are made more alike, argument by argument (Zeller,
        "Isolating cause-effect chains from computer programs", 2002).
        """
        best, target = map(self._step, (first.case, last.case))
        if last.inverted_data or best.golden is None:
            return None

        def fails(changed: Step) -> bool:
            return bool(self._fails_after(self._valid(changed), target))

        # One difference is most likely enough; if not, each that can be left out is.
        if found := next(filter(fails, parts_taken(target, best)), None):
            return found, target
        while found := next(filter(fails, parts_taken(best, target)), None):
            best = found
        return best, target

    def _target(self, call: ReproducedCall) -> Known:
        """Return what is known of a call, whose case states the content of data not inverted."""
        known, case = self._known[call.case], self._operator.cases[call.case]
        contents = {f"{CONTENT}{n}": call for n in case.data_inputs if call.inverted_data}
        return replace(known, facts={**known.facts, **contents})

    def _facts(self, step: Step) -> dict[str, object]:
        return facts_of(call_of(step), step.inputs.__getitem__, self._spec_file)

    def _step(self, case: str) -> Step:
        return step_of(self._operator, self._operator.cases[case])

    def _valid(self, changed: Step) -> Step | None:
        """Return a call with its golden outputs, if it is valid."""
        steps = [] if self._maker is None else self._maker.steps(changed)
        return steps[0] if steps else None

    def _fails_after(self, first: Step | None, failing: Step) -> bool | None:
        """Whether a call fails after a `first` one; None if this is missing, or does not pass."""
        if first is None or self._process.is_over:
            return None
        session = self._process.session()
        fault = session.first_fault([first, failing], counting_as(self._failure))
        is_wrong = session.declined or (fault is not None and fault[0] == 0)
        return None if is_wrong else fault is not None

    def _variations(self, step: Step, last: Known) -> Iterator[Trial]:
        """Make a call after one that differs in one more part, which other cases have."""
        failing = self._step(last.case)
        valid = [case.case for case in self._known.values() if case.outcome == "outputs"]
        made: Counter[tuple[str, ...]] = Counter()
        for case in valid[:: max(1, len(valid) // _VARIED)]:
            for changed in parts_taken(step, self._step(case)):
                what = differing(self._facts(changed), self._facts(step))
                first = self._valid(changed) if made[what] < _VARIATIONS else None
                fails = self._fails_after(first, failing)
                if first is not None and fails is not None:
                    made[what] += 1
                    outputs = first.golden or ()
                    types = (type_name(array.dtype) for array in outputs)
                    of_outputs = facts_of_outputs((array.shape for array in outputs), types)
                    facts = {**self._facts(first), **of_outputs}
                    yield Trial(Known("", None, facts, "outputs"), last, fails)

    def _serialized(self, pair: Sequence[Step] | None) -> tuple[SerializedCall, ...]:
        """Return two calls for a program, if it can list their elements."""
        steps = [*filter(None, map(self._valid, pair or ()))]
        is_readable = len(steps) == 2 and max(map(elements_to_read, steps)) <= MAX_LISTED
        return tuple(map(SerializedCall.from_step, steps)) if is_readable else ()

    def _trials(self, earlier: Iterable[Known], last: ReproducedCall) -> Iterator[Trial]:
        """Make a call after each of some others, in a fresh process each time."""
        target = self._target(last)
        for first in earlier:
            if self._process.is_over:
                break
            calls = [ReproducedCall(case=first.case), last]
            made = self._process.failing_calls(self._operator, calls, self._failure)
            # An earlier call that fails by itself says nothing.
            if len(made) != 1:
                yield Trial(first, target, bool(made))

    def _question(
        self, last: ReproducedCall, trials: list[Trial], different: Sequence[str]
    ) -> None:
        """Add trials that may contradict what seems to be the relation.

        Few trials share facts by chance, or lack all that matters at once. So earlier calls are
        tried that have no more in common than the relation says, and others that lack one fact.
        """
        target, asked = self._target(last), set[object](different)
        while not self._process.is_over:
            relation = relation_of(trials, different)
            facts = relation.facts
            # What failing trials share besides may be what matters.
            alike = replace(target, facts={n: target.facts.get(n) for n in common_facts(trials)})
            tried = {trial.first.case for trial in trials}
            untried = [case for case in self._known.values() if case.case not in tried]
            if facts not in asked:
                asked.add(facts)
                such = [case for case in untried if relation.explains(case, target)]
                earlier = most_alike(alike, such, len(such))[:_QUESTIONED]
            elif fact := next((name for name in facts if name not in asked), None):
                asked.add(fact)
                less = relation.without(fact)
                lacking = [
                    case
                    for case in untried
                    if less.explains(case, target) and not relation.explains(case, target)
                ]
                earlier = most_alike(alike, lacking, _QUESTIONED)
            else:
                break
            trials += self._trials(earlier, last)


def parts_taken(one: Step, other: Step) -> Iterator[Step]:
    """Yield a call with one part of another one each, of those in which they differ."""
    # Tensors that must be of one type change it together.
    types = {
        array.dtype: other.inputs[name].dtype
        for name, array in one.inputs.items()
        if name in other.inputs and array.dtype != other.inputs[name].dtype
    }
    with np.errstate(all="ignore"):
        cast = {n: a.astype(types[a.dtype]) for n, a in one.inputs.items() if a.dtype in types}
    if len(cast) > 1:
        yield replace(one, inputs={**one.inputs, **cast})
    for name in {**one.inputs, **other.inputs}:
        if name in one.inputs and name in other.inputs:
            yield from _parts_of_input(one, other, name)
            continue
        inputs = {key: array for key, array in one.inputs.items() if key != name}
        if name in other.inputs:
            # The inputs of a call are in the order of the spec, which the other call has.
            inputs = {key: inputs.get(key, array) for key, array in other.inputs.items()}
        # Otherwise another input would change, too.
        if inputs.keys() == {*one.inputs} ^ {name}:
            yield replace(one, inputs=inputs, layouts={**other.layouts, **one.layouts})
    for name in {**one.attributes, **other.attributes}:
        if one.attributes.get(name) != other.attributes.get(name):
            kept = {key: value for key, value in one.attributes.items() if key != name}
            taken = {key: value for key, value in other.attributes.items() if key == name}
            yield replace(one, attributes={**kept, **taken})


def _parts_of_input(one: Step, other: Step, name: str) -> Iterator[Step]:
    """Yield a call with the layout, the type, and all of an input of another one."""
    own, array = one.inputs[name], other.inputs[name]
    layouts = {**one.layouts, name: other.layouts[name]}
    if layouts != one.layouts:
        yield replace(one, layouts=layouts)
    if own.dtype != array.dtype:
        with np.errstate(all="ignore"):
            yield replace(one, inputs={**one.inputs, name: own.astype(array.dtype)})
    if (own.dtype, own.shape) != (array.dtype, array.shape) or not same_bytes(own, array):
        yield replace(one, inputs={**one.inputs, name: array}, layouts=layouts)
