"""Whether the output of a call can show a fault: measured on golden outputs, defined here alone."""

from collections.abc import Iterable, Mapping, Sequence

from opcert.arrays import Array, Call, Tensor, bits_of, invert_bits, materialize_numbered
from opcert.errors import OpcertError
from opcert.specification import Reference, golden_outputs

# Calls of more elements are taken to discriminate: to measure them would take long.
_MOST_ELEMENTS = 1 << 20


def discriminates(data: Iterable[Array], outputs: Sequence[Array], others: Sequence[Array]) -> bool:
    """Whether outputs depend on data in which there are elements to be told apart.

    `others` are the outputs for inverted data.
    """
    pairs = zip(outputs, others, strict=True)
    return any(map(_differ, data)) and any(
        bool((bits_of(one) != bits_of(other)).any()) for one, other in pairs
    )


def can_discriminate(reference: Reference, call: Call) -> bool:
    """Whether the output of a valid call could show a fault; its data may be any."""
    if not any(each.size > 1 and each.uniform == "no" for each in _free(call).values()):
        return False
    if sum(tensor.size for tensor in call.inputs.values()) > _MOST_ELEMENTS:
        return True
    inputs = {name: materialize_numbered(tensor) for name, tensor in call.inputs.items()}
    turned = {name: invert_bits(inputs[name]) for name in _free(call)}
    try:
        outputs = golden_outputs(reference, inputs, call.attributes)
        if not any(output.size for output in outputs):
            return False
        others = golden_outputs(reference, {**inputs, **turned}, call.attributes)
    except OpcertError:
        # What goes wrong is said where goldens are proved.
        return False
    return discriminates([inputs[name] for name in turned], outputs, others)


def _free(call: Call) -> Mapping[str, Tensor]:
    return {name: each for name, each in call.inputs.items() if each.values is None}


def _differ(array: Array) -> bool:
    """Whether there are two elements of other bits in an array."""
    bits = bits_of(array).reshape(-1)
    return bool((bits[1:] != bits[:1]).any())
