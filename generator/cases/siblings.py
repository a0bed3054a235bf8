"""Valid calls of the same signature as another, by which what is kept between calls shows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opcert.generator.arrays.calls import Call, Tensor
from opcert.generator.arrays.patterns import STORED

# What a runtime may take for the whole when it looks at the first bytes of data.
_TOLD_APART = 256


def with_other_values(call: Call, others: Sequence[Call]) -> Iterator[Call]:
    """Yield calls that differ in the values of one input: turned round, or as another call's."""
    for name, tensor in call.inputs.items():
        if tensor.values is not None and len(set(tensor.values)) > 1:
            yield _with(call, name, replace(tensor, values=tensor.values[::-1]))
            yield _with(call, name, replace(tensor, values=(*tensor.values[1:], tensor.values[0])))
    for other in others:
        for name, tensor in call.inputs.items():
            found = other.inputs.get(name)
            alike = found and (found.type, found.shape) == (tensor.type, tensor.shape)
            valued = found and None not in (found.values, tensor.values)
            if found and alike and valued and found.values != tensor.values:
                yield _with(call, name, replace(tensor, values=found.values))


def with_other_data(call: Call, outputs: Sequence[Tensor]) -> Iterator[Call]:
    """Yield the call with another second half of its data, if that is sure to reach `outputs`."""
    moved = sum(each.size for each in outputs)
    for name, tensor in call.inputs.items():
        if (
            tensor.values is None
            and _TOLD_APART <= tensor.nbytes <= STORED
            and moved > tensor.size // 2
        ):
            yield _with(call, name, replace(tensor, turned=True))


def _with(call: Call, name: str, tensor: Tensor) -> Call:
    return Call({**call.inputs, name: tensor}, call.attributes)
