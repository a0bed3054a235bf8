"""Spec -> calls with their expected outcome, drawn by Hypothesis: a strategy for tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from opcert.arrays.calls import Call, group_variadic
from opcert.arrays.element_types import Array, type_name
from opcert.arrays.patterns import materialize_numbered
from opcert.cases.candidates import violating_alone
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import MAX_OUTPUT_ELEMENTS, GoldenCalls, draw_call
from opcert.cases.mutations import mutations_of
from opcert.choices import Choices
from opcert.errors import ExpressionError, Inapplicable, SpecError
from opcert.run.comparison import compare_outputs
from opcert.run.session import Step, step_of_call
from opcert.specification.files import SpecFile, read_specs_in
from opcert.suite.support import CallProperties, Support

# The choice of a data pattern, and how many there are; the first is elements numbered from 1.
_PATTERN, _PATTERNS = "pattern of the data", 1 << 16
# So many integers of a list are drawn singly; to search and to shrink more would take long.
_MAX_DRAWN_SINGLY = 16
# So many mutations of a call are tried in turn, until so many violate one rule.
_MAX_MUTATIONS, _MAX_REJECTIONS = 64, 4
# How many calls, at most, follow from one; none follow from one with more outputs, for time.
_MAX_FURTHER, _MAX_OUTPUTS = 12, 64
# The values of an input of so many elements are printed with a call.
_MAX_LISTED = 16


# To make a strategy takes longer than to draw from it.
_integers = cache(st.integers)


class FromHypothesis(Choices):
    """Answers choices from Hypothesis, which shrinks each answer to the lowest.

    `answers` are those given so far. A choice that `former` answers keeps this answer where it is
    still possible.
    """

    def __init__(self, draw: st.DrawFn, former: Mapping[str, int]) -> None:
        super().__init__(0)
        self.answers: dict[str, int] = {}
        self._draw = draw
        self._former = former

    def integer(self, name: str, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        argument, layout, _ = name.partition(" layout")
        if layout and name != f"{argument}{layout}":
            # One answer decides all of a layout, of which the simplest is 0: what is drawn after it
            # keeps its place while it shrinks.
            seed = self.integer(f"{argument}{layout}", 0, 0xFFFF)
            return Choices(seed).integer(name, low, high) if seed else low
        if layout and name in self.answers:
            return self.answers[name]
        answer = self._former.get(name)
        if answer is None or not low <= answer <= high:
            answer = self._draw(_integers(low, high))
        self.answers[name] = answer
        return answer

    def integers(self, name: str, low: int, high: int, count: int) -> list[int]:
        """Return `count` integers from `low` to `high`, both included."""
        singly = min(count, _MAX_DRAWN_SINGLY)
        drawn = [self.integer(f"{name} {k}", low, high) for k in range(singly)]
        if singly == count:
            return drawn
        rest = Choices(self.integer(f"{name} further", 0, 0xFFFF))
        return [*drawn, *rest.integers(name, low, high, count - singly)]

    def rarely(self, name: str, one_in: int) -> bool:
        """Return whether to do what is done in one of `one_in` draws; not to is simpler."""
        return self.integer(name, 0, one_in - 1) == one_in - 1


@dataclass(frozen=True, eq=False)
class ExpectedCall:
    """A call and its expected outcome: `outputs`, or a rejection, since it violates `rule`.

    `inputs` and `attributes` are those that `run` of a backend gets.
    """

    operator: str
    inputs: Mapping[str, Any]
    attributes: Mapping[str, Any]
    outputs: Sequence[Array] | None
    rule: str | None
    text: str

    def __repr__(self) -> str:
        return self.text

    def check(self, outputs: Any) -> None:
        """Check what a backend returned for the call; NaNs may have any bits.

        Raises:
            AssertionError: the call must be rejected, or the outputs are not the expected ones.
        """
        if self.outputs is None:
            raise AssertionError(f"accepted a call that violates {self.rule}")
        difference = compare_outputs(self.outputs, outputs)
        if difference is not None and difference.kind != "bits":
            raise AssertionError(difference.text)


def calls(operator: str, specs: str | Path | None = None) -> st.SearchStrategy[ExpectedCall]:
    """Return a Hypothesis strategy of calls of an operator, valid ones and such as violate a rule.

    `specs` is a folder of specs, by default those that come with opcert.

    Raises:
        OpcertError: there is no such operator, or its spec is at fault.
    """
    (spec_file,) = read_specs_in(None if specs is None else Path(specs), operator)
    of_operator = OperatorCalls(spec_file)

    @st.composite
    def expected_calls(draw: st.DrawFn) -> ExpectedCall:
        base = of_operator.valid(draw)
        rejected = of_operator.rejected(draw, base) if draw(st.booleans()) else []
        step = rejected[0] if rejected else base.step
        inputs, text = group_variadic(step.laid_out), call_line(step)
        return ExpectedCall(operator, inputs, step.attributes, step.golden, step.rule, text)

    return expected_calls()


@st.composite
def trials(draw: st.DrawFn, of_operator: "OperatorCalls") -> list[Step]:
    """Return a strategy of trials: the steps of a valid call and of calls that follow from it.

    Together they expose what a backend keeps from call to call.
    """
    base = of_operator.valid(draw)
    most = _MAX_FURTHER if len(base.step.golden or ()) <= _MAX_OUTPUTS else 0
    followers = draw(st.lists(st.composite(of_operator.further)(base), max_size=most))
    return [base.step, *chain.from_iterable(followers)]


def call_line(step: Step) -> str:
    """Return a call in a line: types, shapes and short values of inputs, and attributes."""
    parts = []
    for name, array in step.inputs.items():
        is_listed = 0 < array.size <= _MAX_LISTED and name not in step.data_inputs
        values = str(array.tolist()) if is_listed else ""
        text = f"{name}={type_name(array.dtype)}{list(array.shape)}"
        parts.append(" ".join(filter(None, [text, str(step.layouts[name].of(array)), values])))
    return ", ".join([*parts, *(f"{name}={value}" for name, value in step.attributes.items())])


@dataclass(frozen=True)
class DrawnCall:
    """A valid call with the answers that drew it, and its step."""

    call: Call
    answers: Mapping[str, int]
    step: Step


class OperatorCalls:
    """Draws the calls of one operator that a backend supports, with their expected outcome."""

    def __init__(self, spec_file: SpecFile) -> None:
        self.spec = spec_file.spec
        self.support = Support(None)
        self._conditions = Conditions(self.spec)
        self._file = spec_file
        self._golden = GoldenCalls(spec_file)
        self._mutations = mutations_of(self.spec)

    def valid(self, draw: st.DrawFn) -> DrawnCall:
        """Draw a valid call.

        Raises:
            SpecError: the spec contradicts itself or its reference on the call.
        """
        drawn = self._drawn(draw, {}, "")
        return reject() if drawn is None else drawn

    def further(self, draw: st.DrawFn, base: DrawnCall) -> Sequence[Step]:
        """Draw calls that follow from `base`.

        They are the same call again, differ from it in their data or in one choice and those whose
        names begin with its name, or violate a rule. There are none where what is drawn does not
        apply.

        Raises:
            SpecError: the spec contradicts itself or its reference on a call.
        """
        kind = draw(st.sampled_from(["repeated", "rejected", "other data", "other choice"]))
        if kind == "repeated":
            return [replace(base.step, relation=kind)]
        if kind == "rejected":
            return self.rejected(draw, base)
        anew = _PATTERN if kind == "other data" else draw(st.sampled_from([*base.answers]))
        kept = {name: a for name, a in base.answers.items() if not name.startswith(anew)}
        drawn = self._drawn(draw, kept, f"with another {anew}")
        return [] if drawn is None else [drawn.step]

    def rejected(self, draw: st.DrawFn, base: DrawnCall) -> Sequence[Step]:
        """Return mutations of a valid call that violate exactly one rule, if some are found."""
        first = draw(_integers(0, len(self._mutations) - 1))
        steps: list[Step] = []
        for mutation in (self._mutations[first:] + self._mutations[:first])[:_MAX_MUTATIONS]:
            violation = violating_alone(self._conditions, mutation, base.call, first)
            if violation is None:
                continue
            call, rule = violation
            arrays = {}
            for key, tensor in call.inputs.items():
                is_kept = base.call.inputs.get(key) is tensor
                arrays[key] = base.step.inputs[key] if is_kept else materialize_numbered(tensor)
            operator, change = self.spec.operator, mutation.name
            steps.append(step_of_call(operator, call, arrays, None, change, rule))
            if len(steps) == _MAX_REJECTIONS:
                break
        return steps

    def _drawn(self, draw: st.DrawFn, former: Mapping[str, int], relation: str) -> DrawnCall | None:
        """Draw a call; None if there is no call, or none that is valid, small and supported."""
        choices = FromHypothesis(draw, former)
        try:
            call = draw_call(self.spec, choices)
            if not self._conditions.is_decided(call, MAX_OUTPUT_ELEMENTS):
                return None
            properties = CallProperties.of(call, self._conditions)
            if self.support.exclusion_reason(self.spec.operator, properties) is not None:
                return None
        except Inapplicable:
            return None
        except ExpressionError as error:
            raise SpecError([self._file.mistake(error.place, str(error))]) from None
        if pattern := choices.integer(_PATTERN, 0, _PATTERNS - 1):
            inputs = self._golden.arrays(call.patterned(str(pattern)))
        else:
            inputs = {name: materialize_numbered(t) for name, t in call.inputs.items()}
        golden = self._golden.outputs(call, inputs)
        step = step_of_call(self.spec.operator, call, inputs, golden, relation)
        return DrawnCall(call, choices.answers, step)
