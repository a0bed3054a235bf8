"""Spec -> its valid cases: the documented calls, and those that the factors draw."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from opcert.generator.arrays.calls import Call, Tensor
from opcert.generator.cases.case import Case, Mistakes, digest
from opcert.generator.cases.conditions import Conditions
from opcert.generator.cases.drawing import InputSpace
from opcert.generator.cases.sight import Sights
from opcert.generator.cases.tables import Row
from opcert.generator.errors import ExpressionError
from opcert.generator.specification.expressions import FUNCTIONS, condition, evaluate, parse
from opcert.generator.specification.model import DocumentedTensor, Spec
from opcert.generator.specification.yaml_source import SpecPath

# How often a call is drawn until its levels show.
DRAWS = 256
# How often until its output tells.
TELLING = 32


class ValidCases:
    """Writes the valid cases of one spec; what goes wrong is noted in `mistakes`."""

    def __init__(self, spec: Spec, profile: str, seed: int, mistakes: Mistakes) -> None:
        self._spec = spec
        self._profile = profile
        self._seed = seed
        self._mistakes = mistakes
        self._sights = Sights(spec, profile)
        self._conditions = Conditions(spec)

    def examples(self) -> Iterator[Case]:
        """Yield the calls that the document shows."""
        for i, example in enumerate(self._spec.examples):
            with self._mistakes.noting(("examples", i)):
                inputs = {name: _documented(each) for name, each in example.inputs.items()}
                call = Call(inputs, example.attributes)
                yield self._valid(example.id, call, ("examples", i), example=example)

    def drawn(self, t: int) -> Iterator[Case]:
        """Yield the calls that the factors draw."""
        rows: list[tuple[Row, bool]] = []
        with self._mistakes.noting(("cases", "factors")):
            space = InputSpace(self._spec, self._profile)
            covering = space.rows(t)
            rows = [*zip(covering, space.are_masked(covering), strict=True)]
        for row, is_masked in rows:
            levels = space.level_names(row)
            pairs = [f"{factor}={level}" for factor, level in levels.items()]
            name = "-".join(["valid", *[*levels.values()][:2], digest(" ".join(sorted(pairs)))])
            with self._mistakes.noting(("cases", "draw"), f", drawn for {', '.join(pairs)}"):
                seed = f"{self._seed}|{self._spec.full_id(name)}"
                call = self._showing(space, row, seed, is_masked)
                yield self._valid(name, call, ("cases", "draw"), levels=levels)

    def _showing(self, space: InputSpace, row: Row, seed: str, masked: bool) -> Call:
        """Draw the call of `row`, again and again until each of its levels shows in it.

        Unless the row is `masked`, one is sought for a while whose output tells, too.
        """
        unseen: list[str] = []
        silent: Call | None = None
        for attempt in range(DRAWS):
            if silent is not None and attempt > TELLING:
                break
            call = space.call(row, f"{seed}|{attempt}" if attempt else seed)
            unseen = self._sights.unseen(call, space.level_names(row))
            if not unseen:
                if masked or self._tells(call):
                    return call
                silent = silent or call
        if silent is not None:
            return silent
        levels = ", ".join(f"{each}={space.level_names(row)[each]}" for each in unseen)
        raise ExpressionError(f"{levels} does not show in {call}", ("cases", "seen", unseen[0]))

    def _tells(self, call: Call) -> bool:
        with self._mistakes.noting(("cases", "tells")):
            return condition(parse(self._spec.cases.tells), self._conditions.names(call))
        return False

    def _valid(self, name: str, call: Call, place: SpecPath, **more: Any) -> Case:
        """Return the case of a valid call, whose patterns are its own."""
        identity = self._spec.full_id(name)
        call = call.patterned(f"{self._seed}|{identity}")
        standing = self._conditions.standing(call)
        if standing.broken:
            rules = ", ".join(standing.broken)
            raise ExpressionError(f"{identity} is to be valid and breaks {rules}: {call}")
        return Case(
            identity,
            call,
            place,
            self._spec.full_ids(*standing.kept, *self._conditions.behaviours(call)),
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


def _documented(each: DocumentedTensor) -> Tensor:
    tensor = Tensor(each.type, each.shape, each.values)
    if each.element is None:
        return tensor
    element = parse(each.element)
    values = (evaluate(element, {"i": i}, FUNCTIONS) for i in range(tensor.size))
    return replace(tensor, values=tuple(values))
