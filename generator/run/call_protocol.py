"""Several calls for a case, which show what one cannot; calls made one after the other."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from opcert.arrays.element_types import Array, InputArrays, Layout, copy_in_layout
from opcert.backends.contract import Backend
from opcert.run.comparison import (
    CallRecord,
    Difference,
    InputState,
    compare_outputs,
    fill_buffer,
    find_mutation,
    input_states,
    record_outputs,
    share_a_zero,
)
from opcert.run.outcome import FATAL_OUTCOMES, IsolatedBackend, Outcome, call_backend
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite

# The beginning of a failure's text, if it occurs only with inverted data.
INVERTED_PREFIX = "with every bit of the data inverted"
# The beginning of a failure's text, if the outputs equal those of the previous call.
ECHO_PREFIX = "returned the result of the previous call, which had other data"
# The number of calls of the one case of each operator that is repeated.
REPETITIONS = 300
ALIASED_OUTPUT = Difference(
    "aliased-output",
    "an output changed after it was returned, when the caller reused its input buffers or made "
    "the next call; return arrays that nothing else writes to",
)


def run_vector(
    backend: Backend,
    operator: OperatorSuite,
    case: IndexedCase,
    baseline: IndexedCase | None = None,
) -> Outcome:
    """Run a case: three calls if it is valid, up to four if it must be rejected.

    The three valid calls share their buffers. The second call has inverted data, which exposes
    results that are stale or never computed. The third call repeats the first, in dirtied memory if
    outputs contain zeros. Each call must return its golden outputs and change neither its inputs
    nor the outputs of earlier calls.

    An invalid call must be rejected twice in a row. Then the `baseline`, a valid call that has
    passed, must pass again, and the invalid call must be rejected once more: a cached valid call
    must not make an invalid one acceptable.
    """
    if case.expects == "outputs":
        return _ValidCalls(backend, operator, case).run()
    return _run_negative(backend, operator, case, baseline)


# -- negative cases


def _run_negative(
    backend: Backend, operator: OperatorSuite, case: IndexedCase, baseline: IndexedCase | None
) -> Outcome:
    first = _call_invalid(backend, operator, case)
    if first.observed != "rejected" or first.fault is not None:
        return first
    calls = [("rejected at first; the same call, repeated,", case)]
    if baseline is not None:
        calls += [
            (f"after the rejection, the valid {baseline.id}", baseline),
            (f"rejected at first; after the valid {baseline.id} the same call", case),
        ]
    records, log = [*first.records], first.log
    for context, called in calls:
        is_repetition = called is case
        later = (_call_invalid if is_repetition else _call_valid)(backend, operator, called)
        log += later.log
        if later.observed in FATAL_OUTCOMES:
            return replace(later, reason=f"{context}: {later.reason}", log=log)
        fault = later.fault
        if is_repetition and later.observed != "rejected":
            accepted = later.observed == "outputs"
            change = "was accepted" if accepted else f"ended in: {later.reason}"
            fault = Difference("state", f"{context} {change}")
        elif not is_repetition and fault is not None:
            kind = fault.kind if fault.kind in ("bits", "mutated-input") else "state"
            fault = Difference(kind, f"{context} failed: {fault.text}", fault.excerpt)
        if fault is not None:
            return replace(first, fault=fault, records=records, log=log, lines=later.lines)
        records += later.records
    return replace(first, records=records, log=log)


def _call_invalid(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    inputs = operator.inputs(case)
    states = input_states(inputs)
    outcome = call_backend(backend, operator.index.operator, inputs, case.attributes)
    fault = outcome.fault or find_mutation(inputs, states)
    # Another process cannot write to the buffers after its call.
    if isinstance(backend, IsolatedBackend):
        return replace(outcome, fault=fault)
    record = CallRecord(inputs=inputs, states=states)
    return replace(outcome, fault=fault, records=[record])


def _call_valid(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    inputs, golden = operator.inputs(case), operator.outputs(case)
    states = input_states(inputs)
    outcome = call_backend(backend, operator.index.operator, inputs, case.attributes)
    if outcome.observed in FATAL_OUTCOMES:
        return outcome
    if outcome.observed != "outputs":
        return replace(outcome, fault=Difference("rejected", outcome.reason or outcome.observed))
    fault = (
        compare_outputs(golden, outcome.outputs) or outcome.fault or find_mutation(inputs, states)
    )
    if fault is not None:
        return replace(outcome, fault=fault)
    record = record_outputs(outcome.outputs, golden, outcome.remote)
    if record.remote is None:
        record = replace(record, inputs=inputs, states=states)
    return replace(outcome, records=[record])


# -- positive cases


class _ValidCalls:
    """The three calls of a valid case, and their faults."""

    def __init__(self, backend: Backend, operator: OperatorSuite, case: IndexedCase) -> None:
        self.backend = backend
        self.operator = operator
        self.case = case
        self.buffers: dict[str, Array] = {}
        self.records: list[CallRecord] = []
        self.faults: list[Difference] = []
        self.log = ""
        self.lines: Sequence[str] = ()

    def run(self) -> Outcome:
        data, golden = self.operator.inputs(self.case), self.operator.outputs(self.case)
        states = input_states(data)
        first, first_difference = self.call(data, states, golden)
        if first.observed != "outputs":
            return first

        inverted = self.operator.inverted_data_inputs(self.case)
        inverted_golden = self.operator.inverted_data_outputs(self.case)
        second, second_difference = self.call(inverted, input_states(inverted), inverted_golden)
        if second.observed in FATAL_OUTCOMES:
            reason = f"the same call with other data: {second.reason}"
            return replace(second, reason=reason, log=self.log)

        # An output that is never written to is zero in new memory. Only dirtied memory shows this
        # where the golden output is zero for both data.
        zero_in_both = share_a_zero(golden, inverted_golden)
        sizes = [array.nbytes for array in golden] if zero_in_both else []
        third, third_difference = self.call(data, states, golden, sizes)
        if third.observed in FATAL_OUTCOMES:
            reason = f"the same call, repeated: {third.reason}"
            return replace(third, reason=reason, log=self.log)

        self.faults += _judge_repetition(first_difference, third, third_difference)
        self.faults += _judge_inverted(second, second_difference, golden)
        # Any other fault outweighs a difference in bits alone.
        self.faults.sort(key=lambda fault: fault.kind == "bits")
        fault = self.faults[0] if self.faults else None
        if self.records and self.records[-1].remote is None:
            # The buffers now hold the inputs of the last call.
            self.records[-1] = replace(self.records[-1], inputs=self.buffers, states=states)
        return replace(first, fault=fault, records=self.records, log=self.log, lines=self.lines)

    def call(
        self,
        inputs: InputArrays,
        states: Mapping[str, InputState],
        golden: Sequence[Array],
        dirty_sizes: Sequence[int] = (),
    ) -> tuple[Outcome, Difference | None]:
        """Make one call in the buffers; return its outcome and the difference of its outputs.

        The buffers get the elements of `inputs`, of which `states` are kept.
        Also add other faults to `faults`, correct outputs to `records`, and printed text to `log`;
        keep the `lines` of an exception.
        """
        self.buffers = {
            name: fill_buffer(self.buffers.get(name), array, self.case.inputs[name].layout)
            for name, array in inputs.items()
        }
        operator = self.operator.index.operator
        outcome = call_backend(
            self.backend, operator, self.buffers, self.case.attributes, dirty_sizes
        )
        if fault := outcome.fault or find_mutation(self.buffers, states):
            self.faults.append(fault)
        self.log += outcome.log
        self.lines = outcome.lines or self.lines
        if any(record.outputs_changed for record in self.records):
            self.faults.append(ALIASED_OUTPUT)
            self.records = []
        if outcome.observed != "outputs":
            return outcome, None
        difference = compare_outputs(golden, outcome.outputs)
        if difference is None:
            self.records.append(record_outputs(outcome.outputs, golden, outcome.remote))
            # They equal the golden ones, and may be large.
            outcome = replace(outcome, outputs=())
        return outcome, difference


def _judge_repetition(
    first_difference: Difference | None, third: Outcome, third_difference: Difference | None
) -> list[Difference]:
    """Return the faults of the first call and its repetition."""
    if third.observed != "outputs":
        text = f"the same call, repeated, ended in: {third.reason or third.observed}"
        return [Difference("unstable", text)]
    if first_difference is None and third_difference is not None:
        text = f"the same call, repeated, returned another result: {third_difference.text}"
        return [Difference("unstable", text, third_difference.excerpt)]
    if first_difference is not None and third_difference is None:
        text = f"correct only when repeated; at first: {first_difference.text}"
        return [Difference("unstable", text, first_difference.excerpt)]
    return [first_difference] if first_difference else []


def _judge_inverted(
    second: Outcome, difference: Difference | None, previous_golden: Sequence[Array]
) -> list[Difference]:
    """Return the faults of the call with inverted data."""
    if second.observed != "outputs":
        text = f"the same call with other data ended in: {second.reason or second.observed}"
        return [Difference("unstable", text)]
    if difference is None:
        return []
    prefix, kind = INVERTED_PREFIX, difference.kind
    if kind == "value" and compare_outputs(previous_golden, second.outputs) is None:
        # The result need not be cached: saturation, for example, gives both data the same outputs.
        # Only a fresh process shows whether the previous call matters.
        prefix = ECHO_PREFIX
    return [Difference(kind, f"{prefix}: {difference.text}", difference.excerpt)]


# -- repetition


def repetition_plan() -> list[bool]:
    """Return whether each repetition has inverted data.

    The data first alternates, then stays plain, then stays inverted: a ring of output buffers wraps
    around in each part.
    """
    third = REPETITIONS // 3
    alternating = [False, True] * third
    return [*alternating[:third], *[False] * third, *[True] * (REPETITIONS - 2 * third)]


def run_repeatedly(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Call a valid case, which has passed, many times; all outputs must stay correct."""
    data, other_data = operator.inputs(case), operator.inverted_data_inputs(case)
    plain = data, input_states(data), operator.outputs(case)
    inverted = other_data, input_states(other_data), operator.inverted_data_outputs(case)
    records: list[CallRecord] = []
    log = ""
    for number, is_inverted in enumerate(repetition_plan()):
        inputs, states, golden = inverted if is_inverted else plain
        buffers = {
            name: copy_in_layout(array, case.inputs[name].layout) for name, array in inputs.items()
        }
        outcome = call_backend(backend, operator.index.operator, buffers, case.attributes)
        log += outcome.log
        call = f"call {number} of {case.id}"
        if outcome.observed in FATAL_OUTCOMES:
            return replace(outcome, reason=f"{call}: {outcome.reason}", log=log)
        if fault := outcome.fault or find_mutation(buffers, states):
            fault = replace(fault, text=f"{call} failed: {fault.text}")
            return Outcome("outputs", fault=fault, log=log)
        if outcome.observed != "outputs":
            text = f"{call} ended in: {outcome.reason or outcome.observed}"
            return replace(outcome, fault=Difference("unstable", text), log=log)
        difference = compare_outputs(golden, outcome.outputs)
        if difference is not None:
            text = f"{call} failed: {difference.text}"
            fault = Difference("unstable", text, difference.excerpt)
            return Outcome("outputs", fault=fault, log=log)
        records.append(record_outputs(outcome.outputs, golden, outcome.remote))
    changed = any(record.outputs_changed for record in records)
    return Outcome("outputs", fault=ALIASED_OUTPUT if changed else None, log=log)


# The number of earlier calls that every call compares again, and the maximum size of each.
_RECORDS = 8
_RECORD_BYTES = 1 << 16


@dataclass(frozen=True)
class ProcessEnd:
    """The end of the backend's process during a call."""

    kind: Literal["crash", "hang"]
    text: str


SessionFault: TypeAlias = Difference | ProcessEnd


@dataclass(frozen=True)
class SessionStep:
    """One call with its golden outputs, which are None if it must be rejected.

    `inputs` are passed in their `layouts`; like most callers, a session reuses the buffers of the
    previous step where they fit. The operator only moves the elements of `data_inputs`. `relation`
    is the relation to the call under test, `rule` the violated rule.
    """

    operator: str
    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    golden: Sequence[Array] | None
    layouts: Mapping[str, Layout]
    data_inputs: tuple[str, ...]
    relation: str = ""
    rule: str | None = None


class Session:
    """A backend with the buffers of its last call and records of earlier calls."""

    def __init__(self, backend: Backend, held: int = _RECORDS) -> None:
        """Start a session: every call compares the outputs of the last `held` calls again."""
        self.backend = backend
        # Whether the backend declined the first step of the last sequence.
        self.declined = False
        self._buffers: dict[str, Array] = {}
        self._records: deque[CallRecord] = deque(maxlen=held)

    def first_fault(self, steps: Sequence[SessionStep]) -> tuple[int, SessionFault] | None:
        """Execute steps up to the first fault; return the number of that step and the fault.

        An unsupported valid call ends the session without a fault.
        """
        for number, step in enumerate(steps):
            outcome = self.execute(step)
            unsupported = outcome.observed == "unsupported"
            if number == 0:
                self.declined = unsupported
            if outcome.observed in FATAL_OUTCOMES:
                return number, ProcessEnd(outcome.observed, outcome.reason)
            if outcome.fault is not None:
                return number, outcome.fault
            if unsupported and step.golden is not None:
                break
        return None

    def execute(self, step: SessionStep) -> Outcome:
        """Make the call of a step; return its outcome, with any fault."""
        laid_out = {
            name: copy_in_layout(array, step.layouts[name]) for name, array in step.inputs.items()
        }
        self._buffers = {
            name: fill_buffer(self._buffers.get(name), array, step.layouts[name])
            for name, array in laid_out.items()
        }
        states = input_states(self._buffers)
        outcome = call_backend(self.backend, step.operator, self._buffers, step.attributes)
        fault = outcome.fault or find_mutation(self._buffers, states)
        if fault is None and any(record.outputs_changed for record in self._records):
            fault = ALIASED_OUTPUT
            self._records.clear()
        fault = fault or _judge(step, outcome)
        if fault is None and step.golden and outcome.observed == "outputs":
            record = record_outputs(outcome.outputs, step.golden, outcome.remote)
            if record.nbytes <= _RECORD_BYTES:
                self._records.append(record)
        return Outcome(outcome.observed, outcome.outputs, outcome.reason, fault)


def _judge(step: SessionStep, outcome: Outcome) -> Difference | None:
    if outcome.observed in ("unsupported", *FATAL_OUTCOMES):
        return None
    if step.golden is None:
        text = f"a call that violates {step.rule} was accepted"
        return Difference("accepted", text) if outcome.observed == "outputs" else None
    if outcome.observed == "rejected":
        return Difference("rejected", f"a valid call was rejected: {outcome.reason}")
    return compare_outputs(step.golden, outcome.outputs)
