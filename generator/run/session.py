"""Calls made one after the other, each checked against its golden outputs."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from opcert.arrays.element_types import Array
from opcert.arrays.layouts import Layout, copy_in_layout
from opcert.backends.contract import Backend
from opcert.run.call_protocol import ALIASED_OUTPUT
from opcert.run.comparison import Difference, compare_outputs
from opcert.run.outcome import FATAL_OUTCOMES, Outcome, call_backend
from opcert.run.records import (
    CallRecord,
    fill_buffer,
    find_mutation,
    input_states,
    record_outputs,
)

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
    is the relation to the call under test, `rule` the violated rule. `from_law` is true if a law
    determines the outputs.
    """

    operator: str
    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    golden: Sequence[Array] | None
    layouts: Mapping[str, Layout]
    data_inputs: tuple[str, ...]
    relation: str = ""
    rule: str | None = None
    from_law: bool = False


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
