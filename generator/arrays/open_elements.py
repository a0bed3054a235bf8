"""Golden outputs some of whose elements a document leaves open.

Each open element is one of several. An `OpenArray` has one of them, and alternatives that have the
others: arrays of its type and shape, which agree with it in all other elements.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array, bits_dtype, bits_of, invert_bits


class OpenArray(np.ndarray[Any, Any]):
    """A golden output with open elements; an array that NumPy derives from it has none."""

    alternatives: tuple[Array, ...] = ()


def with_alternatives(array: Array, alternatives: Sequence[Array]) -> Array:
    """Return a view of a golden output whose open elements may also be those of `alternatives`."""
    if not alternatives:
        return array
    opened = array.view(OpenArray)
    opened.alternatives = tuple(alternatives)
    return opened


def alternatives_of(array: Array) -> tuple[Array, ...]:
    """Return the alternatives of a golden output, of which most have none."""
    return array.alternatives if isinstance(array, OpenArray) else ()


def settled(golden: Array, output: Array) -> Array:
    """Return a golden output with the open elements that `output` of its type and shape chose.

    An open element that `output` does not have among the alternatives keeps the golden value.
    """
    chosen: Array = golden.view(np.ndarray)
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
