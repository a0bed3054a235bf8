"""How the elements of an array lie in memory when a backend gets it."""

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


# How many dimensions must be longer than 1 for a layout to be another than C order.
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

    `c` and `fortran` have the last or the first dimension contiguous, `permuted` has the last two
    exchanged. `reversed` runs backwards along every dimension, `first_reversed` and `last_reversed`
    along one. `gapped` has other elements between its own, `pitched` only behind each row.
    Dimensions of 1 count for nothing.
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
    turned = {"first_reversed": long_axes[:1], "last_reversed": long_axes[-1:]}
    backwards = tuple(
        slice(None, None, -1 if axis in turned.get(layout, long_axes) else None)
        for axis in range(array.ndim)
    )
    return array[backwards].copy(order="C")[backwards]


def underlying_buffer(array: Array) -> Array:
    """Return all that lies in memory where `laid_out` put `array`: its gaps too."""
    return array if array.base is None else array.base


def array_properties(array: Array) -> tuple[object, ...]:
    """Return what of an array its caller relies on beside the elements."""
    return array.dtype, array.shape, array.strides, array.flags.writeable


def _with_gaps(array: Array, axis: int, *, every: bool) -> Array:
    """Lay other elements before each one along `axis`, or only at the end of it."""
    before = (slice(None),) * axis
    # What lies in the gaps is no element of the array.
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
