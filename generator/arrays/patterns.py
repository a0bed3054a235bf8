"""Data patterns, and packs of arrays."""

import io
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    FLOATS,
    FOUR_BIT_TYPES,
    INTEGERS,
    Array,
    bit_width,
    bits_dtype,
    bits_of,
    highest,
    invert_second_half,
    type_name,
)

Bits = np.ndarray[Any, np.dtype[np.unsignedinteger]]
# Exponent and mantissa bits of the types that have infinities and NaNs as IEEE 754 has them.
_IEEE = {"bf16": (8, 7), "f16": (5, 10), "f32": (8, 23), "f64": (11, 52), "f8e5m2": (5, 2)}
# f8e4m3 has no infinity: -0.0, both NaNs, extreme subnormals, extreme finite values.
_F8E4M3 = (0x80, 0x7F, 0xFF, 0x01, 0x87, 0x7E, 0xFE)
_ATTEMPTS = 64
# How many elements of an array are computed at once.
_PART = 1 << 13
_NUMBERS = np.arange(_PART, dtype=np.uint64)
# By so much the state of SplitMix64 grows with each step, and its greatest state.
_GAMMA, _STATES = 0x9E3779B97F4A7C15, (1 << 64) - 1
# Seeds are numbers that every reader of JSON reads exactly.
_SEEDS = (1 << 32) - 1
# The number up to which a type represents every whole number.
_MAX_WHOLE = {"f8e4m3": 16, "f8e5m2": 8, "bf16": 256, "f16": 2048, "i4": 7, "u4": 15}
# The most bytes of an array that a pack stores.
MAX_STORED_BYTES = 3 << 9


class Recipe(NamedTuple):
    """How the elements of an array follow from a seed below 2^32, in any language.

    Without a stride, an element of w bits is, in C order, the upper w bits of the next output of
    SplitMix64 seeded with `seed`. With one, element i is the lower w bits of the state that
    SplitMix64 has `seed + i * stride` steps after 0: an odd stride repeats no element before all
    2^w occurred, a stride of 0 repeats one. These are the elements of an array whose extents are 1
    along `repeated` axes; they are then repeated.
    """

    seed: int
    stride: int | None = None

    def array(self, name: str, shape: tuple[int, ...], repeated: Sequence[int] = ()) -> Array:
        """Return the array of the type `name` that the recipe generates."""
        if repeated:
            once = self.array(name, _once(shape, repeated))
            return np.array(np.broadcast_to(once, shape), order="C")
        dtype, width, size = ELEMENT_TYPES[name], bit_width(name), prod(shape)
        bits = np.empty(size, bits_dtype(dtype))
        step = _GAMMA if self.stride is None else self.stride * _GAMMA
        state = self.seed + _GAMMA if self.stride is None else self.seed * _GAMMA
        # Parts of the array fit into a processor's cache.
        for start in range(0, size, _PART):
            part = bits[start : start + _PART]
            states = _NUMBERS[: part.size] * np.uint64(step & _STATES)
            states += np.uint64((state + start * step) & _STATES)
            if self.stride is None:
                part[:] = _mixed(states) >> np.uint64(64 - width)
            else:
                part[:] = states & np.uint64((1 << width) - 1)
        return bits.view(dtype).reshape(shape)


def _once(shape: tuple[int, ...], repeated: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of the elements that are repeated along axes."""
    return tuple(1 if axis in repeated else extent for axis, extent in enumerate(shape))


def is_large(tensor: Tensor) -> bool:
    """Whether a data pattern fills a tensor that is too large to store."""
    return tensor.values is None and tensor.nbytes > MAX_STORED_BYTES and tensor.uniform == "no"


def recipe_of(tensor: Tensor) -> Recipe:
    """Return the recipe of a tensor that a pattern fills; equal patterns have equal recipes."""
    if tensor.uniform == "zero":
        return Recipe(0, 0)
    if tensor.uniform == "some":
        return _small_pattern(tensor.type, (1,), tensor.pattern)[0]._replace(stride=0)
    if is_large(tensor):
        return Recipe(_hash(tensor.pattern) & _SEEDS)
    shape = _once(tensor.shape, tensor.layout.repeated)
    return _small_pattern(tensor.type, shape, tensor.pattern)[0]


@lru_cache(maxsize=256)
def _small_pattern(element_type: str, shape: tuple[int, ...], pattern: str) -> tuple[Recipe, Array]:
    """Return the recipe of elements that differ, and the elements, which are not to be changed."""
    width, size = bit_width(element_type), prod(shape)
    for attempt in range(_ATTEMPTS):
        seed, stride = (_hash(f"{pattern}|{attempt}{part}") & _SEEDS for part in ("", "|stride"))
        recipe = Recipe(seed, stride | 1 if size <= 1 << width else None)
        array = recipe.array(element_type, shape)
        bits = array.view(bits_dtype(array.dtype))
        if size > 1 << width:
            if _differs_from_permutations(bits):
                break
        # Small tensors have no zero: it could be mistaken for one that the operator fills in.
        elif bits.all() or size > 1 << (width - 1):
            break
    return recipe, array


def pattern_array(tensor: Tensor) -> Array:
    """Return the elements of a tensor that a pattern fills; equal patterns give equal elements.

    In a tensor that is small enough to store, all elements differ if the type has enough values.
    If it has not, the tensor at least differs from itself shifted by one along any axis, and from
    its transposes. Along axes that its layout repeats, elements are equal.
    """
    repeated = tensor.layout.repeated
    if tensor.uniform == "no" and not repeated and not is_large(tensor):
        return _small_pattern(tensor.type, tensor.shape, tensor.pattern)[1].copy()
    return recipe_of(tensor).array(tensor.type, tensor.shape, repeated)


def materialize(tensor: Tensor) -> Array:
    """Return the elements of `tensor`: its values, or those of its pattern."""
    if tensor.values is None:
        array = pattern_array(tensor)
        return invert_second_half(array) if tensor.second_half_inverted else array
    # ml_dtypes converts no integer beyond 64 bits, but any Python float.
    values = map(float, tensor.values) if tensor.type in FLOATS else tensor.values
    array = np.array([*values], ELEMENT_TYPES[tensor.type]).reshape(tensor.shape)
    if tensor.type in _IEEE and any(number != number for number in tensor.values):  # noqa: PLR0124
        _keep_payloads(array, np.array(tensor.values, np.float64))
    return array


def _keep_payloads(array: Array, numbers: Array) -> None:
    """Give NaNs the signs and the upper bits of those of doubles, which processors may change."""
    exponent, mantissa = _IEEE[type_name(array.dtype)]
    bits, doubles = array.view(bits_dtype(array.dtype)).reshape(-1), numbers.view(np.uint64)
    for place in np.flatnonzero(np.isnan(numbers)):
        double = int(doubles[place])
        payload = (double & (1 << 52) - 1) >> 52 - mantissa or 1 << mantissa - 1
        head = (double >> 63) << exponent | (1 << exponent) - 1
        bits[place] = head << mantissa | payload


def special_bits(element_type: str) -> tuple[int, ...]:
    """Return the bit patterns that implementations tend to lose: NaNs, -0.0, extremes."""
    sign = 1 << (bit_width(element_type) - 1)
    if element_type in (*INTEGERS, *FOUR_BIT_TYPES):
        return (sign, sign - 1, 2 * sign - 1)
    if element_type == "f8e4m3":
        return _F8E4M3
    if element_type not in _IEEE:
        return ()
    exponent, mantissa = _IEEE[element_type]
    infinity = ((1 << exponent) - 1) << mantissa
    quiet, payload = infinity | 1 << (mantissa - 1), 1 if mantissa < 4 else 0b101
    nans = (quiet | payload, sign | quiet | payload, infinity | 1)
    subnormals = (1, sign | ((1 << mantissa) - 1))
    return (nans[0], sign, infinity, subnormals[0], *nans[1:], sign | infinity, subnormals[1])


def with_special_values(
    arrays: Mapping[str, Array], tensors: Mapping[str, Tensor], outputs: Sequence[Array]
) -> dict[str, Array]:
    """Return arrays with special values that reach `outputs`; distinct elements stay distinct.

    Those without a data pattern stay as they are. At most half of the elements that reach an output
    are replaced, each by another special value.
    """
    changed = dict(arrays)
    names: defaultdict[np.dtype[Any], list[str]] = defaultdict(list)
    for name, array in arrays.items():
        tensor = tensors[name]
        is_pattern = tensor.values is None and not is_large(tensor) and not tensor.layout.repeated
        has_distinct = 0 < array.size <= 1 << min(63, bit_width(tensor.type))
        if tensor.uniform == "no" and is_pattern and has_distinct and special_bits(tensor.type):
            names[array.dtype].append(name)
    for dtype, group in names.items():
        same_type = [bits_of(output).ravel() for output in outputs if output.dtype == dtype]
        own = [bits_of(arrays[name]).ravel() for name in group]
        reached = _occur(np.concatenate(own), same_type)
        ends = np.cumsum([bits.size for bits in own])
        for name, bits, is_reached in zip(group, own, np.split(reached, ends[:-1]), strict=True):
            # An operator may produce zeros of its own, so that a zero in an output proves nothing.
            places = np.flatnonzero(is_reached & (bits != 0))
            if places.size:
                _place_specials(bits, places, tensors[name])
                changed[name] = bits.view(dtype).reshape(arrays[name].shape)
    return changed


def _place_specials(bits: Bits, places: Array, tensor: Tensor) -> None:
    specials, start = special_bits(tensor.type), _hash(f"{tensor.pattern}|specials")
    count = min(len(specials), (len(places) + 1) // 2)
    for k in range(count):
        position = places[(start + k * len(places) // count) % len(places)]
        special = specials[(start + k) % len(specials)]
        # An element that already has the special value takes the replaced value in exchange.
        bits[bits == special] = bits[position]
        bits[position] = special


def _occur(bits: Array, arrays: Sequence[Array]) -> Array:
    """Return which of `bits` occur in any of `arrays`, as np.isin does by sorting all of them.

    The arrays may have millions of elements more than `bits`.
    """
    known = np.sort(bits)
    is_found = np.zeros(known.size, np.bool_)
    if arrays:
        elements = np.concatenate(arrays)
        places = np.searchsorted(known[:-1], elements)
        is_found[places[known[places] == elements]] = True
    return is_found[np.searchsorted(known, bits)]


def _hash(seed: str) -> int:
    """Return 64 bits that depend on `seed` alone."""
    return int.from_bytes(sha256(seed.encode()).digest()[:8], "little")


def _mixed(states: Bits) -> Bits:
    """Return the outputs of SplitMix64 (Steele, Lea, Flood 2014) at its `states`."""
    mixed = (states ^ (states >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _differs_from_permutations(bits: Bits) -> bool:
    """Whether `bits` differs from its shifts by one and its exchanges of two equal axes."""
    long_axes = [axis for axis, extent in enumerate(bits.shape) if extent > 1]
    shifted = [np.roll(bits, 1, axis) for axis in long_axes]
    transposed = [
        bits.swapaxes(a, b) for a, b in combinations(long_axes, 2) if bits.shape[a] == bits.shape[b]
    ]
    return not any(np.array_equal(bits, other) for other in [*shifted, *transposed])


def materialize_numbered(tensor: Tensor) -> Array:
    """Return the elements of `tensor`, with 1, 2, 3, ... instead of a data pattern."""
    if tensor.values is not None:
        return materialize(tensor)
    limit = _MAX_WHOLE.get(tensor.type, 1 << 24)
    limit = min(highest(tensor.type), limit) if tensor.type in INTEGERS else limit
    numbers = np.arange(tensor.size, dtype=np.int64)
    numbers = (numbers + 1) % 2 if tensor.type == "boolean" else numbers % limit + 1
    return numbers.astype(ELEMENT_TYPES[tensor.type]).reshape(tensor.shape)


# The earliest time that a zip can record, so that the bytes do not depend on the clock.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LOCAL_HEADER = 30


class PackWriter:
    """Writes arrays, each of a dtype that npy has, to a pack one by one.

    `offsets` are those of the elements of each array.
    """

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._archive = zipfile.ZipFile(self._buffer, "w", zipfile.ZIP_STORED)
        self.offsets: dict[str, int] = {}

    def add(self, name: str, array: Array) -> None:
        """Append `array`."""
        member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
        member.create_system = _UNIX
        member.external_attr = 0o644 << 16
        header = _npy_header(array.dtype.str, array.shape)
        path = member.filename.encode()
        self.offsets[name] = self._buffer.tell() + _LOCAL_HEADER + len(path) + len(header)
        self._archive.writestr(member, header + array.tobytes())

    def data(self) -> bytes:
        """Close the archive and return its bytes."""
        self._archive.close()
        return self._buffer.getvalue()


@lru_cache(maxsize=4096)
def _npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    """Return a header of NPY format 1.0. NumPy pads to 64 bytes; 16 save a tenth of a pack."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    padding = -(10 + len(text) + 1) % 16
    header = text.encode("latin1") + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def read_elements(data: bytes, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of `dtype` whose elements begin at `offset`, read-only.

    Raises:
        ValueError: `data` is too short for it.
    """
    try:
        return np.frombuffer(data, dtype, prod(shape), offset).reshape(shape)
    except OverflowError as error:
        raise ValueError(str(error)) from None
