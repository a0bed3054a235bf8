"""Memory layouts: the strides with which a backend gets an array."""

from typing import Literal, get_args

import numpy as np

from opcert.arrays.element_types import Array, bits_dtype

Layout = Literal[
    "c",
    "fortran",
    "reversed",
    "gapped",
    "pitched",
    "permuted",
    "first_reversed",
    "last_reversed",
]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


# How many dimensions must be longer than 1 for a layout to differ from C order.
LONG_AXES_NEEDED: dict[Layout, int] = {
    "c": 0,
    "fortran": 2,
    "reversed": 1,
    "gapped": 1,
    "pitched": 2,
    "permuted": 3,
    "first_reversed": 2,
    "last_reversed": 2,
}


def copy_in_layout(array: Array, layout: Layout) -> Array:
    """Return a fresh, writeable copy of `array` in a memory layout.

    `c` and `fortran` are contiguous along the last or the first dimension; `permuted` is C order
    with the last two dimensions exchanged. `reversed` has negative strides along every dimension,
    `first_reversed` and `last_reversed` along one. `gapped` has a foreign element before each
    of its own, `pitched` one after each row. Dimensions of 1 are ignored.
    """
    if layout == "fortran":
        return array.copy(order="F")
    if layout == "c":
        return array.copy(order="C")
    long_axes = [axis for axis, extent in enumerate(array.shape) if extent > 1]
    if not array.size or len(long_axes) < LONG_AXES_NEEDED[layout]:
        return array.copy(order="C")
    if layout == "permuted":
        return array.swapaxes(*long_axes[-2:]).copy(order="C").swapaxes(*long_axes[-2:])
    if layout in ("gapped", "pitched"):
        return _with_gaps(np.asarray(array, order="C"), long_axes[-1], every=layout == "gapped")
    one_axis = {"first_reversed": long_axes[:1], "last_reversed": long_axes[-1:]}
    reversed_axes = one_axis.get(layout, long_axes)
    flip = tuple(slice(None, None, -1 if k in reversed_axes else None) for k in range(array.ndim))
    return array[flip].copy(order="C")[flip]


def underlying_buffer(array: Array) -> Array:
    """Return the whole buffer of an array that `copy_in_layout` made, gaps included."""
    return array if array.base is None else array.base


def array_properties(array: Array) -> tuple[object, ...]:
    """Return what a caller relies on besides the elements: dtype, shape, strides, writeability."""
    return array.dtype, array.shape, array.strides, array.flags.writeable


def _with_gaps(array: Array, axis: int, *, every: bool) -> Array:
    """Insert a foreign element before each element along `axis`, or only at its end."""
    before = (slice(None),) * axis
    # A gap differs from the element that belongs there, so that an output reveals its use.
    other = array.copy(order="C").view(
        np.bool_ if array.dtype == np.bool_ else bits_dtype(array.dtype)
    )
    other ^= other.dtype.type(1)
    if every:
        wide = np.repeat(array, 2, axis=axis)
        wide[(*before, slice(0, None, 2))] = other.view(array.dtype)
        gapped: Array = wide[(*before, slice(1, None, 2))]
        return gapped
    gap = other.view(array.dtype)[(*before, slice(0, 1))]
    pitched: Array = np.concatenate([array, gap], axis=axis)[(*before, slice(0, -1))]
    return pitched
