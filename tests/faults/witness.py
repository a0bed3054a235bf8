"""Whether the witness of a fault shows it: how its backend behaves unlike the reference."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from opcert.backends.contract import Backend
from tests.faults.fault import Call, Fault, right


def laid_out(array: Array, layout: str) -> Array:
    """Return a fresh array with the elements of `array`, in the requested layout."""
    if layout == "C" or array.ndim == 0:
        return np.array(array, order="C")
    if layout == "Fortran":
        return np.array(array, order="F")
    if layout == "reversed":
        backwards = (slice(None, None, -1),) * array.ndim
        return np.array(array[backwards], order="C")[backwards]
    if layout == "gapped":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    raise ValueError(layout)


def deviation(fault: Fault) -> str | None:
    """Return how a fresh backend behaves unlike the reference in the witness, or None."""
    watch = _Watch(fault)
    return next((text for text in map(watch.call, fault.witness) if text is not None), None)


class _Watch:
    """Makes the calls of a witness, in the buffers of the call before where they fit."""

    def __init__(self, fault: Fault) -> None:
        self.operator = fault.operator
        self.backend: Backend = fault.make()
        self.buffers: dict[str, Array] = {}
        self.wanted: list[tuple[Array, bytes, tuple[int, ...]]] = []
        self.records: list[tuple[Array, bytes]] = []

    def call(self, call: Call) -> str | None:
        """Make one call, and say what is wrong with it or with what came of earlier ones."""
        self.buffers = {name: self.filled(name, a, call) for name, a in call.inputs.items()}
        attributes = deepcopy(dict(call.attributes))
        outputs = _outcome(lambda: self.run(attributes))
        expected = _outcome(lambda: right(self.operator, call))
        return (
            self.written()
            or (_difference(expected, outputs))
            or self.shared(outputs if isinstance(outputs, list | tuple) else ())
        )

    def run(self, attributes: Mapping[str, Any]) -> Sequence[Array]:
        return self.backend.run(self.operator, dict(self.buffers), attributes)

    def filled(self, name: str, array: Array, call: Call) -> Array:
        """Return the buffer of an input with new elements, or a new one."""
        fresh, buffer = laid_out(array, call.layout), self.buffers.get(name)
        if buffer is None or _form(buffer) != _form(fresh):
            buffer = fresh
        else:
            buffer[...] = fresh
        self.wanted = [each for each in self.wanted if each[0] is not buffer]
        self.wanted.append((buffer, buffer.tobytes(), buffer.shape))
        return buffer

    def written(self) -> str | None:
        """Say whether the backend has written to an input, of this call or of an earlier one."""
        for buffer, before, shape in self.wanted:
            if buffer.shape != shape or buffer.tobytes() != before:
                return "an input was written to"
        if any(output.tobytes() != before for output, before in self.records):
            return "an output returned before has changed"
        return None

    def shared(self, outputs: Sequence[Array]) -> str | None:
        """Say whether outputs share memory with inputs or with each other."""
        for number, output in enumerate(outputs):
            others = [*self.buffers.values(), *outputs[:number]]
            if any(np.shares_memory(output, other) for other in others):
                return f"output {number} shares its memory"
        self.records += [(output, output.tobytes()) for output in outputs]
        return None


def _form(array: Array) -> tuple[object, ...]:
    return array.dtype, array.shape, array.strides


def _outcome(run: Callable[[], Any]) -> Any:
    """Return outputs, or what was raised instead."""
    try:
        return run()
    except Exception as error:
        return error


def _difference(expected: Any, outputs: Any) -> str | None:
    if isinstance(expected, Exception):
        return None if isinstance(outputs, Exception) else "a call was accepted that breaks a rule"
    if isinstance(outputs, Exception):
        return f"a valid call was rejected: {outputs}"
    if not isinstance(outputs, list | tuple):
        return f"returned {type(outputs).__name__}"
    forms = [[(each.dtype, each.shape) for each in of] for of in (expected, outputs)]
    if forms[0] != forms[1]:
        return f"outputs are {forms[1]}, not {forms[0]}"
    if [each.tobytes() for each in expected] != [each.tobytes() for each in outputs]:
        return "outputs differ"
    return None
