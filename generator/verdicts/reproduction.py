"""Calls apart from those of a run, as a certificate stores them: they show what fails, and why.

Some reproduce failures. Fresh calls, which no suite has, try the conditions of causes: a condition
that explains the failures of a suite may do so by chance. Failing calls with one choice answered
anew show whether it holds; the diagnosis takes them as further cases. A number and the name of the
choice determine such a call, so that a certificate needs no more of it.
"""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, JsonValue, model_validator

from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name
from opcert.arrays.golden import (
    Allowance,
    allowance_of,
    alternatives_of,
    with_allowance,
    with_alternatives,
)
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.run.comparison import FailureKind
from opcert.run.session import FaultKind, Step
from opcert.suite.format import IndexedCase, Shape, StrictModel, TypeName
from opcert.verdicts.dependence import Relation

# Far more than confirmation tries.
MAX_CALLS = 10_000
_HexDigits = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]


# How a program in the API of the runtime ends.
NativeResult = Literal["fails", "fails-in-dirty-memory", "ends-otherwise"]
# A call without elements, or with equal ones, passes in spite of a fault of these kinds.
VALUE_KINDS = ("value", "bits", "accuracy", "unstable", "state", "aliased-output")


class FreshDraw(StrictModel):
    """What determines a call that no suite has.

    It is the fresh call with a number, or the call that the seed of the suite draws under this
    number, with the choice `anew` answered anew; `answer` is the number of the answer. Of several
    arguments that this changes, one can be changed `alone`.
    """

    number: Annotated[int, Field(ge=0, lt=1 << 53)]
    anew: str = ""
    answer: Annotated[int, Field(ge=0, lt=1 << 16)] = 0
    alone: str = ""

    @property
    def name(self) -> str:
        """The name of the call among the cases of the diagnosis."""
        parts = (self.anew, str(self.answer), self.alone) if self.anew else ()
        return "/".join(["fresh", str(self.number), *filter(None, parts)])

    @property
    def whole(self) -> "FreshDraw":
        """The call with all arguments that the choice changes."""
        return FreshDraw(number=self.number, anew=self.anew, answer=self.answer)


class FreshCall(FreshDraw):
    """A fresh call that was made: how it failed, if it did, and whether wrong values would show."""

    failure: FaultKind | None
    shows: bool

    def can_show(self, kind: str) -> bool:
        """Whether a failure of this kind would be visible; other bits are where they were seen."""
        if kind == "bits":
            return self.failure == kind
        return self.shows or kind not in (*VALUE_KINDS, "shape")


class ReproducedCall(StrictModel):
    """The call of a case, with its own data or with every bit of it inverted."""

    case: str
    inverted_data: bool = False


class SerializedAllowance(StrictModel):
    """What the claimed arithmetic allows of a computed output, in the form of its elements."""

    claimed: str
    low: _HexDigits
    high: _HexDigits
    flags: _HexDigits


class SerializedArray(StrictModel):
    """An array with its elements, little-endian and in C order, as hexadecimal digits.

    The `alternatives` of an output are the elements of further arrays: where they differ, each of
    them is right.
    """

    type: TypeName
    shape: Shape
    layout: Layout = C_ORDER
    elements: _HexDigits
    alternatives: tuple[_HexDigits, ...] = ()
    allowance: SerializedAllowance | None = None

    @model_validator(mode="after")
    def _has_as_many_elements_as_its_shape(self) -> Self:
        size, texts, flags = prod(self.shape), [self.elements, *self.alternatives], []
        if (kept := self.allowance) is not None:
            texts, flags = [*texts, kept.low, kept.high], [kept.flags]
        digits = 2 * size * ELEMENT_TYPES[self.type].itemsize
        if {*map(len, texts)} != {digits} or any(len(flag) != 2 * size for flag in flags):
            raise ValueError("as many elements as the shape has")
        return self

    @classmethod
    def from_array(cls, array: Array, layout: Layout = C_ORDER) -> Self:
        """Return an array as text; a call receives it in `layout`."""
        name, elements = type_name(array.dtype), array.tobytes().hex()
        fields: dict[str, object] = {"type": name, "shape": array.shape, "elements": elements}
        # A certificate omits what is not set.
        if (moved := layout.of(array)) != C_ORDER:
            fields["layout"] = moved
        if others := tuple(other.tobytes().hex() for other in alternatives_of(array)):
            fields["alternatives"] = others
        if (kept := allowance_of(array)) is not None:
            parts = (part.tobytes().hex() for part in (*kept.claimed_bounds, kept.flags))
            bounds = zip(("low", "high", "flags"), parts, strict=True)
            fields["allowance"] = SerializedAllowance(claimed=kept.claimed, **dict(bounds))
        return cls.model_validate(fields)

    @property
    def array(self) -> Array:
        """The elements in C order, with the alternatives of open elements."""
        dtype, texts = ELEMENT_TYPES[self.type], [self.elements, *self.alternatives]
        kept = self.allowance
        texts += [] if kept is None else [kept.low, kept.high]
        arrays = [np.frombuffer(bytes.fromhex(text), dtype).reshape(self.shape) for text in texts]
        if kept is None:
            return with_alternatives(arrays[0], arrays[1:])
        flags = np.frombuffer(bytes.fromhex(kept.flags), np.uint8).reshape(self.shape)
        golden, low, high = arrays
        allowance = Allowance((kept.claimed,), low[None], high[None], flags, kept.claimed)
        return with_allowance(golden, allowance)


class SerializedCall(StrictModel):
    """A call and its expected outputs, which are None if it must be rejected."""

    inputs: Mapping[str, SerializedArray]
    attributes: Mapping[str, JsonValue]
    outputs: tuple[SerializedArray, ...] | None

    @classmethod
    def from_step(cls, step: Step) -> Self:
        """Return the call of a step in serialized form."""
        serialized, golden = SerializedArray.from_array, step.golden
        inputs = {n: serialized(array, step.layouts[n]) for n, array in step.inputs.items()}
        outputs = None if golden is None else tuple(map(serialized, golden))
        return cls(inputs=inputs, attributes=dict(step.attributes), outputs=outputs)

    def step(self, operator: str) -> Step:
        """Return the call with its arrays."""
        return Step(
            operator,
            {name: record.array for name, record in self.inputs.items()},
            self.attributes,
            None if self.outputs is None else [record.array for record in self.outputs],
            {name: record.layout for name, record in self.inputs.items()},
            data_inputs=(),
        )


class Reproduction(StrictModel):
    """How a failure was reproduced in fresh processes.

    It was reproduced `alone`, by the calls of its own case; only `after-other-calls`; or `never`.
    `calls` reproduce it; the last one fails. They are empty if the failure was never reproduced, or
    depends on dirtied memory. `kind` is the kind of the failure in the run. `reduced` are smaller
    calls that fail in the same way. `relation` states which earlier calls make the last one fail.
    `native` is the code of each call in the API of the runtime, if the backend gives it;
    `native_result` is how the program of these calls ended, if it was run.
    """

    reproduced: Literal["alone", "after-other-calls", "never"]
    calls: Annotated[tuple[ReproducedCall, ...], Field(max_length=MAX_CALLS)]
    kind: FailureKind | None
    reduced: Annotated[tuple[SerializedCall, ...], Field(max_length=MAX_CALLS)]
    relation: Relation | None = None
    native: tuple[str, ...] = ()
    native_result: NativeResult | None = None


def calls_of_case(case: IndexedCase) -> list[ReproducedCall]:
    """Return the calls of a case: two alike, if valid with one of inverted data in between."""
    call = ReproducedCall(case=case.id)
    if case.expects == "outputs" and case.data_inputs:
        return [call, ReproducedCall(case=case.id, inverted_data=True), call]
    return [call, call]
