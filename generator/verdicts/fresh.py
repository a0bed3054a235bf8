"""Fresh calls, apart from those of any suite: they try the conditions of causes.

A condition that explains the failures of a suite may do so by chance. Calls that match it, and
calls that match it but for one term, show whether it holds; the diagnosis takes them as further
cases. A number determines a call, so that a certificate needs no more of it.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Annotated

from pydantic import Field

from opcert.arrays.calls import Call
from opcert.arrays.element_types import Array, bits_of
from opcert.arrays.patterns import materialize, with_special_values
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import choices_of, draw_call
from opcert.diagnosis import Condition, Point
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.run.session import FaultKind, Step
from opcert.specification.files import SpecFile, golden_outputs
from opcert.suite.format import StrictModel
from opcert.suite.support import CallProperties
from opcert.verdicts.reduction import Candidate, StepMaker

# A call without elements, or with equal ones, passes in spite of a fault of these kinds.
VALUE_KINDS = ("value", "bits", "accuracy", "unstable", "state", "aliased-output")
# The seed of fresh calls; suites are not likely to have it.
_SEED = 0xF4E54
# The most elements of the outputs of a fresh call.
_MAX_ELEMENTS = 1 << 12


class FreshCall(StrictModel):
    """A fresh call by its number, how it failed, if it did, and whether wrong values would show."""

    number: Annotated[int, Field(ge=0, lt=1 << 53)]
    failure: FaultKind | None
    shows: bool

    @property
    def name(self) -> str:
        """The name of the call among the cases of the diagnosis."""
        return f"fresh/{self.number}"

    def could_fail(self, kind: str) -> bool:
        """Whether the call passes, and a failure of this kind would have been visible."""
        return self.failure is None and kind != "bits" and (self.shows or kind not in VALUE_KINDS)


class NumberedCalls:
    """Draws valid calls of one operator that no ambiguity touches; a number determines each."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._reference, self._spec = spec_file.reference, spec_file.spec
        self._conditions = Conditions(spec_file.spec)
        self._maker = StepMaker(spec_file)

    def call(self, number: int) -> Call | None:
        """Return the call with a number, if that draws one."""
        # A spec that has not been checked may contradict itself on a call.
        with suppress(Inapplicable, ExpressionError):
            call = draw_call(self._spec, choices_of(self._spec, _SEED, number))
            if self._conditions.is_decided(call, _MAX_ELEMENTS):
                return call
        return None

    def properties(self, call: Call) -> CallProperties:
        """Return what a declaration of support can exclude."""
        return CallProperties.of(call, self._conditions)

    def candidate(self, number: int, call: Call) -> Candidate:
        """Return a call with its arrays.

        Raises:
            OpcertError: the reference rejects the call.
        """
        tensors = call.patterned(f"fresh|{number}").inputs
        arrays = {name: materialize(tensor) for name, tensor in tensors.items()}
        outputs = golden_outputs(self._reference, arrays, call.attributes)
        return Candidate(
            with_special_values(arrays, tensors, outputs),
            call.attributes,
            {name: tensor.layout for name, tensor in tensors.items()},
            tuple(name for name, tensor in tensors.items() if tensor.values is None),
        )

    def steps(self, number: int, call: Call) -> list[Step]:
        """Return the calls to make, with other data the second time; [] if there is no result."""
        with suppress(OpcertError):
            return self._maker.steps(self.candidate(number, call), (False, True))
        return []


def have_different_elements(outputs: Iterable[Array]) -> bool:
    """Whether an output has different elements, so that wrong values show.

    Elements that change places are wrong values, too.
    """
    every = (bits_of(output).ravel() for output in outputs)
    return any(bool((bits[1:] != bits[:1]).any()) for bits in every)


def likeness(one: Sequence[Point], other: Sequence[Point]) -> int:
    """Return how many factors of two calls have a level in common, where most of them have."""
    return max(
        sum(not levels.isdisjoint(theirs.get(factor, ())) for factor, levels in own.items())
        for own in one
        for theirs in other
    )


def unmatched_terms(points: Sequence[Point], condition: Condition) -> int:
    """Return how many terms of a condition a call lacks, at the point where it lacks the fewest."""
    return min(
        sum(point.get(factor, frozenset()).isdisjoint(levels) for factor, levels in condition)
        for point in points
    )
