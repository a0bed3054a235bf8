"""Reduction: a failing call -> a smaller one that fails in the same way.

Edits make a call smaller: they remove a dimension, shorten an extent, remove an element, or move a
value nearer to zero. The conditions of the spec decide whether an edited call is still valid, or
still violates the same one rule; the reference gives its expected outputs. The first smaller call
that fails in the same way is edited next, as in delta debugging (Zeller and Hildebrandt,
Simplifying and Isolating Failure-Inducing Input, 2002).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, product
from typing import Any, TypeAlias, TypeVar

import numpy as np

from opcert.arrays.calls import Call, Tensor, argument_of, flatten_variadic, group_variadic, keys_of
from opcert.arrays.element_types import invert_bits, type_name, uniform_elements
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import GoldenCalls
from opcert.errors import Inapplicable, OpcertError
from opcert.run.session import Step
from opcert.specification.files import SpecFile

# A call with at most this many elements and dimensions is readable and not reduced further.
SMALL_SIZE, SMALL_RANK = 20, 4
# The time limit in seconds for the reduction of one call.
SECONDS = 5.0

Fails: TypeAlias = Callable[[Sequence[Step]], bool]
# The position of an integer in plain data: the keys and indices that lead to it.
Path: TypeAlias = tuple[Any, ...]
Item = TypeVar("Item")


def shortened(calls: Sequence[Item], fails: Callable[[Sequence[Item]], bool]) -> Sequence[Item]:
    """Leave out calls without which the last one still `fails`.

    As in delta debugging, halves are left out first, then smaller and smaller parts.
    """
    size = len(calls) - 1
    while size:
        start = 0
        while start < len(calls) - 1:
            fewer = [*calls[:start], *calls[start + size : -1], calls[-1]]
            if fails(fewer):
                calls = fewer
            else:
                start += size
        size //= 2
    return calls


# Edits may raise a LookupError, TypeError, ValueError or OverflowError where they do not apply. The
# golden outputs of an edited call are those of the former one, until a `StepMaker` makes its steps.
Edit: TypeAlias = Callable[[Step], Step]


def call_of(step: Step) -> Call:
    """Return the call of a step in the form that conditions evaluate."""
    inputs = {
        name: Tensor(
            type_name(array.dtype),
            array.shape,
            None if name in step.data_inputs else tuple(array.ravel().tolist()),
            layout=step.layouts[name],
            uniform=uniform_elements(array) if name in step.data_inputs else "no",
        )
        for name, array in step.inputs.items()
    }
    return Call(inputs, step.attributes)


def _read_by(step: Step) -> dict[str, Any]:
    """Return the arguments whose values the operator reads, as plain data."""
    arrays = {name: array for name, array in step.inputs.items() if name not in step.data_inputs}
    return {**{name: array.tolist() for name, array in arrays.items()}, **step.attributes}


def _amount(step: Step) -> tuple[int, int, int, int]:
    """Return how much there is to read: elements, dimensions, number and size of integers."""
    arrays, integers = list(step.inputs.values()), [*_integers_in(_read_by(step))]
    return (
        sum(int(np.prod([max(extent, 1) for extent in array.shape])) for array in arrays),
        sum(array.ndim for array in arrays),
        len(integers) + len(arrays) + len(step.attributes),
        sum(abs(number) for _, number in integers)
        + sum(len(layout.parts) for layout in step.layouts.values()),
    )


def _with_read(step: Step, name: str, value: Any) -> Step:
    """Return a call with one of the arguments that the operator reads replaced."""
    if name in step.attributes:
        return replace(step, attributes={**step.attributes, name: value})
    array = np.array(value, step.inputs[name].dtype)
    return replace(step, inputs={**step.inputs, name: array})


class StepMaker:
    """Makes steps of calls of one operator that are valid, or violate one `rule` alone."""

    def __init__(self, spec_file: SpecFile, rule: str | None = None) -> None:
        self._rule, self._violated = rule, () if rule is None else (rule.partition("/")[2],)
        self._conditions, self._golden = Conditions(spec_file.spec), GoldenCalls(spec_file)

    def steps(self, edited: Step, inverted_data: Sequence[bool] = (False,)) -> list[Step]:
        """Return the calls to make, if an edited one is of this sort and touches no ambiguity."""
        call = call_of(edited)
        try:
            violated = self._conditions.check(call).violated
            if self._conditions.ambiguity(call) or violated != self._violated:
                return []
            return [self._step(edited, call, inverted) for inverted in inverted_data]
        except (Inapplicable, OpcertError):
            return []

    def _step(self, edited: Step, call: Call, inverted: bool) -> Step:
        inputs = {
            name: invert_bits(array) if inverted and name in edited.data_inputs else array
            for name, array in edited.inputs.items()
        }
        golden = self._golden.outputs(call, inputs) if self._rule is None else None
        return replace(edited, inputs=inputs, golden=golden, relation="", rule=self._rule)


def reduced(
    maker: StepMaker,
    start: Step,
    inverted_data: Sequence[bool],
    fails: Fails,
) -> list[Step]:
    """Return the steps of the smallest call that fails as `start` does; [] if none is smaller.

    `maker` makes its steps. Each item of `inverted_data` is a call that the failure needs: True if
    every bit of its data is inverted. `fails` makes these calls and returns whether the last one
    fails in the same way.
    """
    best = start
    deadline = time.monotonic() + SECONDS
    steps = maker.steps(start, inverted_data)
    progress = bool(steps)
    while progress and not is_small(steps[0]):
        progress = False
        for candidate in _smaller_candidates(best):
            if time.monotonic() > deadline:
                break
            smaller = maker.steps(candidate, inverted_data)
            if smaller and fails(smaller):
                best, steps, progress = candidate, smaller, True
                break
    return [] if best is start else steps


def is_small(step: Step) -> bool:
    """Whether a call is small enough to read."""
    arrays = (*step.inputs.values(), *(step.golden or ()))
    return elements_to_read(step) <= SMALL_SIZE and all(a.ndim <= SMALL_RANK for a in arrays)


def elements_to_read(step: Step) -> int:
    """Return the number of elements of the inputs, or of the outputs if these have more."""
    return max(sum(a.size for a in side) for side in (step.inputs.values(), step.golden or ()))


def _smaller_candidates(start: Step) -> Iterator[Step]:
    """Yield smaller calls: first by one edit, in order of effect, then by two edits together."""
    keys = [key for key in start.inputs if argument_of(key) != key]
    structure: list[Edit] = [partial(_remove_tensor, key=key) for key in keys]
    structure += _structural_edits(start)
    values: list[Edit] = [
        partial(_set_integer, path=path, value=nearer)
        for path, number in _integers_in(_read_by(start))
        for nearer in _nearer_to_zero(number)
    ]
    pairs = chain(combinations(structure, 2), product(structure, values))
    seen, amount = set[str](), _amount(start)
    for edits in chain(((edit,) for edit in chain(structure, values)), pairs):
        candidate = start
        try:
            for edit in edits:
                candidate = edit(candidate)
        except (LookupError, TypeError, ValueError, OverflowError):
            # The first edit removed the part that the second one changes.
            continue
        arrays = [array.tobytes() for array in candidate.inputs.values()]
        key = str((str(call_of(candidate)), candidate.layouts, arrays))
        if _amount(candidate) < amount and key not in seen:
            seen.add(key)
            yield candidate


def _structural_edits(start: Step) -> Iterator[Edit]:
    """Yield edits that remove dimensions, parts of dimensions, elements of lists, and strides."""
    rank = max((array.ndim for array in start.inputs.values()), default=0)
    for axis in range(rank):
        for names in (tuple(start.inputs), *((name,) for name in start.inputs)):
            yield partial(_remove_dimension, names=names, axis=axis)
    yield from _list_edits(start)
    integers = {number for _, number in _integers_in(_read_by(start))}
    for name in start.data_inputs:
        for axis, extent in enumerate(start.inputs[name].shape):
            # Removing a part of a partition removes its length from the extent.
            parts = {extent - number for number in integers if 0 < number < extent}
            # What fails for a remainder of vectors needs one more than a power of 2.
            past = {(1 << k) + 1 for k in range(2, extent.bit_length())}
            for shorter in sorted({1, 2, 3, extent // 2, extent - 1, *parts, *past} - {0}):
                if shorter < extent:
                    edit = partial(_shorten, name=name, axis=axis, extent=shorter)
                    for from_end, follow in product((False, True), (True, False)):
                        yield partial(edit, from_end=from_end, follow=follow)
    for name, layout in start.layouts.items():
        for part in layout.parts:
            simpler = replace(layout, **{part: getattr(C_ORDER, part)})
            yield partial(_with_layout, name=name, layout=simpler)


def _list_edits(start: Step) -> Iterator[Edit]:
    """Yield edits that remove an item from one list, or from all lists of the same length."""
    lists = {name: len(value) for name, value in _read_by(start).items() if isinstance(value, list)}
    # Lists of equal length usually belong together, with one item for each axis.
    for length in dict.fromkeys(lists.values()):
        equally_long = tuple(name for name, size in lists.items() if size == length)
        for position in range(length):
            for names in dict.fromkeys([equally_long, *((name,) for name in equally_long)]):
                yield partial(_remove_item, names=names, position=position)


def _remove_dimension(step: Step, names: Sequence[str], axis: int) -> Step:
    """Remove a dimension from the named arrays; if these are all, from lists of integers too."""
    inputs = {
        # NumPy returns a scalar for an array of one dimension.
        name: np.asarray(array.take(0, axis)) if name in names and axis < array.ndim else array
        for name, array in step.inputs.items()
    }

    def without(items: list[Any]) -> list[Any] | None:
        is_of_integers = items and all(isinstance(item, int) for item in items)
        return [*items[:axis], *items[axis + 1 :]] if is_of_integers else None

    attributes = step.attributes
    if len(names) == len(step.inputs):
        attributes = _with_lists(attributes, without)
    return replace(step, inputs=inputs, attributes=attributes)


def _remove_tensor(step: Step, key: str) -> Step:
    """Remove a tensor of a variadic input, and decrease integers that equal their number."""
    number = len(keys_of(argument_of(key), step.inputs))

    def renumbered(items: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: item for name, item in items.items() if name != key}
        return flatten_variadic(group_variadic(kept))

    inputs, layouts = renumbered(step.inputs), renumbered(step.layouts)
    data = tuple(name for name in step.data_inputs if name in inputs)
    fewer = _with_one_fewer(step.attributes, number)
    return replace(step, inputs=inputs, layouts=layouts, data_inputs=data, attributes=fewer)


def _remove_item(step: Step, names: Sequence[str], position: int) -> Step:
    """Remove an item from lists, and decrease the attributes that equal an attribute's length."""
    for name in names:
        items = _read_by(step)[name]
        shorter = [*items[:position], *items[position + 1 :]]
        if name in step.attributes:
            fewer = _with_one_fewer(step.attributes, len(items))
            step = replace(step, attributes=fewer)
        step = _with_read(step, name, shorter)
    return step


def _with_one_fewer(attributes: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Decrease the attributes that equal a count by one."""
    return {
        name: value - 1 if value == count and not isinstance(value, bool) else value
        for name, value in attributes.items()
    }


def _shorten(step: Step, name: str, axis: int, extent: int, from_end: bool, follow: bool) -> Step:
    """Keep the first part of a dimension, or the last part with `from_end`.

    With `follow`, integers that equal the former extent change to the new one: elements of other
    inputs, and the items for this dimension in lists as long as the rank.
    """
    array = step.inputs[name]
    former, rank = array.shape[axis], array.ndim
    kept = range(former - extent, former) if from_end else range(extent)
    inputs = {**step.inputs, name: array.take(kept, axis)}
    if not follow:
        return replace(step, inputs=inputs)
    for other, values in step.inputs.items():
        if other not in step.data_inputs and values.dtype.kind in "iu" and values.size:
            inputs[other] = np.where(values == former, values.dtype.type(extent), values)

    def with_new_extent(items: list[Any]) -> list[Any] | None:
        is_shape = len(items) == rank and items[axis] == former
        return [*items[:axis], extent, *items[axis + 1 :]] if is_shape else None

    attributes = _with_lists(step.attributes, with_new_extent)
    return replace(step, inputs=inputs, attributes=attributes)


def _with_lists(data: Any, change: Callable[[list[Any]], list[Any] | None]) -> Any:
    """Return plain data in which each list is what `change` makes of it, if that is not None."""
    if isinstance(data, dict):
        return {key: _with_lists(item, change) for key, item in data.items()}
    if not isinstance(data, list):
        return data
    changed = change(data)
    return [_with_lists(item, change) for item in data] if changed is None else changed


def _with_layout(step: Step, name: str, layout: Layout) -> Step:
    return replace(step, layouts={**step.layouts, name: layout})


def _set_integer(step: Step, path: Path, value: int) -> Step:
    def replaced(data: Any, path: Path) -> Any:
        if not path:
            return value
        changed = copy(data)
        changed[path[0]] = replaced(data[path[0]], path[1:])
        return changed

    name, *rest = path
    return _with_read(step, name, replaced(_read_by(step)[name], (*rest,)))


def _nearer_to_zero(value: int) -> list[int]:
    step = 1 if value > 0 else -1
    nearer = dict.fromkeys([0, step, int(value / 2), value - step])
    return [number for number in nearer if abs(number) < abs(value)]


def _integers_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield the integers in plain data, each with its path."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield path, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _integers_in(item, (*path, key))
