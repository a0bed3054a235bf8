"""Suite x backend -> verdicts: every case once, baselines on demand, outputs looked at again."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from opcert.backends import Backend
from opcert.errors import OpcertError, did_you_mean
from opcert.run import (
    FATAL_OUTCOMES,
    CallRecord,
    Excerpt,
    FailureKind,
    Outcome,
    run_repeatedly,
    run_vector,
)
from opcert.scope import Claim, Scope, checked_support, unsupported_types
from opcert.suite import IndexedCase, OperatorSuite, Suite
from opcert.verdicts.anonymous import anonymous
from opcert.verdicts.contract import BACKEND_CONTRACT, cite_contract
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict, judge

# How many bytes of outputs are kept, to be looked at again after later cases.
HELD = 1 << 26
# How many lines that a failing case printed are kept.
_LINES = 20
# The most elements of the outputs of a call that is made very often.
MOVED = 1 << 10


class Certification:
    """Runs the cases of a suite on a backend and remembers each verdict."""

    def __init__(
        self,
        backend: Backend,
        suite: Suite,
        feature_level: str | None = None,
        claim: Claim | None = None,
        *,
        former: Iterable[Verdict] = (),
        repeated: Iterable[str] = (),
    ) -> None:
        """Begin, or go on from `former` verdicts, of a run that made the calls of `repeated` often.

        Raises:
            OpcertError: there is no such feature level, or the declaration is wrong.
        """
        self.backend = backend
        self.suite = suite
        content = None if claim is None else claim.content
        self._scope = Scope(feature_level, content, checked_support(backend, suite))
        _check_feature_level(suite, feature_level)
        self._verdicts = {each.case: each for each in former}
        known = [case for case in repeated if case in suite.cases]
        self._repeated = {suite.cases[case][0].index.operator: case for case in known}
        self.excerpts: dict[str, Excerpt] = {}
        self._held: deque[tuple[str, CallRecord]] = deque()
        self._held_bytes = 0

    def verdict(self, case_id: str, hold: bool = True) -> Verdict:
        """Return the verdict of a case, which runs now unless it has; so does its baseline_verdict."""
        if case_id not in self._verdicts:
            verdict, records = self._run(*self.suite.cases[case_id], hold)
            self._verdicts[case_id] = verdict = self._as_claimed(verdict)
            if verdict.status not in FAILURE_STATUSES and hold:
                self._hold(case_id, records)
        return self._verdicts[case_id]

    def _run(
        self, operator: OperatorSuite, case: IndexedCase, hold: bool
    ) -> tuple[Verdict, Sequence[CallRecord]]:
        """Return the verdict of a case, and what is to be looked at again."""
        name = operator.index.operator
        out_of_scope = self._scope.left_out(operator, case)
        if out_of_scope is not None:
            status, detail = out_of_scope
            return Verdict(case.id, name, status, None, "not-run", case.rules, detail), ()
        baseline_verdict = self.verdict(case.baseline, hold) if case.baseline is not None else None
        outcome = anonymous(self._outcome(operator, case, baseline_verdict))
        verdict = judge(name, case, outcome, baseline_verdict)
        if verdict.status in FAILURE_STATUSES:
            if outcome.fault is not None and outcome.fault.excerpt is not None:
                self.excerpts[case.id] = outcome.fault.excerpt
            verdict = replace(
                verdict,
                detail=f"{verdict.detail}{failure_context(operator, case, verdict.kind)}{_printed(outcome)}",
            )
        return verdict, outcome.records

    def _outcome(
        self, operator: OperatorSuite, case: IndexedCase, baseline_verdict: Verdict | None
    ) -> Outcome:
        """Make the calls of a case, and those behind it in which shows what it has left."""
        passed = baseline_verdict is not None and baseline_verdict.status == "pass"
        baseline = (
            operator.cases[baseline_verdict.case]
            if baseline_verdict is not None and passed
            else None
        )
        outcome = run_vector(self.backend, operator, case, baseline)
        if outcome.observed in FATAL_OUTCOMES or case.expects == "rejection":
            return outcome
        if outcome.records and outcome.fault is None and self._is_first(operator, case):
            outcome = _and(outcome, run_repeatedly(self.backend, operator, case))
            self._repeated[operator.index.operator] = case.id
        return outcome

    def _is_first(self, operator: OperatorSuite, case: IndexedCase) -> bool:
        """Whether this is the first call of its operator that moves a few elements."""
        return operator.index.operator not in self._repeated and is_repeatable(case)

    @property
    def repeated(self) -> tuple[str, ...]:
        """The cases whose calls were made very often, one of an operator."""
        return tuple(self._repeated.values())

    def _as_claimed(self, verdict: Verdict) -> Verdict:
        """Fail what is claimed and not supported, whatever the backend declares."""
        _, case = self.suite.cases[verdict.case]
        if verdict.status != "unsupported" or not self._scope.promises(verdict.operator, case):
            return verdict
        detail = f"the claim has it, and it is not supported: {verdict.detail}"
        return replace(
            verdict, status="fail", kind="undeclared", detail=cite_contract("undeclared", detail)
        )

    def _hold(self, case: str, records: Sequence[CallRecord]) -> None:
        """Keep what a case returned, and look for the last time at what no longer finds room."""
        self._held.extend((case, each) for each in records)
        self._held_bytes += sum(each.nbytes for each in records)
        while self._held_bytes > HELD:
            self._held_bytes -= self._look_again().nbytes

    def _look_again(self) -> CallRecord:
        """Drop what is held longest; if it has changed, so does the verdict of its case."""
        case, records = self._held.popleft()
        if self._verdicts[case].status != "fail":
            if records.outputs_changed:
                self._fail(case, "aliased-output", "an output changed while later cases ran")
            elif records.inputs_changed:
                self._fail(case, "mutated-input", "an input was written to while later cases ran")
        return records

    def _fail(self, case: str, kind: FailureKind, text: str) -> None:
        detail = cite_contract(kind, text) + failure_context(*self.suite.cases[case], kind)
        failed = replace(self._verdicts[case], status="fail", kind=kind, detail=detail)
        self._verdicts[case] = failed

    def finish(self) -> list[Verdict]:
        """Return the verdicts so far, with rejections and declined cases settled."""
        while self._held:
            self._look_again()
        declined = unsupported_types(
            (each.operator, self.suite.cases[each.case][1].type, each.status == "unsupported")
            for each in self._verdicts.values()
            if each.status != "implementation-defined" and each.observed != "not-run"
        )
        return [self._settled(verdict, declined) for verdict in self._verdicts.values()]

    def _settled(self, verdict: Verdict, declined: set[tuple[str, str]]) -> Verdict:
        _, case = self.suite.cases[verdict.case]
        if verdict.status != "unsupported" or verdict.observed == "not-run":
            return verdict
        if self._scope.claim is not None:  # which has decided it
            return verdict
        if any((verdict.operator, each) in declined for each in {case.type, *case.index_types}):
            return verdict
        text = (
            f"declined, while other calls of {verdict.operator} with {case.type} are not; "
            f"declare in `support` what is not supported: {verdict.detail}"
        )
        return replace(
            verdict, status="fail", kind="undeclared", detail=cite_contract("undeclared", text)
        )


def is_repeatable(case: IndexedCase) -> bool:
    """Whether a call may be the one of its operator that is made very often."""
    moves = sum(prod(each.shape) for each in case.outputs)
    return case.expects == "outputs" and not case.ambiguity and 0 < moves <= MOVED


def _check_feature_level(suite: Suite, level: str | None) -> None:
    known = suite.feature_levels
    if level is not None and level not in known:
        raise OpcertError(f"no operator has feature level '{level}'{did_you_mean(level, known)}")


def failure_context(operator: OperatorSuite, case: IndexedCase, kind: FailureKind | None) -> str:
    """Return what the detail of a failure says of its case: the call, and the rule it breaks.

    A failure that violates opcert's contract is put down to no rule.
    """
    call = f"\n    in {operator.describe_call(case)}"
    if case.violated_rule is None or kind in BACKEND_CONTRACT:
        return call
    rule = operator.index.rules[case.violated_rule]
    return f"{call}\n    {case.violated_rule} ({rule.clause}): {rule.text}"


def _printed(outcome: Outcome) -> str:
    lines = outcome.log.strip().splitlines()
    return "".join(f"\n    printed: {line}" for line in lines[-_LINES:])


def _and(outcome: Outcome, behind: Outcome) -> Outcome:
    """Return an outcome with what is wrong in it or behind it, and all that is held."""
    if behind.observed in FATAL_OUTCOMES:
        return behind
    records = [*outcome.records, *behind.records]
    fault, log = outcome.fault or behind.fault, outcome.log + behind.log
    return replace(outcome, fault=fault, records=records, log=log)
