"""Calls that separate the conditions of a cause; they have no verdicts."""

from typing import Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import bits_of
from opcert.run.comparison import FailureKind
from opcert.suite.format import StrictModel
from opcert.verdicts.reduction import Candidate
from opcert.verdicts.reproduction import SerializedCall

# A call says something about failures of these kinds, whatever calls were made before it.
DECIDABLE_KINDS = {"count", "type", "dtype", "shape", "value", "rejected", "crash", "hang"}


class DecidingCall(StrictModel):
    """A valid call beyond the suite that matches one condition of a cause, and not another one.

    The operator moves its `data_inputs` without reading them. `kind` says how it fails, and is None
    if it passes.
    """

    operator: str
    call: SerializedCall
    data_inputs: tuple[str, ...]
    kind: FailureKind | Literal["crash", "hang"] | None

    @property
    def planned(self) -> Call:
        """The call in the form that conditions evaluate."""
        inputs = self.call.inputs
        arrays = {name: stored.array for name, stored in inputs.items()}
        layouts = {name: stored.layout for name, stored in inputs.items()}
        return Candidate(arrays, self.call.attributes, layouts, self.data_inputs).call

    @property
    def shows_values(self) -> bool:
        """Whether some output has different elements, so that a wrong value would show."""
        elements = [bits_of(output.array).ravel() for output in self.call.outputs or ()]
        return any(bool((bits[1:] != bits[:1]).any()) for bits in elements)
