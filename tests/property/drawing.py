"""What the property tests of every operator draw from: types, shapes, layouts, indices, calls."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import ml_dtypes
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.property.oracles import Array, Index

T = TypeVar("T")
DType: TypeAlias = np.dtype[Any]
Types: TypeAlias = st.SearchStrategy[DType]
Ranks: TypeAlias = st.SearchStrategy[int]
Call: TypeAlias = dict[str, Any]
Calls: TypeAlias = st.SearchStrategy[Call]

MANY = settings(max_examples=60, deadline=None, derandomize=True)
FEW = settings(MANY, max_examples=25)

INTEGER_TYPES = tuple(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
IEEE_TYPES = tuple(map(np.dtype, ("f2", "f4", "f8")))
NARROW_TYPES = tuple(
    map(np.dtype, (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2))
)
NIBBLE_TYPES = tuple(map(np.dtype, (ml_dtypes.int4, ml_dtypes.uint4)))
NON_INTEGER_TYPES = (np.dtype(bool), *IEEE_TYPES, *NARROW_TYPES, *NIBBLE_TYPES)
DATA_TYPES = (*INTEGER_TYPES, *NON_INTEGER_TYPES)

ANY_TYPE = st.sampled_from(DATA_TYPES)
ANY_INTEGER = st.sampled_from(INTEGER_TYPES)
ANY_RANK = st.integers(1, 8)
ANY_RANK_OR_ZERO = st.integers(0, 8)
EITHER = st.booleans()

# The last two outgrow i8, and u8.
LONG = (100, 131, 260)

# Bits that a type fills, where it does not fill its bytes.
WIDTHS = {"bool": 1, "int4": 4, "uint4": 4}
SIGNALLING_NANS = {
    "float16": 0x7C01,
    "float32": 0x7F80_0001,
    "float64": 0x7FF0_0000_0000_0001,
    "bfloat16": 0x7F81,
    "float8_e4m3fn": 0x7F,
    "float8_e5m2": 0x7D,
}


def fits(value: int, dtype: DType) -> bool:
    """Whether an integer type holds a value."""
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def holding(*values: int) -> Types:
    """The integer types that hold all of some values."""
    return st.sampled_from(
        [dtype for dtype in INTEGER_TYPES if all(fits(value, dtype) for value in values)]
    )


def mostly(usual: st.SearchStrategy[T], *others: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """Values from one strategy, and from others now and then; `one_of` counts repeats once."""
    choices = [usual] * (4 * len(others)) + list(others)
    return st.integers(0, len(choices) - 1).flatmap(choices.__getitem__)


def simplest_first(values: Iterable[int], dtype: DType) -> st.SearchStrategy[int]:
    """One of the values that a type holds."""
    held = {value for value in values if fits(value, dtype)}
    return st.sampled_from(sorted(held, key=lambda value: (abs(value), -value)))


def positions(extent: int, dtype: DType) -> st.SearchStrategy[int]:
    """A place on a dimension, counted from either end: on it, just off it, or far out."""
    near = {edge + offset for edge in (-extent, 0, extent) for offset in (-3, -1, 0, 1, 3)}
    # The powers are what a cast to a narrower or a signed type turns into a place on the dimension.
    far = {np.iinfo(dtype).min, np.iinfo(dtype).max, 2**8, 2**16, 2**32, -(2**32), 2**63, 2**64 - 1}
    inside = range(-extent, extent) if extent else (0,)
    return st.one_of(
        simplest_first(inside, dtype), simplest_first(near, dtype), simplest_first(far, dtype)
    )


def outside(rank: int, dtype: DType) -> st.SearchStrategy[int]:
    """An axis that data of some rank does not have."""
    # The greater ones are axes again once they are cast to a byte or to a signed type.
    far = {np.iinfo(dtype).min, np.iinfo(dtype).max, 2**8, 2**32, 2**64 - 1}
    return simplest_first({-rank - 1, rank, *far} - set(range(-rank, rank)), dtype)


@st.composite
def one_dimension_long(draw: st.DrawFn, rank: int, longest: int) -> Index:
    """Shapes in which one extent outgrows i8 and u8, or comes as close as `longest` allows."""
    extent = draw(st.sampled_from([extent for extent in LONG if extent <= longest]))
    where = draw(st.integers(0, rank - 1))
    return tuple(extent if axis == where else 1 for axis in range(rank))


@st.composite
def compact(draw: st.DrawFn, rank: int, room: int) -> Index:
    """Shapes of at most `room` elements, none of them empty."""
    shape: list[int] = []
    for _ in range(rank):
        shape.append(draw(st.integers(1, min(5, room))))
        room //= shape[-1]
    return tuple(draw(st.permutations(shape)))


@st.composite
def emptied(draw: st.DrawFn, rank: int, room: int) -> Index:
    """Shapes with an extent of zero, or two."""
    shape = draw(compact(rank, room))
    empty = draw(st.sets(st.integers(0, rank - 1), min_size=1, max_size=2))
    return tuple(0 if axis in empty else extent for axis, extent in enumerate(shape))


def shapes(rank: int, longest: int = 260, room: int = 64) -> st.SearchStrategy[Index]:
    """Shapes of one rank: mostly compact, sometimes with a long or an empty dimension."""
    if rank == 0:
        return st.just(())
    usual, empty = compact(rank, room), emptied(rank, room)
    long = one_dimension_long(rank, longest) if longest >= min(LONG) else usual
    return mostly(usual, long, empty)


def fortran(array: Array) -> Array:
    """The same elements, first axis fastest."""
    return np.array(array, order="F")


def reversed_in_memory(array: Array) -> Array:
    """The same elements, every stride negative."""
    every = tuple(range(array.ndim))
    backwards = np.flip(array, every).copy()
    return np.flip(backwards, every)


def gapped(array: Array) -> Array:
    """The same elements, something else between them."""
    wide = np.ones((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "packed": np.array,
    "Fortran": fortran,
    "reversed": reversed_in_memory,
    "gapped": gapped,
}


@st.composite
def laid_out(draw: st.DrawFn, array: Array) -> Array:
    """The same elements in some memory layout."""
    return LAYOUTS[draw(st.sampled_from(list(LAYOUTS)))](array)


@st.composite
def arrays(draw: st.DrawFn, shape: Index, dtype: DType) -> Array:
    """Arrays of any bits a type may have, telling ones among them, in any layout."""
    random_source = random.Random(draw(st.integers(0, 2**32 - 1)))
    width = WIDTHS.get(dtype.name, 8 * dtype.itemsize)
    telling = [0, 1, 1 << width - 1, (1 << width) - 1, SIGNALLING_NANS.get(dtype.name, 0)]
    patterns = [
        random_source.choice(telling)
        if random_source.getrandbits(2) == 0
        else random_source.getrandbits(width)
        for _ in range(int(np.prod(shape)))
    ]
    bits = np.array(patterns, f"u{dtype.itemsize}").reshape(shape)
    return draw(laid_out(bits.view(dtype)))


def vectors(values: Sequence[int], dtype: DType) -> st.SearchStrategy[Array]:
    """A 1-D array of some values, in any layout."""
    return laid_out(np.array(values, dtype))


def vectors_of_any_type(values: Sequence[int]) -> st.SearchStrategy[Array]:
    """A 1-D array of some values, of any integer type that holds them."""
    return holding(*values).flatmap(lambda dtype: vectors(values, dtype))


@st.composite
def scalars(draw: st.DrawFn, value: int, dtype: DType) -> Array:
    """A value as a 0-D array or a 1-D one of a single element."""
    shape: Index = draw(st.sampled_from([(), (1,)]))
    return np.full(shape, value, dtype)


@st.composite
def axes(draw: st.DrawFn, where: int, rank: int, dtype: DType) -> Array:
    """An axis counted from the front or from the end, as a scalar input."""
    return draw(scalars(draw(simplest_first((where, where - rank), dtype)), dtype))


@st.composite
def axes_outside(draw: st.DrawFn, rank: int) -> Array:
    """An axis that data of some rank does not have, as a scalar input."""
    dtype = draw(ANY_INTEGER)
    return draw(scalars(draw(outside(rank, dtype)), dtype))


@st.composite
def parts(draw: st.DrawFn, extent: int, longest: int) -> list[int]:
    """Lengths that add up to an extent, none of them beyond `longest`."""
    cuts = sorted(draw(st.lists(st.integers(0, extent), max_size=4)))
    lengths = [high - low for low, high in zip([0, *cuts], [*cuts, extent], strict=True)]
    return [
        piece
        for length in lengths
        for piece in (*[longest] * (length // longest), length % longest)
    ]


@st.composite
def changed_types(draw: st.DrawFn, array: Array) -> Array:
    """The same values, as near as may be, in a type that is no integer type."""
    with np.errstate(all="ignore"):
        return array.astype(draw(st.sampled_from(NON_INTEGER_TYPES)))


@st.composite
def changed_ranks(draw: st.DrawFn, vector: Array) -> Array:
    """The same elements, but not in one dimension."""
    ranks: list[Index] = [(-1, 1), (1, -1), (1, -1, 1)]
    return vector.reshape(draw(st.sampled_from([*ranks, ()] if vector.size == 1 else ranks)))


def resized(vector: Array) -> st.SearchStrategy[Array]:
    """The same vector with an element more or an element less."""
    longer, shorter = np.append(vector, np.ones(1, vector.dtype)), vector[:-1]
    return st.sampled_from([longer, shorter] if vector.size else [longer])


def wrong_axis_shapes(axis: Array) -> st.SearchStrategy[Array]:
    """The same axis, but neither as a scalar nor as a vector of one."""
    wrong: list[Index] = [(0,), (2,), (1, 1), (3,), (1, 0)]
    return st.sampled_from(wrong).map(lambda shape: np.full(shape, axis.item(), axis.dtype))


@st.composite
def lacking(draw: st.DrawFn, calls: Calls, *names: str) -> Call:
    """Calls that leave out one of some arguments, or give None for it."""
    call, name = draw(calls), draw(st.sampled_from(names))
    left = {key: value for key, value in call.items() if key != name}
    return draw(st.sampled_from([left, call | {name: None}]))


@st.composite
def with_changed(
    draw: st.DrawFn,
    calls: Calls,
    name: str,
    change: Callable[[Array], st.SearchStrategy[Array]],
) -> Call:
    """Calls in which one argument, where it is given, is not what it was."""
    call = draw(calls)
    return call | {name: draw(change(call[name]))}
