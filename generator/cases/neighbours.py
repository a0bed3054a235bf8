"""Positive cases -> neighbours: valid calls that differ from another in one respect.

A runtime may cache a plan, a buffer or a result under an incomplete key. The cached object of a
call is then wrong for a neighbour of the call, and for no other call.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from opcert.arrays import (
    ELEMENT_TYPES,
    INTEGERS,
    LAYOUTS,
    MAX_STORED_BYTES,
    Call,
    Tensor,
    argument_of,
    fits,
    flatten_variadic,
    tensors_in,
)
from opcert.cases.case import Case, short_digest
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles import AxisRole, MaskRole, ReshapeRole
from opcert.specification import Spec

# Yields neighbours of a call in one respect; some take values from other calls of the operator.
Variation = Callable[[Call, Sequence[Call]], Iterator[Call]]
# Whether the outputs of a neighbour differ from those of its baseline in some respect.
Difference = Callable[[Sequence[Tensor], Sequence[Tensor]], bool]
_Outputs = Callable[[Call], Sequence[Tensor]]

# How many neighbours there are in each respect.
_NEIGHBOURS = {"core": 3, "full": 12, "stress": 3}
# How many baselines are tried in each respect.
_MAX_BASELINES = 200
# How many neighbours of a baseline are compared; successive baselines select different ones.
_VARIANTS = 4
# How many elements the outputs of a neighbour may have, unless those of the baseline are large.
_MAX_OUTPUT_ELEMENTS = 1 << 20
# Neighbours of a call with more tensors of one variadic input would take much space.
_MAX_TENSORS = 32
# Data of fewer bytes is likely to be compared whole by a runtime that recognises it.
_COMPARED_BYTES = 256


def neighbour_cases(
    conditions: Conditions, profile: str, seed: int, baselines: Sequence[Case]
) -> Iterator[Case]:
    """Yield neighbours of `baselines` in each respect in which calls of the spec can differ."""
    spec = conditions.spec
    others = [case.call for case in _shuffled(f"{seed}|others", baselines)]
    for name, variation in variations(spec, conditions.outputs).items():
        count = 0
        differs = _needed_difference(spec, name)
        is_complete = differs is None
        for number, baseline in enumerate(_shuffled(f"{seed}|{name}", baselines)):
            is_late = number >= _MAX_BASELINES or count >= _NEIGHBOURS[profile]
            if is_late and (is_complete or number >= 2 * _MAX_BASELINES):
                break
            calls: list[Call] = []
            differing: list[Call] = []
            # Expressions that fail are reported where golden outputs are checked.
            with suppress(ExpressionError, Inapplicable):
                moved = sum(output.size for output in conditions.outputs(baseline.call))
                calls = [
                    call
                    for call in islice(variation(baseline.call, others), _VARIANTS)
                    if not conditions.check(call).violated
                    and not conditions.ambiguity(call)
                    and conditions.has_small_outputs(call, max(_MAX_OUTPUT_ELEMENTS, 2 * moved))
                    and _is_storable(conditions, call)
                ]
                if differs is not None:
                    own = conditions.outputs(baseline.call) if calls else []
                    differing = [call for call in calls if differs(own, conditions.outputs(call))]
                if count >= _NEIGHBOURS[profile]:
                    calls = differing
            if calls:
                call = calls[count % len(calls)]
                is_complete = is_complete or call in differing
                count += 1
                yield Case(
                    spec.full_id(f"{name}-{short_digest(baseline.id)}"),
                    call,
                    ("cases", "draw"),
                    spec.full_ids(*conditions.behaviours(call)),
                    baseline=baseline.id,
                    feature_levels=baseline.feature_levels,
                )


def _needed_difference(spec: Spec, name: str) -> Difference | None:
    """Return how the outputs of some neighbour must differ from those of its baseline, if at all.

    If none of the first neighbours in this respect does, one more is added that does. Data of
    another shape, and any neighbour where data is reshaped, needs as many elements in another
    shape: only it reveals that a runtime keeps a shape under the number of elements. Another axis
    needs other shapes: along it, a single part or an axis of 1 would be the same.
    """
    roles = spec.bound_roles
    keeps_shape = name.startswith(("other-data", "other-layout-of", "other-type-of"))
    is_reshaped = any(isinstance(role, ReshapeRole) for role in roles) and not keeps_shape
    if is_reshaped or name.startswith("other-shape-of"):
        return _is_other_form
    axes = [role.name for role in roles if isinstance(role, AxisRole) and not role.is_attribute]
    return _is_other_shape if name in {f"other-values-of-{axis}" for axis in axes} else None


def _is_other_shape(outputs: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Whether other outputs differ in shape."""
    return [output.shape for output in outputs] != [output.shape for output in others]


def _is_other_form(outputs: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Whether other outputs differ in shape, but not in size."""
    sizes = [[output.size for output in tensors] for tensors in (outputs, others)]
    return sizes[0] == sizes[1] and outputs != others


def _is_storable(conditions: Conditions, call: Call) -> bool:
    """Whether the outputs have no open elements, or are small enough to store all alternatives."""
    return conditions.open_elements(call) is None or all(
        output.nbytes <= MAX_STORED_BYTES for output in conditions.outputs(call)
    )


def _shuffled(seed: str, cases: Sequence[Case]) -> list[Case]:
    return sorted(cases, key=lambda case: short_digest(f"{seed}|{case.id}"))


def variations(spec: Spec, outputs: _Outputs) -> dict[str, Variation]:
    """Return each respect in which calls of a spec can differ, with its variation.

    `outputs` returns the declared outputs of a call.
    """
    by_name: dict[str, Variation] = {
        "other-data": lambda call, _: with_other_data(call, outputs(call)),
        **_input_variations(spec),
    }
    is_variadic = any(declared.variadic is not None for declared in spec.inputs)
    if is_variadic:
        # Many tensors admit few other values; those that change nothing should not take their turn.
        for attribute in spec.attributes:
            effective = partial(_effective_attribute, attribute.name, outputs)
            by_name[f"effective-{attribute.name}"] = effective
    for attribute in spec.attributes:
        is_signed_axis = isinstance(attribute, AxisRole) and attribute.negative and not is_variadic
        vary = _other_signed_axis if is_signed_axis else _other_attribute
        by_name[f"other-{attribute.name}"] = partial(vary, attribute.name)
        if isinstance(attribute, MaskRole):
            by_name[f"other-{attribute.name}"] = partial(_other_bits, attribute.name, outputs)
    for argument in spec.arguments:
        if not argument.required:
            group = spec.passed_together(argument.name)
            by_name[f"without-{argument.name}"] = partial(_omitted, group)
    return by_name


def _input_variations(spec: Spec) -> dict[str, Variation]:
    by_name: dict[str, Variation] = {}
    for declared in spec.inputs:
        name = declared.name
        if declared.variadic is not None:
            for key, change in _TENSOR_LISTS.items():
                other_tensors = partial(_other_tensors, name, declared.variadic, change)
                by_name[f"{key}-of-{name}"] = other_tensors
        elif name in spec.number_inputs:
            by_name[f"other-values-of-{name}"] = partial(_other_values, name)
        else:
            by_name[f"other-shape-of-{name}"] = partial(_other_shape, name)
            by_name[f"other-layout-of-{name}"] = partial(_other_layout, name)
            by_name[f"other-type-of-{name}"] = partial(_other_data_type, name)
    for symbol, types in spec.type_sets.items():
        names = [argument.name for argument in spec.inputs if argument.type == symbol]
        if set(names) <= set(spec.number_inputs):
            by_name[f"other-type-of-{symbol}"] = partial(_other_index_type, names, types)
    return by_name


def with_other_data(call: Call, outputs: Sequence[Tensor]) -> Iterator[Call]:
    """Yield the call with the second half of its data inverted, if outputs surely depend on it.

    A runtime that recognises data by its beginning does not notice the difference.
    """
    moved = sum(output.size for output in outputs)
    for name, tensor in call.inputs.items():
        is_data = tensor.values is None and _COMPARED_BYTES <= tensor.nbytes <= MAX_STORED_BYTES
        if is_data and moved > tensor.size // 2:
            yield _with_input(call, name, replace(tensor, second_half_inverted=True))


def _other_values(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with other values of an input: reversed, rotated, negated, or another call's."""
    tensor = call.inputs.get(name)
    if tensor is None or not tensor.values:
        return
    values = tensor.values
    own = [values[::-1], (*values[1:], values[0])]
    if tensor.type in INTEGERS:
        negated = tuple(-int(value) for value in values)
        own += [negated] if _fit(tensor.type, negated) else []
    borrowed = [
        other.inputs[name].values
        for other in others
        if name in other.inputs
        and (other.inputs[name].type, other.inputs[name].shape) == (tensor.type, tensor.shape)
    ]
    for other_values in dict.fromkeys((*own, *borrowed)):
        if other_values and other_values != values:
            yield _with_input(call, name, replace(tensor, values=other_values))


def _fit(element_type: str, values: Sequence[float]) -> bool:
    return all(fits(element_type, value) for value in values)


def _other_shape(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data of another shape of the same rank: reversed, or another call's."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    borrowed = [other.inputs[name].shape for other in others if name in other.inputs]
    shapes = [tensor.shape[::-1], *(shape for shape in borrowed if len(shape) == tensor.rank)]
    for shape in dict.fromkeys(shapes):
        varied = replace(tensor, shape=shape)
        if shape != tensor.shape and varied.nbytes <= MAX_STORED_BYTES:
            yield _with_input(call, name, varied)


def _other_layout(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with an input in another memory layout."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.nbytes > MAX_STORED_BYTES:
        return
    for layout in LAYOUTS:
        varied = replace(tensor, requested_layout=layout)
        if varied.layout != tensor.layout:
            yield _with_input(call, name, varied)


def _other_data_type(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data of another call's type."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    types = dict.fromkeys(other.inputs[name].type for other in others if name in other.inputs)
    for element_type in types:
        varied = replace(tensor, type=element_type)
        if element_type != tensor.type and varied.nbytes <= MAX_STORED_BYTES:
            yield _with_input(call, name, varied)


def _other_index_type(
    names: Sequence[str], types: Sequence[str], call: Call, _: Sequence[Call]
) -> Iterator[Call]:
    """Yield calls with the same bytes of inputs in another type, then with the same values."""
    inputs = {name: call.inputs[name] for name in names if name in call.inputs}
    for element_type in types:
        width = ELEMENT_TYPES[element_type].itemsize
        if all(ELEMENT_TYPES[tensor.type].itemsize == width for tensor in inputs.values()):
            same_bytes = {name: _read_as(element_type, tensor) for name, tensor in inputs.items()}
            if same_bytes != inputs:
                yield Call({**call.inputs, **same_bytes}, call.attributes)
    for element_type in types:
        same_values = {name: replace(tensor, type=element_type) for name, tensor in inputs.items()}
        is_exact = all(_fit(element_type, tensor.values or ()) for tensor in inputs.values())
        if same_values != inputs and is_exact:
            yield Call({**call.inputs, **same_values}, call.attributes)


def _read_as(element_type: str, tensor: Tensor) -> Tensor:
    """Return a tensor with the same bytes in another type of the same width."""
    array = np.array(tensor.values, ELEMENT_TYPES[tensor.type])
    values = array.view(ELEMENT_TYPES[element_type]).tolist()
    return replace(tensor, type=element_type, values=tuple(values))


def _other_attribute(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with the attribute of another call."""
    known: list[Any] = [call.attributes.get(name)]
    for other in others:
        value = other.attributes.get(name)
        if name in call.attributes and value is not None and value not in known:
            known.append(value)
            yield Call(call.inputs, {**call.attributes, name: value})


def _other_signed_axis(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls along another axis; -1 and the last one are the same."""
    rank = max(tensor.rank for tensor in call.inputs.values())
    if any(tensor.size < 2 for tensor in call.inputs.values()):
        return
    for varied in _other_attribute(name, call, others):
        if (varied.attributes[name] - call.attributes[name]) % rank:
            yield varied


def _effective_attribute(
    name: str, outputs: _Outputs, call: Call, others: Sequence[Call]
) -> Iterator[Call]:
    """Yield calls with the attribute of another call, if the outputs have other shapes then."""
    return _with_other_shapes(outputs, call, _other_attribute(name, call, others))


def _other_bits(name: str, outputs: _Outputs, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with one bit of a mask flipped, or two exchanged, if the outputs show it.

    Another call's mask seldom fits, or it differs only where the step does not depend on it.
    """
    mask = call.attributes.get(name, [])
    pairs = [(i, j) for j in range(len(mask)) for i in range(j) if mask[i] != mask[j]]
    masks = (
        [1 - bit if k in flipped else bit for k, bit in enumerate(mask)]
        for flipped in (*((k,) for k in range(len(mask))), *pairs)
    )
    changed = (Call(call.inputs, {**call.attributes, name: bits}) for bits in masks)
    return _with_other_shapes(outputs, call, changed)


def _with_other_shapes(outputs: _Outputs, call: Call, changed: Iterable[Call]) -> Iterator[Call]:
    """Yield those of the `changed` calls whose outputs have other shapes than those of `call`."""
    shapes = [output.shape for output in outputs(call)]
    for other in changed:
        with suppress(ExpressionError, Inapplicable):
            if [output.shape for output in outputs(other)] != shapes:
                yield other


def _omitted(names: Collection[str], call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield the call without optional arguments that belong together."""
    if not call.arguments.keys().isdisjoint(names):
        yield Call(
            {key: tensor for key, tensor in call.inputs.items() if argument_of(key) not in names},
            {key: value for key, value in call.attributes.items() if key not in names},
        )


def _other_tensors(
    name: str,
    numbers: tuple[int, int],
    change: Callable[[tuple[Tensor, ...]], Sequence[Sequence[Tensor]]],
    call: Call,
    _: Sequence[Call],
) -> Iterator[Call]:
    """Yield calls with the tensors of a variadic input in another number, order or form.

    `numbers` are the least and the greatest number of tensors.
    """
    least, most = numbers
    tensors = tensors_in(call.arguments.get(name))
    if not 0 < len(tensors) <= _MAX_TENSORS or any(t.nbytes > MAX_STORED_BYTES for t in tensors):
        return
    others = {key: tensor for key, tensor in call.inputs.items() if argument_of(key) != name}
    for changed in change(tensors):
        if changed and least <= len(changed) <= most and tuple(changed) != tensors:
            yield Call({**flatten_variadic({name: changed}), **others}, call.attributes)


def _relaid(tensors: Sequence[Tensor]) -> Sequence[Sequence[Tensor]]:
    varied = [replace(tensors[-1], requested_layout=layout) for layout in LAYOUTS]
    return [[*tensors[:-1], last] for last in varied if last.layout != tensors[-1].layout]


def _resized(tensors: Sequence[Tensor]) -> Sequence[Sequence[Tensor]]:
    """Return lists whose second tensor, or the only one, is longer by one along some axis."""
    number = min(1, len(tensors) - 1)
    changed = tensors[number]
    shapes = (
        tuple(extent + (d == axis) for d, extent in enumerate(changed.shape))
        for axis in range(changed.rank)
    )
    return [
        [*tensors[:number], replace(changed, shape=shape), *tensors[number + 1 :]]
        for shape in shapes
    ]


# The lists of tensors that a list is changed to, by how they differ.
_TENSOR_LISTS: dict[str, Callable[[tuple[Tensor, ...]], Sequence[Sequence[Tensor]]]] = {
    "one-more": lambda tensors: [(*tensors, tensors[0])],
    "one-fewer": lambda tensors: [tensors[:-1]],
    "other-order": lambda tensors: [tensors[::-1], (*tensors[1:], tensors[0])],
    "other-layout": _relaid,
    "other-length": _resized,
    "other-type": lambda tensors: [
        [replace(tensor, type=name) for tensor in tensors] for name in ELEMENT_TYPES
    ],
}


def _with_input(call: Call, name: str, tensor: Tensor) -> Call:
    return Call({**call.inputs, name: tensor}, call.attributes)
