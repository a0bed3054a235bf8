"""Failures x backend -> the calls by which each shows again in a fresh process."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, JsonValue, model_validator

from opcert.arrays import ELEMENT_TYPES, Array, Layout, type_name
from opcert.errors import BackendError
from opcert.isolation import SupervisedBackend
from opcert.run import ECHO_PREFIX, FailureKind, Session, SessionStep, repetition_plan, run_vector
from opcert.specification import SpecFile
from opcert.suite import CasesById, Extent, IndexedCase, OperatorSuite, StrictModel, Suite, TypeName
from opcert.verdicts.causes import Cause, causes, input_elements
from opcert.verdicts.contract import cite_contract
from opcert.verdicts.reduction import Candidate, Reduction, is_small
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict, judge

# How many causes of a run are confirmed, and how many of the failures of one are tried until one
# shows alone.
MOST_CAUSES, TRIES = 50, 3
# How many calls bring back a buffer that is handed out in turns.
_TURNS = 64
# How many cases before a failure, and after it, may have to do with it.
AROUND = 20
# Kinds that the run has seen for certain, and that are of more calls than one by their nature.
_SEEN = ("aliased-output", "mutated-input", "unstable")
# How many seconds of a run go into making calls smaller.
_REDUCING = 60.0
# Up to how many calls are left out one by one, each in a process of its own.
_SHORTENED = 12


Shows = Literal["alone", "after-others", "not-again"]


class ReproducedCall(StrictModel):
    """The call of a case, with its own data or with every bit of it inverted."""

    case: str
    inverted_data: bool = False


class SerializedArray(StrictModel):
    """An array with its elements, little-endian and in C order, as hexadecimal digits."""

    type: TypeName
    shape: tuple[Extent, ...]
    layout: Layout = "c"
    elements: Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]

    @model_validator(mode="after")
    def _has_its_elements(self) -> Self:
        if len(self.elements) != 2 * prod(self.shape) * ELEMENT_TYPES[self.type].itemsize:
            raise ValueError("elements that do not fill the shape")
        return self

    @property
    def array(self) -> Array:
        """The elements in C order."""
        dtype = ELEMENT_TYPES[self.type]
        return np.frombuffer(bytes.fromhex(self.elements), dtype).reshape(self.shape)


class SerializedCall(StrictModel):
    """A call and what it has to give; None is a rejection."""

    inputs: Mapping[str, SerializedArray]
    attributes: Mapping[str, JsonValue]
    outputs: tuple[SerializedArray, ...] | None


class Reproduction(StrictModel):
    """How a failure shows in a fresh process.

    It shows `alone`, by calls of its own case; only `after-others`; or `not-again`. `calls` are the
    calls that were made, of which the last goes wrong: there are none where it shows in memory that
    was written to before, or not again. `kind` is what the run had found. `reduced` are smaller
    calls that fail in the same way.
    """

    shows: Shows
    calls: tuple[ReproducedCall, ...]
    kind: FailureKind | None
    reduced: tuple[SerializedCall, ...]


@dataclass(frozen=True)
class Confirmed:
    """Verdicts that confirmation has changed, and how the failures that it tried show."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    reproductions: dict[str, Reproduction] = field(default_factory=dict)


class Confirmation:
    """Makes failing calls of a run again, in processes that have made no other call."""

    def __init__(
        self,
        backend: SupervisedBackend,
        suite: Suite,
        verdicts: Mapping[str, Verdict],
        repeated: Sequence[str],
        specs: Mapping[str, SpecFile] | None = None,
    ) -> None:
        """Begin; `repeated` are the cases whose calls the run has made very often.

        Calls are made smaller of the operators whose `specs` are at hand, those of the suite.
        """
        self._backend = backend
        self._suite = suite
        self._verdicts = verdicts
        self._order = list(verdicts)
        self._repeated = repeated
        self._specs = specs or {}

    def confirmed(self) -> Confirmed:
        """Return what becomes of the failures.

        For each cause it is the smallest failure that shows alone. A failure that depends on
        earlier calls is of the kind `state`, whatever it looked like. A backend that cannot be
        started again ends the confirmation.
        """
        found = Confirmed()
        failed = [each for each in self._verdicts.values() if each.status in FAILURE_STATUSES]
        cases = self._suite.cases
        try:
            tried = (
                each for each in causes(failed) if each.kind not in ("uncredited", "undeclared")
            )
            for cause in islice(tried, MOST_CAUSES):
                by_size = sorted(
                    cause.verdicts, key=lambda each: input_elements(cases[each.case][1])
                )
                for verdict in by_size[:TRIES]:
                    self._confirm(verdict, found)
                    if found.reproductions[verdict.case].shows == "alone":
                        break
            self._doubt_echoes(failed, found)
            self._doubt_acceptances(failed, found)
            self._reduce(found)
        except BackendError:
            # What cannot be started again shows nothing of this failure, nor of the next.
            pass
        return found

    def _confirm(self, verdict: Verdict, found: Confirmed) -> None:
        reproduction = self._reproduction(verdict)
        found.reproductions[verdict.case] = reproduction
        if reproduction.shows == "alone":
            text = f"{verdict.detail}\n    confirmed: it fails alone in a fresh process"
            found.verdicts[verdict.case] = replace(verdict, detail=text)
            return
        others = len(reproduction.calls) - 1
        calls = f"{others} other call{'s' * (others > 1)}"
        text = f"it fails after {calls}" if others > 0 else "it was not seen again"
        found.verdicts[verdict.case] = _of_state(verdict, text)

    def _reproduction(self, verdict: Verdict) -> Reproduction:
        operator, case = self._suite.cases[verdict.case]
        self._backend.restart()
        # The baseline is left out: with it, what a backend keeps of a valid call would show.
        again = judge(verdict.operator, case, run_vector(self._backend, operator, case), None)
        own = calls_of_case(case)
        if (again.status, again.kind) == (verdict.status, verdict.kind):
            calls = self._failing(operator, own)
            last = calls[-1:]
            if len(calls) > 1 and verdict.kind == "value" and not self._failing(operator, last):
                # It takes the case's own earlier call to make this one go wrong.
                return Reproduction(
                    shows="after-others", calls=tuple(calls), kind=verdict.kind, reduced=()
                )
            return Reproduction(shows="alone", calls=tuple(calls), kind=verdict.kind, reduced=())
        for candidate in self._candidates(verdict, operator, case):
            calls = self._failing(operator, candidate)
            if calls:
                calls = self._shortened(operator, calls)
                alone = verdict.kind in _SEEN and {call.case for call in calls} == {case.id}
                shows: Shows = "alone" if alone else "after-others"
                return Reproduction(shows=shows, calls=tuple(calls), kind=verdict.kind, reduced=())
        return Reproduction(shows="not-again", calls=(), kind=verdict.kind, reduced=())

    def _candidates(
        self, verdict: Verdict, operator: OperatorSuite, case: IndexedCase
    ) -> Sequence[Sequence[ReproducedCall]]:
        """Return sequences of calls that may show a failure which does not show alone."""
        own = calls_of_case(case)
        found: list[Sequence[ReproducedCall]] = []
        if case.expects == "rejection" and case.baseline is not None:
            baseline = ReproducedCall(case=case.baseline)
            found += [[baseline, own[0]], [own[0], baseline, own[0]]]
        if case.id in self._repeated:
            found.append([ReproducedCall(case=case.id, inverted_data=d) for d in repetition_plan()])
        ids = [
            each
            for each in self._order
            if each == case.id
            or (
                self._verdicts[each].operator == verdict.operator
                and self._verdicts[each].status == "pass"
            )
        ]
        place = ids.index(case.id)
        cases = operator.cases
        if verdict.kind in ("aliased-output", "mutated-input"):
            if case.expects == "outputs":
                # Buffers that are handed out in turns come back with other data.
                found.append([own[0], *[ReproducedCall(case=case.id, inverted_data=True)] * _TURNS])
            after = [
                call for name in ids[place + 1 :][:AROUND] for call in calls_of_case(cases[name])
            ]
            found.append([*own, *after])
        before = [call for name in ids[:place][-AROUND:] for call in calls_of_case(cases[name])]
        count = 1
        while before and count < 4 * len(before):
            found.append([*before[-count:], *own])
            count *= 4
        return found

    def _failing(
        self, operator: OperatorSuite, calls: Sequence[ReproducedCall]
    ) -> list[ReproducedCall]:
        """Make calls in a fresh process; return those up to the first that goes wrong, or none."""
        self._backend.restart()
        steps = [step_of_call(operator, call) for call in calls]
        fault = Session(self._backend, held=len(steps)).first_fault(steps)
        return [] if fault is None else list(calls[: fault[0] + 1])

    def _shortened(
        self, operator: OperatorSuite, calls: list[ReproducedCall]
    ) -> list[ReproducedCall]:
        """Leave out calls without which the last one goes wrong all the same."""
        last = calls[-1]
        # Calls far back seldom matter, so the shortest tail that fails is looked for first.
        count = 2
        while count < len(calls):
            tail = self._failing(operator, calls[-count:])
            if tail and tail[-1] == last:
                calls = tail
                break
            count *= 2
        number = 0
        while len(calls) <= _SHORTENED and number < len(calls) - 1:
            fewer = self._failing(operator, [*calls[:number], *calls[number + 1 :]])
            if fewer and fewer[-1] == last:
                calls = fewer
            else:
                number += 1
        return calls

    def _doubt_echoes(self, failed: Sequence[Verdict], found: Confirmed) -> None:
        """Find out where a result that equals the one before depends on the call before.

        An operator that loses its data, by saturation for example, gives the same twice as well.
        """
        echoes = [each for each in failed if each.detail.startswith(ECHO_PREFIX)]
        for verdict in islice((e for e in echoes if e.case not in found.verdicts), MOST_CAUSES):
            operator, _ = self._suite.cases[verdict.case]
            call = ReproducedCall(case=verdict.case, inverted_data=True)
            if not self._failing(operator, [call]):
                found.verdicts[verdict.case] = _of_state(verdict, "it fails after 1 other call")

    def _doubt_acceptances(self, failed: Sequence[Verdict], found: Confirmed) -> None:
        """Find out which accepted calls are rejected where no valid call was made before.

        One fresh process makes them all, each once, since there may be hundreds.
        """
        accepted = [e for e in failed if e.kind == "accepted" and e.case not in found.verdicts]
        if not accepted:
            return
        self._backend.restart()
        stage = Session(self._backend)
        for verdict in accepted:
            operator, _ = self._suite.cases[verdict.case]
            outcome = stage.execute(step_of_call(operator, ReproducedCall(case=verdict.case)))
            if outcome.observed == "rejected":
                text = "it is rejected in a process that has made no valid call"
                found.verdicts[verdict.case] = _of_state(verdict, text)

    def _reduce(self, found: Confirmed) -> None:
        """Make the calls smaller that show a failure alone and are too large to read."""
        deadline = time.monotonic() + _REDUCING
        for name, reproduction in found.reproductions.items():
            operator, case = self._suite.cases[name]
            spec_file = self._specs.get(operator.index.operator)
            shows = reproduction.shows == "alone" and reproduction.calls
            hangs = self._verdicts[name].status == "hang"
            if spec_file is None or not shows or hangs or time.monotonic() > deadline:
                continue
            first = step_of_call(operator, ReproducedCall(case=name))
            if is_small(first):
                continue
            start = Candidate.of(first)
            kind = reproduction.kind or self._verdicts[name].status
            inverted_data = [call.inverted_data for call in reproduction.calls]
            rule = None if case.violated_rule is None else case.violated_rule.partition("/")[2]

            def fails(steps: Sequence[SessionStep], kind: str = kind) -> bool:
                fault = Session(self._backend).first_fault(steps)
                return fault is not None and fault[1].kind == kind and fault[0] == len(steps) - 1

            reduction = Reduction(spec_file, fails)
            smaller = reduction.reduced(start, rule, inverted_data)
            if smaller is None:
                continue
            steps = reduction.steps(smaller, rule, inverted_data)
            self._backend.restart()
            if fails(steps):
                written = tuple(map(_written, steps))
                found.reproductions[name] = reproduction.model_copy(update={"reduced": written})


def _written(step: SessionStep) -> SerializedCall:
    inputs = {name: _array(each, step.layouts[name]) for name, each in step.inputs.items()}
    outputs = None if step.golden is None else tuple(_array(each, "c") for each in step.golden)
    return SerializedCall(inputs=inputs, attributes=dict(step.attributes), outputs=outputs)


def _array(array: Array, layout: Layout) -> SerializedArray:
    return SerializedArray(
        type=type_name(array.dtype),
        shape=array.shape,
        layout=layout,
        elements=array.tobytes().hex(),
    )


def representative_verdict(
    cause: Cause, reproductions: Mapping[str, Reproduction], cases: CasesById
) -> Verdict:
    """Return the verdict that stands for a cause: the smallest that was reproduced, if any was."""
    known = [each for each in cause.verdicts if each.case in reproductions]
    alone = [each for each in known if reproductions[each.case].shows == "alone"]
    return replace(cause, verdicts=tuple(alone or known or cause.verdicts)).smallest(cases)


def calls_of_case(case: IndexedCase) -> list[ReproducedCall]:
    """Return the calls that a case makes: a valid one with other data in between."""
    own = ReproducedCall(case=case.id)
    if case.expects == "rejection":
        return [own, own]
    return (
        [own, ReproducedCall(case=case.id, inverted_data=True), own]
        if case.data_inputs
        else [own, own]
    )


def step_of_call(operator: OperatorSuite, call: ReproducedCall) -> SessionStep:
    """Return a call with its arrays, and what it has to give."""
    case = operator.cases[call.case]
    inputs = operator.inverted_data_inputs(case) if call.inverted_data else operator.inputs(case)
    golden = None
    if case.expects == "outputs":
        golden = (
            operator.inverted_data_outputs(case) if call.inverted_data else operator.outputs(case)
        )
    layouts = {name: given.layout for name, given in case.inputs.items()}
    return SessionStep(
        operator.index.operator,
        inputs,
        case.attributes,
        golden,
        layouts,
        case.data_inputs,
        rule=case.violated_rule,
    )


def _of_state(verdict: Verdict, text: str) -> Verdict:
    """Return a failure as one that depends on earlier calls."""
    was = verdict.kind or verdict.status
    detail = f"{verdict.detail}\n    {was} in the run, but its case passes alone; {text}"
    if verdict.kind in (*_SEEN, "state"):
        return replace(verdict, detail=detail)
    return replace(verdict, kind="state", detail=cite_contract("state", detail))
