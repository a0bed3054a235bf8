"""Numbers that kernels may take for others, or compute wrongly."""

import ml_dtypes
import numpy as np

from opcert.arrays.element_types import FLOATS, UNSIGNED_INTEGERS, Array, highest, type_name

# Types in which numbers may be computed hold integers of so many bits: f16, f32, i32, f64.
_EXACT_BITS = (11, 24, 31, 53)


def numbers_of_note(array: Array, *, computed: bool) -> set[str]:
    """Return what is among some numbers.

    The size of what is not computed depends on its type alone.
    """
    flags_by_level = flags_of_note(array, computed=computed)
    return {level for level, flags in flags_by_level.items() if flags.any()}


def flags_of_note(array: Array, *, computed: bool) -> dict[str, Array]:
    """Return which elements are numbers of note, for each sort of them."""
    # A signalling NaN is converted as well.
    with np.errstate(invalid="ignore"):
        numbers = array.astype(np.float64)
    flags = {
        "-0.0": np.signbit(numbers) & (numbers == 0),
        "NaN": np.isnan(numbers),
        "infinity": np.isinf(numbers),
        "a number below 0": numbers < 0,
    }
    if type_name(array.dtype) in FLOATS:
        least = float(ml_dtypes.finfo(array.dtype).smallest_normal)  # type: ignore[no-untyped-call]
        flags["a subnormal number"] = (numbers != 0) & (np.abs(numbers) < least)
    if (name := type_name(array.dtype)) in UNSIGNED_INTEGERS:
        flags["a number with its top bit set"] = array.astype(np.uint64) > highest(name) // 2
    if computed:
        sizes = np.where(np.isfinite(numbers), np.abs(numbers), 0)
        flags["a fraction"] = sizes % 1 != 0
        flags |= {f"a number past 2^{bits}": sizes > 2.0**bits for bits in _EXACT_BITS}
    return flags
