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

# About what a record needs besides the elements of arrays.
_RECORD_BYTES = 2048


class RemoteOutputs(Protocol):
    """Outputs that live in another process."""

    @property
    def changed(self) -> bool:
        """Whether something has written to them since the call returned."""

    @property
    def are_lost(self) -> bool:
        """Whether they have ended with their process: `changed` is what was known before."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished call with correct outputs, to be compared again after later calls.

    `outputs` equalled `golden` when the call returned; `inputs` are the buffers of the call, which
    held `expected_inputs`. If the backend has its own process, `remote` watches the
    `remote_bytes` of outputs there, and this process keeps no array of the call.
    """

    outputs: Sequence[Array] = ()
    golden: Sequence[Array] = ()
    inputs: InputArrays = field(default_factory=dict)
    expected_inputs: InputArrays = field(default_factory=dict)
    remote: RemoteOutputs | None = None
    remote_bytes: int = 0

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
        """The size in bytes of what the record keeps alive."""
        arrays = (*self.golden, *self.expected_inputs.values())
        return _RECORD_BYTES + self.remote_bytes + sum(array.nbytes for array in arrays)


def record_outputs(
    outputs: Sequence[Array], golden: Sequence[Array], remote: RemoteOutputs | None
) -> CallRecord:
    """Return a record of the outputs of a call, which equal `golden`."""
    if remote is None:
        return CallRecord(outputs, golden)
    return CallRecord(remote=remote, remote_bytes=sum(array.nbytes for array in golden))


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
