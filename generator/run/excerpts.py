"""The elements around the first difference of an output, as a certificate stores them."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_of, type_name
from opcert.suite.format import Extent, Shape, StrictModel, TypeName

# The number of elements in an excerpt, and of those before the first difference.
EXCERPT_SIZE, _PRECEDING = 32, 8

Digits = Annotated[str, Field(pattern="^([0-9a-f]{2})+$")]


class Excerpt(StrictModel):
    """Consecutive elements of an output in C order, expected and actual, from position `start`.

    Elements are stored as little-endian bytes in hexadecimal digits.
    """

    output: Extent
    type: TypeName
    shape: Shape
    start: Extent
    expected: Digits
    actual: Digits

    @model_validator(mode="after")
    def _lies_in_the_output(self) -> Self:
        count, rest = divmod(len(self.expected), 2 * ELEMENT_TYPES[self.type].itemsize)
        inside = self.start + count <= prod(self.shape)
        if (
            rest
            or not 0 < count <= EXCERPT_SIZE
            or not inside
            or len(self.actual) != len(self.expected)
        ):
            raise ValueError("an excerpt whose elements do not lie in an output of its shape")
        return self

    @property
    def summary(self) -> str:
        """The output, and the part of it that the excerpt has, as a sentence."""
        size = prod(self.shape)
        count = len(self.expected) // (2 * ELEMENT_TYPES[self.type].itemsize)
        part = "whole" if count == size else f"{count} of its {size} elements"
        return f"Output {self.output}, {self.type}{list(self.shape)}, {part}."


def excerpt_around(output: int, expected: Array, actual: Array, position: int) -> Excerpt:
    """Return the excerpt around a position in C order; both arrays have one type and shape."""
    size = expected.size
    end = min(max(position - _PRECEDING, 0) + EXCERPT_SIZE, size)
    start = max(end - EXCERPT_SIZE, 0)
    return Excerpt(
        output=output,
        type=type_name(expected.dtype),
        shape=expected.shape,
        start=start,
        expected=expected.reshape(-1)[start:end].tobytes().hex(),
        actual=actual.reshape(-1)[start:end].tobytes().hex(),
    )


@dataclass(frozen=True)
class ExcerptRow:
    """One element of an excerpt, expected and actual, as values and as bits."""

    position: str
    expected: str
    actual: str
    expected_bits: str
    actual_bits: str

    @property
    def summary(self) -> str:
        """The position with the actual and the expected element."""
        actual = f"{self.actual} ({self.actual_bits})"
        return f"{self.position}: {actual}, expected {self.expected} ({self.expected_bits})"

    @property
    def differs(self) -> bool:
        """Whether a bit differs."""
        return self.expected_bits != self.actual_bits


def excerpt_rows(excerpt: Excerpt) -> Iterator[ExcerptRow]:
    """Yield each element of an excerpt."""
    dtype = ELEMENT_TYPES[excerpt.type]
    expected = np.frombuffer(bytes.fromhex(excerpt.expected), dtype)
    actual = np.frombuffer(bytes.fromhex(excerpt.actual), dtype)
    expected_bits, actual_bits = bits_of(expected), bits_of(actual)
    digits = 2 * dtype.itemsize
    for i in range(expected.size):
        position = np.unravel_index(excerpt.start + i, excerpt.shape)
        yield ExcerptRow(
            position=str([int(coordinate) for coordinate in position]),
            expected=str(expected[i]),
            actual=str(actual[i]),
            expected_bits=f"0x{int(expected_bits[i]):0{digits}x}",
            actual_bits=f"0x{int(actual_bits[i]):0{digits}x}",
        )
