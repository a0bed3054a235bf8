"""Honest ways to compute in a type: each operation may go another legitimate way."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array

# The type in which a wide kernel computes.
WIDER = {"bf16": "f32", "f16": "f32", "f32": "f64", "f64": "f64"}


class Kernel:
    """Computes in a type, or in a wider one with a rounding at the end.

    Sums have a random order and shape of tree; functions err by up to `units` units.
    """

    def __init__(self, element_type: str, seed: int, *, wide: bool = False) -> None:
        self._end = ELEMENT_TYPES[element_type]
        self.dtype = ELEMENT_TYPES[WIDER[element_type] if wide else element_type]
        self._random = Random(seed)

    def to_end(self, number: Any) -> Any:
        """Round a result in the element type."""
        return np.asarray(number).astype(self._end)[()]

    def rounded(self, number: float) -> Any:
        """Round the exact result of an operation; an operation of doubles is rounded already."""
        return np.asarray(number).astype(self.dtype)[()]

    def total(self, terms: Sequence[Any]) -> Any:
        """Add terms in some order."""
        terms = [self.rounded(float(term)) for term in terms]
        while len(terms) > 1:
            a = terms.pop(self._random.randrange(len(terms)))
            b = terms.pop(self._random.randrange(len(terms)))
            terms.append(self.rounded(float(a) + float(b)))
        return terms[0]


def cut(array: Array, bits: int) -> Array:
    """Return an array of f32 cut to fewer significant bits."""
    kept = np.uint32(0xFFFFFFFF << (24 - bits) & 0xFFFFFFFF)
    return (array.view(np.uint32) & kept).view(np.float32)
