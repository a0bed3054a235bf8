"""The elements around the first difference of an output, as a certificate keeps and shows them."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from opcert.arrays import ELEMENT_TYPES, Array, bits_of, type_name
from opcert.suite import Extent, StrictModel, TypeName

# How many elements are kept, and how many of them stand before the first that differs.
KEPT, _BEFORE = 32, 8

Digits = Annotated[str, Field(pattern="^([0-9a-f]{2})+$")]


class Excerpt(StrictModel):
    """Some elements of an output, expected and actual, from the one at `start` in C order.

    The elements are their bytes, little-endian, in hexadecimal digits.
    """

    output: Extent
    type: TypeName
    shape: tuple[Extent, ...]
    start: Extent
    expected: Digits
    actual: Digits

    @model_validator(mode="after")
    def _lies_in_the_output(self) -> Self:
        number, rest = divmod(len(self.expected), 2 * ELEMENT_TYPES[self.type].itemsize)
        inside = self.start + number <= prod(self.shape)
        if rest or not number or not inside or len(self.actual) != len(self.expected):
            raise ValueError("an excerpt whose elements do not lie in an output of its shape")
        return self

    @property
    def summary(self) -> str:
        """Say which elements these are."""
        size = prod(self.shape)
        number = len(self.expected) // (2 * ELEMENT_TYPES[self.type].itemsize)
        which = "whole" if number == size else f"{number} of its {size} elements"
        return f"Output {self.output}, {self.type}{list(self.shape)}, {which}."


def window(first: int, size: int) -> tuple[int, int]:
    """Return where the excerpt around the element at `first` of `size` begins and ends."""
    last = min(max(first - _BEFORE, 0) + KEPT, size)
    return max(last - KEPT, 0), last


def excerpt(output: int, expected: Array, actual: Array, first: int) -> Excerpt:
    """Return what is around the element at `first` in C order, of arrays of one type and shape."""
    start, last = window(first, expected.size)
    return Excerpt(
        output=output,
        type=type_name(expected.dtype),
        shape=expected.shape,
        start=start,
        expected=expected.reshape(-1)[start:last].tobytes().hex(),
        actual=actual.reshape(-1)[start:last].tobytes().hex(),
    )


@dataclass(frozen=True)
class ExcerptRow:
    """One element, expected and actual, as values and as bits."""

    position: str
    expected: str
    actual: str
    expected_bits: str
    actual_bits: str

    @property
    def summary(self) -> str:
        """Say what was got and expected at which place."""
        got = f"{self.actual} ({self.actual_bits})"
        return f"{self.position}: {got}, expected {self.expected} ({self.expected_bits})"

    @property
    def differs(self) -> bool:
        """Whether it differs in a bit."""
        return self.expected_bits != self.actual_bits


def excerpt_rows(excerpt: Excerpt) -> Iterator[ExcerptRow]:
    """Yield each element of an excerpt."""
    dtype = ELEMENT_TYPES[excerpt.type]
    expected, actual = (
        np.frombuffer(bytes.fromhex(each), dtype) for each in (excerpt.expected, excerpt.actual)
    )
    bits, found = bits_of(expected), bits_of(actual)
    digits = 2 * dtype.itemsize
    for i in range(expected.size):
        position = np.unravel_index(excerpt.start + i, excerpt.shape)
        yield ExcerptRow(
            position=str([int(each) for each in position]),
            expected=str(expected[i]),
            actual=str(actual[i]),
            expected_bits=f"0x{int(bits[i]):0{digits}x}",
            actual_bits=f"0x{int(found[i]):0{digits}x}",
        )
