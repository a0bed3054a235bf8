"""Members that lose data: bits of an element type, the strides of an input, sizes, ranks."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import ml_dtypes
import numpy as np

from opcert.arrays import (
    ELEMENT_TYPES,
    FLOATS,
    LAYOUTS,
    LONG_AXES_NEEDED,
    Array,
    Layout,
    bits_of,
    copy_in_layout,
    underlying_buffer,
)
from opcert.panel.member import (
    ArrayCall,
    Member,
    Outputs,
    Right,
    Signature,
    changing_checked,
    computing,
    rejecting,
    spoiling,
)

# Through which narrower types elements of a type may be moved.
_NARROWER = {
    "f64": ("f32", "i64"),
    "f32": ("f16", "bf16", "i32"),
    "f16": ("bf16", "f8e5m2"),
    "bf16": ("f16", "f8e5m2"),
    "f8e5m2": ("f8e4m3",),
    "f8e4m3": ("f8e5m2",),
    "i64": ("i32", "f64"),
    "u64": ("i32", "f64"),
    "i32": ("i16", "f32"),
    "u32": ("u16", "f32"),
    "i16": ("i8", "f16"),
    "u16": ("u8", "f16"),
    "i8": ("i4",),
    "u8": ("u4",),
}
_LARGE = (64, 128, 256, 1024, 4096, 16384, 65536)
_WIDTHS = (4, 8, 16)


def data_members(signature: Signature) -> Iterator[Member]:
    """Yield what can happen to data, by its type, layout, size and rank."""
    for name in signature.data:
        for element_type in signature.types.get(name, ()):
            yield from _of_type(name, element_type)
        for rank in signature.ranks.get(name, ()):
            yield spoiling(
                f"{name}-wrong-for-rank-{rank}",
                f"results are wrong where {name} has rank {rank}",
                partial(_has_rank, name, rank),
            )
    for name in signature.ranks:
        for rank in signature.ranks[name]:
            yield rejecting(
                f"{name}-rejected-for-rank-{rank}",
                f"{name} of rank {rank} is rejected",
                partial(_is_of_rank, name, rank),
            )
        for element_type in signature.types[name]:
            yield rejecting(
                f"{name}-rejected-for-{element_type}",
                f"{name} of {element_type} is rejected",
                partial(_is_of, name, element_type),
            )
        for layout in LAYOUTS[1:]:
            yield changing_checked(
                f"{name}-{layout}-as-c",
                f"{name} in memory layout '{layout}' is read in C order",
                partial(_strides_ignored, name, layout),
            )
    yield from _sizes(signature)


def _is_of(name: str, element_type: str, call: ArrayCall) -> bool:
    return name in call.inputs and call.inputs[name].dtype == ELEMENT_TYPES[element_type]


def _is_of_rank(name: str, rank: int, call: ArrayCall) -> bool:
    return name in call.inputs and call.inputs[name].ndim == rank


def _has_rank(name: str, rank: int, call: ArrayCall, _: Outputs) -> bool:
    return _is_of_rank(name, rank, call)


def _of_type(name: str, element_type: str) -> Iterator[Member]:
    losses: list[tuple[str, str, Callable[[Array], Array]]] = [
        (f"through-{narrow}", f"is moved as {narrow}", partial(_through, narrow))
        for narrow in _NARROWER.get(element_type, ())
    ]
    if element_type in FLOATS:
        losses += [
            ("nan-bits", "loses the payload and sign of NaNs", _plain_nans),
            ("minus-zero", "loses the sign of -0.0", _plain_zeros),
            ("subnormals", "has its subnormal elements flushed to 0", _flushed),
        ]
    if element_type != "boolean":
        losses.append(("swapped", "is moved with its bytes in reverse order", _swapped))
    losses.append(("top-bit", "loses the highest bit of each element", _without_top_bit))
    for key, text, lose in losses:
        yield computing(
            f"{name}-{element_type}-{key}",
            f"{name} of {element_type} {text}",
            partial(_losing, name, element_type, lose),
        )
    yield computing(
        f"{name}-{element_type}-as-bits",
        f"results of {name} of {element_type} are returned in another type of the same width",
        partial(_as_bits, name, element_type),
    )


def _losing(
    name: str, element_type: str, lose: Callable[[Array], Array], call: ArrayCall, right: Right
) -> Outputs | None:
    """Lose bits of the elements of `name`, and move what is left."""
    if not _is_of(name, element_type, call):
        return None
    with np.errstate(all="ignore"):
        left = lose(call.inputs[name])
    return (
        None if left.tobytes() == call.inputs[name].tobytes() else right(call.replaced(name, left))
    )


def _through(narrow: str, array: Array) -> Array:
    if narrow in ("i4", "u4"):
        kept = array & 15
        return kept.astype(array.dtype)
    return array.astype(ELEMENT_TYPES[narrow]).astype(array.dtype)


def _plain_nans(array: Array) -> Array:
    plain = array.copy()
    plain[np.isnan(plain)] = np.nan
    return plain


def _plain_zeros(array: Array) -> Array:
    return np.where(array == 0, np.zeros_like(array), array)


def _flushed(array: Array) -> Array:
    least = float(ml_dtypes.finfo(array.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    wide = array.astype(np.float64)
    return np.where((wide != 0) & (abs(wide) < least), np.zeros_like(array), array)


def _swapped(array: Array) -> Array:
    return bits_of(array).byteswap().view(array.dtype)


def _without_top_bit(array: Array) -> Array:
    bits = bits_of(array)
    if array.dtype == np.bool_:
        return np.zeros_like(array)
    mask = (1 << (8 * array.dtype.itemsize - 1)) - 1
    kept: Array = (bits & bits.dtype.type(mask)).view(array.dtype)
    return kept


def _as_bits(name: str, element_type: str, call: ArrayCall, right: Right) -> Outputs | None:
    if not _is_of(name, element_type, call):
        return None
    other = np.dtype(np.uint8 if element_type != "u8" else np.int8)
    if (itemsize := ELEMENT_TYPES[element_type].itemsize) > 1:
        other = np.dtype(f"{'i' if element_type.startswith('u') else 'u'}{itemsize}")
    return [output.view(other) for output in right(call)]


def layout_of(array: Array) -> Layout:
    """Return the memory layout of an array that `laid_out` made."""
    return _layouts(array.dtype, array.shape).get(_long(array), "c")


@lru_cache(maxsize=1 << 12)
def _layouts(dtype: np.dtype[Any], shape: tuple[int, ...]) -> dict[tuple[int, ...], Layout]:
    """Return the layouts of arrays of a form by their strides."""
    array = np.empty(shape, dtype)
    long_axes = sum(extent > 1 for extent in shape) if array.size else 0
    possible = [layout for layout in LAYOUTS if long_axes >= LONG_AXES_NEEDED[layout]]
    return {_long(copy_in_layout(array, layout)): layout for layout in reversed(possible)}


def _long(array: Array) -> tuple[int, ...]:
    """Return the strides of an array, of the dimensions in which they mean something."""
    pairs = zip(array.shape, array.strides, strict=True)
    return tuple(stride for extent, stride in pairs if extent > 1 and array.size)


def _strides_ignored(name: str, layout: Layout, call: ArrayCall) -> ArrayCall:
    """Read an input of one memory layout as if its elements lay in C order."""
    array = call.inputs.get(name)
    if array is None or array.flags.c_contiguous or layout_of(array) != layout:
        return call
    base = underlying_buffer(array)
    flat = base.ravel(order="K")[: array.size].reshape(array.shape)
    return call.replaced(name, flat.copy())


def _sizes(signature: Signature) -> Iterator[Member]:
    """Yield members that are wrong, or reject, for calls of some sizes."""
    first = signature.spec.leading.name
    yield rejecting(
        "empty-data-rejected",
        f"{first} without elements is rejected",
        lambda call: _holds(first, _is_empty, call),
    )
    for count in _LARGE:
        yield spoiling(
            f"results-beyond-{count}",
            f"results of more than {count} elements are wrong",
            partial(_results_beyond, count),
        )
    for width in _WIDTHS:
        yield spoiling(
            f"tails-of-{width}",
            f"results that are no multiple of {width} elements are wrong at their end",
            partial(_have_tails, width),
        )
        yield spoiling(
            f"no-tails-of-{width}",
            f"results that are a multiple of {width} elements are wrong",
            partial(_have_no_tails, width),
        )
    kinds: list[tuple[str, str, Callable[[Array], bool]]] = [
        *(
            (f"data-beyond-{n}", f"has more than {n} elements", partial(_beyond, n))
            for n in (64, 256, 1024)
        ),
        *(
            (f"extents-beyond-{n}", f"has an extent above {n}", partial(_extent_beyond, n))
            for n in (16, 32, 64, 127, 255)
        ),
        ("odd-rows", "has a last extent that is odd and above 1", _has_odd_rows),
        ("one-element", "has one element", lambda array: array.size == 1),
        ("extents-of-one", "has an extent of 1", lambda array: 1 in array.shape),
    ]
    for name, text, holds in kinds:
        yield spoiling(
            name, f"results are wrong where {first} {text}", partial(_data_is, first, holds)
        )


def _holds(name: str, holds: Callable[[Array], bool], call: ArrayCall) -> bool:
    return name in call.inputs and holds(call.inputs[name])


def _data_is(name: str, holds: Callable[[Array], bool], call: ArrayCall, _: Outputs) -> bool:
    return _holds(name, holds, call)


def _is_empty(array: Array) -> bool:
    return not array.size


def _beyond(count: int, array: Array) -> bool:
    return array.size > count


def _extent_beyond(extent: int, array: Array) -> bool:
    return max(array.shape, default=0) > extent


def _has_odd_rows(array: Array) -> bool:
    return array.ndim > 0 and array.shape[-1] % 2 == 1 and array.shape[-1] > 1


def _results_beyond(count: int, _: ArrayCall, outputs: Outputs) -> bool:
    return sum(output.size for output in outputs) > count


def _have_tails(width: int, _: ArrayCall, outputs: Outputs) -> bool:
    return any(output.size > width and output.size % width for output in outputs)


def _have_no_tails(width: int, _: ArrayCall, outputs: Outputs) -> bool:
    return any(output.size and output.size % width == 0 for output in outputs)
