"""The buffers of a call's inputs: filled again, and looked at when the call has returned."""

from opcert.arrays.element_types import Array, Inputs
from opcert.arrays.layouts import Layout, form, laid_out, memory
from opcert.run.comparison import Difference


def refilled(buffer: Array | None, array: Array, layout: Layout) -> Array:
    """Return `buffer` with what `array` has, or a new one where there is none or it is spoiled."""
    if buffer is None or form(buffer) != form(array):
        return laid_out(array, layout)
    memory(buffer)[...] = memory(array)
    return buffer


def mutated(inputs: Inputs, before: Inputs) -> Difference | None:
    """Say which of `inputs` is no longer as it was `before`."""
    for name, array in before.items():
        found = inputs[name]
        same_form = form(found) == form(array)
        if same_form and memory(found).tobytes() == memory(array).tobytes():
            continue
        beside = same_form and found.tobytes() == array.tobytes()
        where = "memory between the elements of its input" if beside else "its input"
        return Difference("mutated-input", f"the call changed {where} '{name}'")
    return None
