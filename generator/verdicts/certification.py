"""Suite x backend -> verdicts: each case after its baseline; batches of cases for processes."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from time import perf_counter

from opcert.backends.contract import Backend
from opcert.errors import OpcertError, did_you_mean
from opcert.run.comparison import CallRecord, Difference, Excerpt, FailureKind, compare_outputs
from opcert.run.outcome import FATAL_OUTCOMES, IsolatedBackend, Outcome
from opcert.run.session import run_case, run_repeatedly
from opcert.suite.claims import Claim, Scope
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.suite.support import Support, checked_support
from opcert.verdicts.judging import Judge
from opcert.verdicts.verdict import DECISIVE_BREACHES, FAILURE_STATUSES, Verdict, redact_outcome

# The number of cases of a batch: enough to show a state that lasts for many calls, and few enough
# that the last batches keep all processes busy.
BATCH_CASES = 100


@dataclass(frozen=True)
class Batch:
    """Cases of an operator that run one after the other in one process, and their baselines."""

    operator: str
    cases: tuple[str, ...]
    baselines: frozenset[str]


def batches(suite: Suite, cases: Sequence[str], size: int = BATCH_CASES) -> Iterator[Batch]:
    """Divide cases into batches of about `size`; they depend on nothing else.

    What a backend keeps between calls, such as a compiled model, most often belongs to the types
    and ranks of inputs. So cases of which these are equal stay together, in the order of the suite,
    and each case stays with its baseline.
    """
    # The first batches run while the next operator is read.
    for operator, names in groupby(cases, suite.cases.operator_of):
        outline = suite.operators[operator].outline
        outlines = {name: outline(name) for name in names}
        groups: dict[object, list[str]] = {}
        for name, (baseline, _) in outlines.items():
            first = baseline or name
            _, types = outlines.get(first) or outline(first)
            groups.setdefault(types, []).append(name)
        batch: list[str] = []
        for number, group in enumerate(groups.values(), 1):
            batch += group
            if len(batch) >= size or number == len(groups):
                baselines = frozenset(b for name in batch if (b := outlines[name][0]) is not None)
                yield Batch(operator, tuple(batch), baselines)
                batch = []


# The maximum size in bytes of the inputs and outputs that are compared again after later cases.
RETAINED_BYTES = 1 << 26
# The maximum number of output elements of the call that is repeated.
MAX_REPEATED_ELEMENTS = 1 << 10
# After how many crashes and hangs the rest of an operator is not run: each may take a minute.
MAX_CRASHES = 50
# The number of lines kept from the end of a failing case's printed output.
_PRINTED_LINES = 20


class Certification:
    """Runs cases of a suite on a backend and keeps their verdicts."""

    def __init__(
        self,
        backend: Backend,
        suite: Suite,
        feature_level: str | None = None,
        claim: Claim | None = None,
        *,
        former: Iterable[Verdict] = (),
        repeated: Iterable[str] = (),
        repeats: bool = True,
        max_crashes: int = MAX_CRASHES,
        crashes: Mapping[str, int] | None = None,
        support: Support | None = None,
    ) -> None:
        """Start a run, or continue one with its `former` verdicts and `repeated` cases.

        The first repeatable call of each operator is repeated, if `repeats`.
        After `max_crashes` crashes and hangs in this run, the rest of an operator is not run.
        `crashes` are those that other processes of the run have had so far, by operator.
        `support` is what the backend declares; by default it is read and checked now.

        Raises:
            OpcertError: no operator has the feature level.
            BackendError: the declared support is malformed or names what does not exist.
        """
        self.backend = backend
        self.suite = suite
        content = None if claim is None else claim.content
        declared = checked_support(backend, suite) if support is None else support
        self._judge = Judge(suite, Scope(feature_level, content, declared))
        if feature_level is not None and feature_level not in suite.feature_levels:
            near = did_you_mean(feature_level, suite.feature_levels)
            raise OpcertError(f"no operator has feature level '{feature_level}'{near}")
        # The verdicts so far, by case.
        self.verdicts = {verdict.case: verdict for verdict in former}
        # The case whose call was repeated, by operator.
        self._repeated = {
            suite.cases.operator_of(case): case for case in repeated if case in suite.cases
        }
        self._repeats = repeats
        self._max_crashes = max_crashes
        # How often the process has crashed or hung in this run, by operator.
        self.crashes = Counter(crashes)
        self.excerpts: dict[str, Excerpt] = {}
        # The case that ran last.
        self._last: str | None = None
        self._retained: deque[tuple[str, CallRecord]] = deque()
        self._retained_bytes = 0

    @property
    def repeated(self) -> tuple[str, ...]:
        """The cases whose calls were repeated, one for each operator."""
        return tuple(self._repeated.values())

    def verdict(self, case_id: str) -> Verdict:
        """Return the verdict of a case; run it, after its baseline, unless it has already run.

        Its inputs and outputs are checked again after later cases.
        """
        if case_id in self.verdicts:
            return self.verdicts[case_id]
        verdict, records = self._run(*self.suite.cases[case_id])
        self.verdicts[case_id] = verdict
        if verdict.status not in FAILURE_STATUSES:
            self._retain(case_id, records)
        return verdict

    def _run(
        self, operator: OperatorSuite, case: IndexedCase
    ) -> tuple[Verdict, Sequence[CallRecord]]:
        """Return the verdict of a case, and the records to check again later."""
        if (excluded := self._judge.excluded(operator, case)) is not None:
            return excluded, ()
        if case.baseline is not None:
            self.verdict(case.baseline)
        self._fail_last_if_it_ended()
        name = operator.index.operator
        if self.crashes[name] >= self._max_crashes:
            reason = f"{self.crashes[name]} crashes and hangs ended the run of {name}"
            return self._judge.verdict(operator, case, Outcome("not-run", reason=reason), None), ()
        baseline = None if case.baseline is None else self.verdicts[case.baseline]
        start = perf_counter()
        self._last = case.id
        outcome = redact_outcome(self._outcome(operator, case, baseline))
        seconds = round(perf_counter() - start, 6)
        verdict = self._judge.verdict(operator, case, outcome, baseline)
        if verdict.failure not in (None, "undeclared"):
            if outcome.fault is not None and outcome.fault.excerpt is not None:
                self.excerpts[case.id] = outcome.fault.excerpt
            printed = outcome.log.strip().splitlines()[-_PRINTED_LINES:]
            lines = [*outcome.lines, *(f"printed: {line}" for line in printed)]
            outcome = replace(outcome, lines=[*lines, *self._release_lost()])
            verdict = self._judge.verdict(operator, case, outcome, baseline)
        self.crashes[name] += verdict.status in FATAL_OUTCOMES
        return replace(verdict, seconds=seconds), outcome.records

    def _outcome(
        self, operator: OperatorSuite, case: IndexedCase, baseline: Verdict | None
    ) -> Outcome:
        """Run a case, and repeat its call if it is the first repeatable case of its operator."""
        # A baseline that credits the rejection is called again after it, and must be as before.
        valid_case, is_of_bits = None, baseline is not None and baseline.kind == "bits"
        if baseline is not None and (baseline.status == "pass" or is_of_bits):
            valid_case = operator.cases[baseline.case]
        outcome = run_case(self.backend, operator, case, valid_case)
        if is_of_bits and outcome.fault is not None and outcome.fault.kind == "bits":
            # The baseline fails as it did before.
            outcome = replace(outcome, fault=None)
        if case.ambiguity is not None and outcome.observed == "outputs":
            # The only requirement on the outputs of an ambiguous call is that they are arrays.
            breach = compare_outputs((), outcome.outputs)
            known = outcome.fault is not None and outcome.fault.kind in DECISIVE_BREACHES
            if breach is not None and breach.kind == "type" and not known:
                outcome = replace(outcome, fault=breach)
        name = operator.index.operator
        if (
            case.expects == "rejection"
            or outcome.observed in FATAL_OUTCOMES
            or outcome.fault is not None
            or not outcome.records
            or not self._repeats
            or name in self._repeated
            or not is_repeatable(case)
        ):
            return outcome
        # Recorded only when finished: a resumed run repeats an interrupted case from the start.
        repeated = run_repeatedly(self.backend, operator, case)
        self._repeated[name] = case.id
        if repeated.observed in FATAL_OUTCOMES:
            return repeated
        log = outcome.log + repeated.log
        return replace(outcome, fault=repeated.fault, log=log, lines=repeated.lines)

    def _retain(self, case: str, records: Sequence[CallRecord]) -> None:
        """Retain the records of a case; check and release the oldest ones beyond the limit."""
        self._retained.extend((case, record) for record in records)
        self._retained_bytes += sum(record.nbytes for record in records)
        while self._retained_bytes > RETAINED_BYTES:
            self._check(*self._retained.popleft())

    def _check(self, case: str, record: CallRecord) -> None:
        """Fail the case of a released record if an input or output has changed."""
        self._retained_bytes -= record.nbytes
        if self.verdicts[case].status == "fail":
            return
        kind: FailureKind
        if record.outputs_changed:
            kind, text = "aliased-output", "an output changed while later cases ran"
        elif record.inputs_changed:
            kind, text = "mutated-input", "an input was written to while later cases ran"
        else:
            return
        fault = Difference(kind, text)
        self._fail(case, replace(self.verdicts[case].outcome, fault=fault))

    def _release_lost(self) -> Iterator[str]:
        """Release the records that have ended with their process; yield a sentence about them."""
        lost = set()
        while self._retained and (remote := self._retained[-1][1].remote) and remote.are_lost:
            case, record = self._retained.pop()
            self._check(case, record)
            lost.add(case)
        lost = {case for case in lost if self.verdicts[case].status not in FAILURE_STATUSES}
        if lost:
            cases = f"{len(lost)} earlier case{'s' * (len(lost) > 1)}"
            yield (
                f"the process took the outputs of {cases} with it; whether they had changed since "
                "they were last compared is not known"
            )

    def _fail_last_if_it_ended(self) -> None:
        """Fail the last case if the process has failed after it: no later call is at fault."""
        if not isinstance(self.backend, IsolatedBackend) or self._last is None:
            return
        ended, former = self.backend.take_end(), self.verdicts.get(self._last)
        if ended is None or former is None or former.status in FAILURE_STATUSES:
            return
        self._fail(self._last, replace(redact_outcome(ended), lines=[*self._release_lost()]))
        self.crashes[former.operator] += self.verdicts[self._last].status in FATAL_OUTCOMES

    def _fail(self, case_id: str, outcome: Outcome) -> None:
        """Judge a case again, of which a later call reveals another outcome."""
        operator, case = self.suite.cases[case_id]
        baseline = None if case.baseline is None else self.verdicts[case.baseline]
        verdict = self._judge.verdict(operator, case, outcome, baseline)
        self.verdicts[case_id] = replace(verdict, seconds=self.verdicts[case_id].seconds)

    def accept(
        self,
        verdicts: Iterable[Verdict],
        excerpts: Mapping[str, Excerpt] | None = None,
        repeated: Iterable[str] = (),
    ) -> None:
        """Take over what another process of the run has reached."""
        for verdict in verdicts:
            former = self.verdicts.get(verdict.case)
            self.verdicts[verdict.case] = verdict
            if former is None:
                self.crashes[verdict.operator] += verdict.status in FATAL_OUTCOMES
        self.excerpts |= excerpts or {}
        self._repeated |= {self.suite.cases.operator_of(case): case for case in repeated}

    def release(self) -> list[Verdict]:
        """Check the retained records, and return all verdicts so far."""
        while self._retained:
            self._check(*self._retained.popleft())
        self._fail_last_if_it_ended()
        return [*self.verdicts.values()]

    def finish(self) -> list[Verdict]:
        """Check the retained records, and return all verdicts, judged with all that is known."""
        verdicts = self.release()
        # Where all is well, nothing depends on the rest; so these cases need not be read.
        states = (*FAILURE_STATUSES, "unsupported")
        open_ = {verdict.operator for verdict in verdicts if verdict.status in states}
        again = self._judge.again(verdict for verdict in verdicts if verdict.operator in open_)
        judged = {verdict.case: verdict for verdict in again}
        return [judged.get(verdict.case, verdict) for verdict in verdicts]


def is_repeatable(case: IndexedCase) -> bool:
    """Whether a case is suited to have its call repeated many times."""
    elements = sum(prod(output.shape) for output in case.outputs)
    valid = case.expects == "outputs" and not case.ambiguity
    return valid and 0 < elements <= MAX_REPEATED_ELEMENTS
