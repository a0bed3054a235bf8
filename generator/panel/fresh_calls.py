"""Valid calls of a suite -> calls beside them: changed at random, classified by the spec.

They show that a member differs from the reference where no case of the suite does.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from opcert.arrays import (
    ELEMENT_TYPES,
    INTEGERS,
    LAYOUTS,
    MAX_ELEMENTS,
    Call,
    Tensor,
    copy_in_layout,
    highest,
    lowest,
    materialize,
    with_shape,
    with_type,
)
from opcert.cases import Conditions, specials_added
from opcert.errors import ExpressionError, Inapplicable
from opcert.panel.member import ArrayCall, Outputs, integers_in
from opcert.specification import Reference, evaluate_integer, parse_expression

# How many calls of the suite are changed, and how many changes of each are kept.
_BASES = 20
_CHANGES = 30
# The most elements of a fresh input, so that the panel stays quick.
_ELEMENTS = min(MAX_ELEMENTS, 1 << 17)
_OFFSETS = (1, -1, 2, 256, 65536, 1 << 32)


@dataclass(frozen=True)
class FreshCall:
    """A call beside a valid one: its golden outputs, or what the reference raises.

    `base` is the valid call that it was made of, with its own golden outputs.
    """

    call: ArrayCall
    result: Outputs | Exception
    base: tuple[ArrayCall, Outputs]
    text: str


def fresh_calls(
    conditions: Conditions, reference: Reference, valid: Sequence[Call]
) -> Iterator[FreshCall]:
    """Yield calls that are valid, or break one requirement alone, and touch no ambiguity."""
    random = Random(0)  # noqa: S311 -- draws, no secrets
    order = tuple(conditions.spec.defaults)
    small = [call for call in valid if all(each.size <= 256 for each in call.inputs.values())]
    for number, base in enumerate(random.sample(small, min(_BASES, len(small)))):
        arrays = _arrays(reference, base, f"panel|{number}")
        if isinstance(arrays.result, Exception):
            continue
        changes = [*_changes(conditions, base)]
        random.shuffle(changes)
        pairs = [(a, b) for a, b in zip(changes, random.sample(changes, len(changes)), strict=True)]
        single = ({name: value} for name, value in changes)
        double = ({a[0]: a[1], b[0]: b[1]} for a, b in pairs if a[0] != b[0])
        made = [*islice(single, _CHANGES), *_stretched(base)][: 2 * _CHANGES]
        made += islice(double, _CHANGES // 2)
        for change in made:
            call = base
            for name, value in change.items():
                call = call.changed(name, value, order)
            rule = _classified(conditions, call)
            if rule is None:
                continue
            fresh = _arrays(reference, call, f"panel|{number}")
            if rule == (getattr(fresh.result, "rule", None) if _raised(fresh.result) else ""):
                yield replace(fresh, base=(arrays.call, arrays.result))


def _classified(conditions: Conditions, call: Call) -> str | None:
    """Return the one requirement that a call breaks, or "" for a valid call; None otherwise."""
    if any(tensor.size > _ELEMENTS for tensor in call.inputs.values()):
        return None
    with suppress(ExpressionError, Inapplicable):
        broken = conditions.check(call).violated
        if len(broken) > 1 or conditions.ambiguity(call) is not None:
            return None
        if not broken and not _is_declared(conditions, call):
            return None
        if not broken and any(output.size > _ELEMENTS for output in conditions.outputs(call)):
            return None
        return conditions.spec.full_id(broken[0]) if broken else ""
    return None


def _is_declared(conditions: Conditions, call: Call) -> bool:
    """Whether a call has every required argument, and inputs of declared types and ranks.

    A spec may have no requirement that says so, where its document forbids nothing.
    """
    spec, names = conditions.spec, conditions.names(call)
    if any(each.required and names[each.name] is None for each in spec.arguments):
        return False
    for each in spec.inputs:
        tensor = call.inputs.get(each.name)
        if tensor is not None:
            least, most = (evaluate_integer(parse_expression(end), names) for end in each.rank)
            if tensor.type not in spec.type_sets[each.type] or not least <= tensor.rank <= most:
                return False
    return True


def _arrays(reference: Reference, call: Call, seed: str) -> FreshCall:
    """Return a call with its arrays, special values among its data, and what it gives."""
    patterned = call.patterned(seed)
    inputs = {name: materialize(tensor) for name, tensor in patterned.inputs.items()}
    result = _result(reference, ArrayCall(inputs, call.attributes))
    if not isinstance(result, Exception):
        inputs = specials_added(patterned, inputs, result)
        laid = {
            name: copy_in_layout(each, call.inputs[name].requested_layout)
            for name, each in inputs.items()
        }
        made = ArrayCall(laid, call.attributes)
        return FreshCall(made, _result(reference, made), (made, ()), str(call))
    made = ArrayCall(inputs, call.attributes)
    return FreshCall(made, result, (made, ()), str(call))


def _result(reference: Reference, call: ArrayCall) -> Outputs | Exception:
    try:
        with np.errstate(all="ignore"):
            return reference(**call.inputs, **call.attributes)
    except Exception as error:
        return error


def _raised(result: Outputs | Exception) -> bool:
    return isinstance(result, Exception)


def _changes(conditions: Conditions, base: Call) -> Iterator[tuple[str, Any]]:
    """Yield changes of one argument: its name, and what it is instead."""
    spec = conditions.spec
    for name, tensor in base.inputs.items():
        yield name, None
        others = ELEMENT_TYPES if tensor.values is None else (*INTEGERS, "f32")
        for element_type in others:
            with suppress(Inapplicable):
                yield name, with_type(tensor, element_type)
        for layout in LAYOUTS[1:]:
            yield name, replace(tensor, requested_layout=layout)
        if tensor.values is None:
            for shape in _other_shapes(tensor.shape):
                yield name, replace(tensor, shape=shape)
        else:
            yield from ((name, each) for each in _other_numbers(tensor))
    for attribute in spec.attributes:
        value = base.attributes.get(attribute.name)
        if value is not None:
            yield attribute.name, None
            yield from ((attribute.name, each) for each in _other_values(value))
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


def _other_numbers(tensor: Tensor) -> Iterator[Tensor]:
    """Yield tensors of other integers: near by, far off, fewer, more, in another shape."""
    numbers = list(tensor.values or ())
    fit = tensor.type in INTEGERS
    lists: list[list[Any]] = [numbers[:-1], numbers[1:], numbers[::-1], sorted(numbers), []]
    lists += [[*numbers, number] for number in (0, 1, -1, *numbers[-1:])]
    for position in {0, len(numbers) // 2, len(numbers) - 1} if numbers else set():
        number = numbers[position]
        values = [number + offset for offset in _OFFSETS]
        values += [-number, -1, 0, 1, -number - 1]
        values += [lowest(tensor.type), highest(tensor.type)] if fit else []
        lists += [[*numbers[:position], each, *numbers[position + 1 :]] for each in values]
    for values in lists:
        shape = tensor.shape if len(values) == tensor.size else (len(values),)
        wide = tensor.type
        if fit and any(not lowest(wide) <= each <= highest(wide) for each in values):
            wide = "i64"
        if fit and any(not lowest(wide) <= each <= highest(wide) for each in values):
            continue
        if values != numbers:
            yield replace(tensor, type=wide, shape=shape, values=tuple(values))
    for shape in ((), (1,), (1, tensor.size), (tensor.size, 1)):
        with suppress(Inapplicable):
            yield with_shape(tensor, shape)


def _other_values(value: Any) -> Iterator[Any]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (value + offset for offset in _OFFSETS)
        yield from (-value, -1, 0, -value - 1)
    elif isinstance(value, list):
        yield from (value[:-1], value[1:], value[::-1], [*value, *value[-1:]], [])
        count = len(integers_in(value))
        for position in sorted({0, count // 2, count - 1}) if count else []:
            for offset in _OFFSETS:
                yield _with_offset(value, {position: offset})


def _with_offset(value: Any, offsets: Mapping[int, int]) -> Any:
    """Return an argument with offsets added to some of the integers in it, by their number."""
    numbers = iter(range(len(integers_in(value))))

    def changed(part: Any) -> Any:
        if isinstance(part, list):
            return [changed(each) for each in part]
        if isinstance(part, dict):
            return {key: changed(each) for key, each in part.items()}
        if isinstance(part, int) and not isinstance(part, bool):
            return part + offsets.get(next(numbers), 0)
        return part

    return changed(value)


def _stretched(base: Call) -> Iterator[dict[str, Any]]:
    """Yield changes of an extent of data and of one integer by the same, as lengths ask for."""
    free = {name: each for name, each in base.inputs.items() if each.values is None}
    for name, tensor in free.items():
        for axis in range(min(tensor.rank, 3)):
            for offset in (1, 256):
                shape = list(tensor.shape)
                shape[axis] += offset
                data = replace(tensor, shape=tuple(shape))
                if data.size > 1 << 14:
                    continue
                for other, numbers in base.inputs.items():
                    values = numbers.values or ()
                    for position in range(min(len(values), 4)):
                        number = int(values[position]) + offset
                        if numbers.type in INTEGERS and number <= highest(numbers.type):
                            changed = (*values[:position], number, *values[position + 1 :])
                            yield {name: data, other: replace(numbers, values=changed)}
                for key, value in base.attributes.items():
                    count = len(integers_in(value))
                    for position in range(min(count, 4) if isinstance(value, list) else 0):
                        yield {name: data, key: _with_offset(value, {position: offset})}
