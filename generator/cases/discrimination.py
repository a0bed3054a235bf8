"""Whether the output of a call can reveal a fault: measured on golden outputs, defined only here.

Combinatorial testing calls the opposite masking: levels that are combined only in calls without
data, for instance, are not tested together.
"""

from collections.abc import Iterable, Sequence

from opcert.arrays.calls import Call
from opcert.arrays.element_types import Array, bits_of, invert_bits
from opcert.arrays.patterns import materialize_numbered
from opcert.errors import OpcertError
from opcert.specification.references import Reference, golden_outputs

# Larger calls are assumed to discriminate: measuring takes long.
_MAX_MEASURED_ELEMENTS = 1 << 20


def discriminates(
    data: Iterable[Array], outputs: Sequence[Array], inverted_data_outputs: Sequence[Array]
) -> bool:
    """Whether outputs depend on data, and the data has two elements that differ.

    `inverted_data_outputs` are the outputs where every bit of the data is inverted. If all elements
    are equal, one that is moved to a wrong place goes unnoticed.
    """
    return any(map(_has_different_elements, data)) and any(
        bool((bits_of(output) != bits_of(alternate)).any())
        for output, alternate in zip(outputs, inverted_data_outputs, strict=True)
    )


def can_discriminate(reference: Reference, call: Call) -> bool:
    """Whether a valid call discriminates, whatever data will fill its patterns."""
    data = {name: tensor for name, tensor in call.inputs.items() if tensor.values is None}
    if not any(tensor.size > 1 and tensor.uniform == "no" for tensor in data.values()):
        return False
    if sum(tensor.size for tensor in call.inputs.values()) > _MAX_MEASURED_ELEMENTS:
        return True
    inputs = {name: materialize_numbered(tensor) for name, tensor in call.inputs.items()}
    inverted = {name: invert_bits(inputs[name]) for name in data}
    try:
        outputs = golden_outputs(reference, inputs, call.attributes)
        if not any(output.size for output in outputs):
            return False
        alternate = golden_outputs(reference, {**inputs, **inverted}, call.attributes)
    except OpcertError:
        # A reference that fails is reported where its golden outputs are checked.
        return False
    return discriminates([inputs[name] for name in data], outputs, alternate)


def _has_different_elements(array: Array) -> bool:
    bits = bits_of(array).reshape(-1)
    return bool((bits[1:] != bits[:1]).any())
