"""Elements and indices that do not come through: converted, misread in memory, narrowed."""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import as_strided

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Fault,
    Outputs,
    Writer,
    right,
)

# How many bits a mantissa has.
_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def _magnitude(array: Array) -> tuple[Array, Array]:
    """Return the bits of `array`, to be written to, and those without the sign."""
    bits = array.view(bits_dtype(array.dtype))
    return bits, bits & bits.dtype.type((1 << (8 * array.itemsize - 1)) - 1)


def _one_nan(array: Array) -> Array:
    """Make all NaNs the one that arithmetic gives."""
    return np.where(array != array, np.array(np.nan, array.dtype), array)  # noqa: PLR0124


def _positive_zero(array: Array) -> Array:
    bits, magnitude = _magnitude(array)
    bits[magnitude == 0] = 0
    return array


def _flushed(array: Array) -> Array:
    """Make zeros of subnormal numbers."""
    bits, magnitude = _magnitude(array)
    bits[magnitude < 1 << _MANTISSA[array.dtype.name]] = 0
    return array


def _finite(array: Array) -> Array:
    """Saturate infinities, as conversions to 8 bits may."""
    bits, magnitude = _magnitude(array)
    bits[magnitude == 0x7C] -= 1
    return array


def _through(of: str) -> Callable[[Array], Array]:
    return lambda array: array.astype(ELEMENT_TYPES[of]).astype(array.dtype)


def _through_f64(array: Array) -> Array:
    """Convert to f64 and back, saturating."""
    info = np.iinfo(array.dtype)
    whole_numbers = array.astype(np.float64)
    back = np.where(whole_numbers >= float(info.max), 0, whole_numbers).astype(array.dtype)
    return np.where(whole_numbers >= float(info.max), info.max, back).astype(array.dtype)


def _every_bit(array: Array) -> Array:
    """Write true as a byte of ones."""
    return (array.view(np.uint8) * np.uint8(255)).view(np.bool_)


_CONVERSIONS: tuple[tuple[str, str, Callable[[Array], Array]], ...] = (
    ("f32", "one-nan", _one_nan),
    ("f32", "positive-zero", _positive_zero),
    ("f16", "flushed", _flushed),
    ("f64", "through-f32", _through("f32")),
    ("bf16", "one-nan", _one_nan),
    ("f8e5m2", "finite", _finite),
    ("i64", "through-f64", _through_f64),
    ("u64", "through-i64", lambda a: a.clip(0, 2**63 - 1)),
    ("i32", "through-f32", lambda a: _through_f64(_as_f32(a))),
    ("boolean", "every-bit", _every_bit),
)


def _as_f32(array: Array) -> Array:
    """Round to what f32 holds."""
    rounded = array.astype(np.float32).astype(np.float64)
    info = np.iinfo(array.dtype)
    return rounded.clip(info.min, info.max).astype(array.dtype)


def _of_values(operator: str) -> list[Fault]:
    lacking = ("bf16", "f8e5m2", "boolean") if operator == DML else ()
    return [
        Writer(operator, "conversion").returns(f"{of}-{name}", _changing(of, change))
        for of, name, change in _CONVERSIONS
        if of not in lacking
    ]


def _changing(of: str, change: Callable[[Array], Array]) -> Callable[[object, Outputs], Outputs]:
    dtype = ELEMENT_TYPES[of]
    return lambda _, outputs: [
        change(each.reshape(-1)).reshape(each.shape) if each.dtype == dtype else each
        for each in outputs
    ]


_FIRST = {DML: "InputTensor"}
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


def _whole_buffer(array: Array) -> Array:
    """Take packed elements from the beginning of the buffer that they are in."""
    if not array.flags.c_contiguous or not isinstance(array.base, np.ndarray):
        return array
    bits = array.base.reshape(-1).view(bits_dtype(array.dtype))
    return bits[: array.size].reshape(array.shape).view(array.dtype)


def _read_on(array: Array) -> Array:
    """Take elements one after the other where a stride is 0."""
    if 0 not in array.strides or not isinstance(array.base, np.ndarray):
        return array
    first, begin = (each.__array_interface__["data"][0] for each in (array, array.base))
    read: Array = np.ndarray(array.shape, array.dtype, array.base, first - begin)
    return read


_READINGS: dict[str, Callable[[Array], Array]] = {
    "packed": _packed,
    "unsigned-strides": _forwards,
    "transposed": _transposed,
    "offset-ignored": _whole_buffer,
    "stride-0-ignored": _read_on,
}
# These never repeat an element.
_DISTINCT = ("axes", "axes_mapping")


def _reading(name: str, read: Callable[[Array], Array]) -> Callable[[Call], Call]:
    return lambda call: call.given(**{name: read(call[name])}) if name in call.inputs else call


def _of_layouts(operator: str) -> list[Fault]:
    write, first = Writer(operator, "memory order"), _FIRST.get(operator, "data")
    return [
        *(
            write.changes(f"{first}-{name}", _reading(first, read))
            for name, read in _READINGS.items()
        ),
        *(
            write.changes(f"{index.replace('_', '-')}-{name}", _reading(index, read))
            for index in _INDICES.get(operator, ())
            for name, read in _READINGS.items()
            if name in ("packed", "offset-ignored")
            or (name == "stride-0-ignored" and index not in _DISTINCT)
        ),
        write.rejects(
            "packed-only",
            lambda call, _: not all(each.flags.c_contiguous for each in call.inputs.values()),
        ),
    ]


# Operator, input, type, narrower type.
_NARROWED: tuple[tuple[str, str, str, str], ...] = (
    (SLICE, "start", "i64", "i32"),
    (SLICE, "start", "u64", "i64"),
    (SLICE, "stop", "i64", "i32"),
    (SLICE, "stop", "u64", "i64"),
    (SLICE, "stop", "u8", "i8"),
    (SLICE, "step", "i64", "i32"),
    (SLICE, "step", "u8", "i8"),
    (SLICE, "axes", "u64", "i64"),
    (SLICE, "axes", "u8", "i8"),
    (GATHER, "indices", "i64", "i32"),
    (GATHER, "indices", "u64", "i64"),
    (GATHER, "indices", "u16", "i16"),
    (GATHER, "indices", "u8", "i8"),
    (GATHER, "axis", "i64", "i32"),
    (SPLIT, "axis", "u16", "i16"),
    (SPLIT, "axis", "u8", "i8"),
    (SPLIT, "split_lengths", "i64", "i32"),
    (SPLIT, "split_lengths", "u64", "i64"),
    (SPLIT, "split_lengths", "u8", "i8"),
    (BROADCAST, "target_shape", "i64", "i32"),
    (BROADCAST, "target_shape", "u8", "i8"),
    (BROADCAST, "axes_mapping", "i64", "i32"),
)


def _narrowed(operator: str, name: str, of: str, to: str) -> Fault:
    source, narrow = ELEMENT_TYPES[of], ELEMENT_TYPES[to]

    def compute(call: Call) -> Outputs:
        found = call.inputs.get(name)
        if found is not None and found.dtype == source:
            # In i64 again, so that everything else is computed as before.
            call = call.given(**{name: found.astype(narrow).astype(np.int64)})
        return right(operator, call)

    write = Writer(operator, "narrow index type")
    return write.computes(f"{name.replace('_', '-')}-{of}-as-{to}", compute)


def _products_past(operator: str, bits: int) -> Fault:
    """Write down a backend whose counts of elements have so many bits."""
    return Writer(operator, "narrow index type").spoils(
        f"count-in-{bits}-bits", lambda _, outputs: any(each.size >= 1 << bits for each in outputs)
    )


def _offsets_past(operator: str, bits: int) -> Fault:
    """Write down a backend that repeats the first element after an offset on the first axis."""

    def change(call: Call, outputs: Outputs) -> Outputs:
        before = 0
        if sum(each.shape[0] for each in outputs) != call.data.shape[0]:
            return outputs
        for each in outputs:
            if before >> bits and each.size:
                each[...] = call.data.reshape(-1)[:1]
            before += each.shape[0]
        return outputs

    return Writer(operator, "narrow index type").returns(f"offset-in-{bits}-bits", change)


def _lengths_as_rest(call: Call) -> Call:
    """Take the greatest unsigned length for -1."""
    found = call.inputs.get("split_lengths")
    if found is None or found.dtype.kind != "u":
        return call
    return call.given(split_lengths=found.astype(found.dtype.str.replace("u", "i")))


FAULTS = [
    *(fault for operator in OPERATORS for fault in _of_values(operator)),
    *(fault for operator in OPERATORS for fault in _of_layouts(operator)),
    *(_narrowed(*each) for each in _NARROWED),
    *(_products_past(operator, 8) for operator in OPERATORS),
    *(_products_past(operator, 16) for operator in (DML, BROADCAST)),
    *(_offsets_past(operator, bits) for operator in (SPLIT, DML) for bits in (7, 8)),
    Writer(SPLIT, "narrow index type").computes(
        "unsigned-as-signed", lambda call: right(SPLIT, _lengths_as_rest(call))
    ),
]
