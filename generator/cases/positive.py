"""Spec -> positive cases: the calls of the document, and drawn calls."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from opcert.arrays.calls import Call, Tensor, flatten_variadic
from opcert.cases.case import Case, MistakeLog
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import DRAWN, drawn_calls
from opcert.cases.profiles import Profile
from opcert.errors import ExpressionError
from opcert.specification.expressions import DocumentedTensor, evaluate
from opcert.specification.files import SpecFile
from opcert.yaml_files import YamlPath


class PositiveCases:
    """Builds the positive cases of one spec; mistakes that come up are recorded in `mistakes`."""

    def __init__(self, file: SpecFile, seed: int, mistakes: MistakeLog) -> None:
        self._spec = spec = file.spec
        self._seed = seed
        self._mistakes = mistakes
        self._conditions = Conditions(spec)

    def examples(self) -> Iterator[Case]:
        """Yield the documented calls."""
        for i, example in enumerate(self._spec.examples):
            with self._mistakes.collect(("examples", i)):
                documented = flatten_variadic(example.inputs)
                inputs = {key: _tensor(tensor) for key, tensor in documented.items()}
                call = Call(inputs, example.attributes)
                yield self._case(example.id, call, ("examples", i), example=example)

    def drawn(self, profile: Profile) -> Iterator[Case]:
        """Yield a case for each drawn call of a profile; a longer suite begins with a shorter."""
        with self._mistakes.collect(()):
            calls = drawn_calls(self._spec, self._seed, large=profile.large)
            computes = any(output.computed for output in self._spec.outputs)
            count = max(100, profile.calls // 10) if computes else profile.calls
            for draw, call, choices in islice(calls, count):
                first = call.inputs[self._spec.leading_key]
                name = f"{DRAWN}{first.type}-{first.rank}-{draw:06}"
                yield self._case(name, call, (), choices=choices)

    def _case(self, name: str, call: Call, place: YamlPath, **fields: Any) -> Case:
        """Return the case of a valid call, with data patterns of its own."""
        identity = self._spec.full_id(name)
        call = call.patterned(f"{self._seed}|{identity}")
        check = self._conditions.check(call)
        if check.violated:
            violated = ", ".join(check.violated)
            text = f"{identity} is meant to be a valid call, but violates {violated}: {call}"
            raise ExpressionError(text)
        return Case(
            identity,
            call,
            place,
            self._spec.full_ids(*check.satisfied, *self._conditions.behaviours(call)),
            ambiguity=self._conditions.ambiguity(call),
            feature_levels=self._feature_levels(call),
            **fields,
        )

    def _feature_levels(self, call: Call) -> tuple[str, ...]:
        """Return the feature levels whose table has the first input's rank and type."""
        first = call.inputs[self._spec.leading_key]
        return tuple(
            level.name
            for level in self._spec.feature_levels
            if level.ranks[0] <= first.rank <= level.ranks[1] and first.type in level.types
        )


def _tensor(documented: DocumentedTensor) -> Tensor:
    tensor = Tensor(documented.type, documented.shape, documented.values)
    if documented.element is None:
        return tensor
    values = (evaluate(documented.element, {"i": i}) for i in range(tensor.size))
    return replace(tensor, values=tuple(values))
