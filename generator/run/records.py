"""The buffers of calls, which are reused, and records of calls, which detect later writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from opcert.arrays.element_types import Array, InputArrays
from opcert.arrays.layouts import Layout, array_properties, copy_in_layout, underlying_buffer
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


class InputState(NamedTuple):
    """An input at one time: what a caller relies on besides elements, and the buffer's bytes."""

    properties: tuple[object, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished call with correct outputs, to be compared again after later calls.

    `outputs` equalled `golden` when the call returned; `inputs` are the buffers of the call, and
    `states` what they were before it. If the backend has its own process, `remote` watches the
    `remote_bytes` of outputs there, and this process keeps no array of the call.
    """

    outputs: Sequence[Array] = ()
    golden: Sequence[Array] = ()
    inputs: InputArrays = field(default_factory=dict)
    states: Mapping[str, InputState] = field(default_factory=dict)
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
        return find_mutation(self.inputs, self.states) is not None

    @property
    def nbytes(self) -> int:
        """The size in bytes of what the record keeps alive."""
        contents = sum(len(state.content) for state in self.states.values())
        return _RECORD_BYTES + self.remote_bytes + contents + sum(a.nbytes for a in self.golden)


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


def input_states(inputs: InputArrays) -> dict[str, InputState]:
    """Return what `copy_in_layout` made, to be compared after a call."""
    return {
        name: InputState(array_properties(array), _content(array)) for name, array in inputs.items()
    }


def find_mutation(inputs: InputArrays, states: Mapping[str, InputState]) -> Difference | None:
    """Return the first difference of `inputs` from `states`: elements, form or padding."""
    for name, (properties, content) in states.items():
        array = inputs[name]
        same_form = array_properties(array) == properties
        # An array whose form was changed may no longer span the buffer.
        if same_form and _content(array) == content:
            continue
        only_padding = same_form and array.tobytes() == _elements(array, content)
        where = "memory between the elements of its input" if only_padding else "its input"
        return Difference("mutated-input", f"the call changed {where} '{name}'")
    return None


def _content(array: Array) -> bytes:
    """Return the bytes of the underlying buffer in the order of memory."""
    return underlying_buffer(array).tobytes("A")


def _elements(array: Array, content: bytes) -> bytes:
    """Return the elements of an array if its buffer had this content, in C order."""
    first, begin = (a.__array_interface__["data"][0] for a in (array, underlying_buffer(array)))
    held: Array = np.ndarray(array.shape, array.dtype, content, first - begin, array.strides)
    return held.tobytes()
