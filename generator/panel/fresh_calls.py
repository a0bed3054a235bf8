"""Valid calls of a suite -> fresh calls, and a reference that fills no memory.

A fresh call on which a fault makes a difference proves that the suite misses a real fault.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from random import Random
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, Tensor, argument_of, tensors_in
from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    INTEGERS,
    LAYOUTS,
    copy_in_layout,
    highest,
    lowest,
    type_name,
)
from opcert.arrays.patterns import materialize, with_special_values
from opcert.arrays.tensor_functions import MAX_ELEMENTS, with_shape, with_type
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable
from opcert.panel.fault import ArrayCall, OperatorSignature, Outputs, integers_in
from opcert.specification.expressions import evaluate_integer
from opcert.specification.files import Reference, call_reference

# The integers of a call are harmless where their product is below: outputs are computed for others.
_MAX_PRODUCT = 1 << 16
# How many elements the outputs of a misread call may have.
_MAX_OUTPUT_ELEMENTS = 1 << 22


class LargeOutputsError(ValueError):
    """The outputs of a call would be too large to compute."""


class BoundedReference:
    """Runs the reference, unless the spec declares large outputs for a call.

    A wrong backend may read a number of repetitions as one of billions.
    """

    def __init__(
        self, reference: Reference, conditions: Conditions, signature: OperatorSignature
    ) -> None:
        self._reference = reference
        self._conditions = conditions
        self._signature = signature

    def __call__(self, call: ArrayCall) -> Outputs:
        """Return the outputs of a call.

        Raises:
            LargeOutputsError: they would not fit into the memory.
        """
        for name in self._signature.integers:
            product = prod(max(1, abs(number)) for number in call.integers(name))
            if product > _MAX_PRODUCT and not _has_small_outputs(
                self._conditions, self.declared(call), _MAX_OUTPUT_ELEMENTS
            ):
                raise LargeOutputsError(f"outputs of more than {_MAX_OUTPUT_ELEMENTS} elements")
        return call_reference(self._reference, call.inputs, call.attributes)

    def declared(self, call: ArrayCall) -> Call:
        """Return a call as a spec sees it: with tensors in place of arrays."""
        tensors = {
            key: Tensor(
                type_name(array.dtype),
                array.shape,
                None
                if argument_of(key) in self._signature.data_arguments
                else tuple(array.ravel().tolist()),
            )
            for key, array in call.inputs.items()
        }
        return Call(tensors, call.attributes)


def _has_small_outputs(conditions: Conditions, call: Call, most: int) -> bool:
    """Whether a call has no outputs of more than `most` elements; it may have none at all."""
    with suppress(ExpressionError, Inapplicable):
        return conditions.has_small_outputs(call, most)
    return True


# How many calls of the suite are mutated, and how many mutations of each are tried.
_MAX_BASES = 20
_MAX_MUTATIONS = 30
# Fresh inputs and outputs have few elements, so that the panel stays quick.
_MAX_SIZE = min(MAX_ELEMENTS, 1 << 17)
_MAX_BASE_SIZE = 256
_MAX_STRETCHED_SIZE = 1 << 14
_OFFSETS = (1, -1, 2, 256, 65536, 1 << 32)


@dataclass(frozen=True)
class FreshCall:
    """A call with its golden outputs, or the error that the reference raises.

    `base` is the valid call that was changed, with its golden outputs.
    """

    call: ArrayCall
    result: Outputs | Exception
    base: tuple[ArrayCall, Outputs]
    text: str


def fresh_calls(
    conditions: Conditions, reference: Reference, valid: Sequence[Call]
) -> Iterator[FreshCall]:
    """Yield calls that are valid, or violate exactly one requirement, and touch no ambiguity."""
    random = Random(0)  # noqa: S311 -- draws, no secrets
    order = tuple(conditions.spec.defaults)
    small = [c for c in valid if all(t.size <= _MAX_BASE_SIZE for t in c.inputs.values())]
    for number, base in enumerate(random.sample(small, min(_MAX_BASES, len(small)))):
        base_call, base_result = _run(reference, base, f"panel|{number}")
        if isinstance(base_result, Exception):
            continue
        mutations = [*_mutations(conditions, base)]
        random.shuffle(mutations)
        partners = random.sample(mutations, len(mutations))
        single = ({name: value} for name, value in mutations)
        double = (
            {first: value, second: other}
            for (first, value), (second, other) in zip(mutations, partners, strict=True)
            if first != second
        )
        changes = [*islice(single, _MAX_MUTATIONS), *_stretched(base)][: 2 * _MAX_MUTATIONS]
        changes += islice(double, _MAX_MUTATIONS // 2)
        for change in changes:
            call = base
            for name, value in change.items():
                call = call.changed(name, value, order)
            expected_rule = _violated_rule(conditions, call)
            if expected_rule is None:
                continue
            array_call, result = _run(reference, call, f"panel|{number}")
            rule = getattr(result, "rule", None) if isinstance(result, Exception) else ""
            if rule == expected_rule:
                yield FreshCall(array_call, result, (base_call, base_result), str(call))


def _violated_rule(conditions: Conditions, call: Call) -> str | None:
    """Return the one requirement that a call violates, or "" for a valid call; None otherwise."""
    spec = conditions.spec
    if any(tensor.size > _MAX_SIZE for tensor in call.inputs.values()):
        return None
    with suppress(ExpressionError, Inapplicable):
        violated = conditions.check(call).violated
        if len(violated) > 1 or conditions.ambiguity(call) is not None:
            return None
        if violated:
            # A wrong backend may accept the call.
            is_small = _has_small_outputs(conditions, call, _MAX_SIZE)
            return spec.full_id(violated[0]) if is_small else None
        # What a fault changes may then be right as well.
        if conditions.open_elements(call) is not None:
            return None
        is_valid = _is_declared(conditions, call)
        return "" if is_valid and conditions.has_small_outputs(call, _MAX_SIZE) else None
    return None


def _is_declared(conditions: Conditions, call: Call) -> bool:
    """Whether a call has every required argument, and inputs of declared types and ranks.

    A spec has no such requirements if its document forbids nothing of the kind.
    """
    spec, names = conditions.spec, conditions.names(call)
    if any(argument.required and names[argument.name] is None for argument in spec.arguments):
        return False
    for declared in spec.inputs:
        if declared.variadic is not None:
            least, greatest = declared.variadic
            if not least <= len(names[declared.name] or ()) <= greatest:
                return False
        for tensor in tensors_in(names[declared.name]):
            least, greatest = (evaluate_integer(end, names) for end in declared.rank)
            if not least <= tensor.rank <= greatest:
                return False
            if tensor.type not in spec.type_sets[declared.type]:
                return False
    return True


def _run(reference: Reference, call: Call, seed: str) -> tuple[ArrayCall, Outputs | Exception]:
    """Return a call with its arrays, which have special values, and the reference's result."""
    patterned = call.patterned(seed)
    inputs = {name: materialize(tensor) for name, tensor in patterned.inputs.items()}
    array_call = ArrayCall(inputs, call.attributes)
    result = _result(reference, array_call)
    if isinstance(result, Exception):
        return array_call, result
    inputs = {
        name: copy_in_layout(array, call.inputs[name].requested_layout)
        for name, array in with_special_values(inputs, patterned.inputs, result).items()
    }
    array_call = ArrayCall(inputs, call.attributes)
    return array_call, _result(reference, array_call)


def _result(reference: Reference, call: ArrayCall) -> Outputs | Exception:
    try:
        with np.errstate(all="ignore"):
            return call_reference(reference, call.inputs, call.attributes)
    except Exception as error:
        return error


def _mutations(conditions: Conditions, base: Call) -> Iterator[tuple[str, Any]]:
    """Yield mutations of one argument: its name, and its new value."""
    for name, tensor in base.inputs.items():
        yield name, None
        types = ELEMENT_TYPES if tensor.values is None else (*INTEGERS, "f32")
        for element_type in types:
            with suppress(Inapplicable):
                yield name, with_type(tensor, element_type)
        for layout in LAYOUTS[1:]:
            yield name, replace(tensor, requested_layout=layout)
        if tensor.values is None:
            for shape in _other_shapes(tensor.shape):
                yield name, replace(tensor, shape=shape)
        else:
            yield from ((name, other) for other in _other_values(tensor))
    for attribute in conditions.spec.attributes:
        value = base.attributes.get(attribute.name)
        if value is not None:
            yield attribute.name, None
            yield from ((attribute.name, other) for other in _other_attributes(value))
        words = (*(attribute.one_of or ()), *(["", "unknown"] if attribute.one_of else []))
        yield from ((attribute.name, word) for word in words if word != value)


def _other_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for axis, extent in enumerate(shape):
        for other in (extent - 1, extent + 1, 0, 1, 2 * extent, 300):
            if 0 <= other != extent:
                yield (*shape[:axis], other, *shape[axis + 1 :])
        yield (*shape[:axis], *shape[axis + 1 :])
    yield shape[::-1]
    yield (*shape, 1)
    yield (1, *shape)
    yield (1,) * (9 - len(shape)) + shape


def _other_values(tensor: Tensor) -> Iterator[Tensor]:
    """Yield tensors with other numbers, with fewer or more numbers, or in another shape."""
    numbers = list(tensor.values or ())
    is_integer = tensor.type in INTEGERS
    lists: list[list[Any]] = [numbers[:-1], numbers[1:], numbers[::-1], sorted(numbers), []]
    lists += [[*numbers, number] for number in (0, 1, -1, *numbers[-1:])]
    for position in {0, len(numbers) // 2, len(numbers) - 1} if numbers else set():
        number = numbers[position]
        values = [number + offset for offset in _OFFSETS]
        values += [-number, -1, 0, 1, -number - 1]
        values += [lowest(tensor.type), highest(tensor.type)] if is_integer else []
        lists += [[*numbers[:position], value, *numbers[position + 1 :]] for value in values]
    for values in lists:
        # If a number does not fit, the tensor is of type i64 instead.
        types = (tensor.type, "i64") if is_integer else (tensor.type,)
        fitting = [
            name
            for name in types
            if not is_integer or all(lowest(name) <= value <= highest(name) for value in values)
        ]
        if fitting and values != numbers:
            shape = tensor.shape if len(values) == tensor.size else (len(values),)
            yield replace(tensor, type=fitting[0], shape=shape, values=tuple(values))
    for shape in ((), (1,), (1, tensor.size), (tensor.size, 1)):
        with suppress(Inapplicable):
            yield with_shape(tensor, shape)


def _other_attributes(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, float):
        yield from (-value, value + 1.0, value - 1.0, value / 2.0, 0.0)
    elif isinstance(value, int):
        yield from (value + offset for offset in _OFFSETS)
        yield from (-value, -1, 0, -value - 1)
    elif isinstance(value, list):
        yield from (value[:-1], value[1:], value[::-1], [*value, *value[-1:]], [])
        for i, element in enumerate(value):
            if isinstance(element, bool):
                yield [*value[:i], not element, *value[i + 1 :]]
        count = len(integers_in(value))
        for position in sorted({0, count // 2, count - 1}) if count else []:
            for offset in _OFFSETS:
                yield _with_offset(value, position, offset)


def _with_offset(value: Any, position: int, offset: int) -> Any:
    """Return an argument with an offset added to the integer number `position` in it."""
    positions = iter(range(len(integers_in(value))))

    def changed(part: Any) -> Any:
        if isinstance(part, list):
            return [changed(element) for element in part]
        if isinstance(part, dict):
            return {key: changed(field) for key, field in part.items()}
        if isinstance(part, int) and not isinstance(part, bool):
            return part + (offset if next(positions) == position else 0)
        return part

    return changed(value)


def _stretched(base: Call) -> Iterator[dict[str, Any]]:
    """Yield changes that raise an extent of data and one integer, such as a length, alike."""
    data = {name: tensor for name, tensor in base.inputs.items() if tensor.values is None}
    for name, tensor in data.items():
        for axis in range(min(tensor.rank, 3)):
            for offset in (1, 256):
                shape = list(tensor.shape)
                shape[axis] += offset
                stretched = replace(tensor, shape=tuple(shape))
                if stretched.size > _MAX_STRETCHED_SIZE:
                    continue
                for other, numbers in base.inputs.items():
                    values = numbers.values or ()
                    for position in range(min(len(values), 4)):
                        number = int(values[position]) + offset
                        if numbers.type in INTEGERS and number <= highest(numbers.type):
                            raised = (*values[:position], number, *values[position + 1 :])
                            yield {name: stretched, other: replace(numbers, values=raised)}
                for key, value in base.attributes.items():
                    count = len(integers_in(value))
                    for position in range(min(count, 4) if isinstance(value, list) else 0):
                        yield {name: stretched, key: _with_offset(value, position, offset)}
