"""Steps x backend -> what goes wrong: calls made one after the other, with an eye on each."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from opcert.arrays import Array, Layout, copy_in_layout
from opcert.backends import Backend
from opcert.run.buffers import mutated, refilled
from opcert.run.call_protocol import ALIASED_OUTPUT
from opcert.run.comparison import Difference, compare_outputs
from opcert.run.outcome import FATAL_OUTCOMES, Outcome, call_backend
from opcert.run.records import CallRecord

# How many earlier outputs are looked at again after every call, of up to so many bytes each.
_HELD = 8
_HELD_BYTES = 1 << 16


@dataclass(frozen=True)
class Ended:
    """How a call has ended the process of the backend."""

    kind: Literal["crash", "hang"]
    text: str


SessionFault: TypeAlias = Difference | Ended


@dataclass(frozen=True)
class SessionStep:
    """One call: its arrays, and the outputs that it has to give; None where it has to be rejected.

    `inputs` are handed over as `layouts` says, in the buffers of the step before it where they fit,
    as most callers do. The inputs in `free` are data to move. `beside` says what it is to the call
    that is tried, `rule` which one it breaks, `by_law` whether a law asks for it.
    """

    operator: str
    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    golden: Sequence[Array] | None
    layouts: Mapping[str, Layout]
    free: tuple[str, ...]
    beside: str = ""
    rule: str | None = None
    by_law: bool = False


class Session:
    """A backend, the buffers that it was given last, and what it returned."""

    def __init__(self, backend: Backend, held: int = _HELD) -> None:
        """Begin with no call; the outputs of the last `held` calls are compared again."""
        self.backend = backend
        # Whether the first of the last steps was not supported.
        self.declined = False
        self._buffers: dict[str, Array] = {}
        self._held: deque[CallRecord] = deque(maxlen=held)

    def first_fault(self, steps: Sequence[SessionStep]) -> tuple[int, SessionFault] | None:
        """Play steps until one goes wrong, or is not supported: return its number and why."""
        for number, step in enumerate(steps):
            outcome = self.execute(step)
            unsupported = outcome.observed == "unsupported"
            if not number:
                self.declined = unsupported
            if outcome.observed in FATAL_OUTCOMES:
                return number, Ended(outcome.observed, outcome.reason)
            if outcome.fault is not None:
                return number, outcome.fault
            if unsupported and step.golden is not None:
                break
        return None

    def execute(self, step: SessionStep) -> Outcome:
        """Make the call of a step; the fault of its outcome is what is wrong, if it came back."""
        wanted = {
            name: copy_in_layout(each, step.layouts[name]) for name, each in step.inputs.items()
        }
        self._buffers = {
            name: refilled(self._buffers.get(name), each, step.layouts[name])
            for name, each in wanted.items()
        }
        outcome = call_backend(self.backend, step.operator, self._buffers, step.attributes)
        fault = (
            outcome.fault
            or mutated(self._buffers, wanted)
            or (ALIASED_OUTPUT if any(each.changed for each in self._held) else None)
            or _wrong(step, outcome)
        )
        if fault is ALIASED_OUTPUT:
            self._held.clear()
        elif fault is None and step.golden and outcome.observed == "outputs":
            self._hold(CallRecord(outcome.outputs, step.golden, kept=outcome.kept))
        return Outcome(outcome.observed, outcome.outputs, outcome.reason, fault)

    def _hold(self, records: CallRecord) -> None:
        if sum(each.nbytes for each in records.golden) <= _HELD_BYTES:
            self._held.append(records)


def _wrong(step: SessionStep, outcome: Outcome) -> Difference | None:
    if outcome.observed in ("unsupported", *FATAL_OUTCOMES):
        return None
    if step.golden is None:
        text = f"a call that breaks {step.rule} was accepted"
        return Difference("accepted", text) if outcome.observed == "outputs" else None
    if outcome.observed == "rejected":
        return Difference("rejected", f"a valid call was rejected: {outcome.reason}")
    return compare_outputs(step.golden, outcome.outputs)
