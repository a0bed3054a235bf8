"""Confirmation: reproduces the failures of a run in fresh processes.

A failure that occurs again without other calls is confirmed; one that needs an earlier call is of
kind `state`.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile

from opcert.errors import BackendError
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.session import ECHO_PREFIX, Session, Step, repetition_plan, run_case, step_of
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.cause_text import Cause, easiest_to_read
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.dependence import Known, Relation, explained_by, known_in_run, most_alike
from opcert.verdicts.earlier_calls import (
    KINDS_OF_SEVERAL_CALLS,
    MAX_LISTED,
    EarlierCalls,
    FreshProcess,
)
from opcert.verdicts.failure_program import write_native
from opcert.verdicts.further_calls import try_conditions
from opcert.verdicts.reduction import StepMaker, elements_to_read, reduced
from opcert.verdicts.reproduction import (
    FreshCall,
    ReproducedCall,
    Reproduction,
    SerializedCall,
    calls_of_case,
)
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict, judge

# The maximum number of causes to confirm, and of failures to try for each cause.
MAX_CAUSES, MAX_TRIES = 50, 3
# The number of calls after which a backend with a ring of output buffers reuses the first one.
_BUFFER_TURNS = 64
# How many later cases may show that an output or an input was written to, and how many earlier ones
# that are alike are tried before all of them are.
_LATER_CASES, _EARLIER_ALIKE = 20, 100
# How many processes may be started, and for how many seconds: for the earlier calls of all
# failures; for those of one failure, for what these have in common, and for further failures.
_SEARCH, _EARLIER, _RELATION, _DEPENDENT = (600, 600.0), (50, 60.0), (130, 150.0), (80, 90.0)
# After so many seconds, no further call is reduced.
_REDUCTION_SECONDS = 60.0
# Failures of these kinds follow from other cases, not from their own calls.
_OF_OTHER_CASES = {"uncredited", "undeclared"}
# How often causes are looked for and confirmed.
_MAX_ROUNDS = 5
# How many failures are made alone before a relation explains more, and how many of those of a cause
# that its condition does not explain.
_SAMPLED, _TRIED = 12, 6
# The most relations to earlier calls that are looked for, for an operator.
_MAX_RELATIONS = 4


@dataclass(frozen=True)
class Confirmed:
    """The verdicts that confirmation changed and the reproductions of failures, by case.

    `fresh` are the further calls that it made, by operator.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    reproductions: dict[str, Reproduction] = field(default_factory=dict)
    fresh: dict[str, tuple[FreshCall, ...]] = field(default_factory=dict)


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
        self._verdicts = dict(verdicts)
        self._repeated = repeated
        self._diagnosis = diagnosis
        self._specs = diagnosis.specs
        self._confirmed = Confirmed()
        self._process = FreshProcess(backend, *_SEARCH)
        # The failures whose earlier calls were looked for.
        self._related: set[str] = set()

    def confirm(self) -> Confirmed:
        """Confirm the failures of each cause that are easy to read, and return the results.

        A backend that cannot be restarted ends the confirmation.
        """
        failures = [v for v in self._verdicts.values() if v.status in FAILURE_STATUSES]
        # The search for their causes takes long, and whoever confirms them may be another process.
        if {failure.kind for failure in failures} <= _OF_OTHER_CASES:
            return self._confirmed
        try:
            causes = self._settle(failures)
            self._find_dependent(failures, causes)
            self._relate(failures, causes)
            # Nobody claims what happens outside a claim.
            left_out = {v.operator for v in self._verdicts.values() if v.status == "out-of-claim"}
            stateful = {verdict.operator for verdict in self._dependent}
            fresh, reproductions = self._confirmed.fresh, self._confirmed.reproductions
            try_conditions(self._backend, self._diagnosis, self._causes, fresh, left_out, stateful)
            self._settle(failures)
            self._reduce_calls()
            write_native(self._backend, self._suite, self._so_far, reproductions)
        except BackendError:
            pass
        return self._confirmed

    def _settle(self, failures: Sequence[Verdict]) -> Sequence[Cause]:
        """Confirm causes until no more failures turn out to need an earlier call; return the last.

        Such failures leave others with other causes.
        """
        causes: Sequence[Cause] = ()
        for _ in range(_MAX_ROUNDS):
            known = len(self._dependent)
            causes = self._causes()
            self._confirm_causes(causes)
            self._recheck_acceptances(failures)
            self._relate(failures, causes)
            if len(self._dependent) == known:
                break
        return causes

    @property
    def _so_far(self) -> Mapping[str, Verdict]:
        """The verdicts with what is known so far."""
        return self._verdicts | self._confirmed.verdicts

    @property
    def _dependent(self) -> list[Verdict]:
        """The failures that were found to need an earlier call."""
        return [v for v in self._confirmed.verdicts.values() if v.kind == "state"]

    def _causes(self) -> Sequence[Cause]:
        """Return the causes of what is known so far."""
        verdicts, confirmed = self._so_far.values(), self._confirmed
        causes = self._diagnosis.causes(verdicts, confirmed.reproductions, confirmed.fresh)
        return causes[:MAX_CAUSES]

    def _confirm_causes(self, causes: Sequence[Cause]) -> None:
        """Confirm a failure of each cause that has no confirmed one."""
        reproductions = self._confirmed.reproductions
        for cause in causes:
            if _OF_OTHER_CASES & set(cause.kinds):
                continue
            operator = self._suite.operators[cause.operator]
            # A case that matches the condition is better evidence than an easier one.
            matching = [cause.representative, *easiest_to_read(operator, cause.cases)]
            # What the condition does not explain may have another cause.
            for cases in (matching, easiest_to_read(operator, cause.unmatched)):
                for case in [*dict.fromkeys(cases)][:MAX_TRIES]:
                    if case not in reproductions:
                        self._confirm_failure(self._verdicts[case])
                    if reproductions[case].reproduced != "never":
                        break

    def _confirm_failure(self, verdict: Verdict) -> None:
        """Reproduce one failure, and update its verdict."""
        reproduction = self._reproduce(verdict)
        self._confirmed.reproductions[verdict.case] = reproduction
        if reproduction.reproduced == "alone":
            text = "confirmed: it fails alone in a fresh process"
            self._confirmed.verdicts[verdict.case] = verdict.confirmed(text, is_state=False)
            return
        others = len(reproduction.calls) - 1
        after = f"it fails after {others} other call{'s' * (others > 1)}"
        text = f"not alone; {after if others > 0 else 'it was not reproduced'}"
        needs_others = any(call.case != verdict.case for call in reproduction.calls)
        self._set_state(verdict, text, needs_others)

    def _reproduce(self, verdict: Verdict) -> Reproduction:
        """Find the fewest calls that fail as a case did in the run.

        First the calls of its case are made, then also those of more and more cases before it.
        """
        self._process.begin(*_EARLIER)
        operator, case = self._suite.cases[verdict.case]
        own = self._own_calls(case)
        never = Reproduction(reproduced="never", calls=(), kind=verdict.kind, reduced=())
        for earlier, later in self._other_calls(verdict, operator, case):
            made, start = [*earlier, *own, *later], len(earlier)
            if failing := self._process.failing_calls(operator, made, verdict.failure, start):
                calls = self._process.shorten(operator, failing, verdict.failure)
                is_own = {call.case for call in calls} == {case.id}
                alone = len(calls) == 1 or (is_own and verdict.kind in KINDS_OF_SEVERAL_CALLS)
                extent = "alone" if alone else "after-other-calls"
                return never.model_copy(update={"reproduced": extent, "calls": tuple(calls)})
            if not earlier and not later and self._fails_in_dirtied_memory(verdict, operator, case):
                return never.model_copy(update={"reproduced": "alone"})
            if self._process.is_over:
                break
        return never

    def _own_calls(self, case: IndexedCase) -> list[ReproducedCall]:
        """Return the calls of a case as the run made them, without its baseline's before."""
        calls = calls_of_case(case)
        if case.id in self._repeated:
            calls += [ReproducedCall(case=case.id, inverted_data=i) for i in repetition_plan()]
        if case.expects == "rejection" and case.baseline is not None:
            calls += [ReproducedCall(case=case.baseline), calls[0]]
        return calls

    def _other_calls(
        self, verdict: Verdict, operator: OperatorSuite, case: IndexedCase
    ) -> Iterator[tuple[Sequence[ReproducedCall], Sequence[ReproducedCall]]]:
        """Yield calls before and after those of a case that may make it fail, ever more."""
        yield (), ()
        if case.expects == "rejection" and case.baseline is not None:
            yield [ReproducedCall(case=case.baseline)], ()
        ids = [
            name
            for name, other in self._verdicts.items()
            if other.operator == verdict.operator and other.observed != "not-run"
        ]
        position = ids.index(case.id)
        if verdict.kind in ("aliased-output", "mutated-input"):
            if case.expects == "outputs":
                yield (), [ReproducedCall(case=case.id, inverted_data=True)] * _BUFFER_TURNS
            after = ids[position + 1 :][:_LATER_CASES]
            yield (), [c for name in after for c in calls_of_case(operator.cases[name])]
        # A backend most often confuses calls that are alike.
        known = self._known(operator.index.operator)
        earlier = (known[name] for name in ids[:position])
        alike = most_alike(known[case.id], earlier, _EARLIER_ALIKE)
        if alike:
            yield [ReproducedCall(case=other.case) for other in alike], ()
        count = 1
        while count < 4 * position:
            before = ids[max(0, position - count) : position]
            yield [c for name in before for c in calls_of_case(operator.cases[name])], ()
            count *= 4

    def _fails_in_dirtied_memory(
        self, verdict: Verdict, operator: OperatorSuite, case: IndexedCase
    ) -> bool:
        """Whether a case fails alone, in memory that a run has dirtied, as no program can."""
        self._backend.restart()
        # Without the baseline: a cached valid call must not influence the result.
        again = judge(verdict.operator, case, run_case(self._backend, operator, case), None)
        return (again.status, again.kind) == (verdict.status, verdict.kind)

    def _recheck_acceptances(self, failures: Sequence[Verdict]) -> None:
        """Find the accepted calls that are rejected in a process that has made no valid call.

        A single process makes all of them, once each, since there may be hundreds.
        """
        accepted = [v for v in failures if v.kind == "accepted" and not self._is_known(v)]
        if not accepted:
            return
        session = self._process.session()
        for verdict in accepted:
            step = step_of(*self._suite.cases[verdict.case])
            if session.execute(step).observed == "rejected":
                self._set_state(verdict, "it is rejected in a process that has made no valid call")

    def _find_dependent(self, failures: Sequence[Verdict], causes: Sequence[Cause]) -> None:
        """Find further failures that need an earlier call, as far as the limits allow.

        First, some of those of each cause that its condition does not explain are made alone. Then
        all of operators with such a failure are, and those that returned the result of the call
        before: an operator that saturates its data returns equal results as well.
        """
        dependent = {verdict.operator for verdict in self._dependent}
        unexplained = [cause.unmatched if cause.condition else cause.cases for cause in causes]
        some = {*chain.from_iterable(_spread(cases, _TRIED) for cases in unexplained)}
        open_cases = {*chain.from_iterable(unexplained)}
        self._process.begin(*_DEPENDENT)

        def order(failure: Verdict) -> tuple[bool, bool]:
            return failure.case not in some, failure.case not in open_cases

        for verdict in sorted(failures, key=order):
            is_echo = verdict.detail.startswith(ECHO_PREFIX)
            is_tried = is_echo or verdict.case in some or verdict.operator in dependent
            if is_tried and not self._is_known(verdict) and self._passes_alone(verdict):
                self._set_state(verdict, "not alone")
                dependent.add(verdict.operator)

    def _set_state(self, verdict: Verdict, text: str, needs_others: bool = False) -> None:
        """State that a failure depends on earlier calls, perhaps of other cases."""
        kinds = ("aliased-output", "mutated-input", "state")
        is_state = verdict.kind not in (kinds if needs_others else (*kinds, "unstable"))
        text = f"{verdict.failure} in the run, but {text}"
        self._confirmed.verdicts[verdict.case] = verdict.confirmed(text, is_state=is_state)

    def _is_known(self, verdict: Verdict) -> bool:
        """Whether nothing is left to find out about a failure."""
        kinds = {*KINDS_OF_SEVERAL_CALLS, *_OF_OTHER_CASES, "state"}
        return verdict.case in self._confirmed.verdicts or verdict.kind in kinds

    def _passes_alone(self, verdict: Verdict) -> bool:
        """Whether a failing case passes alone, if the limits allow to try."""
        operator, case = self._suite.cases[verdict.case]
        is_over = self._process.is_over
        return not is_over and self._process.passes_alone(operator, case.id, verdict.failure)

    def _known(self, operator: str) -> Mapping[str, Known]:
        return known_in_run(self._diagnosis.known, operator, self._verdicts.values())

    def _relate(self, failures: Sequence[Verdict], causes: Sequence[Cause]) -> None:
        """Find what earlier calls have in common that make others fail, of each cause so far."""
        confirmed, reproductions = self._confirmed.verdicts, self._confirmed.reproductions
        for name, operator in self._suite.operators.items():
            own = [confirmed.get(v.case, v) for v in failures if v.operator == name]
            known = self._known(name) if any(v.kind == "state" for v in own) else {}
            for _ in range(_MAX_RELATIONS):
                left = [c.case for c in own if c.kind == "state" and c.case not in self._related]
                self._process.begin(*_RELATION)
                if not left or self._process.is_over:
                    break
                case = self._process.easiest_that_passes(operator, left)
                if case is None:
                    break
                if case not in reproductions:
                    self._confirm_failure(self._verdicts[case])
                self._related.add(case)
                if len(reproductions[case].calls) != 2:
                    continue
                self._process.begin(*_RELATION)
                made, spec_file = reproductions[case], self._specs.get(name)
                earlier = EarlierCalls(self._process, operator, spec_file, known, made.kind)
                reproductions[case] = earlier.related(made)
                if (relation := reproductions[case].relation) is None:
                    continue
                self._related.update(explained_by(relation, left, known))
                unknown = {v.case for v in own if not self._is_known(v)}
                self._extend(relation, {*explained_by(relation, unknown, known)}, causes)
                own = [confirmed.get(v.case, v) for v in own]

    def _extend(self, relation: Relation, cases: Collection[str], causes: Sequence[Cause]) -> None:
        """Have a relation explain some cases of each cause, if none of a sample fails alone.

        What the condition of a cause does not explain may have another one.
        """
        for alike in chain.from_iterable((cause.matched, cause.unmatched) for cause in causes):
            explained = [case for case in alike if case in cases]
            sample = _spread(explained, _SAMPLED)
            alone = [*takewhile(lambda case: self._passes_alone(self._verdicts[case]), sample)]
            if len(alone) < len(sample):
                explained = alone
            text = f"it comes after {relation.text}; none of {len(alone)} such cases fails alone"
            for case in explained:
                self._set_state(self._verdicts[case], text)
                self._related.add(case)

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
            kind = reproduction.kind or verdict.status

            def fails(steps: Sequence[Step], kind: str = kind) -> bool:
                fault = Session(self._backend).first_fault(steps)
                return fault is not None and fault[1].kind == kind and fault[0] == len(steps) - 1

            maker = StepMaker(spec_file, case.violated_rule)
            inverted_data = [call.inverted_data for call in reproduction.calls]
            steps = reduced(maker, step_of(operator, case), inverted_data, fails)
            if not steps:
                continue
            # The reduction used one process, in which earlier calls may have had an effect.
            self._backend.restart()
            if fails(steps) and max(map(elements_to_read, steps)) <= MAX_LISTED:
                calls = tuple(map(SerializedCall.from_step, steps))
                whole = reproduction.model_copy(update={"reduced": calls})
                self._confirmed.reproductions[name] = whole


def _spread(cases: Sequence[str], most: int) -> Sequence[str]:
    """Return some of these, from the first to the last."""
    return cases[:: max(1, len(cases) // most)][:most]
