"""Confirmation: failures of a run, made again in fresh processes that have made no other call.

What fails in the same way alone is confirmed. What needs an earlier call is of the kind `state`.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opcert.errors import BackendError
from opcert.isolation import SupervisedBackend
from opcert.run import ECHO_PREFIX, Session, SessionStep, repetition_plan, run_vector
from opcert.specification import SpecFile
from opcert.suite import IndexedCase, OperatorSuite, Suite
from opcert.verdicts.causes import group_by_cause, input_elements
from opcert.verdicts.reduction import Candidate, Reduction, is_small
from opcert.verdicts.reproduction import (
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
    step_of_call,
)
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict, cite_contract, judge

# So many causes of a run are confirmed, each by the first of so many failures that fails alone.
MAX_CAUSES, MAX_TRIES = 50, 3
# A backend that hands out buffers in turns comes back to the first one within so many calls.
_BUFFER_TURNS = 64
# So many cases before a failure, and after it, are tried as its cause.
NEIGHBOURING_CASES = 20
# Kinds that a run has observed for certain, and that by their nature take more than one call.
_KINDS_OF_SEVERAL_CALLS = ("aliased-output", "mutated-input", "unstable")
# Seconds of a run that are spent on making calls smaller.
_REDUCTION_SECONDS = 60.0
# Up to so many calls are left out one by one, each in a process of its own.
_MAX_CALLS_TO_SHORTEN = 12


@dataclass(frozen=True)
class Confirmed:
    """The verdicts that confirmation has changed, and the reproductions of failures, by case."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    reproductions: dict[str, Reproduction] = field(default_factory=dict)


class Confirmation:
    """Makes failing calls of a run again in fresh processes."""

    def __init__(
        self,
        backend: SupervisedBackend,
        suite: Suite,
        verdicts: Mapping[str, Verdict],
        repeated: Sequence[str],
        specs: Mapping[str, SpecFile] | None = None,
    ) -> None:
        """Prepare to confirm the failures among `verdicts`, which are in the order of the run.

        `repeated` are the cases whose calls the run repeated very often. Calls are made smaller for
        the operators in `specs`, the specs of the suite.
        """
        self._backend = backend
        self._suite = suite
        self._verdicts = verdicts
        self._repeated = repeated
        self._specs = specs or {}
        self._confirmed = Confirmed()

    def confirm(self) -> Confirmed:
        """Confirm the smallest failures of each cause, and return what has changed.

        A backend that cannot be restarted ends the confirmation.
        """
        failures = [each for each in self._verdicts.values() if each.status in FAILURE_STATUSES]
        # These two kinds follow from other cases, not from a call of their own.
        causes = [
            cause
            for cause in group_by_cause(failures)
            if cause.kind not in ("uncredited", "undeclared")
        ]
        try:
            for cause in causes[:MAX_CAUSES]:
                by_size = sorted(
                    cause.verdicts,
                    key=lambda verdict: input_elements(self._suite.cases[verdict.case][1]),
                )
                for verdict in by_size[:MAX_TRIES]:
                    if self._confirm_failure(verdict).reproduced == "alone":
                        break
            self._recheck_echoes(failures)
            self._recheck_acceptances(failures)
            self._reduce_calls()
        except BackendError:
            pass
        return self._confirmed

    def _confirm_failure(self, verdict: Verdict) -> Reproduction:
        """Reproduce one failure, and change its verdict accordingly."""
        reproduction = self._reproduce(verdict)
        self._confirmed.reproductions[verdict.case] = reproduction
        if reproduction.reproduced == "alone":
            detail = f"{verdict.detail}\n    confirmed: it fails alone in a fresh process"
            self._confirmed.verdicts[verdict.case] = replace(verdict, detail=detail)
            return reproduction
        others = len(reproduction.calls) - 1
        if others > 0:
            text = f"it fails after {others} other call{'s' * (others > 1)}"
        else:
            text = "it was not reproduced"
        self._confirmed.verdicts[verdict.case] = _as_state(verdict, text)
        return reproduction

    def _reproduce(self, verdict: Verdict) -> Reproduction:
        operator, case = self._suite.cases[verdict.case]
        kind = verdict.kind
        self._backend.restart()
        # Without the baseline: what a backend caches of a valid call must not take part.
        again = judge(verdict.operator, case, run_vector(self._backend, operator, case), None)
        if (again.status, again.kind) == (verdict.status, kind):
            calls = self._failing_calls(operator, calls_of_case(case))
            # A wrong value that the last call alone does not give takes the case's earlier calls.
            needs_earlier = (
                kind == "value" and len(calls) > 1 and not self._failing_calls(operator, calls[-1:])
            )
            return Reproduction(
                reproduced="after-other-calls" if needs_earlier else "alone",
                calls=tuple(calls),
                kind=kind,
                reduced=(),
            )
        for candidate in self._candidates(verdict, operator, case):
            calls = self._failing_calls(operator, candidate)
            if calls:
                calls = self._shorten(operator, calls)
                own_calls = {call.case for call in calls} == {case.id}
                alone = own_calls and kind in _KINDS_OF_SEVERAL_CALLS
                return Reproduction(
                    reproduced="alone" if alone else "after-other-calls",
                    calls=tuple(calls),
                    kind=kind,
                    reduced=(),
                )
        return Reproduction(reproduced="never", calls=(), kind=kind, reduced=())

    def _candidates(
        self, verdict: Verdict, operator: OperatorSuite, case: IndexedCase
    ) -> Iterator[Sequence[ReproducedCall]]:
        """Yield sequences of calls that may reproduce a failure that its case alone does not."""
        calls = calls_of_case(case)
        if case.expects == "rejection" and case.baseline is not None:
            baseline = ReproducedCall(case=case.baseline)
            yield [baseline, calls[0]]
            yield [calls[0], baseline, calls[0]]
        if case.id in self._repeated:
            yield [
                ReproducedCall(case=case.id, inverted_data=inverted)
                for inverted in repetition_plan()
            ]
        # Other failures would only fail by themselves.
        ids = [
            name
            for name, other in self._verdicts.items()
            if name == case.id or (other.operator == verdict.operator and other.status == "pass")
        ]
        position = ids.index(case.id)
        if verdict.kind in ("aliased-output", "mutated-input"):
            if case.expects == "outputs":
                inverted_call = ReproducedCall(case=case.id, inverted_data=True)
                yield [calls[0], *[inverted_call] * _BUFFER_TURNS]
            after = ids[position + 1 :][:NEIGHBOURING_CASES]
            yield [*calls, *(c for name in after for c in calls_of_case(operator.cases[name]))]
        before = ids[:position][-NEIGHBOURING_CASES:]
        calls_before = [c for name in before for c in calls_of_case(operator.cases[name])]
        count = 1
        while calls_before and count < 4 * len(calls_before):
            yield [*calls_before[-count:], *calls]
            count *= 4

    def _failing_calls(
        self, operator: OperatorSuite, calls: Sequence[ReproducedCall]
    ) -> list[ReproducedCall]:
        """Make calls in a fresh process; return those up to the first that fails, or none."""
        self._backend.restart()
        steps = [step_of_call(operator, call) for call in calls]
        fault = Session(self._backend, held=len(steps)).first_fault(steps)
        return [] if fault is None else list(calls[: fault[0] + 1])

    def _shorten(
        self, operator: OperatorSuite, calls: list[ReproducedCall]
    ) -> list[ReproducedCall]:
        """Leave out calls that the failure of the last one does not need."""
        last = calls[-1]
        # Calls long before a failure seldom matter: find a short tail that fails.
        count = 2
        while count < len(calls):
            tail = self._failing_calls(operator, calls[-count:])
            if tail[-1:] == [last]:
                calls = tail
                break
            count *= 2
        number = 0
        while len(calls) <= _MAX_CALLS_TO_SHORTEN and number < len(calls) - 1:
            fewer = self._failing_calls(operator, [*calls[:number], *calls[number + 1 :]])
            if fewer[-1:] == [last]:
                calls = fewer
            else:
                number += 1
        return calls

    def _recheck_echoes(self, failures: Sequence[Verdict]) -> None:
        """Decide which results that equal those of the call before depend on that call.

        An operator that loses its data, by saturation for example, also gives equal results.
        """
        changed = self._confirmed.verdicts
        echoes = [
            verdict
            for verdict in failures
            if verdict.detail.startswith(ECHO_PREFIX) and verdict.case not in changed
        ]
        for verdict in echoes[:MAX_CAUSES]:
            operator, _ = self._suite.cases[verdict.case]
            call = ReproducedCall(case=verdict.case, inverted_data=True)
            if not self._failing_calls(operator, [call]):
                changed[verdict.case] = _as_state(verdict, "it fails after 1 other call")

    def _recheck_acceptances(self, failures: Sequence[Verdict]) -> None:
        """Decide which accepted calls are rejected in a process that has made no valid call.

        One process makes them all, each once, since there may be hundreds.
        """
        changed = self._confirmed.verdicts
        accepted = [
            verdict
            for verdict in failures
            if verdict.kind == "accepted" and verdict.case not in changed
        ]
        if not accepted:
            return
        self._backend.restart()
        session = Session(self._backend)
        for verdict in accepted:
            operator, _ = self._suite.cases[verdict.case]
            outcome = session.execute(step_of_call(operator, ReproducedCall(case=verdict.case)))
            if outcome.observed == "rejected":
                text = "it is rejected in a process that has made no valid call"
                changed[verdict.case] = _as_state(verdict, text)

    def _reduce_calls(self) -> None:
        """Make calls smaller that fail alone and are too large to read."""
        deadline = time.monotonic() + _REDUCTION_SECONDS
        for name, reproduction in self._confirmed.reproductions.items():
            if time.monotonic() > deadline:
                break
            verdict = self._verdicts[name]
            operator, case = self._suite.cases[name]
            spec_file = self._specs.get(operator.index.operator)
            fails_alone = reproduction.reproduced == "alone" and reproduction.calls
            # Each try of a call that hangs would take the whole time limit.
            if spec_file is None or not fails_alone or verdict.status == "hang":
                continue
            first = step_of_call(operator, ReproducedCall(case=name))
            if is_small(first):
                continue
            kind = reproduction.kind or verdict.status

            def fails(steps: Sequence[SessionStep], kind: str = kind) -> bool:
                fault = Session(self._backend).first_fault(steps)
                return fault is not None and fault[1].kind == kind and fault[0] == len(steps) - 1

            rule = None if case.violated_rule is None else case.violated_rule.partition("/")[2]
            inverted_data = [call.inverted_data for call in reproduction.calls]
            reduction = Reduction(spec_file, rule, inverted_data, fails)
            smaller = reduction.reduce(Candidate.from_step(first))
            if smaller is None:
                continue
            steps = reduction.steps(smaller)
            # The reduction made its calls in one process, where earlier ones may have mattered.
            self._backend.restart()
            if fails(steps):
                reduced = tuple(SerializedCall.from_step(step) for step in steps)
                self._confirmed.reproductions[name] = reproduction.model_copy(
                    update={"reduced": reduced}
                )


def _as_state(verdict: Verdict, text: str) -> Verdict:
    """Return a failure as one that depends on earlier calls."""
    in_run = verdict.kind or verdict.status
    detail = f"{verdict.detail}\n    {in_run} in the run, but its case passes alone; {text}"
    if verdict.kind in (*_KINDS_OF_SEVERAL_CALLS, "state"):
        return replace(verdict, detail=detail)
    return replace(verdict, kind="state", detail=cite_contract("state", detail))
