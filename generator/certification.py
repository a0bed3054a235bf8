"""Suite x backend -> verdicts: every case once, twins on demand, outputs looked at again."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opcert.generator.backends import Backend
from opcert.generator.element_types import Array
from opcert.generator.run import Outcome, run_vector
from opcert.generator.suite import OperatorSuite, Suite
from opcert.generator.suite_format import IndexedCase
from opcert.generator.support import declared_out
from opcert.generator.verdict import Verdict, judge

# How many later cases run before a case's outputs are looked at for the last time.
HELD = 4


@dataclass(frozen=True)
class Held:
    """Outputs that passed, kept while later cases run."""

    case: str
    outputs: Sequence[Array]
    golden: Sequence[bytes]


class Certification:
    """Runs the cases of a suite on a backend and remembers each verdict."""

    def __init__(self, backend: Backend, suite: Suite, feature_level: str | None = None) -> None:
        self.backend = backend
        self.suite = suite
        self.feature_level = feature_level
        self._cases = {case.id: (operator, case) for operator, case in suite}
        self._verdicts: dict[str, Verdict] = {}
        self._held: deque[Held] = deque()

    def verdict(self, case_id: str, hold: bool = True) -> Verdict:
        """Return the verdict of a case, which runs now unless it has; so does its twin."""
        if case_id not in self._verdicts:
            self._verdicts[case_id] = self._run(*self._cases[case_id], hold)
        return self._verdicts[case_id]

    def _run(self, operator: OperatorSuite, case: IndexedCase, hold: bool) -> Verdict:
        name = operator.index.operator
        out_of_scope = self._out_of_scope(operator, case)
        if out_of_scope is not None:
            status, detail = out_of_scope
            return Verdict(case.id, name, status, None, "not-run", case.rules, detail)
        twin = self.verdict(case.twin, hold) if case.twin is not None else None
        outcome = run_vector(self.backend, operator, case)
        golden = operator.outputs(case)
        verdict = judge(name, case, golden, outcome, twin)
        if hold:
            self._look_again()
            if verdict.status == "pass" and case.expects == "outputs":
                self._hold(case, outcome, golden)
        return verdict

    def _out_of_scope(self, operator: OperatorSuite, case: IndexedCase) -> tuple[str, str] | None:
        # A changed call is in scope with the valid one: its own type or rank may be the mistake.
        case = case if case.twin is None else operator.cases[case.twin]
        level = self.feature_level
        if level and operator.index.feature_levels and level not in case.feature_levels:
            return "out-of-claim", f"not in feature level {level}"
        support = getattr(self.backend, "support", None)
        declared = declared_out(support, operator.index.operator, case)
        return None if declared is None else ("unsupported", declared)

    def _hold(self, case: IndexedCase, outcome: Outcome, golden: Sequence[Array]) -> None:
        self._held.append(Held(case.id, outcome.outputs, [each.tobytes() for each in golden]))

    def _look_again(self, keep: int = HELD) -> None:
        """Drop the outputs held longest; those that changed since turn their case's verdict."""
        while len(self._held) > keep:
            held = self._held.popleft()
            now = [np.asarray(each).tobytes() for each in held.outputs]
            if now != held.golden:
                self._verdicts[held.case] = replace(
                    self._verdicts[held.case],
                    status="fail",
                    kind="aliased-output",
                    detail="an output changed while later cases ran",
                )

    def finish(self) -> list[Verdict]:
        """Return the verdicts so far, with rejections and declined cases settled."""
        self._look_again(keep=0)
        declined = _declined(self._verdicts.values(), self._cases)
        return [self._settled(verdict, declined) for verdict in self._verdicts.values()]

    def _settled(self, verdict: Verdict, declined: set[tuple[str, str]]) -> Verdict:
        _, case = self._cases[verdict.case]
        if verdict.status != "unsupported" or verdict.observed == "not-run":
            return verdict
        if (verdict.operator, case.type) in declined:
            return verdict
        return replace(
            verdict,
            status="fail",
            kind="undeclared",
            detail=f"declined without having been declared, while other calls of {verdict.operator}"
            f" with {case.type} are not: {verdict.detail}",
        )


def _declined(
    verdicts: Iterable[Verdict], cases: Mapping[str, tuple[OperatorSuite, IndexedCase]]
) -> set[tuple[str, str]]:
    """Return each operator and data type of which no call that ran was anything but declined."""
    statuses: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for verdict in verdicts:
        if verdict.status != "implementation-defined" and verdict.observed != "not-run":
            statuses[verdict.operator, cases[verdict.case][1].type].add(verdict.status)
    return {key for key, found in statuses.items() if found == {"unsupported"}}
