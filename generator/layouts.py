"""How the elements of an array lie in memory when a backend gets it."""

from typing import Literal, get_args

import numpy as np

from opcert.generator.element_types import Array, bits_dtype

Layout = Literal["c", "fortran", "reversed", "gapped"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


def laid_out(array: Array, layout: Layout) -> Array:
    """Return a fresh, writeable copy of `array` in a memory layout.

    `c` and `fortran` have the last or the first dimension contiguous, `reversed` runs backwards
    along every dimension, `gapped` has other elements between those of its last dimension that is
    longer than 1, and before the first.
    """
    long_axes = [axis for axis, extent in enumerate(array.shape) if extent > 1]
    if layout in ("c", "fortran") or not long_axes or not array.size:
        return array.copy(order="F" if layout == "fortran" else "C")
    if layout == "reversed":
        backwards = (slice(None, None, -1),) * array.ndim
        return array[backwards].copy(order="C")[backwards]
    doubled = np.repeat(array, 2, axis=long_axes[-1])
    before = (slice(None),) * long_axes[-1]
    # What lies in the gaps is no element of the array.
    bits = doubled.view(np.bool_ if array.dtype == np.bool_ else bits_dtype(array.dtype))
    bits[(*before, slice(0, None, 2))] ^= bits.dtype.type(1)
    gapped: Array = doubled[(*before, slice(1, None, 2))]
    return gapped
