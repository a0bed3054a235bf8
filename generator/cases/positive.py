"""Spec -> its valid cases: the documented calls, and those that the factors draw."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from opcert.arrays import Call, Tensor
from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.discrimination import can_discriminate
from opcert.cases.input_space import InputSpace
from opcert.cases.observation import Observer
from opcert.combinatorics import Row
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification import (
    EXPRESSION_FUNCTIONS,
    DocumentedTensor,
    SpecFile,
    evaluate,
    parse_expression,
)
from opcert.yaml_files import YamlPath

# How often a call is drawn until its levels show.
MAX_DRAWS = 256
# How often until it discriminates, where its levels do not say that it cannot.
REDRAWS = 4
# How often where another row with some of its levels does.
TRIES = 1


class PositiveCases:
    """Writes the valid cases of one spec; what goes wrong is noted in `mistakes`."""

    def __init__(self, file: SpecFile, profile: str, seed: int, mistakes: MistakeLog) -> None:
        self._spec = spec = file.spec
        self._reference = file.reference
        self._profile = profile
        self._seed = seed
        self._mistakes = mistakes
        self._sights = Observer(spec, profile)
        self._conditions = Conditions(spec)
        # The calls that discriminate, by their rows.
        self._calls: dict[Row, Call] = {}

    def examples(self) -> Iterator[Case]:
        """Yield the calls that the document shows."""
        for i, example in enumerate(self._spec.examples):
            with self._mistakes.noting(("examples", i)):
                inputs = {name: _documented(each) for name, each in example.inputs.items()}
                call = Call(inputs, example.attributes)
                yield self._valid(example.id, call, ("examples", i), example=example)

    def drawn(self, t: int) -> Iterator[Case]:
        """Yield the calls that the factors draw."""
        with self._mistakes.noting(("cases", "factors")):
            space = InputSpace(self._spec, self._profile)
            for row in space.rows(t, lambda row: self.discriminates(space, row)):
                levels = space.level_names(row)
                pairs = ", ".join(f"{factor}={level}" for factor, level in levels.items())
                with self._mistakes.noting(("cases", "draw"), f", drawn for {pairs}"):
                    call = self._calls.get(row) or self._drawn(space, row, TRIES)[0]
                    yield self._valid(_name(levels), call, ("cases", "draw"), levels=levels)

    def discriminates(self, space: InputSpace, row: Row) -> bool:
        """Whether a call of `row` discriminates; such a call is kept."""
        try:
            call, is_one = self._drawn(space, row, REDRAWS)
        except (ExpressionError, Inapplicable):
            # It is noted where the case is made.
            return True
        if is_one:
            self._calls[row] = call
        return is_one

    def _drawn(self, space: InputSpace, row: Row, tries: int) -> tuple[Call, bool]:
        """Draw the call of `row` until each of its levels shows, and whether it discriminates.

        One that shows them and does not discriminate is drawn again, up to `tries` times.
        """
        levels = space.level_names(row)
        seed = f"{self._seed}|{self._spec.full_id(_name(levels))}"
        unobserved: list[str] = []
        plain: Call | None = None
        for attempt in range(MAX_DRAWS):
            call = space.call(row, f"{seed}|{attempt}" if attempt else seed)
            unobserved = self._sights.unobserved(call, levels)
            if not unobserved:
                if can_discriminate(self._reference, call):
                    return call, True
                plain = plain or call
                tries -= 1
                if not tries:
                    break
        if plain is not None:
            return plain, False
        missing = ", ".join(f"{each}={levels[each]}" for each in unobserved)
        raise ExpressionError(
            f"{missing} does not show in {call}", ("cases", "observe", unobserved[0])
        )

    def _valid(self, name: str, call: Call, place: YamlPath, **more: Any) -> Case:
        """Return the case of a valid call, whose patterns are its own."""
        identity = self._spec.full_id(name)
        call = call.patterned(f"{self._seed}|{identity}")
        standing = self._conditions.check(call)
        if standing.violated:
            rules = ", ".join(standing.violated)
            raise ExpressionError(f"{identity} is to be valid and breaks {rules}: {call}")
        return Case(
            identity,
            call,
            place,
            self._spec.full_ids(*standing.satisfied, *self._conditions.behaviours(call)),
            ambiguity=self._conditions.ambiguity(call),
            feature_levels=self._feature_levels(call),
            **more,
        )

    def _feature_levels(self, call: Call) -> tuple[str, ...]:
        """Return the feature levels whose table has the first input's rank and type."""
        first = call.inputs[self._spec.leading.name]
        return tuple(
            level.name
            for level in self._spec.feature_levels
            if level.ranks[0] <= first.rank <= level.ranks[1] and first.type in level.types
        )


def _name(levels: Mapping[str, str]) -> str:
    pairs = sorted(f"{factor}={level}" for factor, level in levels.items())
    return "-".join(["valid", *[*levels.values()][:2], short_digest(" ".join(pairs))])


def _documented(each: DocumentedTensor) -> Tensor:
    tensor = Tensor(each.type, each.shape, each.values)
    if each.element is None:
        return tensor
    element = parse_expression(each.element)
    values = (evaluate(element, {"i": i}, EXPRESSION_FUNCTIONS) for i in range(tensor.size))
    return replace(tensor, values=tuple(values))
