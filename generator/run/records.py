"""The buffers of calls, which are reused, and records of calls, which detect later writes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from opcert.arrays import (
    Array,
    InputArrays,
    Layout,
    array_properties,
    copy_in_layout,
    underlying_buffer,
)
from opcert.run.comparison import Difference, compare_outputs
from opcert.run.vanished_memory import ArrayMemory


class RemoteOutputs(Protocol):
    """Outputs that live in another process."""

    @property
    def changed(self) -> bool:
        """Whether something has written to them since the call returned."""


@dataclass(frozen=True)
class CallRecord:
    """A finished call with correct outputs, to be compared again after later calls.

    `outputs` equalled `golden` when the call returned. Outputs of another process are copies;
    `remote` watches the originals. `inputs` are the buffers of the call, which held
    `expected_inputs`.
    """

    outputs: Sequence[Array] = ()
    golden: Sequence[Array] = ()
    inputs: InputArrays = field(default_factory=dict)
    expected_inputs: InputArrays = field(default_factory=dict)
    remote: RemoteOutputs | None = None

    @property
    def outputs_changed(self) -> bool:
        """Whether something has written to the outputs since the call returned."""
        if self.remote is not None:
            return self.remote.changed
        if not all(ArrayMemory(array).is_readable for array in self.outputs):
            return True
        return compare_outputs(self.golden, self.outputs) is not None

    @property
    def inputs_changed(self) -> bool:
        """Whether something has written to the inputs since the call returned."""
        return find_mutation(self.inputs, self.expected_inputs) is not None

    @property
    def nbytes(self) -> int:
        """The size in bytes of the arrays that the record keeps alive."""
        return sum(array.nbytes for array in (*self.golden, *self.expected_inputs.values()))


def fill_buffer(buffer: Array | None, array: Array, layout: Layout) -> Array:
    """Return `buffer` with the elements of `array`, or a new buffer if it is None or differs."""
    if buffer is None or array_properties(buffer) != array_properties(array):
        return copy_in_layout(array, layout)
    underlying_buffer(buffer)[...] = underlying_buffer(array)
    return buffer


def find_mutation(inputs: InputArrays, expected: InputArrays) -> Difference | None:
    """Return the first difference of `inputs` from `expected`: elements, form or padding."""
    for name, array in expected.items():
        current = inputs[name]
        same_form = array_properties(current) == array_properties(array)
        # An array whose form was changed may no longer span the buffer.
        if same_form and _buffer_bytes(current) == _buffer_bytes(array):
            continue
        only_padding = same_form and current.tobytes() == array.tobytes()
        where = "memory between the elements of its input" if only_padding else "its input"
        return Difference("mutated-input", f"the call changed {where} '{name}'")
    return None


def _buffer_bytes(array: Array) -> bytes:
    return underlying_buffer(array).tobytes()
