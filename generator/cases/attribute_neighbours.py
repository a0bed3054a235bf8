"""Neighbours of calls in one attribute: in its numbers, its axis or its bits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from opcert.arrays.calls import Call, Tensor
from opcert.errors import ExpressionError, Inapplicable

# Returns the declared outputs of a call.
Outputs = Callable[[Call], Sequence[Tensor]]


def other_attribute(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls with other numbers of an attribute, or with the attribute of another call."""
    own = call.attributes.get(name)
    known: list[Any] = [own]
    values = _related_values(own)
    values += [other.attributes.get(name) for other in others]
    for value in values:
        if name in call.attributes and value is not None and value not in known:
            known.append(value)
            yield Call(call.inputs, {**call.attributes, name: value})


def _related_values(own: Any) -> list[Any]:
    """Return numbers negated, reversed or rotated, or a record with a smaller size."""
    if isinstance(own, list) and own and all(isinstance(value, int) for value in own):
        return [[-value for value in own], own[::-1], [*own[1:], own[0]]]
    if not isinstance(own, dict):
        return []
    return [
        {**own, name: [*numbers[:k], numbers[k] - 1, *numbers[k + 1 :]]}
        for name, numbers in own.items()
        if isinstance(numbers, list)
        for k in range(len(numbers))
    ]


def other_signed_axis(name: str, call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls along another axis; -1 and the last one are the same."""
    rank = max(tensor.rank for tensor in call.inputs.values())
    if any(tensor.size < 2 for tensor in call.inputs.values()):
        return
    for varied in other_attribute(name, call, others):
        if (varied.attributes[name] - call.attributes[name]) % rank:
            yield varied


def negated_axis(name: str, call: Call, _: Sequence[Call]) -> Iterator[Call]:
    """Yield the call along the axis of the same number from the other end, if it is another one."""
    axis = call.attributes.get(name)
    tensors = call.inputs.values()
    rank = max(tensor.rank for tensor in tensors)
    # A single tensor, joined, is itself along any axis.
    is_visible = len(tensors) > 1 and all(tensor.size > 1 for tensor in tensors)
    if axis is not None and is_visible and 2 * axis % rank:
        yield Call(call.inputs, {**call.attributes, name: -axis})


def effective_attribute(
    name: str, outputs: Outputs, call: Call, others: Sequence[Call]
) -> Iterator[Call]:
    """Yield calls with the attribute of another call, if the outputs have other shapes then."""
    return _with_other_shapes(outputs, call, other_attribute(name, call, others))


def other_bits(name: str, outputs: Outputs, call: Call, _: Sequence[Call]) -> Iterator[Call]:
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


def _with_other_shapes(outputs: Outputs, call: Call, changed: Iterable[Call]) -> Iterator[Call]:
    """Yield those of the `changed` calls whose outputs have other shapes than those of `call`."""
    shapes = [output.shape for output in outputs(call)]
    for other in changed:
        with suppress(ExpressionError, Inapplicable):
            if [output.shape for output in outputs(other)] != shapes:
                yield other
