"""Fresh calls, apart from those of any suite: they try the conditions of causes.

A condition that explains the failures of a suite may do so by chance. Calls that match it, and
calls that match it but for one term, show whether it holds; the diagnosis takes them as further
cases. A number determines a call, so that a certificate needs no more of it.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from opcert.arrays.calls import Call
from opcert.arrays.element_types import bits_of
from opcert.arrays.patterns import materialize, with_special_values
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import choices_of, draw_call, drawn_calls
from opcert.diagnosis import Condition, Point
from opcert.errors import ExpressionError, Inapplicable
from opcert.run.comparison import FailureKind
from opcert.run.session import Step
from opcert.specification.files import SpecFile, golden_outputs
from opcert.suite.format import StrictModel
from opcert.verdicts.reduction import Candidate, Reduction

# The seed of fresh calls; suites are not likely to have it.
_SEED = 0xF4E54
# The most elements of the outputs of a fresh call.
_MAX_ELEMENTS = 1 << 12


class FreshCall(StrictModel):
    """A fresh call by its number, how it failed, if it did, and whether wrong values would show."""

    number: Annotated[int, Field(ge=0, lt=1 << 53)]
    failure: FailureKind | Literal["crash", "hang"] | None
    shows: bool

    @property
    def name(self) -> str:
        """The name of the call among the cases of the diagnosis."""
        return f"fresh/{self.number}"

    def could_fail(self, kind: str) -> bool:
        """Whether the call passes, and a failure of this kind would have been visible."""
        shows = self.shows or kind not in ("value", "unstable", "aliased-output")
        return self.failure is None and shows and kind != "bits"


class FreshCalls:
    """Draws valid calls of one operator that no ambiguity touches."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._conditions = Conditions(spec_file.spec)
        self._reduction = Reduction(spec_file, None, (False, True), lambda _: False)

    def __iter__(self) -> Iterator[tuple[int, Call]]:
        """Yield calls with their numbers."""
        for number, call, _ in drawn_calls(self._file.spec, _SEED):
            if self._is_decided(call):
                yield number, call

    def _is_decided(self, call: Call) -> bool:
        """Whether a call is valid, small, and touched by no ambiguity."""
        try:
            is_valid = not self._conditions.check(call).violated
            is_small = is_valid and self._conditions.has_small_outputs(call, _MAX_ELEMENTS)
            return is_small and self._conditions.ambiguity(call) is None
        except (ExpressionError, Inapplicable):
            return False

    def has(self, number: int) -> bool:
        """Whether a number draws a call."""
        try:
            return self._is_decided(self.call(number))
        except Inapplicable:
            return False

    def call(self, number: int) -> Call:
        """Return the call with a number."""
        return draw_call(self._file.spec, choices_of(self._file.spec, _SEED, number))

    def candidate(self, number: int, call: Call) -> Candidate:
        """Return a call with its arrays."""
        tensors = call.patterned(f"fresh|{number}").inputs
        arrays = {name: materialize(tensor) for name, tensor in tensors.items()}
        outputs = golden_outputs(self._file.reference, arrays, call.attributes)
        return Candidate(
            with_special_values(arrays, tensors, outputs),
            call.attributes,
            {name: tensor.requested_layout for name, tensor in tensors.items()},
            tuple(name for name, tensor in tensors.items() if tensor.values is None),
        )

    def steps(self, candidate: Candidate) -> list[Step]:
        """Return the calls to make, with other data the second time."""
        return self._reduction.steps(candidate)


def shows_values(steps: Sequence[Step]) -> bool:
    """Whether outputs have different elements, so that wrong ones would show."""
    outputs = [bits_of(output).ravel() for step in steps for output in step.golden or ()]
    return any(bool((bits[1:] != bits[:1]).any()) for bits in outputs)


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
