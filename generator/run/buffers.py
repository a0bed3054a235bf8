"""The buffers of a call's inputs: filled again, and looked at when the call has returned."""

from opcert.arrays import (
    Array,
    InputArrays,
    Layout,
    array_properties,
    copy_in_layout,
    underlying_buffer,
)
from opcert.run.comparison import Difference


def refilled(buffer: Array | None, array: Array, layout: Layout) -> Array:
    """Return `buffer` with what `array` has, or a new one where there is none or it is spoiled."""
    if buffer is None or array_properties(buffer) != array_properties(array):
        return copy_in_layout(array, layout)
    underlying_buffer(buffer)[...] = underlying_buffer(array)
    return buffer


def mutated(inputs: InputArrays, before: InputArrays) -> Difference | None:
    """Say which of `inputs` is no longer as it was `before`."""
    for name, array in before.items():
        found = inputs[name]
        same_form = array_properties(found) == array_properties(array)
        if same_form and underlying_buffer(found).tobytes() == underlying_buffer(array).tobytes():
            continue
        beside = same_form and found.tobytes() == array.tobytes()
        where = "memory between the elements of its input" if beside else "its input"
        return Difference("mutated-input", f"the call changed {where} '{name}'")
    return None
