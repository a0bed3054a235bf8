"""Valid cases -> neighbours: valid calls that differ from another in one respect.

A runtime may keep a plan, a buffer or a result under a key that leaves something out: what it keeps
for the one shows in the other.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from opcert.arrays import ELEMENT_TYPES, INTEGERS, LAYOUTS, MAX_STORED_BYTES, Call, Tensor, fits
from opcert.cases.case import Case, short_digest
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification import Spec

# Yields calls that differ from one in one thing, given other calls to take it from.
Vary = Callable[[Call, Sequence[Call]], Iterator[Call]]
# What a runtime may take for the whole when it looks at the first bytes of data.
_TOLD_APART = 256
# How many valid calls get a neighbour, for each respect in which calls may differ, how many are
# asked for one, and of how many of its neighbours one is taken.
NEIGHBOURS = {"core": 3, "full": 12, "stress": 3}
_ASKED = 200
_CHOICE = 4


def neighbours(
    conditions: Conditions, profile: str, seed: int, baselines: Sequence[Case]
) -> Iterator[Case]:
    """Yield neighbours of `baselines`, for each respect in which calls of the spec may differ."""
    others = [case.call for case in _by_chance(f"{seed}|others", baselines)]
    for name, vary in ways_to_differ(conditions.spec, conditions.outputs).items():
        asked = _by_chance(f"{seed}|{name}", baselines)[:_ASKED]
        yield from islice(_varied(conditions, name, vary, asked, others), NEIGHBOURS[profile])


def _by_chance(seed: str, cases: Sequence[Case]) -> list[Case]:
    return sorted(cases, key=lambda case: short_digest(f"{seed}|{case.id}"))


def _varied(
    conditions: Conditions, name: str, vary: Vary, asked: Sequence[Case], others: Sequence[Call]
) -> Iterator[Case]:
    spec, number = conditions.spec, 0
    for baseline in asked:
        calls: list[Call] = []
        # What cannot be evaluated is told where goldens are proved.
        with suppress(ExpressionError, Inapplicable):
            calls = [
                call
                for call in islice(vary(baseline.call, others), _CHOICE)
                if not conditions.check(call).violated and not conditions.ambiguity(call)
            ]
        if calls:
            # What is varied in several ways is so by turns.
            call = calls[number % len(calls)]
            number += 1
            yield Case(
                spec.full_id(f"{name}-{short_digest(baseline.id)}"),
                call,
                ("cases", "draw"),
                spec.full_ids(*conditions.behaviours(call)),
                baseline=baseline.id,
                feature_levels=baseline.feature_levels,
            )


def ways_to_differ(spec: Spec, outputs: Callable[[Call], Sequence[Tensor]]) -> dict[str, Vary]:
    """Return each thing in which calls of a spec may differ, and what varies it.

    `outputs` gives the declared outputs of a call.
    """
    ways: dict[str, Vary] = {"other-data": lambda call, _: with_other_data(call, outputs(call))}
    for each in spec.inputs:
        if _is_index(spec, each.type):
            ways[f"other-values-of-{each.name}"] = partial(_with_other_values, each.name)
        else:
            ways[f"other-shape-of-{each.name}"] = partial(_with_other_shape, each.name)
            ways[f"other-layout-of-{each.name}"] = partial(_with_other_layout, each.name)
            ways[f"other-type-of-{each.name}"] = partial(_with_other_data_type, each.name)
    for symbol, types in spec.type_sets.items():
        if _is_index(spec, symbol):
            named = [each.name for each in spec.inputs if each.type == symbol]
            ways[f"other-type-of-{symbol}"] = partial(_with_other_type, named, types)
    for attribute in spec.attributes:
        ways[f"other-{attribute.name}"] = partial(_with_other_attribute, attribute.name)
    for argument in spec.arguments:
        if not argument.required:
            ways[f"without-{argument.name}"] = partial(_without, argument.name)
    return ways


def _is_index(spec: Spec, symbol: str) -> bool:
    """Whether a type symbol stands for integers alone: what has it says where, or how many."""
    return set(spec.type_sets[symbol]) <= set(INTEGERS)


def _with_other_values(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with other values of an input: turned round, moved on, negated, or another's."""
    tensor = call.inputs.get(name)
    if tensor is None or not tensor.values:
        return
    values = tensor.values
    own = [values[::-1], (*values[1:], values[0])]
    if tensor.type in INTEGERS:
        negated = tuple(-int(each) for each in values)
        own += [negated] if _fit(tensor.type, negated) else []
    theirs = [other.inputs[name] for other in others if name in other.inputs]
    form = tensor.type, tensor.shape
    taken = [each.values for each in theirs if (each.type, each.shape) == form]
    for found in dict.fromkeys(each for each in (*own, *taken) if each and each != values):
        yield _with(call, name, replace(tensor, values=found))


def _fit(element_type: str, values: Sequence[float]) -> bool:
    return all(fits(element_type, int(each)) for each in values)


def _with_other_shape(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data of another shape of the same rank: its own backwards, or another's."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    theirs = [other.inputs[name] for other in others if name in other.inputs]
    shapes = [tensor.shape[::-1], *(each.shape for each in theirs if each.rank == tensor.rank)]
    for shape in dict.fromkeys(each for each in shapes if each != tensor.shape):
        found = replace(tensor, shape=shape)
        if found.nbytes <= MAX_STORED_BYTES:
            yield _with(call, name, found)


def _with_other_layout(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield calls of which an input lies otherwise in memory."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.nbytes > MAX_STORED_BYTES:
        return
    for layout in LAYOUTS:
        found = replace(tensor, requested_layout=layout)
        if found.layout != tensor.layout:
            yield _with(call, name, found)


def _with_other_data_type(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data of another call's type."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    for element_type in dict.fromkeys(
        each.inputs[name].type for each in others if name in each.inputs
    ):
        other = replace(tensor, type=element_type)
        if element_type != tensor.type and other.nbytes <= MAX_STORED_BYTES:
            yield _with(call, name, other)


def _with_other_type(
    names: Sequence[str], types: Sequence[str], call: Call, _: Sequence[Call]
) -> Iterator[Call]:
    """Yield calls with the same bytes of inputs in another type, then with the same values."""
    given = {name: call.inputs[name] for name in names if name in call.inputs}
    for found in types:
        if all(_width(found) == _width(each.type) for each in given.values()):
            read = {name: _read_as(found, each) for name, each in given.items()}
            if read != given:
                yield Call({**call.inputs, **read}, call.attributes)
    for found in types:
        same = {name: replace(each, type=found) for name, each in given.items()}
        if same != given and all(_fit(found, each.values or ()) for each in given.values()):
            yield Call({**call.inputs, **same}, call.attributes)


def _width(element_type: str) -> int:
    return ELEMENT_TYPES[element_type].itemsize


def _read_as(element_type: str, tensor: Tensor) -> Tensor:
    """Return a tensor whose bytes are those of `tensor`, in another type of the same width."""
    array = np.array(tensor.values, ELEMENT_TYPES[tensor.type])
    values = array.view(ELEMENT_TYPES[element_type]).tolist()
    return replace(tensor, type=element_type, values=tuple(values))


def _with_other_attribute(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with the attribute of another."""
    found: list[Any] = [call.attributes.get(name)]
    for other in others:
        value = other.attributes.get(name)
        if name in call.attributes and value is not None and value not in found:
            found.append(value)
            yield Call(call.inputs, {**call.attributes, name: value})


def _without(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield the call without an optional argument."""
    if name in call.inputs or name in call.attributes:
        inputs = {each: tensor for each, tensor in call.inputs.items() if each != name}
        yield Call(inputs, {each: v for each, v in call.attributes.items() if each != name})


def with_other_data(call: Call, outputs: Sequence[Tensor]) -> Iterator[Call]:
    """Yield the call with another second half of its data, if that is sure to reach `outputs`."""
    moved = sum(each.size for each in outputs)
    for name, tensor in call.inputs.items():
        if (
            tensor.values is None
            and _TOLD_APART <= tensor.nbytes <= MAX_STORED_BYTES
            and moved > tensor.size // 2
        ):
            yield _with(call, name, replace(tensor, second_half_inverted=True))


def _with(call: Call, name: str, tensor: Tensor) -> Call:
    return Call({**call.inputs, name: tensor}, call.attributes)
