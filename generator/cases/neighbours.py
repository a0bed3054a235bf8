"""Positive cases -> neighbours: valid calls that differ from another in one respect.

A runtime may cache a plan, a buffer or a result under an incomplete key. The cached object of a
call is then wrong for a neighbour of the call, and for no other call.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from opcert.arrays.calls import Call, Tensor, argument_of
from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, LAYOUTS, fits
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.cases.attribute_changes import (
    effective_attribute,
    negated_axis,
    other_attribute,
    other_bits,
    other_signed_axis,
)
from opcert.cases.case import Case, Change, short_digest
from opcert.cases.conditions import Conditions, are_small
from opcert.cases.list_mutations import TENSOR_LISTS, other_tensors
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.dims import PermutationRole
from opcert.roles.element_indices import ElementIndicesRole
from opcert.roles.reshape import ReshapeRole
from opcert.roles.scalar_values import MaskRole
from opcert.roles.slicing_steps import SlicingStepsRole
from opcert.roles.windows import WindowsRole
from opcert.specification.expressions import evaluate
from opcert.specification.model import Spec

Item = TypeVar("Item")
# Yields neighbours of a call in one respect; some take values from other calls of the operator.
Variation = Callable[[Call, Sequence[Call]], Iterator[Call]]
# Whether the outputs of a neighbour differ from those of its baseline in some respect.
Difference = Callable[[Sequence[Tensor], Sequence[Tensor]], bool]

# How many baselines are tried in each respect.
_MAX_BASELINES = 200
# How many neighbours of a baseline are compared; successive baselines select different ones.
_VARIANTS = 4
# How many elements the outputs of a neighbour may have, unless those of the baseline are large.
_MAX_OUTPUT_ELEMENTS = 1 << 20
# With these roles, data may be longer than what the output is taken from.
_WITHIN_DATA = (ElementIndicesRole, SlicingStepsRole, WindowsRole)
# Data of fewer bytes is likely to be compared whole by a runtime that recognises it.
_COMPARED_BYTES = 256


def neighbour_cases(
    conditions: Conditions, most: int, seed: int, baselines: Sequence[Case]
) -> Iterator[Case]:
    """Yield neighbours of `baselines` in each respect in which calls can differ, `most` of each."""
    spec = conditions.spec
    others = [case.call for case in _shuffled(f"{seed}|others", baselines)]
    for name, variation in variations(spec, conditions.outputs).items():
        count = 0
        differs = _needed_difference(spec, name)
        is_complete = differs is None
        for number, baseline in enumerate(_shuffled(f"{seed}|{name}", baselines)):
            is_late = number >= _MAX_BASELINES or count >= most
            if is_late and (is_complete or number >= 2 * _MAX_BASELINES):
                break
            calls: list[Call] = []
            differing: list[Call] = []
            # Expressions that fail are reported where golden outputs are checked.
            with suppress(ExpressionError, Inapplicable):
                own = conditions.outputs(baseline.call)
                most_elements = max(_MAX_OUTPUT_ELEMENTS, 2 * sum(output.size for output in own))
                outputs_of = [
                    (call, outputs)
                    for changed in islice(variation(baseline.call, others), _VARIANTS)
                    if (call := _followed(conditions, changed)) != baseline.call
                    and not conditions.check(call).violated
                    and not conditions.ambiguity(call)
                    and are_small(outputs := conditions.outputs(call), most_elements)
                    and _is_storable(conditions, call, outputs)
                ]
                calls = [call for call, _ in outputs_of]
                if differs is not None:
                    differing = [call for call, outputs in outputs_of if differs(own, outputs)]
                if count >= most:
                    calls = differing
            if calls:
                call = calls[count % len(calls)]
                is_complete = is_complete or call in differing
                count += 1
                yield Case(
                    spec.full_id(f"{name}-{short_digest(baseline.id)}"),
                    call,
                    (),
                    spec.full_ids(*conditions.behaviours(call)),
                    baseline=baseline.id,
                    change=Change(name),
                    feature_levels=baseline.feature_levels,
                )


def _followed(conditions: Conditions, call: Call) -> Call:
    """Return the call with each argument changed that follows from others."""
    # What cannot be evaluated makes the call invalid anyway.
    with suppress(ExpressionError, Inapplicable):
        for role in conditions.spec.bound_roles:
            value = role.following(call, partial(evaluate, names=conditions.names(call)))
            if value is not None and role.name in call.arguments:
                call = call.changed(role.name, value, conditions.spec.defaults)
    return call


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


def _is_storable(conditions: Conditions, call: Call, outputs: Sequence[Tensor]) -> bool:
    """Whether the outputs exist, and have no open elements or few enough to store alternatives."""
    # No rule need forbid a call whose outputs would have a negative extent.
    if any(extent < 0 for output in outputs for extent in output.shape):
        return False
    is_small = all(output.nbytes <= MAX_STORED_BYTES for output in outputs)
    return is_small or conditions.open_elements(call) is None


def _shuffled(seed: str, cases: Sequence[Case]) -> list[Case]:
    return sorted(cases, key=lambda case: short_digest(f"{seed}|{case.id}"))


def variations(spec: Spec, outputs: Callable[[Call], Sequence[Tensor]]) -> dict[str, Variation]:
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
            by_name[f"effective-{attribute.name}"] = partial(
                effective_attribute, attribute.name, outputs
            )
    for attribute in spec.attributes:
        is_signed_axis = isinstance(attribute, AxisRole) and attribute.negative and not is_variadic
        vary = other_signed_axis if is_signed_axis else other_attribute
        by_name[f"other-{attribute.name}"] = partial(vary, attribute.name)
        if isinstance(attribute, AxisRole) and attribute.negative:
            by_name[f"negated-{attribute.name}"] = partial(negated_axis, attribute.name)
        if isinstance(attribute, MaskRole):
            by_name[f"other-{attribute.name}"] = partial(other_bits, attribute.name, outputs)
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
            for key, change in TENSOR_LISTS.items():
                by_name[f"{key}-of-{name}"] = partial(
                    other_tensors, name, declared.variadic, change
                )
        elif name in spec.number_inputs:
            by_name[f"other-values-of-{name}"] = partial(_other_values, name)
            if isinstance(declared, PermutationRole):
                by_name[f"last-two-exchanged-of-{name}"] = partial(_last_two_exchanged, name)
        else:
            by_name[f"other-shape-of-{name}"] = partial(_other_shape, name)
            if any(isinstance(role, _WITHIN_DATA) for role in spec.bound_roles):
                by_name[f"longer-axis-of-{name}"] = partial(_longer_axis, name)
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
            yield call.changed(name, replace(tensor, second_half_inverted=True))


def _other_values(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with other values of an input: reversed, rotated, negated, or another call's."""
    tensor = call.inputs.get(name)
    if tensor is None or not tensor.values:
        return
    values = tensor.values
    own = [values[::-1], (*values[1:], values[0])]
    if tensor.type in INTEGERS:
        negated = tuple(-int(value) for value in values)
        own += [negated] if all(fits(tensor.type, value) for value in negated) else []
    borrowed = (
        other.inputs[name].values
        for other in others
        if name in other.inputs
        and (other.inputs[name].type, other.inputs[name].shape) == (tensor.type, tensor.shape)
    )
    for other_values in _distinct(chain(own, borrowed)):
        if other_values and other_values != values:
            yield call.changed(name, replace(tensor, values=other_values))


def _distinct(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items without repetitions, each only when it is asked for."""
    known: set[Item] = set()
    for item in items:
        if item not in known:
            known.add(item)
            yield item


def _last_two_exchanged(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield the call with the last two values of an input exchanged, and the first one as it is."""
    tensor = call.inputs.get(name)
    if tensor is not None and tensor.values and len(tensor.values) > 2:
        *first, last_but_one, last = tensor.values
        yield call.changed(name, replace(tensor, values=(*first, last, last_but_one)))


def _other_shape(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data of another shape of the same rank: reversed, or another call's."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    borrowed = (other.inputs[name].shape for other in others if name in other.inputs)
    shapes = (shape for shape in borrowed if len(shape) == tensor.rank)
    for shape in _distinct(chain([tensor.shape[::-1]], shapes)):
        varied = replace(tensor, shape=shape)
        if shape != tensor.shape and varied.nbytes <= MAX_STORED_BYTES:
            yield call.changed(name, varied)


def _longer_axis(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data longer by one along an axis: what lies within it has the same shape."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    for axis in reversed(range(tensor.rank)):
        extent = tensor.shape[axis] + 1
        shape = (*tensor.shape[:axis], extent, *tensor.shape[axis + 1 :])
        yield call.changed(name, replace(tensor, shape=shape))


def _other_layout(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with an input in another memory layout."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.nbytes > MAX_STORED_BYTES:
        return
    for layout in LAYOUTS:
        varied = replace(tensor, requested_layout=layout)
        if varied.layout != tensor.layout:
            yield call.changed(name, varied)


def _other_data_type(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with data of another call's type."""
    tensor = call.inputs.get(name)
    if tensor is None or tensor.values is not None or tensor.nbytes > MAX_STORED_BYTES:
        return
    types = (other.inputs[name].type for other in others if name in other.inputs)
    for element_type in _distinct(types):
        varied = replace(tensor, type=element_type)
        if element_type != tensor.type and varied.nbytes <= MAX_STORED_BYTES:
            yield call.changed(name, varied)


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
        values = chain(*(tensor.values or () for tensor in inputs.values()))
        is_exact = all(fits(element_type, value) for value in values)
        if same_values != inputs and is_exact:
            yield Call({**call.inputs, **same_values}, call.attributes)


def _read_as(element_type: str, tensor: Tensor) -> Tensor:
    """Return a tensor with the same bytes in another type of the same width."""
    array = np.array(tensor.values, ELEMENT_TYPES[tensor.type])
    values = array.view(ELEMENT_TYPES[element_type]).tolist()
    return replace(tensor, type=element_type, values=tuple(values))


def _omitted(names: Collection[str], call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield the call without optional arguments that belong together."""
    if not call.arguments.keys().isdisjoint(names):
        yield Call(
            {key: tensor for key, tensor in call.inputs.items() if argument_of(key) not in names},
            {key: value for key, value in call.attributes.items() if key not in names},
        )
