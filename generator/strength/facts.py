"""Finished calls -> facts: numbers, and clauses that are true; nothing of how a call was drawn.

The engine plans calls by choices and levels. Faults that depend on those would be found because
they were planned for, so faults depend on facts of the finished call and its arrays alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from opcert.arrays.calls import group_variadic
from opcert.arrays.element_types import Array, type_name
from opcert.arrays.layouts import start_of
from opcert.specification.model import Spec

Outputs = Sequence[Array]
Truths = npt.NDArray[np.bool_]
Column = npt.NDArray[np.float64]
# How many tensors of each kind, extents and elements of lists have facts; how many elements count.
_FIRST, _READ = 3, 1 << 12
EARLIER = "number of earlier calls"


@dataclass(frozen=True, eq=False)
class FinishedCall:
    """A call with its arrays, laid out in memory as a backend gets them.

    `outputs` are the golden ones; None if the call must be rejected, since it violates `rule`.
    """

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    outputs: Outputs | None = None
    rule: str | None = None
    text: str = ""

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name; a variadic input is a list of arrays."""
        return {**group_variadic(self.inputs), **self.attributes}

    @property
    def nbytes(self) -> int:
        """The size of its arrays."""
        return sum(array.nbytes for array in (*self.inputs.values(), *(self.outputs or ())))

    @property
    def forms(self) -> dict[str, object]:
        """The type and the shape of each input."""
        return {key: (array.dtype, array.shape) for key, array in self.inputs.items()}


def numbers_in(value: Any) -> list[Any]:
    """Return every number in an argument, in order, those of lists and records included."""
    if isinstance(value, np.ndarray):
        return numbers_in(value.ravel().tolist()) if value.dtype.kind in "iuf" else []
    if isinstance(value, list | dict):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in numbers_in(part)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [value] if is_number and np.isfinite(float(value)) else []


def facts_of(spec: Spec, data: frozenset[str], call: FinishedCall) -> dict[str, float]:
    """Return the facts of a call by name; the value of a clause is True.

    The operator only moves the elements of the inputs in `data`.
    """
    arguments, outputs = call.arguments, call.outputs or ()
    facts: dict[str, float] = {"number of outputs": len(outputs)}
    arrays = {f"outputs[{k}]": output for k, output in enumerate(outputs[:_FIRST])}
    for key, array in (*[*call.inputs.items()][: 2 * _FIRST], *arrays.items()):
        facts.update(_of_array(key, array))
    for key in [*call.inputs][:_FIRST]:
        facts[f"{key}.offset"] = start_of(call.inputs[key]) // call.inputs[key].itemsize
    for name in spec.defaults:
        if name not in arguments:
            facts[f"{name} is omitted"] = True
        elif name not in data:
            facts.update(_of_argument(name, arguments[name]))
        elif isinstance(arguments[name], list):
            facts[f"len({name})"] = len(arguments[name])
    return facts


def _of_array(key: str, array: Array) -> Iterator[tuple[str, float]]:
    yield f"{key}.rank", array.ndim
    yield f"{key}.size", array.size
    yield f"longest extent of {key}", max(array.shape, default=1)
    yield f"{key} is {type_name(array.dtype)}", True
    for axis in {*range(min(_FIRST, array.ndim)), *(range(-min(2, array.ndim), 0))}:
        yield f"{key}.shape[{axis}]", array.shape[axis]
        if array.size:
            yield f"{key}.strides[{axis}]", array.strides[axis] // array.itemsize
    if not array.flags.c_contiguous:
        yield f"{key} is not contiguous", True
    elements = array.reshape(-1)[:_READ] if array.flags.c_contiguous else array.ravel()[:_READ]
    if (elements != elements).any():  # noqa: PLR0124 -- only NaN differs from itself
        yield f"{key} has a NaN", True
    if array.size and (elements == np.zeros(1, array.dtype)).any():
        yield f"{key} has a zero", True
    if array.size > 1 and elements[:1].tobytes() * len(elements) == elements.tobytes():
        yield f"all elements of {key} are equal", True


def _of_argument(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, str | bool):
        yield f"{name} is {value!r}", True
    numbers = numbers_in(value)
    if isinstance(value, list | dict) or (isinstance(value, np.ndarray) and value.ndim):
        yield f"len({name})", len(numbers)
        for position in {*range(min(_FIRST, len(numbers))), *range(-1, 0 if numbers else -1)}:
            yield f"{name}[{position}]", numbers[position]
        for summary in (min, max, sum):
            yield f"{summary.__name__}({name})", summary(numbers or [0])
    elif numbers:
        yield name, numbers[0]
    if len(set(numbers)) < len(numbers):
        yield f"{name} repeats a number", True
    if numbers != sorted(numbers):
        yield f"{name} is not sorted", True


class Steps:
    """Calls in the order in which they are made, with a column for each fact."""

    def __init__(self, spec: Spec, data: frozenset[str], calls: Sequence[FinishedCall]) -> None:
        self.calls = calls
        facts = {call: facts_of(spec, data, call) for call in dict.fromkeys(calls)}
        self._facts = [{**facts[call], EARLIER: k} for k, call in enumerate(calls)]
        names = {name: value is True for each in facts.values() for name, value in each.items()}
        self.clauses = sorted(name for name, is_clause in names.items() if is_clause)
        self.numbers = [*sorted(names.keys() - {*self.clauses}), EARLIER]
        self.is_valid = np.array([call.outputs is not None for call in calls], bool)
        self.nbytes = np.array([call.nbytes for call in calls])
        self._columns: dict[str, Column] = {}

    def before(self, step: int) -> FinishedCall | None:
        """Return the call before a step; None for the first."""
        return self.calls[step - 1] if step else None

    def column(self, name: str, *, before: bool = False) -> Column:
        """Return a fact of each step, or of the call before it; NaN where there is no fact."""
        if name not in self._columns:
            values = [facts.get(name, np.nan) for facts in self._facts]
            self._columns[name] = np.array(values, np.float64)
        column = self._columns[name]
        return np.concatenate([[np.nan], column[:-1]]) if before else column
