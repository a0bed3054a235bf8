"""Wrong backends: an effect in calls that meet conditions; systematic ones, and at random.

A fault at random knows nothing of what the engine plans, so the share of those that a suite finds
says what the suite would find of faults that nobody thought of.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from opcert.arrays.calls import tensor_key
from opcert.choices import Choices
from opcert.specification.model import Spec
from opcert.strength.effects import OUTPUT_LISTS, REJECTION, WRONG_ELEMENT, Effect
from opcert.strength.facts import EARLIER, Column, Steps, Truths
from opcert.strength.misreadings import element_losses

Item = TypeVar("Item")
_RELATIONS: dict[str, Callable[[Column, Column | float], Truths]] = {
    "==": np.equal,
    "<": np.less,
    ">=": np.greater_equal,
}
_MODULI = (2, 3, 4, 8, 16, 32, 64)
# The numbers at which implementations change their ways: small or round ones, and their neighbours.
_ROUND = sorted({*range(13), *(2**k + d for k in range(3, 17) for d in (-1, 0, 1)), 100, 1000})
_MOST_CONDITIONS = 3


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition on a finished call: its text, and the steps of which it is true."""

    text: str
    holds: Callable[[Steps], Truths] = field(repr=False)
    uses_before: bool = False


@dataclass(frozen=True, eq=False)
class Fault:
    """A wrong backend: an effect in the calls of which all conditions are true."""

    effect: Effect
    conditions: tuple[Condition, ...] = ()

    @property
    def uses_before(self) -> bool:
        """Whether the fault depends on the call before."""
        return self.effect.uses_before or any(each.uses_before for each in self.conditions)

    def acts(self, steps: Steps) -> Truths:
        """Return whether the effect acts in each step."""
        acts: Truths = steps.is_valid == self.effect.on_valid
        for condition in self.conditions:
            acts &= condition.holds(steps)
        return acts


def _condition(
    name: str, text: str, test: Callable[[Column], Truths], before: bool = False
) -> Condition:
    """Return a condition on one fact of a call, or of the call before."""
    text = f"{'in the call before, ' * before}{name}{text}"
    return Condition(text, lambda steps: test(steps.column(name, before=before)), before)


def _clause(name: str, before: bool = False) -> Condition:
    return _condition(name, "", lambda column: column == 1, before)


def systematic_faults(
    spec: Spec, data: frozenset[str], effects: Sequence[Effect], fresh: Steps
) -> Iterator[Fault]:
    """Yield the faults that the signature of an operator suggests, `effects` among them."""
    yield from (Fault(effect) for effect in (*effects, *OUTPUT_LISTS))
    for declared in spec.inputs:
        if declared.name in data:
            key = declared.name if declared.variadic is None else tensor_key(declared.name, 0)
            for effect in element_losses(declared.name):
                for element_type in spec.type_sets[declared.type]:
                    yield Fault(effect, (_clause(f"{key} is {element_type}"),))
    conditions = [_clause(name) for name in fresh.clauses]
    for name in fresh.numbers:
        if name.endswith(".rank"):
            for rank in sorted({int(rank) for rank in fresh.column(name) if rank >= 0}):
                conditions.append(_condition(name, f" == {rank}", partial(np.equal, rank)))
    for condition in conditions:
        yield from (Fault(effect, (condition,)) for effect in (REJECTION, WRONG_ELEMENT))


class FaultDraw:
    """Draws faults at random, with conditions that some fresh calls meet and others do not."""

    def __init__(self, kinds: Sequence[Sequence[Effect]], fresh: Steps) -> None:
        self._kinds = kinds
        self._fresh = fresh

    def draw(self, choices: Choices) -> Fault | None:
        """Return a fault; None where a condition is true of no call or of all."""
        effect = _pick(choices, "effect", _pick(choices, "kind of effect", self._kinds))
        acts = self._fresh.is_valid == effect.on_valid
        conditions: list[Condition] = []
        for k in range(choices.integer("conditions", 1, _MOST_CONDITIONS)):
            condition = self._condition(choices, k)
            holds = condition.holds(self._fresh)[acts]
            if not holds.any() or holds.all():
                return None
            conditions.append(condition)
        return Fault(effect, tuple(conditions))

    def _condition(self, choices: Choices, k: int) -> Condition:
        """Draw a condition; one in six looks at the call before."""
        before = not choices.integer(f"{k} before", 0, 5)
        kind = _pick(choices, f"{k} kind", ("clause", "number", "remainder", "relation"))
        if kind == "clause":
            return _clause(_pick(choices, f"{k} clause", self._fresh.clauses), before)
        name = _pick(choices, f"{k} number", self._fresh.numbers)
        if kind == "remainder":
            modulus = _pick(choices, f"{k} modulus", _MODULI)
            rest = _pick(choices, f"{k} remainder", (0, 1, modulus - 1))
            text = f" % {modulus} == {rest}"
            return _condition(name, text, lambda column: column % modulus == rest, before)
        # No backend fails in one call by its number, but some do from a number on.
        relations = [*_RELATIONS] if name != EARLIER else [">="]
        relation = _pick(choices, f"{k} relation", relations)
        compare = _RELATIONS[relation]
        if kind == "relation":
            other = name if before else _pick(choices, f"{k} other", self._fresh.numbers)
            text = f"{name} {relation} {other}{' of the call before' * before}"
            return Condition(
                text, lambda s: compare(s.column(name), s.column(other, before=before)), before
            )
        # An implementation branches at a bound that a call may have, but hardly at one such number.
        is_round = relation == "==" or choices.integer(f"{k} is round", 0, 1) > 0
        number = _round(choices, k) if is_round else self._observed(choices, k, name)
        text = f" {relation} {number:.12g}"
        return _condition(name, text, lambda column: compare(column, number), before)

    def _observed(self, choices: Choices, k: int, name: str) -> float:
        column = self._fresh.column(name)
        observed: list[float] = column[~np.isnan(column)].tolist()
        return _pick(choices, f"{k} observed", observed)


def _round(choices: Choices, k: int) -> float:
    """Draw a round number, small ones more often, one in four negative."""
    highest = choices.integer(f"{k} highest", 0, len(_ROUND) - 1)
    sign = 1 if choices.integer(f"{k} is positive", 0, 3) else -1
    return float(sign * _ROUND[choices.integer(f"{k} round", 0, highest)])


def _pick(choices: Choices, name: str, items: Sequence[Item]) -> Item:
    return items[choices.integer(name, 0, len(items) - 1)]
