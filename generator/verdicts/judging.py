"""Outcomes x scope -> verdicts: what each case came to, with its baseline and all others.

A run judges each case as it goes, and again when it knows all of them; so does who verifies it.
"""

from collections import defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

from opcert.run.outcome import Outcome
from opcert.suite.claims import Scope
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import (
    BACKEND_CONTRACT,
    FAILURE_STATUSES,
    Evidence,
    Verdict,
    cite_contract,
    judge,
)

# What a rejection may come to, by the verdict of its baseline.
_REJECTION_RESULTS = {
    ("rejected", "pass", None),
    ("rejected", "unsupported", None),
    ("rejected", "fail", "uncredited"),
    ("rejected", "implementation-defined", None),
}

# An operator, "data" or "indices", and an element type of these.
_TypeOf = tuple[str, str, str]


@dataclass(frozen=True)
class Judge:
    """Judges cases of a suite within a scope."""

    suite: Suite
    scope: Scope

    def excluded(self, operator: OperatorSuite, case: IndexedCase) -> Verdict | None:
        """Return the verdict of a case that is not in scope, or None."""
        if (exclusion := self.scope.exclusion(operator, case)) is None:
            return None
        status, reason = exclusion
        name = operator.index.operator
        verdict = Verdict(case.id, name, status, None, "not-run", case.rules, reason)
        return self._of_claim(verdict, case)

    def verdict(
        self,
        operator: OperatorSuite,
        case: IndexedCase,
        outcome: Outcome,
        baseline: Verdict | None,
    ) -> Verdict:
        """Return the verdict of a case in scope."""
        verdict = judge(operator.index.operator, case, outcome, baseline)
        if verdict.status not in FAILURE_STATUSES:
            return self._of_claim(verdict, case)
        lines = [verdict.detail, f"in {operator.describe_call(case)}"]
        # A breach of the backend contract names no rule.
        if case.violated_rule is not None and verdict.kind not in BACKEND_CONTRACT:
            rule = operator.index.rules[case.violated_rule]
            lines.append(f"{case.violated_rule} ({rule.clause}): {rule.text}")
        return replace(verdict, detail="\n    ".join([*lines, *outcome.lines]))

    def _of_claim(self, verdict: Verdict, case: IndexedCase) -> Verdict:
        """Fail a claimed call that is not supported: a claim overrides what a backend declares."""
        if verdict.status != "unsupported" or not self.scope.is_claimed(verdict.operator, case):
            return verdict
        return _undeclared(verdict, f"claimed, but not supported: {verdict.detail}")

    def again(self, verdicts: Iterable[Verdict]) -> list[Verdict]:
        """Return the verdicts of a whole run, judged with what is known at its end.

        A rejection whose baseline is not among them may come to any result of a rejection.
        """
        former = {verdict.case: verdict for verdict in verdicts}
        judged: dict[str, Verdict] = {}
        # Baselines first: they have none themselves.
        for expects in ("outputs", "rejection"):
            for verdict in former.values():
                operator, case = self.suite.cases[verdict.case]
                if case.expects == expects:
                    baseline = judged.get(case.baseline or "") if expects == "rejection" else None
                    again = self._again(verdict, operator, case, baseline)
                    judged[case.id] = replace(again, seconds=verdict.seconds)
        # Of each operator and type that ran, whether calls were declined. Valid calls alone count:
        # a type may be what is wrong with an invalid one, and it is rejected for that.
        answers: defaultdict[_TypeOf, set[bool]] = defaultdict(set)
        for v in judged.values():
            record = self.suite.cases[v.case].record
            is_decided = v.status != "implementation-defined" and v.observed != "not-run"
            if is_decided and record.expects != "rejection":
                of_indices = ((v.operator, "indices", name) for name in record.index_types)
                for key in ((v.operator, "data", record.type), *of_indices):
                    answers[key].add(v.status == "unsupported")
        declined = {key for key, of_key in answers.items() if of_key == {True}}
        return [self._confirmed(judged[case], v, declined) for case, v in former.items()]

    def _again(
        self,
        verdict: Verdict,
        operator: OperatorSuite,
        case: IndexedCase,
        baseline: Verdict | None,
    ) -> Verdict:
        if verdict.is_left_to_run:
            name = operator.index.operator
            return Verdict(case.id, name, "not-run", None, "not-run", (), "")
        if (excluded := self.excluded(operator, case)) is not None:
            return excluded
        again = self.verdict(operator, case, verdict.outcome, baseline)
        depends = case.expects == "rejection" and baseline is None
        if depends and are_results_of_a_rejection(again, verdict):
            return replace(verdict, operator=again.operator, rules=again.rules)
        return again

    def _confirmed(self, judged: Verdict, verdict: Verdict, declined: Set[_TypeOf]) -> Verdict:
        """Fail a case declined without declaration, and state what its confirmation showed.

        Declarations are about valid calls: an invalid one may be declined.
        """
        record = self.suite.cases[judged.case].record
        is_declined = judged.status == "unsupported" and judged.observed != "not-run"
        # With a claim, `verdict` has decided.
        if is_declined and record.expects != "rejection" and not self.scope.claim:
            name = judged.operator
            # A type that the backend lacks is one of no data, and of no indices either.
            lacking = [
                each
                for each in record.index_types
                if {(name, "data", each), (name, "indices", each)} <= declined
            ]
            if (name, "data", record.type) not in declined and not lacking:
                judged = _undeclared(
                    judged,
                    f"declined, but other calls of {judged.operator} with {record.type} are "
                    f"supported; declare in `support` what is not supported: {judged.detail}",
                )
        given = verdict.evidence or Evidence()
        if given.confirmation and judged.status in FAILURE_STATUSES:
            return judged.confirmed(given.confirmation, is_state=given.is_state)
        return judged


def are_results_of_a_rejection(*verdicts: Verdict) -> bool:
    """Whether the call was rejected, and the verdicts are such as a baseline decides about."""
    return {(v.observed, v.status, v.kind) for v in verdicts} <= _REJECTION_RESULTS


def _undeclared(verdict: Verdict, text: str) -> Verdict:
    """Return an unsupported verdict as a failure of kind `undeclared`."""
    detail = cite_contract("undeclared", text)
    return replace(verdict, status="fail", kind="undeclared", detail=detail)
