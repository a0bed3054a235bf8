"""Element types, and the bytes of elements."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import ml_dtypes
import numpy as np

# Without numpy.typing, a worker starts faster.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
InputArrays: TypeAlias = Mapping[str, Array]

ELEMENT_TYPES: dict[str, np.dtype[Any]] = {
    "boolean": np.dtype(np.bool_),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    # One element a byte, in the low four bits; the upper ones are zero.
    "i4": np.dtype(ml_dtypes.int4),
    "u4": np.dtype(ml_dtypes.uint4),
}
FOUR_BIT_TYPES = ("i4", "u4")
SIGNED_INTEGERS = ("i8", "i16", "i32", "i64")
UNSIGNED_INTEGERS = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED_INTEGERS, *UNSIGNED_INTEGERS)
FLOATS = ("bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2")
TYPE_SETS: dict[str, tuple[str, ...]] = {
    "any": tuple(name for name in ELEMENT_TYPES if name not in FOUR_BIT_TYPES),
    "numeric": tuple(name for name in ELEMENT_TYPES if name not in ("boolean", *FOUR_BIT_TYPES)),
    "integer": INTEGERS,
}

_NAMES = {dtype: name for name, dtype in ELEMENT_TYPES.items()}


def type_name(dtype: np.dtype[Any]) -> str:
    """Return opcert's name of `dtype`, or NumPy's own where opcert has none."""
    return _NAMES.get(dtype) or str(dtype)


@cache
def bit_width(name: str) -> int:
    """Return how many bits an element of type `name` has."""
    widths = {"boolean": 1, **dict.fromkeys(FOUR_BIT_TYPES, 4)}
    return widths.get(name, 8 * ELEMENT_TYPES[name].itemsize)


@cache
def bits_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the little-endian unsigned integer as wide as `dtype`."""
    return np.dtype(f"<u{dtype.itemsize}")


@cache
def stored_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype in which a pack stores type `name`: its bits where npy has no such type."""
    dtype = ELEMENT_TYPES[name]
    return dtype.newbyteorder("<") if dtype.isbuiltin == 1 else bits_dtype(dtype)


def bits_of(array: Array) -> Array:
    """Return a fresh C-ordered copy of the bits of `array`, as unsigned integers of its width."""
    return np.frombuffer(bytearray(array.tobytes()), bits_dtype(array.dtype)).reshape(array.shape)


def uniform_elements(array: Array) -> Literal["no", "some", "zero"]:
    """Return "zero" if all elements are zero, "some" if several are equal, and "no" otherwise."""
    bits = bits_of(array).ravel()
    if not bits.size or (bits != bits[0]).any():
        return "no"
    # The pattern of one element is not zero.
    return "zero" if not bits[0] else "some" if bits.size > 1 else "no"


def invert_bits(array: Array) -> Array:
    """Return an array of the same type and shape with every bit inverted."""
    bits = array.view(bits_dtype(array.dtype))
    # With `out`, since without it an array of rank 0 becomes a scalar.
    inverted: Array = np.bitwise_xor(bits, _all_bits(array.dtype), out=np.empty_like(bits))
    return inverted.view(array.dtype)


def without_stray_bits(array: Array) -> Array:
    """Return elements that have less than a byte without other bits of it; true is 1.

    Elements of other types are returned as they are.
    """
    if bit_width(type_name(array.dtype)) % 8 == 0:
        return array
    bits = bits_of(array)
    own = bits != 0 if array.dtype == np.bool_ else bits & _all_bits(array.dtype)
    return np.asarray(own).astype(bits.dtype).view(array.dtype)


@cache
def _all_bits(dtype: np.dtype[Any]) -> Any:
    """Return the bits of an element with every bit set."""
    return bits_dtype(dtype).type((1 << bit_width(type_name(dtype))) - 1)


@cache
def lowest(name: str) -> int:
    """Return the least value of integer type `name`, or the least finite one."""
    return int(_limits(name)[0])


@cache
def highest(name: str) -> int:
    """Return the greatest value of integer type `name`, or the greatest finite one."""
    return int(_limits(name)[1])


def _limits(name: str) -> tuple[float, float]:
    # The greatest finite value of a floating-point type is an integer, too.
    if name not in FLOATS:
        return np.iinfo(ELEMENT_TYPES[name]).min, np.iinfo(ELEMENT_TYPES[name]).max
    info: Any = ml_dtypes.finfo(ELEMENT_TYPES[name])  # type: ignore[no-untyped-call]
    return float(info.min), float(info.max)


@cache
def fits(name: str, value: float) -> bool:
    """Whether type `name` can hold the number `value` exactly."""
    if name in INTEGERS:
        return value % 1 == 0 and lowest(name) <= value <= highest(name)
    try:
        with np.errstate(over="ignore"):
            # ml_dtypes converts no integer beyond 64 bits, but any Python float.
            return float(np.array(float(value), ELEMENT_TYPES[name])) == value
    except OverflowError:
        return False


def modulo(name: str, value: int) -> int:
    """Return what integer type `name` holds of `value` where its arithmetic wraps around."""
    least = lowest(name)
    return (value - least) % (highest(name) - least + 1) + least


# How many bytes are compared at once: few enough for a processor's cache.
_CHUNK = 1 << 18


def invert_second_half(array: Array) -> Array:
    """Return a copy of an array with every bit of its second half inverted."""
    inverted = array.copy()
    second_half = inverted.reshape(-1)[array.size // 2 :]
    second_half[...] = invert_bits(second_half)
    return inverted


def same_bytes(one: Array, other: Array) -> bool:
    """Whether arrays have the same bytes in C order; copies only parts of large ones."""
    if one.nbytes != other.nbytes or one.nbytes <= _CHUNK:
        return one.tobytes() == other.tobytes()
    first, second = _bytes_of(one), _bytes_of(other)
    starts = range(0, one.nbytes, _CHUNK)
    return all(first[k : k + _CHUNK].tobytes() == second[k : k + _CHUNK].tobytes() for k in starts)


def digest_of(array: Array) -> str:
    """Return the SHA-256 of the elements in C order, as hexadecimal digits."""
    # Small ones are copied faster than viewed.
    elements = array.tobytes() if array.nbytes <= _CHUNK else _bytes_of(array).data
    return sha256(elements).hexdigest()


def _bytes_of(array: Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes in C order; those of a contiguous array are not copied."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
