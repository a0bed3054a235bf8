"""Elements that do not come through as they are: converted, rounded, made canonical."""

from collections.abc import Callable

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype
from tests.faults.calls import whole
from tests.faults.fault import DML, OPERATORS, Fault, Outputs, Writer

# The bits of what gets lost, as a witness shows them.
_BITS = {
    "f16": (0x7E01, 0xFC01, 0x8000, 0x0001),
    "bf16": (0x7FC1, 0xFF81, 0x8000, 0x0001),
    "f32": (0x7FC00001, 0xFF800001, 0x80000000, 0x00000001),
    "f64": (0x7FF8 << 48 | 1, 0xFFF0 << 48 | 1, 1 << 63, 1),
    "f8e4m3": (0xFF, 0x80, 0x01),
    "f8e5m2": (0x7E, 0x80, 0x01, 0x7C),
    "i64": (2**53 + 1, 2**63 - 1, 2**63),
    "u64": (2**53 + 1, 2**64 - 1),
    "i32": (2**24 + 1, 2**31 - 1),
    "u32": (2**24 + 1, 2**32 - 1),
    "boolean": (1, 0, 1),
}

# How many bits a mantissa has.
_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def _sample(of: str) -> Array:
    dtype = ELEMENT_TYPES[of]
    return np.array(_BITS[of] + (1,) * 4, bits_dtype(dtype)).view(dtype)


def _magnitude(array: Array) -> tuple[Array, Array]:
    """Return the bits of `array`, to be written to, and those without the sign."""
    bits = array.view(bits_dtype(array.dtype))
    return bits, bits & bits.dtype.type((1 << (8 * array.itemsize - 1)) - 1)


def _one_nan(array: Array) -> Array:
    """Make all NaNs the one that arithmetic gives."""
    return np.where(array != array, np.array(np.nan, array.dtype), array)  # noqa: PLR0124


def _quiet(array: Array) -> Array:
    """Set the quiet bit of every NaN, as loading it into a register of another width does."""
    bits, _ = _magnitude(array)
    bits[array != array] |= 1 << (_MANTISSA[array.dtype.name] - 1)  # noqa: PLR0124
    return array


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


_CONVERSIONS: tuple[tuple[str, str, str, Callable[[Array], Array]], ...] = (
    ("f32", "one-nan", "makes every NaN of f32 the same one", _one_nan),
    ("f32", "positive-zero", "loses the sign of -0.0 in f32", _positive_zero),
    ("f16", "flushed", "flushes subnormal numbers of f16 to zero", _flushed),
    ("f64", "through-f32", "moves f64 through f32", _through("f32")),
    ("bf16", "one-nan", "makes every NaN of bf16 the same one", _one_nan),
    ("f8e5m2", "finite", "saturates infinities of f8e5m2", _finite),
    ("i64", "through-f64", "moves i64 through f64", _through_f64),
    ("u64", "through-i64", "saturates u64 to what i64 holds", lambda a: a.clip(0, 2**63 - 1)),
    ("i32", "through-f32", "moves i32 through f32", lambda a: _through_f64(_as_f32(a))),
    ("boolean", "every-bit", "writes true as 255, not as 1", _every_bit),
)


def _as_f32(array: Array) -> Array:
    """Round to what f32 holds."""
    rounded = array.astype(np.float32).astype(np.float64)
    info = np.iinfo(array.dtype)
    return rounded.clip(info.min, info.max).astype(array.dtype)


def _faults(operator: str) -> list[Fault]:
    write = Writer(operator, "conversion")
    types = ("f16", "f32", "f64", "i64", "u64", "i32") if operator == DML else tuple(_BITS)
    return [
        write.returns(f"{of}-{name}", text, _changing(of, change), whole(operator, _sample(of)))
        for of, name, text, change in _CONVERSIONS
        if of in types
    ]


def _changing(of: str, change: Callable[[Array], Array]) -> Callable[[object, Outputs], Outputs]:
    dtype = ELEMENT_TYPES[of]
    return lambda _, outputs: [
        change(each.reshape(-1)).reshape(each.shape) if each.dtype == dtype else each
        for each in outputs
    ]


FAULTS = [fault for operator in OPERATORS for fault in _faults(operator)]
