"""Golden outputs x outputs -> their first difference and its surroundings; records of calls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from pydantic import Field, model_validator

from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    Array,
    InputArrays,
    bits_dtype,
    bits_of,
    same_bytes,
    type_name,
    without_stray_bits,
)
from opcert.arrays.golden import Allowance, allowance_of, alternatives_of, settled
from opcert.arrays.layouts import ArrayMemory, array_properties, start_of, underlying_buffer
from opcert.errors import class_name
from opcert.run.wrong_elements import WrongElements
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
        fits = 0 < count <= EXCERPT_SIZE and self.start + count <= prod(self.shape)
        if rest or not fits or len(self.actual) != len(self.expected):
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
    all_bits = zip(bits_of(expected).tolist(), bits_of(actual).tolist(), strict=True)
    for i, pair in enumerate(all_bits):
        position = [*map(int, np.unravel_index(excerpt.start + i, excerpt.shape))]
        bits = [f"0x{element:0{2 * dtype.itemsize}x}" for element in pair]
        yield ExcerptRow(str(position), str(expected[i]), str(actual[i]), *bits)


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
    "accuracy",
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

    If elements differ, `excerpt` has those around the first difference, `wrong` says which do, and
    `elements` what these have in common.
    """

    kind: FailureKind
    text: str
    excerpt: Excerpt | None = None
    wrong: Array | None = field(default=None, compare=False, repr=False)
    elements: WrongElements | None = None


def compare_outputs(golden: Sequence[Array], outputs: Any) -> Difference | None:
    """Return the first difference between `outputs` and `golden`, or None if all bits agree.

    An open element of a golden output may be that of any of its alternatives.
    """
    if not isinstance(outputs, list | tuple):
        actual = class_name(outputs)
        return Difference("type", f"returned {actual}; expected a list or tuple of arrays")
    if len(outputs) != len(golden):
        return Difference("count", f"{len(outputs)} outputs; expected {len(golden)}")
    differences = filter(None, map(_compare_one, range(len(golden)), golden, outputs))
    # A difference in value outweighs one in bits alone, whichever output comes first.
    return min(differences, key=lambda difference: difference.kind == "bits", default=None)


def _compare_one(i: int, golden: Array, output: Any) -> Difference | None:
    if not isinstance(output, np.ndarray):
        return Difference("type", f"output {i} is {class_name(output)}; expected an array")
    if output.dtype != golden.dtype:
        types = type_name(output.dtype), type_name(golden.dtype)
        return Difference("dtype", f"output {i} is {types[0]}; expected {types[1]}")
    if output.shape != golden.shape:
        shapes = list(output.shape), list(golden.shape)
        return Difference("shape", f"output {i} is {shapes[0]}; expected {shapes[1]}")
    # NumPy compares bytes that are no element as it happens to.
    elements = without_stray_bits(output)
    if (allowance := allowance_of(golden)) is not None:
        difference = _compare_computed(i, golden, allowance, elements)
    else:
        difference = _compare_moved(i, golden, elements)
    if difference is not None or elements is output or same_bytes(elements, output):
        return difference
    return _located("bits", i, elements, output, bits_of(elements) != bits_of(output))


def _compare_moved(i: int, golden: Array, output: Array) -> Difference | None:
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
    others = _others_at(int(np.argmax(wrong)), golden)
    return _located(kind, i, expected, output, wrong, others)


def _located(
    kind: FailureKind, i: int, expected: Array, output: Array, wrong: Array, more: str = ""
) -> Difference:
    """Return the difference in elements that are `wrong`, at the first of them."""
    position = int(np.argmax(wrong))
    excerpt = excerpt_around(i, expected, output, position)
    first = [*excerpt_rows(excerpt)][position - excerpt.start]
    remark = " (values are equal, bits are not)" if kind == "bits" else ""
    text = f"{_share_of_wrong(i, wrong)}{remark}; first at {first.summary}{more}"
    return Difference(kind, text, excerpt, wrong)


def _share_of_wrong(i: int, wrong: Array) -> str:
    elements = f"element{'s' * (wrong.size > 1)}"
    return f"output {i} differs in {int(wrong.sum())} of {wrong.size} {elements}"


def _compare_computed(
    i: int, golden: Array, allowance: Allowance, output: Array
) -> Difference | None:
    """Return the first element that the claimed arithmetic does not allow.

    What no arithmetic allows violates the document.
    """
    rows = allowance.allows(output)
    differs = ~rows[allowance.arithmetics.index(allowance.claimed)]
    if not differs.any():
        return None
    unequal = ~rows.any(axis=0)
    kind: FailureKind = "value" if unequal.any() else "accuracy"
    wrong = np.asarray(unequal if kind == "value" else differs)
    position = int(np.argmax(wrong))
    excerpt = excerpt_around(i, settled(golden, output), output, position)
    first = [*excerpt_rows(excerpt)][position - excerpt.start]
    text = f"{_share_of_wrong(i, wrong)}; first at {first.position}: {first.actual} "
    text += f"({first.actual_bits}), expected {first.expected}"
    bounds = allowance.bounds_at(position)
    if bounds is not None:
        text += f"; {allowance.claimed} arithmetic allows {bounds[0]} to {bounds[1]}"
    return Difference(kind, text, excerpt, np.asarray(differs))


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


# About what a record needs besides the elements of arrays.
_RECORD_BYTES = 2048


class RemoteOutputs(Protocol):
    """Outputs that live in another process."""

    @property
    def changed(self) -> bool:
        """Whether something has written to them since the call returned."""

    @property
    def are_lost(self) -> bool:
        """Whether they have ended with their process: `changed` is what was known before."""


class InputState(NamedTuple):
    """An input at one time: what a caller relies on besides elements, and the buffer's bytes."""

    properties: tuple[object, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished call with correct outputs, to be compared again after later calls.

    `outputs` equalled `golden` when the call returned; `inputs` are the buffers of the call, and
    `states` what they were before it. If the backend has its own process, `remote` watches the
    `remote_bytes` of outputs there, and this process keeps no array of the call.
    """

    outputs: Sequence[Array] = ()
    golden: Sequence[Array] = ()
    inputs: InputArrays = field(default_factory=dict)
    states: Mapping[str, InputState] = field(default_factory=dict)
    remote: RemoteOutputs | None = None
    remote_bytes: int = 0

    @property
    def outputs_changed(self) -> bool:
        """Whether something has written to the outputs since the call returned."""
        if self.remote is not None:
            return self.remote.changed
        if not all(ArrayMemory(array).is_readable for array in self.outputs):
            return True
        return compare_outputs(self.golden, self.outputs) is not None

    @property
    def inputs_changed(self) -> bool:
        """Whether something has written to the inputs since the call returned."""
        return find_mutation(self.inputs, self.states) is not None

    @property
    def nbytes(self) -> int:
        """The size in bytes of what is compared again; the record keeps it twice."""
        contents = sum(len(state.content) for state in self.states.values())
        return _RECORD_BYTES + self.remote_bytes + contents + sum(a.nbytes for a in self.golden)


def input_states(inputs: InputArrays) -> dict[str, InputState]:
    """Return what `copy_in_layout` made, to be compared after a call."""
    return {name: InputState(array_properties(a), _content(a)) for name, a in inputs.items()}


def find_mutation(inputs: InputArrays, states: Mapping[str, InputState]) -> Difference | None:
    """Return the first difference of `inputs` from `states`: elements, form or padding."""
    for name, (properties, content) in states.items():
        array = inputs[name]
        same_form = array_properties(array) == properties
        # An array whose form was changed may no longer span the buffer.
        if same_form and _content(array) == content:
            continue
        only_padding = same_form and array.tobytes() == _elements(array, content)
        where = "memory around the elements of its input" if only_padding else "its input"
        return Difference("mutated-input", f"the call changed {where} '{name}'")
    return None


def _content(array: Array) -> bytes:
    """Return the bytes of the underlying buffer in the order of memory."""
    return underlying_buffer(array).tobytes("A")


def _elements(array: Array, content: bytes) -> bytes:
    """Return the elements of an array if its buffer had this content, in C order."""
    held: Array = np.ndarray(array.shape, array.dtype, content, start_of(array), array.strides)
    return held.tobytes()
