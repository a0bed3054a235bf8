"""What a call keeps, breaks and touches, by the conditions of its spec."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opcert.generator.arrays.calls import Call, Tensor
from opcert.generator.errors import ExpressionError, Inapplicable
from opcert.generator.specification.expressions import (
    FUNCTIONS,
    condition,
    evaluate,
    parse,
    shown,
)
from opcert.generator.specification.model import Rule, Spec
from opcert.generator.specification.yaml_source import SpecPath

_MOST_OUTPUTS = 1000


@dataclass(frozen=True)
class Standing:
    """How a call stands to the requirements: those it keeps and those it breaks, by id.

    A requirement is in neither where it does not speak of the call, where a required argument
    that it names is absent, or where a requirement that it is given is broken.
    """

    kept: tuple[str, ...]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Conditions:
    """The conditions of one spec, asked of calls."""

    spec: Spec

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        return {**self.spec.fixed_names, **self.spec.defaults}

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(each.name for each in self.spec.arguments if each.required)

    def names(self, call: Call) -> dict[str, Any]:
        """Return what conditions see of `call`: None for what is omitted, or its default."""
        given = {**call.inputs, **call.attributes}
        omitted = tuple(name for name in self.spec.defaults if name not in given)
        return {**self._fixed, **given, "omitted": omitted}

    def standing(self, call: Call) -> Standing:
        """Ask every requirement of `call`.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        names = self.names(call)
        kept: list[str] = []
        broken: list[str] = []
        moot: set[str] = set()
        for i, rule in self._rules("requirement"):
            if not moot.isdisjoint(rule.given):
                moot.add(rule.id)
            elif self._speaks(i, rule, names):
                holds = _condition(rule.holds or "True", names, ("rules", i, "holds"))
                (kept if holds else broken).append(rule.id)
                if not holds:
                    moot.add(rule.id)
        return Standing(tuple(kept), tuple(broken))

    def _rules(self, kind: str) -> Iterator[tuple[int, Rule]]:
        return ((i, rule) for i, rule in enumerate(self.spec.rules) if rule.kind == kind)

    def _speaks(self, i: int, rule: Rule, names: Mapping[str, Any]) -> bool:
        if not self._has(names, rule.when, rule.holds or "True"):
            return False
        return _condition(rule.when, names, ("rules", i, "when"))

    def _has(self, names: Mapping[str, Any], *texts: str) -> bool:
        """Whether every required argument that one of the expressions names is there."""
        about = frozenset[str]().union(*(parse(text).names for text in texts))
        return all(names[each] is not None for each in about & self._required)

    def behaviours(self, call: Call) -> tuple[str, ...]:
        """Return the behaviours that a valid `call` shows."""
        names = self.names(call)
        return tuple(
            rule.id
            for i, rule in self._rules("behaviour")
            if _condition(rule.when, names, ("rules", i, "when"))
        )

    def ambiguity(self, call: Call) -> str | None:
        """Return the first ambiguity that decides what `call` has to give.

        One that the call touches decides nothing where the call is invalid in both readings, since
        it breaks a requirement that does not rest on the ambiguity.
        """
        names = self.names(call)
        for i, each in enumerate(self.spec.ambiguities):
            place = ("ambiguities", i, "touches")
            if (
                self._has(names, each.touches)
                and _condition(each.touches, names, place)
                and set(self.standing(call).broken) <= set(each.breaks)
            ):
                return each.id
        return None

    def outputs(self, call: Call) -> list[Tensor]:
        """Return the type and shape of each output of a valid `call`, as the spec declares them.

        Raises:
            ExpressionError: a count is no number, a shape no shape, or neither can be evaluated.
        """
        names = self.names(call)
        types = {
            each.type: names[each.name].type for each in reversed(self.spec.inputs) if each.required
        }
        return [
            Tensor(types[output.type], _shape(output.shape, {**names, "i": i}, k))
            for k, output in enumerate(self.spec.outputs)
            for i in range(_count(output.count, names, k))
        ]

    def contradicted(
        self, call: Call, rules: Collection[str], outputs: Sequence[Tensor]
    ) -> list[str]:
        """Return the behaviours among `rules`, by full id, that `outputs` contradict."""
        names = {**self.names(call), "outputs": tuple(outputs)}
        return [
            rule.id
            for i, rule in self._rules("behaviour")
            if rule.holds is not None
            and self.spec.full_id(rule.id) in rules
            and not _condition(rule.holds, names, ("rules", i, "holds"))
        ]


def _condition(text: str, names: Mapping[str, Any], place: SpecPath) -> bool:
    # Most conditions of the kind have nothing to ask.
    if text == "True":
        return True
    try:
        return condition(parse(text), names)
    except ExpressionError as error:
        raise ExpressionError(str(error), place) from None


def _shape(text: str, names: Mapping[str, Any], output: int) -> tuple[int, ...]:
    place = ("outputs", output, "shape")
    shape = _value(text, names, place)
    if not isinstance(shape, tuple) or not all(isinstance(each, int) for each in shape):
        raise ExpressionError(f"{shown(text)} is {shown(shape)}; expected a shape", place)
    return shape


def _count(text: str, names: Mapping[str, Any], output: int) -> int:
    place = ("outputs", output, "count")
    count = _value(text, names, place)
    if not isinstance(count, int) or not 0 <= count <= _MOST_OUTPUTS:
        expected = f"a number of outputs, {_MOST_OUTPUTS} at most"
        raise ExpressionError(f"{shown(text)} is {shown(count)}; expected {expected}", place)
    return count


def _value(text: str, names: Mapping[str, Any], place: SpecPath) -> Any:
    try:
        return evaluate(parse(text), names, FUNCTIONS)
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), place) from None
