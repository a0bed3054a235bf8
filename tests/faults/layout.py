"""Inputs read as if they were packed in C order, whatever their strides say."""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import as_strided

from opcert.arrays.element_types import Array, bits_dtype
from tests.faults.calls import broadcast_call, data, dml_call, gather_call, slice_call, split_call
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Fault,
    Writer,
)

_CALLS = {
    SPLIT: split_call(data(4, 6), 1, [4, 2]),
    DML: dml_call(data(4, 6), 1, [4, 2]),
    SLICE: slice_call(data(4, 6), [0, 1], [3, 5], [1, 2], [0, 1]),
    BROADCAST: broadcast_call(data(4, 6), [4, 2, 6], [0, 2]),
    GATHER: gather_call(data(4, 6), [[0, 1, 2], [3, 0, 2]], 1),
}
_INDICES = {
    SPLIT: ("split_lengths",),
    SLICE: ("start", "stop", "step", "axes"),
    BROADCAST: ("target_shape", "axes_mapping"),
    GATHER: ("indices",),
}


def _forwards(array: Array) -> Array:
    """Take strides without their signs: from the lowest address on."""
    return array[tuple(slice(None, None, -1 if each < 0 else 1) for each in array.strides)]


def _packed(array: Array) -> Array:
    """Take the elements from the lowest address on, one after the other."""
    start = _forwards(array)
    span = sum((n - 1) * stride for n, stride in zip(array.shape, start.strides, strict=True))
    if array.size == 0 or span < (array.size - 1) * array.itemsize:
        return array
    bits = start.view(bits_dtype(array.dtype))
    packed = np.empty(array.shape, bits.dtype).strides
    return as_strided(bits, array.shape, packed).view(array.dtype)


def _transposed(array: Array) -> Array:
    """Take Fortran order for C order."""
    if array.flags.c_contiguous or not array.flags.f_contiguous:
        return array
    return array.ravel(order="K").reshape(array.shape)


_READINGS: tuple[tuple[str, str, str, Callable[[Array], Array]], ...] = (
    ("packed", "gapped", "reads {} from its first byte on as if it were packed", _packed),
    ("unsigned-strides", "reversed", "ignores that strides of {} are negative", _forwards),
    ("transposed", "Fortran", "reads {} in Fortran order as if it were in C order", _transposed),
)


def _reading(name: str, read: Callable[[Array], Array]) -> Callable[[Call], Call]:
    return lambda call: call.given(**{name: read(call[name])}) if name in call.inputs else call


def _faults(operator: str) -> list[Fault]:
    write, call = Writer(operator, "memory order"), _CALLS[operator]
    first = next(iter(call.inputs))
    found = [
        write.changes(
            f"{first}-{name}", text.format(first), _reading(first, read), call.laid(layout)
        )
        for name, layout, text, read in _READINGS
    ]
    for index in _INDICES.get(operator, ()):
        text = f"reads {index} from its first byte on as if it were packed"
        change = _reading(index, _packed)
        found.append(
            write.changes(f"{index.replace('_', '-')}-packed", text, change, call.laid("reversed"))
        )
    found.append(
        write.rejects(
            "packed-only",
            "rejects inputs that are not in C order",
            lambda call, _: not all(each.flags.c_contiguous for each in call.inputs.values()),
            call.laid("Fortran"),
        )
    )
    return found


FAULTS = [fault for operator in OPERATORS for fault in _faults(operator)]
