"""Steps x backend -> outcome: a session makes calls one after the other, and judges each.

A case is a list of steps: make this call, expect that. A run, the confirmation of its failures,
and `explore` execute steps in the same way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from opcert.accuracy.bounds import accuracy_of_call
from opcert.arrays.calls import Call
from opcert.arrays.element_types import Array, InputArrays
from opcert.arrays.golden import allowance_of
from opcert.arrays.layouts import Layout, copy_in_layout, fill_buffer
from opcert.backends.contract import Arguments, Backend
from opcert.run.comparison import (
    CallRecord,
    Difference,
    FailureKind,
    InputState,
    compare_outputs,
    find_mutation,
    input_states,
    share_a_zero,
)
from opcert.run.outcome import FATAL_OUTCOMES, IsolatedBackend, Outcome, call_backend
from opcert.run.wrong_elements import WrongElements
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
# The number of earlier calls that every call compares again, and the maximum size of each.
HELD, _HELD_BYTES = 8, 1 << 16


@dataclass(frozen=True)
class Step:
    """One call with its golden outputs, which are None if it must be rejected.

    `inputs` are passed in their `layouts`. The operator only moves the elements of `data_inputs`.
    `relation` is the relation to the call under test, `rule` the violated rule.
    """

    operator: str
    inputs: Mapping[str, Array]
    attributes: Arguments
    golden: Sequence[Array] | None
    layouts: Mapping[str, Layout]
    data_inputs: tuple[str, ...]
    relation: str = ""
    rule: str | None = None

    @cached_property
    def laid_out(self) -> InputArrays:
        """The inputs in their layouts."""
        return {name: copy_in_layout(a, self.layouts[name]) for name, a in self.inputs.items()}

    @cached_property
    def states(self) -> Mapping[str, InputState]:
        """What a call must not change of the inputs."""
        return input_states(self.laid_out)


def step_of(operator: OperatorSuite, case: IndexedCase, inverted_data: bool = False) -> Step:
    """Return the call of a case, with its own data or with every bit of it inverted."""
    name, inputs = operator.index.operator, operator.elements(case, inverted_data)
    outputs = operator.inverted_data_outputs if inverted_data else operator.outputs
    golden = outputs(case) if case.expects == "outputs" else None
    layouts = {key: array.layout for key, array in case.inputs.items()}
    return Step(
        name, inputs, case.attributes, golden, layouts, case.data_inputs, rule=case.violated_rule
    )


def step_of_call(
    operator: str,
    call: Call,
    inputs: Mapping[str, Array],
    golden: Sequence[Array] | None = None,
    relation: str = "",
    rule: str | None = None,
) -> Step:
    """Return a call that was drawn, with its arrays in C order."""
    layouts = {name: tensor.layout for name, tensor in call.inputs.items()}
    data = tuple(name for name, tensor in call.inputs.items() if tensor.values is None)
    return Step(operator, inputs, call.attributes, golden, layouts, data, relation, rule)


@dataclass(frozen=True)
class ProcessEnd:
    """The end of the backend's process during a call."""

    kind: Literal["crash", "hang"]
    text: str


# What a valid call after a rejection does in these ways, it most often does without.
NOT_OF_STATE = ("bits", "mutated-input")
SessionFault: TypeAlias = Difference | ProcessEnd
FaultKind: TypeAlias = FailureKind | Literal["crash", "hang"]


class Session:
    """A backend with the buffers of its last call and records of earlier calls.

    Like most callers, a session reuses the buffers of the previous step where they fit. Every call
    compares the outputs of the last `held` calls again.
    """

    def __init__(self, backend: Backend, held: int = HELD, *, keeps_all: bool = False) -> None:
        """Start a session, which keeps the records of the `held` calls, or of all."""
        self.backend = backend
        # Whether the backend declined the first step of the last sequence.
        self.declined = False
        self.log = ""
        self._held, self._keeps_all = held, keeps_all
        self._buffers: dict[str, Array] = {}
        self._states: Mapping[str, InputState] = {}
        self._records: list[CallRecord] = []

    def first_fault(
        self,
        steps: Iterable[Step],
        counts: Callable[[str], bool] = lambda _: True,
        start: int = 0,
    ) -> tuple[int, SessionFault] | None:
        """Execute steps up to the first fault; return the number of that step and the fault.

        Faults before the step `start` are passed over, and those of a kind that does not count, as
        a run does. An unsupported valid call ends the session without a fault, and so does the end
        of the process in a step that is passed over.
        """
        for number, step in enumerate(steps):
            outcome = self.execute(step)
            unsupported = outcome.observed == "unsupported"
            if number == 0:
                self.declined = unsupported
            fault: SessionFault | None = outcome.fault
            if outcome.observed in FATAL_OUTCOMES:
                fault = ProcessEnd(outcome.observed, outcome.reason)
            if fault is not None and number >= start and counts(fault.kind):
                return number, fault
            if isinstance(fault, ProcessEnd) or (unsupported and step.golden is not None):
                break
        return None

    def execute(self, step: Step, dirty_sizes: Sequence[int] = ()) -> Outcome:
        """Make the call of a step; return its outcome, with any fault.

        Freed memory of about `dirty_sizes` bytes is dirtied first. Outputs are kept if wrong.
        """
        self._buffers = {
            name: fill_buffer(self._buffers.get(name), array, step.layouts[name])
            for name, array in step.laid_out.items()
        }
        self._states = step.states
        outcome = call_backend(
            self.backend, step.operator, self._buffers, step.attributes, dirty_sizes
        )
        self.log += outcome.log
        fault = outcome.fault or find_mutation(self._buffers, self._states)
        if any(record.outputs_changed for record in self._records[-self._held :]):
            fault = fault or ALIASED_OUTPUT
            self._records.clear()
        difference, accuracy, outputs = _judge(step, outcome), None, outcome.outputs
        if outcome.observed == "outputs" and (difference is None or difference.excerpt is not None):
            accuracy = accuracy_of_call(step.golden or (), outputs)
        if difference is None and step.golden is not None and outcome.observed == "outputs":
            record = CallRecord(outputs, step.golden)
            if outcome.remote is not None:
                size = sum(array.nbytes for array in step.golden)
                record = CallRecord(remote=outcome.remote, remote_bytes=size)
            if self._keeps_all or record.nbytes <= _HELD_BYTES:
                self._records.append(record)
            if not self._keeps_all:
                del self._records[: -self._held]
            # They equal the golden ones, and may be large.
            outputs = ()
        fault = fault or difference
        return replace(outcome, outputs=outputs, accuracy=accuracy, fault=fault, remote=None)

    def records(self) -> list[CallRecord]:
        """Return the held calls; the buffers have the inputs of the last call."""
        # Another process cannot write to the buffers after its call.
        if isinstance(self.backend, IsolatedBackend):
            return [*self._records]
        return [*self._records, CallRecord(inputs=self._buffers, states=self._states)]


def _judge(step: Step, outcome: Outcome) -> Difference | None:
    if outcome.observed in ("unsupported", *FATAL_OUTCOMES):
        return None
    if step.golden is None:
        text = f"a call that violates {step.rule} was accepted"
        return Difference("accepted", text) if outcome.observed == "outputs" else None
    if outcome.observed == "rejected":
        return Difference("rejected", f"a valid call was rejected: {outcome.reason}")
    return compare_outputs(step.golden, outcome.outputs)


def run_case(
    backend: Backend,
    operator: OperatorSuite,
    case: IndexedCase,
    baseline: IndexedCase | None = None,
) -> Outcome:
    """Run a case: three calls if it is valid, up to four if it must be rejected.

    The second of three valid calls has inverted data, which exposes results that are stale or never
    computed. The third call repeats the first, in dirtied memory if outputs contain zeros. Each
    call must return its golden outputs and change neither its inputs nor the outputs of earlier
    calls.

    An invalid call must be rejected twice in a row. Then the `baseline`, a valid call that has
    passed, must pass again, and the invalid call must be rejected once more: a cached valid call
    must not make an invalid one acceptable.
    """
    session = Session(backend, keeps_all=True)
    if case.expects == "outputs":
        return _run_valid(session, operator, case)
    return _run_invalid(session, operator, case, baseline)


def _run_invalid(
    session: Session, operator: OperatorSuite, case: IndexedCase, baseline: IndexedCase | None
) -> Outcome:
    invalid = step_of(operator, case)
    first = session.execute(invalid)
    if first.observed == "unsupported" and first.fault is None:
        # A backend may decline a call only until it has compiled something.
        again = session.execute(invalid)
        is_declined = again.observed in ("unsupported", "rejected") and again.fault is None
        return first if is_declined else again
    if first.observed != "rejected" or first.fault is not None:
        return first
    bits: Difference | None = None
    steps = [("rejected at first; the same call, repeated,", invalid)]
    if baseline is not None:
        steps += [
            (f"after the rejection, the valid {baseline.id}", step_of(operator, baseline)),
            (f"rejected at first; after the valid {baseline.id} the same call", invalid),
        ]
    for context, step in steps:
        later = session.execute(step)
        if later.observed in FATAL_OUTCOMES:
            return replace(later, reason=f"{context}: {later.reason}", log=session.log)
        fault = later.fault
        if step is invalid and later.observed != "rejected":
            accepted = later.observed == "outputs"
            change = "was accepted" if accepted else f"ended in: {later.reason}"
            fault = Difference("state", f"{context} {change}")
        elif step is not invalid and (fault is not None or later.observed != "outputs"):
            fault = fault or Difference("rejected", later.reason or later.observed)
            kind = fault.kind if fault.kind in NOT_OF_STATE else "state"
            text = later.reason if fault.kind == "rejected" else fault.text
            fault = Difference(kind, f"{context} failed: {text}", fault.excerpt)
            if kind == "bits":
                # Whether the invalid call is accepted now weighs more.
                bits, fault = fault, None
        if fault is not None:
            return replace(first, fault=fault, log=session.log, lines=later.lines)
    return replace(first, fault=bits, records=session.records(), log=session.log)


def _run_valid(session: Session, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    plain, inverted = step_of(operator, case), step_of(operator, case, inverted_data=True)
    first = _execute(session, plain)
    if first.observed != "outputs":
        # Who judges the outcome has the reason for a rejection.
        is_rejected = first.fault is not None and first.fault.kind == "rejected"
        return replace(first, fault=None) if is_rejected else first
    second = _execute(session, inverted)
    if second.observed in FATAL_OUTCOMES:
        reason = f"the same call with other data: {second.reason}"
        return replace(second, reason=reason, log=session.log)
    golden, other_golden = plain.golden or (), inverted.golden or ()
    # An output that is never written to is zero in new memory. Only dirtied memory shows this where
    # the golden output is zero for both data.
    zero_in_both = share_a_zero(golden, other_golden)
    third = session.execute(plain, [array.nbytes for array in golden] if zero_in_both else [])
    if third.observed in FATAL_OUTCOMES:
        reason = f"the same call, repeated: {third.reason}"
        return replace(third, reason=reason, log=session.log)
    fault = _worst_fault(first, second, third, golden)
    lines = third.lines or second.lines or first.lines
    return replace(first, fault=fault, records=session.records(), log=session.log, lines=lines)


def _execute(session: Session, step: Step) -> Outcome:
    """Make the call of a step, and describe the wrong elements of its outputs."""
    outcome = session.execute(step)
    fault = outcome.fault
    if fault is None or fault.excerpt is None or fault.wrong is None or step.golden is None:
        return outcome
    golden, actual = (outputs[fault.excerpt.output] for outputs in (step.golden, outcome.outputs))
    inputs = {} if allowance_of(golden) is None else step.inputs
    elements = WrongElements.of(golden, actual, fault.wrong, inputs)
    return replace(outcome, fault=replace(fault, elements=elements, wrong=None))


# These are about what a backend did besides its result.
_BREACHES = ("mutated-input", "aliased-output", "protocol")


def _worst_fault(
    first: Outcome, second: Outcome, third: Outcome, golden: Sequence[Array]
) -> Difference | None:
    """Return the fault of a call, of its repetition, or of the call with inverted data."""
    faults = [o.fault for o in (first, second, third) if o.fault and o.fault.kind in _BREACHES]
    at_first, repeated, inverted = (
        None if outcome.fault in faults else outcome.fault for outcome in (first, third, second)
    )
    if third.observed != "outputs":
        text = f"the same call, repeated, ended in: {third.reason or third.observed}"
        faults.append(Difference("unstable", text))
    elif at_first is None and repeated is not None:
        text = f"the same call, repeated, returned another result: {repeated.text}"
        faults.append(Difference("unstable", text, repeated.excerpt))
    elif at_first is not None and repeated is None:
        text = f"correct only when repeated; at first: {at_first.text}"
        faults.append(Difference("unstable", text, at_first.excerpt))
    elif at_first is not None:
        faults.append(at_first)
    if second.observed != "outputs":
        text = f"the same call with other data ended in: {second.reason or second.observed}"
        faults.append(Difference("unstable", text))
    elif inverted is not None:
        # The result need not be cached: saturation, for example, gives both data the same outputs.
        # Only a fresh process shows whether the previous call matters.
        is_echo = inverted.kind == "value" and compare_outputs(golden, second.outputs) is None
        prefix = ECHO_PREFIX if is_echo else INVERTED_PREFIX
        faults.append(replace(inverted, text=f"{prefix}: {inverted.text}"))
    # Any other fault outweighs a difference in bits alone.
    return min(faults, key=lambda fault: fault.kind == "bits", default=None)


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
    steps = [step_of(operator, case, inverted) for inverted in (False, True)]
    session = Session(backend, keeps_all=True)
    for number, is_inverted in enumerate(repetition_plan()):
        outcome = session.execute(steps[is_inverted])
        call = f"call {number} of {case.id}"
        if outcome.observed in FATAL_OUTCOMES:
            return replace(outcome, reason=f"{call}: {outcome.reason}", log=session.log)
        if outcome.observed != "outputs":
            text = f"{call} ended in: {outcome.reason or outcome.observed}"
            return replace(outcome, fault=Difference("unstable", text), log=session.log)
        if (fault := outcome.fault) is not None:
            kind = fault.kind if fault.kind in _BREACHES else "unstable"
            fault = Difference(kind, f"{call} failed: {fault.text}", fault.excerpt)
            return Outcome("outputs", fault=fault, log=session.log)
    changed = any(record.outputs_changed for record in session.records())
    return Outcome("outputs", fault=ALIASED_OUTPUT if changed else None, log=session.log)
