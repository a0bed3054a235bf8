"""The calls that reproduce a failure in a fresh process, as a certificate stores them."""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, JsonValue, model_validator

from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name
from opcert.arrays.layouts import Layout
from opcert.arrays.open_elements import alternatives_of, with_alternatives
from opcert.run.comparison import FailureKind
from opcert.run.session import SessionStep
from opcert.suite.format import IndexedCase, Shape, StrictModel, TypeName
from opcert.suite.operator_suite import OperatorSuite


class ReproducedCall(StrictModel):
    """The call of a case, with its own data or with every bit of it inverted."""

    case: str
    inverted_data: bool = False


# Far more than confirmation tries.
_MAX_CALLS = 10_000
_HexDigits = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]


class SerializedArray(StrictModel):
    """An array with its elements, little-endian and in C order, as hexadecimal digits.

    The `alternatives` of an output are the elements of further arrays: where they differ, each of
    them is right.
    """

    type: TypeName
    shape: Shape
    layout: Layout = "c"
    elements: _HexDigits
    alternatives: tuple[_HexDigits, ...] = ()

    @model_validator(mode="after")
    def _has_as_many_elements_as_its_shape(self) -> Self:
        digits = 2 * prod(self.shape) * ELEMENT_TYPES[self.type].itemsize
        if any(len(elements) != digits for elements in (self.elements, *self.alternatives)):
            raise ValueError("as many elements as the shape has")
        return self

    @classmethod
    def from_array(cls, array: Array, layout: Layout) -> Self:
        """Return an array as text; a call receives it in `layout`."""
        name, elements = type_name(array.dtype), array.tobytes().hex()
        others = tuple(other.tobytes().hex() for other in alternatives_of(array))
        stored = cls(type=name, shape=array.shape, layout=layout, elements=elements)
        # A certificate omits what is not set.
        return stored.model_copy(update={"alternatives": others}) if others else stored

    @property
    def array(self) -> Array:
        """The elements in C order, with the alternatives of open elements."""
        dtype = ELEMENT_TYPES[self.type]
        array, *others = (
            np.frombuffer(bytes.fromhex(elements), dtype).reshape(self.shape)
            for elements in (self.elements, *self.alternatives)
        )
        return with_alternatives(array, others)


class SerializedCall(StrictModel):
    """A call and its expected outputs, which are None if it must be rejected."""

    inputs: Mapping[str, SerializedArray]
    attributes: Mapping[str, JsonValue]
    outputs: tuple[SerializedArray, ...] | None

    @classmethod
    def from_step(cls, step: SessionStep) -> Self:
        """Return the call of a step in serialized form."""
        outputs = step.golden
        return cls(
            inputs={
                name: SerializedArray.from_array(array, step.layouts[name])
                for name, array in step.inputs.items()
            },
            attributes=dict(step.attributes),
            outputs=None
            if outputs is None
            else tuple(SerializedArray.from_array(array, "c") for array in outputs),
        )


class Reproduction(StrictModel):
    """How a failure was reproduced in fresh processes.

    It was reproduced `alone`, by the calls of its own case; only `after-other-calls`; or `never`.
    `calls` reproduce it; the last one fails. They are empty if the failure was never reproduced, or
    depends on dirtied memory. `kind` is the kind of the failure in the run. `reduced` are smaller
    calls that fail in the same way.
    """

    reproduced: Literal["alone", "after-other-calls", "never"]
    calls: Annotated[tuple[ReproducedCall, ...], Field(max_length=_MAX_CALLS)]
    kind: FailureKind | None
    reduced: tuple[SerializedCall, ...]


def calls_of_case(case: IndexedCase) -> list[ReproducedCall]:
    """Return the calls of a case: two alike, if valid with one of inverted data in between."""
    call = ReproducedCall(case=case.id)
    if case.expects == "outputs" and case.data_inputs:
        return [call, ReproducedCall(case=case.id, inverted_data=True), call]
    return [call, call]


def step_of_call(operator: OperatorSuite, call: ReproducedCall) -> SessionStep:
    """Return a call with its arrays and expected outputs."""
    case = operator.cases[call.case]
    inverted = call.inverted_data
    outputs = operator.inverted_data_outputs if inverted else operator.outputs
    return SessionStep(
        operator.index.operator,
        operator.inverted_data_inputs(case) if inverted else operator.inputs(case),
        case.attributes,
        outputs(case) if case.expects == "outputs" else None,
        {name: array.layout for name, array in case.inputs.items()},
        case.data_inputs,
        rule=case.violated_rule,
    )
