"""Golden outputs + those of a backend -> how they differ, if they do."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from opcert.arrays import Array, bits_dtype, bits_of, type_name
from opcert.run.excerpts import Excerpt, excerpt, excerpt_rows

# What can be wrong where a case fails.
FailureKind = Literal[
    "count",
    "type",
    "dtype",
    "shape",
    "value",
    "bits",
    "accepted",
    "rejected",
    "uncredited",
    "undeclared",
    "mutated-input",
    "aliased-output",
    "unstable",
    "state",
    "protocol",
]


@dataclass(frozen=True)
class Difference:
    """How outputs differ from the golden ones: the kind of failure, and which, where, what.

    Where elements differ, `excerpt` has those around the first.
    """

    kind: FailureKind
    text: str
    excerpt: Excerpt | None = None


def compare_outputs(golden: Sequence[Array], outputs: Any) -> Difference | None:
    """Return the first difference of `outputs` from `golden`, or None where every bit agrees."""
    if not isinstance(outputs, list | tuple):
        found = type(outputs).__name__
        return Difference("type", f"returned {found}; expected a list or tuple of arrays")
    if len(outputs) != len(golden):
        return Difference("count", f"{len(outputs)} outputs; expected {len(golden)}")
    differences = [
        _compare_one(i, expected, output)
        for i, (expected, output) in enumerate(zip(golden, outputs, strict=True))
    ]
    real = [each for each in differences if each is not None]
    # Where one output differs in value and another in bits alone, the value is what counts.
    return next((each for each in real if each.kind != "bits"), real[0] if real else None)


def _compare_one(i: int, expected: Array, output: Any) -> Difference | None:
    if not isinstance(output, np.ndarray):
        found = type(output).__name__
        return Difference("type", f"output {i} is {found}; expected an array")
    if output.dtype != expected.dtype:
        found, wanted = type_name(output.dtype), type_name(expected.dtype)
        return Difference("dtype", f"output {i} is {found}; expected {wanted}")
    if output.shape != expected.shape:
        shapes = list(output.shape), list(expected.shape)
        return Difference("shape", f"output {i} is {shapes[0]}; expected {shapes[1]}")
    if output.tobytes() == expected.tobytes():
        return None
    return _differing_elements(i, expected, output)


def _differing_elements(i: int, expected: Array, output: Array) -> Difference:
    differing = bits_of(output) != bits_of(expected)
    unequal = differing & ~same_value(expected, output)
    kind: FailureKind
    kind, wrong = ("value", unequal) if unequal.any() else ("bits", differing)
    number = int(np.argmax(wrong))
    part = excerpt(i, expected, output, number)
    first = next(islice(excerpt_rows(part), number - part.start, None))
    equal = " (values are equal, bits are not)" if kind == "bits" else ""
    text = f"output {i} differs in {int(wrong.sum())} of {expected.size} elements{equal}"
    return Difference(kind, f"{text}; first at {first.summary}", part)


def same_value(expected: Array, output: Array) -> Any:
    """Whether each pair of elements is equal, or both are NaN, which alone differs from itself."""
    with np.errstate(invalid="ignore"):
        nan, also_nan = expected != expected, output != output  # noqa: PLR0124
        return (expected == output) | (nan & also_nan)


def share_a_zero(some: Sequence[Array], others: Sequence[Array]) -> bool:
    """Whether an element, of arrays of the same types and shapes, is zero in both."""
    return any(
        not (one.view(bits_dtype(one.dtype)) | other.view(bits_dtype(other.dtype))).all()
        for one, other in zip(some, others, strict=True)
    )
