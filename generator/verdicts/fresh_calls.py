"""Fresh calls of an operator, which no suite has, and what they change of the suite's."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import chain, product, zip_longest
from typing import Any

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import Array
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import GoldenCalls, choices_of, draw_call, drawn_id, pattern_seed
from opcert.choices import Choices, Replay, call_seed
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.run.session import Step, step_of_call
from opcert.specification.files import SpecFile
from opcert.suite.format import Manifest
from opcert.suite.support import CallProperties
from opcert.verdicts.reduction import StepMaker
from opcert.verdicts.reproduction import FreshDraw

# The outputs of a fresh call have at most so many elements.
_MAX_ELEMENTS = 1 << 12
# The seed of fresh calls; suites are not likely to have it.
_SEED = 0xF4E54
# How often a choice of a failing call is answered anew.
_ANSWERS = 4


class FreshCalls:
    """Draws fresh calls of one operator. They are valid, and no ambiguity touches them."""

    def __init__(self, spec_file: SpecFile, manifest: Manifest | None = None) -> None:
        """Prepare for the calls of an operator; `manifest` is that of a suite to replay."""
        self._spec = spec_file.spec
        self._seed = 0 if manifest is None else manifest.seed
        self._is_large = manifest is not None and manifest.is_large
        self._conditions = Conditions(spec_file.spec)
        self._maker, self._golden = StepMaker(spec_file), GoldenCalls(spec_file)
        # The call that the suite's seed draws under a number, and what was chosen.
        self._of_suite = cache(self._draw_of_suite)
        self._elements = cache(self._make_elements)

    def call(self, fresh: FreshDraw) -> Call | None:
        """Return a fresh call, if its number draws one, and one that is new."""
        # A spec that has not been checked may contradict itself on a call.
        with suppress(Inapplicable, ExpressionError):
            former, choices = None, choices_of(self._spec, _SEED, fresh.number)
            if fresh.anew:
                former, answers = self._of_suite(fresh.number)
                choices = Replay(answers, fresh.anew, call_seed(fresh.whole.name))
            call = draw_call(self._spec, choices, large=bool(fresh.anew) and self._is_large)
            if former is not None and fresh.alone:
                changed = call.arguments.get(fresh.alone)
                call = former.changed(fresh.alone, changed, self._spec.defaults)
            if call != former and self._conditions.is_decided(call, _MAX_ELEMENTS):
                return call
        return None

    def trials(self, numbers: Sequence[int], others: int) -> Iterator[FreshDraw]:
        """Yield the replays of drawn calls of the suite, then so many others."""
        # One of each call in turn, so that those for which there is time are of all sorts.
        yield from filter(None, chain.from_iterable(zip_longest(*map(self.replays, numbers))))
        yield from (FreshDraw(number=number) for number in range(others))

    def replays(self, number: int) -> Iterator[FreshDraw]:
        """Yield the replays of a drawn call of the suite, some for each choice, in no order."""
        # Other specs than those of the suite may not draw it.
        with suppress(Inapplicable, ExpressionError):
            _, answers = self._of_suite(number)
            names = sorted(answers.levels, key=partial(call_seed, number))
            for answer, name in product(range(_ANSWERS), names):
                yield FreshDraw(number=number, anew=name, answer=answer)

    def parts(self, replay: FreshDraw) -> Iterator[FreshDraw]:
        """Yield what changes one of the arguments that a replay changes, if these are several."""
        if len(changed := self._changed(replay)) > 1:
            for name in changed:
                yield replay.model_copy(update={"alone": name})

    def changes(self, replay: FreshDraw) -> list[str]:
        """Return how each argument of a replay that differs from the drawn call does, in words."""
        return [
            f"other elements of {name}"
            if (before := _in_words(old)) == (after := _in_words(new))
            else f"{name} {after} in place of {before}"
            for name, (old, new) in self._changed(replay).items()
        ]

    def _changed(self, replay: FreshDraw) -> Mapping[str, tuple[object, object]]:
        """Return the arguments of the drawn call that a replay changes, before and after it."""
        former, _ = self._of_suite(replay.number)
        old, new = former.arguments, (self.call(replay) or former).arguments
        pairs = {name: (old.get(name), new.get(name)) for name in {**old, **new}}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def support(self, call: Call) -> CallProperties:
        """Return what a declaration of support can exclude."""
        return CallProperties.of(call, self._conditions)

    def steps(self, fresh: FreshDraw, call: Call) -> list[Step]:
        """Return the calls to make, with other data the second time; [] if there is no result."""
        with suppress(OpcertError):
            return self._maker.steps(self.step(fresh, call), (False, True))
        return []

    def step(self, fresh: FreshDraw, call: Call) -> Step:
        """Return a fresh call with its arrays.

        Raises:
            SpecError: the reference rejects the call.
        """
        arrays = self._golden.arrays(call.patterned(fresh.name))
        if fresh.anew:
            # What a replay leaves as it was has the elements of the drawn call.
            (former, _), elements = self._of_suite(fresh.number), self._elements(fresh.number)
            for name, tensor in call.inputs.items():
                old = former.inputs.get(name)
                if old is not None and replace(old, layout=tensor.layout) == tensor:
                    arrays[name] = elements[name]
        return step_of_call(self._spec.operator, call, arrays)

    def _draw_of_suite(self, number: int) -> tuple[Call, Choices]:
        choices = choices_of(self._spec, self._seed, number)
        return draw_call(self._spec, choices, large=self._is_large), choices

    def _make_elements(self, number: int) -> Mapping[str, Array]:
        """Return the inputs of a drawn call of the suite."""
        call, _ = self._of_suite(number)
        seed = pattern_seed(self._seed, drawn_id(self._spec, call, number))
        return self._golden.arrays(call.patterned(seed))


def _in_words(argument: Any) -> str:
    """Return an argument with its layout, or that it is omitted."""
    if isinstance(argument, tuple):
        return f"({'; '.join(map(_in_words, argument))})"
    layout = argument.layout if isinstance(argument, Tensor) else ""
    return "omitted" if argument is None else f"{argument} {layout}".rstrip()
