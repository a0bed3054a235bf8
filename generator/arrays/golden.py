"""Golden outputs some of whose elements are open, or computed: what these may be.

Each open element is one of several. An `OpenArray` has one of them, and alternatives that have the
others: arrays of its type and shape, which agree with it in all other elements. Or its elements are
computed, and it has what arithmetics allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opcert.arrays.element_types import FLOATS, Array, bits_dtype, bits_of, invert_bits, type_name

# What the flag of an element says: anything is right; only NaN is; a zero has the sign of the
# bounds; any infinity and NaN is right, too.
OPEN, NAN, SIGN, NONFINITE = 1, 2, 4, 8


@dataclass(frozen=True, eq=False)
class Allowance:
    """The least and the greatest element that each of several arithmetics allows.

    `low` and `high` have an axis of arithmetics before those of the output, and its type; `flags`
    have the shape of the output. `claimed` is the arithmetic that a verdict asks for.
    """

    arithmetics: tuple[str, ...]
    low: Array
    high: Array
    flags: Array
    claimed: str

    def allows(self, output: Array) -> Array:
        """Return, for each arithmetic and each element of an output, whether it is allowed."""
        # Comparisons with a signalling NaN are invalid.
        with np.errstate(invalid="ignore"):
            allowed = np.asarray((self.low <= output) & (output <= self.high))
            if type_name(output.dtype) in FLOATS:
                is_nan = output != output  # noqa: PLR0124 -- np.isnan lacks some of the types
                has_sign = bits_of(output) == bits_of(self.low[0])
                allowed &= ~self.flagged(SIGN) | (output != 0) | has_sign
                # Where any number is allowed, NaN is.
                allowed |= is_nan & (self.low == -np.inf) & (self.high == np.inf)
                allowed = np.where(self.flagged(NAN), is_nan, allowed)
                allowed |= self.flagged(NONFINITE) & (is_nan | ~np.isfinite(output))
        return allowed | self.flagged(OPEN)

    def flagged(self, flag: int) -> Array:
        """Return which elements have a flag."""
        return (self.flags & flag) > 0

    @property
    def claimed_bounds(self) -> tuple[Array, Array]:
        """The least and the greatest elements that the claimed arithmetic allows."""
        row = self.arithmetics.index(self.claimed)
        return self.low[row], self.high[row]

    @property
    def decided(self) -> Array:
        """Which elements the claimed arithmetic decides: not all numbers are allowed."""
        low, high = self.claimed_bounds
        return np.asarray(~self.flagged(OPEN) & ~((low == -np.inf) & (high == np.inf)))

    def allows_claimed(self, output: Array) -> Array:
        """Return which elements of an output the claimed arithmetic allows."""
        row: Array = self.allows(output)[self.arithmetics.index(self.claimed)]
        return row

    def bounds_at(self, position: int) -> tuple[str, str] | None:
        """Return the least and the greatest element allowed at a position in C order, as text."""
        if self.flags.reshape(-1)[position] & NAN:
            return None
        low, high = (ends.reshape(-1)[position] for ends in self.claimed_bounds)
        return str(low), str(high)

    def within(self, output: Array) -> tuple[str, ...]:
        """Return the arithmetics that allow all elements of an output."""
        rows = self.allows(output)
        return tuple(name for name, row in zip(self.arithmetics, rows, strict=True) if row.all())


class OpenArray(np.ndarray[Any, Any]):
    """A golden output with open elements; an array that NumPy derives from it has none."""

    alternatives: tuple[Array, ...] = ()
    allowance: Allowance | None = None


def with_alternatives(array: Array, alternatives: Sequence[Array]) -> Array:
    """Return a view of a golden output whose open elements may also be those of `alternatives`."""
    if not alternatives:
        return array
    opened = array.view(OpenArray)
    opened.alternatives = tuple(alternatives)
    return opened


def with_allowance(array: Array, allowance: Allowance) -> Array:
    """Return a view of a golden output whose elements may be what an arithmetic allows."""
    computed = array.view(OpenArray)
    computed.allowance = allowance
    return computed


def allowance_of(array: Array) -> Allowance | None:
    """Return what arithmetics allow of a golden output, if its elements are computed."""
    return array.allowance if isinstance(array, OpenArray) else None


def alternatives_of(array: Array) -> tuple[Array, ...]:
    """Return the alternatives of a golden output, of which most have none."""
    return array.alternatives if isinstance(array, OpenArray) else ()


def settled(golden: Array, output: Array) -> Array:
    """Return a golden output with the open elements that `output` of its type and shape chose.

    An open element that `output` does not have among the alternatives keeps the golden value.
    """
    chosen: Array = golden.view(np.ndarray)
    if (allowance := allowance_of(golden)) is not None:
        return np.where(allowance.allows_claimed(output), output, chosen)
    for alternative in alternatives_of(golden):
        agrees = bits_of(output) == bits_of(alternative)
        bits = np.where(agrees, bits_of(alternative), bits_of(chosen))
        chosen = bits.astype(bits_dtype(golden.dtype)).view(golden.dtype)
    return chosen


def open_elements(array: Array) -> Array:
    """Return which elements of a golden output are open."""
    is_open = np.zeros(array.shape, np.bool_)
    for alternative in alternatives_of(array):
        is_open |= bits_of(array.view(np.ndarray)) != bits_of(alternative)
    return is_open


def inverted_output(golden: Array) -> Array:
    """Return a golden output with every bit inverted, and so its alternatives."""
    inverted = [invert_bits(alternative) for alternative in alternatives_of(golden)]
    return with_alternatives(invert_bits(golden.view(np.ndarray)), inverted)
