"""A failing call -> a smaller one that fails in the same way.

Edits make a call smaller: a dimension less, a shorter extent, an element less, a value nearer to
zero. The conditions of the spec say which edited calls are valid, or break the same rule alone; the
reference says what they have to give. The first smaller one that fails in the same way is edited
next, as in delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
Input, 2002).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations, product
from typing import Any, Self, TypeAlias

import numpy as np

from opcert.arrays import INTEGERS, Array, Call, Layout, Tensor, invert_bits, lowest, type_name
from opcert.cases import Conditions
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.run import SessionStep
from opcert.specification import SpecFile, golden_outputs

# A call of so many elements, of such a rank, is read at a glance and left as it is.
SMALL_SIZE, SMALL_RANK = 20, 4
# How many seconds go into one call.
SECONDS = 5.0

Fails: TypeAlias = Callable[[Sequence[SessionStep]], bool]


@dataclass(frozen=True)
class Candidate:
    """A call with its arrays, in C order; the inputs in `free` are data to move."""

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    layouts: Mapping[str, Layout]
    free: tuple[str, ...]

    @classmethod
    def of(cls, step: SessionStep) -> Self:
        """Return the call of a step."""
        return cls(step.inputs, step.attributes, step.layouts, step.free)

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """How much there is to read: elements, dimensions, numbers, and how large these are."""
        arrays = list(self.inputs.values())
        return (
            sum(int(np.prod([max(n, 1) for n in array.shape])) for array in arrays),
            sum(array.ndim for array in arrays),
            len(self.numbers) + len(arrays) + len(self.attributes),
            sum(map(abs, self.numbers)) + sum(layout != "c" for layout in self.layouts.values()),
        )

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers in inputs that are no data, and in attributes."""
        arrays = [array for name, array in self.inputs.items() if name not in self.free]
        return [
            *(number for array in arrays for number in _ints(array)),
            *(number for _, number in _places(dict(self.attributes))),
        ]

    @property
    def call(self) -> Call:
        """The call as conditions see it."""
        inputs = {
            name: Tensor(
                type_name(array.dtype),
                array.shape,
                None if name in self.free else tuple(array.ravel().tolist()),
                requested_layout=self.layouts[name],
            )
            for name, array in self.inputs.items()
        }
        return Call(inputs, self.attributes)

    def given(self, **inputs: Array) -> "Candidate":
        """Return the call with other arrays."""
        return replace(self, inputs={**self.inputs, **inputs})

    def with_attribute(self, name: str, value: Any) -> "Candidate":
        """Return the call with another attribute."""
        return replace(self, attributes={**self.attributes, name: value})


Edit: TypeAlias = Callable[[Candidate], Candidate]


class Reduction:
    """Makes failing calls of one operator smaller; `fails` makes calls of the backend."""

    def __init__(self, spec_file: SpecFile, fails: Fails) -> None:
        self._file = spec_file
        self._conditions = Conditions(spec_file.spec)
        self._fails = fails

    def reduced(
        self,
        start: Candidate,
        rule: str | None,
        inverted_data: Sequence[bool],
        seconds: float = SECONDS,
    ) -> Candidate | None:
        """Return the smallest call found that fails as `start` does, or None where none is smaller.

        `rule` is the one that the call breaks. `other_data` says of each of the calls that show the
        failure whether every bit of its data is inverted.
        """
        best, deadline = start, time.monotonic() + seconds
        steps = self.steps(start, rule, inverted_data)
        progress = bool(steps)
        while progress and not is_small(steps[0]):
            progress = False
            for candidate in _smaller(best):
                if time.monotonic() > deadline:
                    break
                smaller = self.steps(candidate, rule, inverted_data)
                if smaller and self._fails(smaller):
                    best, steps, progress = candidate, smaller, True
                    break
        return None if best is start else best

    def steps(
        self, candidate: Candidate, rule: str | None, inverted_data: Sequence[bool]
    ) -> list[SessionStep]:
        """Return the calls that show whether a candidate fails, or none where it is no such call.

        It has to be valid, or to break the one rule alone, and to touch no ambiguity.
        """
        try:
            call = candidate.call
            broken = self._conditions.check(call).violated
            if self._conditions.ambiguity(call) or broken != (() if rule is None else (rule,)):
                return []
            return [self._step(candidate, rule, other) for other in inverted_data]
        except (ExpressionError, Inapplicable, OpcertError):
            return []

    def _step(self, candidate: Candidate, rule: str | None, other: bool) -> SessionStep:
        spec = self._file.spec
        inputs = {
            name: invert_bits(array) if other and name in candidate.free else array
            for name, array in candidate.inputs.items()
        }
        outputs = None
        if rule is None:
            outputs = golden_outputs(self._file.reference, inputs, candidate.attributes)
        return SessionStep(
            spec.operator,
            inputs,
            candidate.attributes,
            outputs,
            candidate.layouts,
            candidate.free,
            rule=None if rule is None else spec.full_id(rule),
        )


def is_small(step: SessionStep) -> bool:
    """Whether a call is read at a glance."""
    arrays = [*step.inputs.values(), *(step.golden or ())]
    inputs = sum(array.size for array in step.inputs.values())
    outputs = sum(array.size for array in step.golden or ())
    return max(inputs, outputs) <= SMALL_SIZE and all(a.ndim <= SMALL_RANK for a in arrays)


def _smaller(start: Candidate) -> Iterator[Candidate]:
    """Yield smaller calls: by one edit, the boldest first, then by two that go together."""
    structure, values = list(_structural(start)), list(_nearer_to_zero(start))
    pairs = chain(combinations(structure, 2), ((s, v) for s in structure for v in values))
    edits = chain(((edit,) for edit in chain(structure, values)), pairs)
    seen: set[str] = set()
    for chosen in edits:
        candidate = start
        try:
            for edit in chosen:
                candidate = edit(candidate)
        except (IndexError, ValueError, KeyError, OverflowError):
            # The second edit is of what the first has taken away.
            continue
        key = str(candidate.call) + str([a.tobytes() for a in candidate.inputs.values()])
        if candidate.weight < start.weight and key not in seen:
            seen.add(key)
            yield candidate


def _structural(start: Candidate) -> Iterator[Edit]:
    """Yield edits that take away dimensions, parts of dimensions, and elements of lists."""
    rank = max((array.ndim for array in start.inputs.values()), default=0)
    for axis in range(rank):
        for names in (tuple(start.inputs), *((name,) for name in start.inputs)):
            yield partial(_without_dimension, names=names, axis=axis)
    yield from _shorter_lists(start)
    numbers = set(start.numbers)
    for name in start.free:
        for axis, extent in enumerate(start.inputs[name].shape):
            # A part that goes takes its length with it.
            parts = {extent - number for number in numbers if 0 < number < extent}
            for shorter in sorted({1, 2, 3, extent // 2, extent - 1, *parts} - {0}):
                if shorter < extent:
                    for end, follow in product((False, True), (True, False)):
                        yield partial(
                            _cut, name=name, axis=axis, extent=shorter, end=end, follow=follow
                        )
    for name, layout in start.layouts.items():
        if layout != "c":
            yield partial(_in_c_order, name=name)


def _shorter_lists(start: Candidate) -> Iterator[Edit]:
    """Yield edits that take an element from a list, or from all lists that are as long."""
    lists = {
        name: array.size
        for name, array in start.inputs.items()
        if array.ndim == 1 and name not in start.free
    }
    for length in set(lists.values()):
        alike = tuple(name for name, size in lists.items() if size == length)
        for position in range(length):
            for names in dict.fromkeys([alike, *((name,) for name in alike)]):
                yield partial(_without_element, names=names, position=position)
    for name, value in start.attributes.items():
        for position in range(len(value) if isinstance(value, list) else 0):
            yield partial(_without_item, name=name, position=position)


def _without_element(candidate: Candidate, names: Sequence[str], position: int) -> Candidate:
    return candidate.given(**{name: np.delete(candidate.inputs[name], position) for name in names})


def _without_item(candidate: Candidate, name: str, position: int) -> Candidate:
    """Take an item from a list, and from the numbers that say how many it has."""
    items = candidate.attributes[name]
    attributes = {
        key: value - 1 if value == len(items) and not isinstance(value, bool) else value
        for key, value in candidate.attributes.items()
    }
    attributes[name] = [*items[:position], *items[position + 1 :]]
    return replace(candidate, attributes=attributes)


def _in_c_order(candidate: Candidate, name: str) -> Candidate:
    return replace(candidate, layouts={**candidate.layouts, name: "c"})


def _without_dimension(candidate: Candidate, names: Sequence[str], axis: int) -> Candidate:
    """Take a dimension from arrays, and its extent from records that list extents."""
    inputs = {
        # Of one dimension, NumPy takes a scalar.
        name: np.asarray(array.take(0, axis)) if name in names and axis < array.ndim else array
        for name, array in candidate.inputs.items()
    }
    whole = len(names) == len(candidate.inputs)

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items()}
        if isinstance(value, list) and value and all(isinstance(each, int) for each in value):
            return [*value[:axis], *value[axis + 1 :]]
        return [without(each) for each in value] if isinstance(value, list) else value

    attributes = {k: without(v) if whole else v for k, v in candidate.attributes.items()}
    return replace(candidate, inputs=inputs, attributes=attributes)


def _cut(
    candidate: Candidate, name: str, axis: int, extent: int, end: bool, follow: bool
) -> Candidate:
    """Keep the first or the last part of a dimension; with `follow`, numbers that name its extent.

    Those are the elements of other inputs, and the extents of that dimension in records.
    """
    array = candidate.inputs[name]
    before, rank = array.shape[axis], array.ndim
    kept = range(before - extent, before) if end else range(extent)
    inputs = {**candidate.inputs, name: array.take(kept, axis)}
    if not follow:
        return replace(candidate, inputs=inputs)
    for other, each in candidate.inputs.items():
        if other not in candidate.free and each.dtype.kind in "iu" and each.size:
            inputs[other] = np.where(each == before, each.dtype.type(extent), each)

    def cut(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: cut(each) for key, each in value.items()}
        if not isinstance(value, list):
            return value
        if len(value) == rank and value[axis] == before:
            return [*value[:axis], extent, *value[axis + 1 :]]
        return [cut(each) for each in value]

    attributes = {key: cut(value) for key, value in candidate.attributes.items()}
    return replace(candidate, inputs=inputs, attributes=attributes)


def _nearer_to_zero(start: Candidate) -> Iterator[Edit]:
    """Yield edits that take one number of an input or an attribute nearer to zero."""
    for name, array in start.inputs.items():
        if name in start.free or type_name(array.dtype) not in INTEGERS:
            continue
        least = lowest(type_name(array.dtype))
        for position, value in enumerate(_ints(array)):
            for nearer in _nearer(value):
                if nearer >= least:
                    yield partial(_with_element, name=name, position=position, value=nearer)
    for name, value in start.attributes.items():
        for place, number in _places(value):
            for nearer in _nearer(number):
                yield partial(_with_number, name=name, place=place, value=nearer)


def _with_element(candidate: Candidate, name: str, position: int, value: int) -> Candidate:
    changed = candidate.inputs[name].copy()
    changed.reshape(-1)[position] = value
    return candidate.given(**{name: changed})


def _with_number(candidate: Candidate, name: str, place: tuple[Any, ...], value: int) -> Candidate:
    return candidate.with_attribute(name, _set(candidate.attributes[name], place, value))


def _nearer(value: int) -> list[int]:
    step = 1 if value > 0 else -1
    steps = dict.fromkeys([0, step, int(value / 2), value - step])
    return [each for each in steps if abs(each) < abs(value)]


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield where the numbers in plain data are."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield place, value
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from _places(each, (*place, key))


def _set(value: Any, place: tuple[Any, ...], number: int) -> Any:
    if not place:
        return number
    key, *rest = place
    if isinstance(value, dict):
        return {**value, key: _set(value[key], tuple(rest), number)}
    return [_set(each, tuple(rest), number) if i == key else each for i, each in enumerate(value)]


def _ints(array: Array) -> list[int]:
    if type_name(array.dtype) not in INTEGERS:
        return [0] * array.size
    found: list[int] = array.ravel().tolist()
    return found
