"""Confirmation: reproduces the failures of a run in fresh processes.

A failure that occurs again without other calls is confirmed; one that needs an earlier call is of
kind `state`.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from opcert.errors import BackendError
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.call_protocol import ECHO_PREFIX, Session, SessionStep, repetition_plan, run_vector
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.cause_text import (
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
    easiest_to_read,
    step_of_call,
)
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.reduction import Candidate, Reduction, elements_to_read, is_small
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict, cite_contract, judge

# The maximum number of causes to confirm, and of failures to try for each cause.
MAX_CAUSES, MAX_TRIES = 50, 3
# The number of calls after which a backend with a ring of output buffers reuses the first one.
_BUFFER_TURNS = 64
# The number of cases before and after a failure that are tried as its cause.
NEIGHBOURING_CASES = 20
# Kinds of failure that only several calls together can show.
_KINDS_OF_SEVERAL_CALLS = ("aliased-output", "mutated-input", "unstable")
# The time limit in seconds for the reduction of all calls of a run.
_REDUCTION_SECONDS = 60.0
# Longer sequences of calls are not shortened call by call: each attempt takes a process.
_MAX_CALLS_TO_SHORTEN = 12
# A reduced call is kept if a program can list its elements; otherwise that of its case is shorter.
_MAX_REDUCED_ELEMENTS = 1000


@dataclass(frozen=True)
class Confirmed:
    """The verdicts that confirmation changed and the reproductions of failures, by case."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    reproductions: dict[str, Reproduction] = field(default_factory=dict)


class Confirmation:
    """Repeats the failing calls of a run in fresh processes."""

    def __init__(
        self,
        backend: SupervisedBackend,
        diagnosis: Diagnosis,
        verdicts: Mapping[str, Verdict],
        repeated: Sequence[str],
    ) -> None:
        """Prepare to confirm the failures among `verdicts`, which are in the order of the run.

        `repeated` are the cases whose calls the run repeated. Calls of operators without a spec are
        not reduced.
        """
        self._backend = backend
        self._suite = diagnosis.suite
        self._verdicts = verdicts
        self._repeated = repeated
        self._diagnosis = diagnosis
        self._specs = diagnosis.specs
        self._confirmed = Confirmed()

    def confirm(self) -> Confirmed:
        """Confirm the failures of each cause that are easy to read, and return the results.

        A backend that cannot be restarted ends the confirmation.
        """
        failures = [v for v in self._verdicts.values() if v.status in FAILURE_STATUSES]
        # Failures of these two kinds follow from other cases, not from their own calls.
        causes = [
            cause
            for cause in self._diagnosis.causes(self._verdicts.values())
            if not {"uncredited", "undeclared"} & set(cause.kinds)
        ]
        try:
            for cause in causes[:MAX_CAUSES]:
                operator = self._suite.operators[cause.operator]
                by_effort = easiest_to_read(operator, cause.cases)
                # A case that matches the condition is better evidence than an easier one.
                for case in [*dict.fromkeys([cause.representative, *by_effort])][:MAX_TRIES]:
                    if self._confirm_failure(self._verdicts[case]).reproduced == "alone":
                        break
            self._recheck_echoes(failures)
            self._recheck_acceptances(failures)
            self._reduce_calls()
        except BackendError:
            pass
        return self._confirmed

    def _confirm_failure(self, verdict: Verdict) -> Reproduction:
        """Reproduce one failure, and update its verdict."""
        reproduction = self._reproduce(verdict)
        self._confirmed.reproductions[verdict.case] = reproduction
        if reproduction.reproduced == "alone":
            detail = f"{verdict.detail}\n    confirmed: it fails alone in a fresh process"
            self._confirmed.verdicts[verdict.case] = replace(verdict, detail=detail)
            return reproduction
        others = len(reproduction.calls) - 1
        after = f"it fails after {others} other call{'s' * (others > 1)}"
        text = after if others > 0 else "it was not reproduced"
        self._confirmed.verdicts[verdict.case] = _as_state(verdict, text)
        return reproduction

    def _reproduce(self, verdict: Verdict) -> Reproduction:
        operator, case = self._suite.cases[verdict.case]
        kind = verdict.kind
        extent: Literal["alone", "after-other-calls"]
        self._backend.restart()
        # Without the baseline: a cached valid call must not influence the result.
        again = judge(verdict.operator, case, run_vector(self._backend, operator, case), None)
        if (again.status, again.kind) == (verdict.status, kind):
            calls = self._failing_calls(operator, calls_of_case(case))
            # A wrong value may need the earlier calls of its own case.
            needs_earlier = (
                kind == "value" and len(calls) > 1 and not self._failing_calls(operator, calls[-1:])
            )
            extent = "after-other-calls" if needs_earlier else "alone"
            return Reproduction(reproduced=extent, calls=tuple(calls), kind=kind, reduced=())
        for candidate in self._candidates(verdict, operator, case):
            if calls := self._failing_calls(operator, candidate):
                calls = self._shorten(operator, calls)
                own_calls = {call.case for call in calls} == {case.id}
                alone = own_calls and kind in _KINDS_OF_SEVERAL_CALLS
                extent = "alone" if alone else "after-other-calls"
                return Reproduction(reproduced=extent, calls=tuple(calls), kind=kind, reduced=())
        return Reproduction(reproduced="never", calls=(), kind=kind, reduced=())

    def _candidates(
        self, verdict: Verdict, operator: OperatorSuite, case: IndexedCase
    ) -> Iterator[Sequence[ReproducedCall]]:
        """Yield sequences of calls that may reproduce a failure, longer than its case alone."""
        calls = calls_of_case(case)
        if case.expects == "rejection" and case.baseline is not None:
            baseline = ReproducedCall(case=case.baseline)
            yield [baseline, calls[0]]
            yield [calls[0], baseline, calls[0]]
        if case.id in self._repeated:
            yield [ReproducedCall(case=case.id, inverted_data=i) for i in repetition_plan()]
        # Other failing cases would end the sequence before this one.
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
        """Make calls in a fresh process; return them up to the first that fails, or []."""
        self._backend.restart()
        steps = [step_of_call(operator, call) for call in calls]
        fault = Session(self._backend, held=len(steps)).first_fault(steps)
        return [] if fault is None else list(calls[: fault[0] + 1])

    def _shorten(
        self, operator: OperatorSuite, calls: list[ReproducedCall]
    ) -> list[ReproducedCall]:
        """Leave out calls without which the last one still fails."""
        last = calls[-1]
        # Much earlier calls seldom matter: find a short tail that fails.
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
        """Find the failures that returned the previous call's result and depend on that call.

        An operator that loses data, for example by saturation, returns equal results as well.
        """
        changed = self._confirmed.verdicts
        unchanged = [verdict for verdict in failures if verdict.case not in changed]
        echoes = [verdict for verdict in unchanged if verdict.detail.startswith(ECHO_PREFIX)]
        for verdict in echoes[:MAX_CAUSES]:
            operator, _ = self._suite.cases[verdict.case]
            call = ReproducedCall(case=verdict.case, inverted_data=True)
            if not self._failing_calls(operator, [call]):
                changed[verdict.case] = _as_state(verdict, "it fails after 1 other call")

    def _recheck_acceptances(self, failures: Sequence[Verdict]) -> None:
        """Find the accepted calls that are rejected in a process that has made no valid call.

        A single process makes all of them, once each, since there may be hundreds.
        """
        changed = self._confirmed.verdicts
        accepted = [v for v in failures if v.kind == "accepted" and v.case not in changed]
        if not accepted:
            return
        self._backend.restart()
        session = Session(self._backend)
        for verdict in accepted:
            operator, _ = self._suite.cases[verdict.case]
            step = step_of_call(operator, ReproducedCall(case=verdict.case))
            if session.execute(step).observed == "rejected":
                text = "it is rejected in a process that has made no valid call"
                changed[verdict.case] = _as_state(verdict, text)

    def _reduce_calls(self) -> None:
        """Reduce the calls that fail alone and are too large to read."""
        deadline = time.monotonic() + _REDUCTION_SECONDS
        for name, reproduction in self._confirmed.reproductions.items():
            if time.monotonic() > deadline:
                break
            verdict = self._verdicts[name]
            operator, case = self._suite.cases[name]
            spec_file = self._specs.get(operator.index.operator)
            fails_alone = reproduction.reproduced == "alone" and reproduction.calls
            # Each attempt at a call that hangs would take the whole time limit.
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
            # The reduction used one process, in which earlier calls may have had an effect.
            self._backend.restart()
            if fails(steps) and max(map(elements_to_read, steps)) <= _MAX_REDUCED_ELEMENTS:
                reduced = tuple(SerializedCall.from_step(step) for step in steps)
                whole = reproduction.model_copy(update={"reduced": reduced})
                self._confirmed.reproductions[name] = whole


def _as_state(verdict: Verdict, text: str) -> Verdict:
    """Return the verdict of a failure that depends on earlier calls."""
    in_run = verdict.kind or verdict.status
    detail = f"{verdict.detail}\n    {in_run} in the run, but its case passes alone; {text}"
    if verdict.kind in (*_KINDS_OF_SEVERAL_CALLS, "state"):
        return replace(verdict, detail=detail)
    return replace(verdict, kind="state", detail=cite_contract("state", detail))
