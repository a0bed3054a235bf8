"""Faults in the handling of data: by its type, its memory layout, its size and its rank."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import ml_dtypes
import numpy as np

from opcert.arrays.element_types import (
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
from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    RunReference,
    corrupting,
    misreading_after_checks,
    rejecting,
    stateless,
)

# The types to which an implementation may wrongly convert elements of a type while it moves them.
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
# Sizes at which implementations change their algorithm, and widths of vector instructions.
_SIZES = (64, 128, 256, 1024, 4096, 16384, 65536)
_WIDTHS = (4, 8, 16)


def data_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield faults by the element type, the layout, the size and the rank of inputs."""
    for name in signature.data:
        for element_type in signature.types.get(name, ()):
            yield from _type_faults(name, element_type)
        for rank in signature.ranks.get(name, ()):
            yield corrupting(
                f"{name}-wrong-for-rank-{rank}",
                f"results are wrong where {name} has rank {rank}",
                partial(_has_rank, name, rank),
            )
    for name in signature.ranks:
        for rank in signature.ranks[name]:
            yield rejecting(
                f"{name}-rejected-for-rank-{rank}",
                f"{name} of rank {rank} is rejected",
                partial(_has_rank, name, rank),
            )
        for element_type in signature.types[name]:
            yield rejecting(
                f"{name}-rejected-for-{element_type}",
                f"{name} of {element_type} is rejected",
                partial(_has_type, name, element_type),
            )
        for layout in LAYOUTS[1:]:
            yield misreading_after_checks(
                f"{name}-{layout}-as-c",
                f"{name} in memory layout '{layout}' is read in C order",
                partial(_read_in_c_order, name, layout),
            )
    yield from _size_faults(signature.spec.leading_key)


def _has_type(name: str, element_type: str, call: ArrayCall) -> bool:
    return name in call.inputs and call.inputs[name].dtype == ELEMENT_TYPES[element_type]


def _has_rank(name: str, rank: int, call: ArrayCall, _: Outputs = ()) -> bool:
    return name in call.inputs and call.inputs[name].ndim == rank


def _type_faults(name: str, element_type: str) -> Iterator[Fault]:
    losses: list[tuple[str, str, Callable[[Array], Array]]] = [
        (f"through-{narrow}", f"is moved as {narrow}", partial(_converted, narrow))
        for narrow in _NARROWER.get(element_type, ())
    ]
    if element_type in FLOATS:
        losses += [
            ("nan-bits", "loses the payload and sign of NaNs", _with_canonical_nans),
            ("minus-zero", "loses the sign of -0.0", _without_signed_zeros),
            ("subnormals", "has its subnormal elements flushed to 0", _with_flushed_subnormals),
        ]
    if element_type != "boolean":
        losses.append(("swapped", "is moved with its bytes in reverse order", _byte_swapped))
    losses.append(("top-bit", "loses the highest bit of each element", _without_top_bit))
    for key, text, lose in losses:
        yield stateless(
            f"{name}-{element_type}-{key}",
            f"{name} of {element_type} {text}",
            partial(_run_on_lossy_data, name, element_type, lose),
        )
    yield stateless(
        f"{name}-{element_type}-as-bits",
        f"results of {name} of {element_type} are returned in another type of the same width",
        partial(_reinterpreted, name, element_type),
    )


def _run_on_lossy_data(
    name: str,
    element_type: str,
    lose: Callable[[Array], Array],
    call: ArrayCall,
    reference: RunReference,
) -> Outputs | None:
    if not _has_type(name, element_type, call):
        return None
    data = call.inputs[name]
    with np.errstate(all="ignore"):
        lossy = lose(data)
    return None if lossy.tobytes() == data.tobytes() else reference(call.replaced(name, lossy))


def _converted(narrow: str, array: Array) -> Array:
    if narrow in ("i4", "u4"):
        kept = array & 15
        return kept.astype(array.dtype)
    return array.astype(ELEMENT_TYPES[narrow]).astype(array.dtype)


def _with_canonical_nans(array: Array) -> Array:
    canonical = array.copy()
    canonical[np.isnan(canonical)] = np.nan
    return canonical


def _without_signed_zeros(array: Array) -> Array:
    return np.where(array == 0, np.zeros_like(array), array)


def _with_flushed_subnormals(array: Array) -> Array:
    least = float(ml_dtypes.finfo(array.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    wide = array.astype(np.float64)
    return np.where((wide != 0) & (abs(wide) < least), np.zeros_like(array), array)


def _byte_swapped(array: Array) -> Array:
    return bits_of(array).byteswap().view(array.dtype)


def _without_top_bit(array: Array) -> Array:
    bits = bits_of(array)
    if array.dtype == np.bool_:
        return np.zeros_like(array)
    mask = (1 << (8 * array.dtype.itemsize - 1)) - 1
    kept: Array = (bits & bits.dtype.type(mask)).view(array.dtype)
    return kept


def _reinterpreted(
    name: str, element_type: str, call: ArrayCall, reference: RunReference
) -> Outputs | None:
    if not _has_type(name, element_type, call):
        return None
    other = np.dtype(np.uint8 if element_type != "u8" else np.int8)
    if (itemsize := ELEMENT_TYPES[element_type].itemsize) > 1:
        other = np.dtype(f"{'i' if element_type.startswith('u') else 'u'}{itemsize}")
    return [output.view(other) for output in reference(call)]


def layout_of(array: Array) -> Layout:
    """Return the memory layout of an array that `copy_in_layout` made."""
    return _layouts_by_strides(array.dtype, array.shape).get(_strides(array), "c")


@lru_cache(maxsize=1 << 12)
def _layouts_by_strides(
    dtype: np.dtype[Any], shape: tuple[int, ...]
) -> dict[tuple[int, ...], Layout]:
    """Return the layouts that arrays of a type and shape can have, by their strides."""
    array = np.empty(shape, dtype)
    long_axes = sum(extent > 1 for extent in shape) if array.size else 0
    possible = [layout for layout in LAYOUTS if long_axes >= LONG_AXES_NEEDED[layout]]
    return {_strides(copy_in_layout(array, layout)): layout for layout in reversed(possible)}


def _strides(array: Array) -> tuple[int, ...]:
    """Return the strides of an array along the axes where they matter: those longer than 1."""
    pairs = zip(array.shape, array.strides, strict=True)
    return tuple(stride for extent, stride in pairs if extent > 1 and array.size)


def _read_in_c_order(name: str, layout: Layout, call: ArrayCall) -> ArrayCall:
    """Read an input of one memory layout as if its elements lay in C order."""
    array = call.inputs.get(name)
    if array is None or array.flags.c_contiguous or layout_of(array) != layout:
        return call
    elements = underlying_buffer(array).ravel(order="K")[: array.size]
    return call.replaced(name, elements.reshape(array.shape).copy())


def _size_faults(first: str) -> Iterator[Fault]:
    """Yield faults that corrupt or reject calls of some sizes; `first` is the leading input."""
    yield rejecting(
        "empty-data-rejected",
        f"{first} without elements is rejected",
        lambda call: first in call.inputs and not call.inputs[first].size,
    )
    for count in _SIZES:
        yield _large_result_fault(count)
    for width in _WIDTHS:
        yield from _tail_faults(width)
    for count in (64, 256, 1024):
        text = f"has more than {count} elements"
        yield _form_fault(first, f"data-beyond-{count}", text, partial(_is_larger, count))
    for extent in (16, 32, 64, 127, 255):
        text = f"has an extent above {extent}"
        yield _form_fault(first, f"extents-beyond-{extent}", text, partial(_is_longer, extent))
    yield _form_fault(first, "odd-rows", "has a last extent that is odd and above 1", _has_odd_rows)
    yield _form_fault(first, "one-element", "has one element", lambda array: array.size == 1)
    yield _form_fault(first, "extents-of-one", "has an extent of 1", lambda array: 1 in array.shape)


def _large_result_fault(count: int) -> Fault:
    return corrupting(
        f"results-beyond-{count}",
        f"results of more than {count} elements are wrong",
        lambda _, outputs: sum(output.size for output in outputs) > count,
    )


def _tail_faults(width: int) -> Iterator[Fault]:
    """Yield faults of code that handles `width` elements at a time, or the remaining elements."""
    yield corrupting(
        f"tails-of-{width}",
        f"results that are no multiple of {width} elements are wrong at their end",
        lambda _, outputs: any(output.size > width and output.size % width for output in outputs),
    )
    yield corrupting(
        f"no-tails-of-{width}",
        f"results that are a multiple of {width} elements are wrong",
        lambda _, outputs: any(output.size and output.size % width == 0 for output in outputs),
    )


def _form_fault(first: str, key: str, text: str, has_form: Callable[[Array], bool]) -> Fault:
    return corrupting(
        key,
        f"results are wrong where {first} {text}",
        lambda call, _: first in call.inputs and has_form(call.inputs[first]),
    )


def _is_larger(count: int, array: Array) -> bool:
    return array.size > count


def _is_longer(extent: int, array: Array) -> bool:
    return max(array.shape, default=0) > extent


def _has_odd_rows(array: Array) -> bool:
    return array.ndim > 0 and array.shape[-1] % 2 == 1 and array.shape[-1] > 1
