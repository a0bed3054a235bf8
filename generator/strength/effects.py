"""Finished calls, their facts, and the effects that a wrong backend has on them.

The engine plans calls by choices and levels. Faults that depend on those would be found because
they were planned for, so faults depend on facts of the finished call and its arrays alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from opcert.arrays.calls import group_variadic, keys_of
from opcert.arrays.element_types import Array, bit_width, bits_of, invert_bits, type_name
from opcert.arrays.layouts import start_of
from opcert.run.comparison import compare_outputs
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
    elements = array.ravel()[:_READ]
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


Named = tuple[str, Callable[[Any], Any]]


@dataclass(frozen=True)
class Turn:
    """What a backend knows in a call: the call, the one before it, and the reference.

    `run` runs the reference on arguments, within limits; its errors are passed on.
    """

    call: FinishedCall
    before: FinishedCall | None
    run: Callable[[Mapping[str, Any]], Outputs] = field(repr=False)

    def run_with(self, name: str, value: Any) -> Outputs:
        """Run the reference on the call with another value of an argument; None omits it."""
        arguments = {**self.call.arguments, name: value}
        return self.run({key: item for key, item in arguments.items() if item is not None})


@dataclass(frozen=True, eq=False)
class Effect:
    """What a backend does wrong, as a clause, in valid calls or in those that must be rejected.

    `apply` returns outputs, or None where nothing is wrong; an exception is a rejection.
    """

    text: str
    apply: Callable[[Turn], Outputs | None] = field(repr=False)
    on_valid: bool = True
    uses_before: bool = False

    def shows(self, turn: Turn) -> bool:
        """Whether a caller sees it in a call: a valid one fails, or an invalid one is accepted."""
        golden = turn.call.outputs
        try:
            outputs = self.apply(turn)
        except (Exception, SystemExit):
            # Whatever an author's reference raises is a rejection.
            return golden is not None
        if outputs is None:
            return False
        return golden is None or compare_outputs(golden, outputs) is not None


# -- outputs


def masked(mask_of: Callable[[int], int], array: Array) -> Array:
    """Return an array with the bits that `mask_of` the width of an element keeps."""
    bits = bits_of(array)
    bits &= bits.dtype.type(mask_of(bit_width(type_name(array.dtype))))
    return bits.view(array.dtype)


LOWER_HALF = partial(masked, lambda n: (1 << n) - (1 << (n // 2)))


def _reject(turn: Turn) -> Outputs | None:
    raise ValueError(turn.call.text)


def _accept(_: Turn) -> Outputs | None:
    return [np.zeros(())]


def _spoil(position: int, spoil: Callable[[Array], Array], turn: Turn) -> Outputs | None:
    outputs = [*(turn.call.outputs or ())]
    if not outputs or not outputs[position].size:
        return None
    outputs[position] = spoil(np.array(outputs[position], order="C"))
    return outputs


def _with_wrong_element(place: Callable[[int], int], output: Array) -> Array:
    element = output.reshape(-1)[place(output.size) :][:1]
    element[...] = invert_bits(element)
    return output


def _half_written(output: Array) -> Array:
    output.reshape(-1)[output.size // 2 :] = np.zeros((), output.dtype)
    return output


_SPOILS: Sequence[Named] = (
    ("has a wrong last element", partial(_with_wrong_element, lambda size: size - 1)),
    ("has a wrong first element", partial(_with_wrong_element, lambda _: 0)),
    ("has a wrong element in its middle", partial(_with_wrong_element, lambda size: size // 2)),
    ("is shifted by one element", lambda output: np.roll(output, 1)),
    ("is written only in its first half", _half_written),
    ("loses the lower half of each element", LOWER_HALF),
    ("lacks its last row", lambda output: output[:-1] if output.ndim else output),
    ("has one dimension more", lambda output: output[None]),
)
REJECTION = Effect("the call is rejected", _reject)
ACCEPTANCE = Effect("the invalid call is accepted", _accept, False)
WRONG_ELEMENT, *_OTHERS = (
    Effect(f"the {which} output {text}", partial(_spoil, place, spoil))
    for which, place in (("first", 0), ("last", -1))
    for text, spoil in _SPOILS
)
# Wherever these act, they are wrong, so that conditions must restrict them.
CORRUPTIONS = (REJECTION, ACCEPTANCE, WRONG_ELEMENT, *_OTHERS)


def _rearrange(arrange: Callable[[list[Array]], list[Array]], turn: Turn) -> Outputs | None:
    return arrange([*(turn.call.outputs or ())])


OUTPUT_LISTS = tuple(
    Effect(text, partial(_rearrange, arrange))
    for text, arrange in (
        ("outputs are returned in reverse order", lambda outputs: outputs[::-1]),
        ("the last two outputs are exchanged", lambda outputs: outputs[:-2] + outputs[:-3:-1]),
        ("the first output is missing", lambda outputs: outputs[1:]),
        ("the last output is missing", lambda outputs: outputs[:-1]),
        ("every output is the first one", lambda outputs: outputs[:1] * len(outputs)),
        ("outputs without elements are missing", lambda outputs: [o for o in outputs if o.size]),
        ("outputs lose their dimensions of 1", lambda outputs: [o.squeeze() for o in outputs]),
        ("scalar outputs have the shape [1]", lambda outputs: [np.atleast_1d(o) for o in outputs]),
    )
)


# -- memory and state


def memory_faults(spec: Spec, data: frozenset[str]) -> Iterator[Effect]:
    """Yield ways to share memory with the caller, and to keep what the call before had."""
    for name in sorted(data):
        yield Effect(f"{name} itself is returned where an output equals it", partial(_alias, name))
    same = "where types and shapes are those of the call before"
    for argument in spec.arguments:
        if argument.name not in data:
            text = f"{argument.name} of the call before is used again {same}"
            yield Effect(text, partial(_keep_argument, argument.name), uses_before=True)
    yield Effect(f"former results are returned {same}", _keep_results, uses_before=True)
    text = f"an invalid call is accepted {same}"
    yield Effect(text, lambda t: _accept(t) if _former(t) else None, False, uses_before=True)


def _alias(name: str, turn: Turn) -> Outputs | None:
    """Return what the caller sees after it has put inverted data into the memory of an input."""
    inputs = [turn.call.inputs[key] for key in keys_of(name, turn.call.inputs)]
    values = [(array.dtype, array.shape, array.tobytes()) for array in inputs]
    return [
        invert_bits(np.array(o)) if (o.dtype, o.shape, o.tobytes()) in values else o
        for o in turn.call.outputs or ()
    ]


def _former(turn: Turn) -> FinishedCall | None:
    """Return the call before, if it is valid and has inputs of the same types and shapes."""
    before = turn.before
    if before is None or before.outputs is None or before.forms != turn.call.forms:
        return None
    return before


def _keep_argument(name: str, turn: Turn) -> Outputs | None:
    former = _former(turn)
    if former is None or not (name in turn.call.arguments and name in former.arguments):
        return None
    return turn.run_with(name, former.arguments[name])


def _keep_results(turn: Turn) -> Outputs | None:
    former = _former(turn)
    return None if former is None else former.outputs
