"""Golden outputs x outputs of a backend -> their first difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from opcert.arrays.element_bytes import same_bytes
from opcert.arrays.element_types import Array, bits_dtype, bits_of, type_name
from opcert.arrays.open_elements import alternatives_of, settled
from opcert.errors import class_name
from opcert.run.excerpts import Excerpt, excerpt_around, excerpt_rows

# How many candidates of an open element a message lists, besides the golden one.
_MAX_OTHERS = 4
# How a case can fail.
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
    """A fault of a call: the kind of failure, and a text that describes and locates it.

    If elements differ, `excerpt` has those around the first difference.
    """

    kind: FailureKind
    text: str
    excerpt: Excerpt | None = None


def compare_outputs(golden: Sequence[Array], outputs: Any) -> Difference | None:
    """Return the first difference between `outputs` and `golden`, or None if all bits agree.

    An open element of a golden output may be that of any of its alternatives.
    """
    if not isinstance(outputs, list | tuple):
        actual = class_name(outputs)
        return Difference("type", f"returned {actual}; expected a list or tuple of arrays")
    if len(outputs) != len(golden):
        return Difference("count", f"{len(outputs)} outputs; expected {len(golden)}")
    differences = [
        difference
        for i, (expected, output) in enumerate(zip(golden, outputs, strict=True))
        if (difference := _compare_one(i, expected, output)) is not None
    ]
    # A difference in value outweighs one in bits alone, whichever output comes first.
    severe = [difference for difference in differences if difference.kind != "bits"]
    return next(iter(severe or differences), None)


def _compare_one(i: int, golden: Array, output: Any) -> Difference | None:
    if not isinstance(output, np.ndarray):
        return Difference("type", f"output {i} is {class_name(output)}; expected an array")
    if output.dtype != golden.dtype:
        types = type_name(output.dtype), type_name(golden.dtype)
        return Difference("dtype", f"output {i} is {types[0]}; expected {types[1]}")
    if output.shape != golden.shape:
        shapes = list(output.shape), list(golden.shape)
        return Difference("shape", f"output {i} is {shapes[0]}; expected {shapes[1]}")
    if same_bytes(output, golden):
        return None
    # Where the document leaves an element open, each of several is right.
    expected = settled(golden, output)
    if same_bytes(output, expected):
        return None
    differs = bits_of(output) != bits_of(expected)
    unequal = differs & ~equal_values(expected, output)
    for alternative in alternatives_of(golden):
        unequal &= ~equal_values(alternative, output)
    kind: FailureKind
    kind, wrong = ("value", unequal) if unequal.any() else ("bits", differs)
    position = int(np.argmax(wrong))
    excerpt = excerpt_around(i, expected, output, position)
    first = next(islice(excerpt_rows(excerpt), position - excerpt.start, None))
    remark = " (values are equal, bits are not)" if kind == "bits" else ""
    text = f"output {i} differs in {int(wrong.sum())} of {expected.size} elements{remark}"
    others = _others_at(position, golden)
    return Difference(kind, f"{text}; first at {first.summary}{others}", excerpt)


def _others_at(position: int, golden: Array) -> str:
    """Return, for a message, the other candidates of an open element of a golden output."""
    elements = [array.reshape(-1)[position] for array in alternatives_of(golden)]
    own = golden.reshape(-1)[position].tobytes()
    others = {element.tobytes(): str(element) for element in elements if element.tobytes() != own}
    if not others:
        return ""
    listed = ", ".join([*others.values()][:_MAX_OTHERS])
    more = len(others) - _MAX_OTHERS
    return f"; nor is it another candidate: {listed}{f' and {more} more' * (more > 0)}"


def equal_values(expected: Array, output: Array) -> Any:
    """Return, as an array of bool, which elements are equal or both NaN."""
    with np.errstate(invalid="ignore"):
        # Only NaN differs from itself; np.isnan lacks some of the types.
        both_nan = (expected != expected) & (output != output)  # noqa: PLR0124
        return (expected == output) | both_nan


def share_a_zero(first: Sequence[Array], second: Sequence[Array]) -> bool:
    """Whether any element is zero in both lists of arrays, which agree in types and shapes."""
    return any(
        not (one.view(bits_dtype(one.dtype)) | other.view(bits_dtype(other.dtype))).all()
        for one, other in zip(first, second, strict=True)
    )
