"""Valid cases -> those one change away: siblings, each way of breaking a rule, ambiguities.

Of the calls that break a rule, those come first that an implementation without the check would
accept, and last those that it would reject for another rule: they do not show that a check is
missing.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, islice
from math import prod

import numpy as np

from opcert.generator.arrays.calls import Call, Tensor
from opcert.generator.arrays.element_types import ELEMENT_TYPES, Array
from opcert.generator.arrays.patterns import array_of
from opcert.generator.cases.case import Case, Mistakes, digest
from opcert.generator.cases.changes import Change, after
from opcert.generator.cases.conditions import Conditions
from opcert.generator.cases.siblings import Vary, ways_to_differ
from opcert.generator.errors import ExpressionError, Inapplicable
from opcert.generator.specification.model import Spec
from opcert.generator.specification.references import Reference
from opcert.generator.specification.yaml_source import SpecPath
from opcert.reference import RuleBroken, unchecked

# How many valid calls each way of breaking a rule is applied to, in each profile.
TWINS = {"core": 4, "full": 16, "stress": 4}
# How many twins are weighed for the place of one, and how many more for one way of breaking a rule
# while none of them would be accepted without the check.
CHOICE = 4
PATIENCE = 48
# The most bytes of outputs for which the reference is run without a check.
_LARGEST = 1 << 26
# How many valid calls get another one beside them, for each thing in which calls may differ, and
# how many are asked for one.
SIBLINGS = {"core": 3, "full": 12, "stress": 3}
ASKED = 200


@dataclass(frozen=True)
class _Way:
    """One way of breaking a rule, or of showing an ambiguity, and the place where it stands."""

    place: SpecPath
    owner: str
    name: str
    change: Change
    breaks: str | None = None
    ambiguity: str | None = None

    @property
    def kind(self) -> str:
        return f"{self.owner}.{self.name}"


HIDES, MAY_SHOW, SHOWS = range(3)


@dataclass(frozen=True)
class _Candidate:
    """A twin, what a change makes of it, and how well this shows that a check is missing.

    Without the check, the reference gives outputs (`SHOWS`), fails by chance (`MAY_SHOW`), or
    rejects the call for another rule (`HIDES`).
    """

    twin: Case
    call: Call
    shows: int = 0


class ChangedCases:
    """Writes the cases that are one change away from `twins`; what goes wrong is noted."""

    def __init__(
        self,
        spec: Spec,
        reference: Reference,
        profile: str,
        twins: Sequence[Case],
        mistakes: Mistakes,
    ) -> None:
        self._spec = spec
        self._reference = reference
        self._profile = profile
        self._twins = twins
        self._mistakes = mistakes
        self._conditions = Conditions(spec)
        # By rule or ambiguity: the levels of the twins of what shows it.
        self._levels: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)

    def siblings(self) -> Iterator[Case]:
        """Yield valid cases that differ from another in one thing, for each thing there is."""
        others = [case.call for case in self._by_chance("others")]
        for way, vary in ways_to_differ(self._spec, self._conditions.outputs).items():
            yield from islice(self._siblings(way, vary, others), SIBLINGS[self._profile])

    def _siblings(self, way: str, vary: Vary, others: Sequence[Call]) -> Iterator[Case]:
        number = 0
        for twin in self._by_chance(way)[:ASKED]:
            calls: list[Call] = []
            # What cannot be evaluated is told where goldens are proved.
            with suppress(ExpressionError, Inapplicable):
                calls = [*filter(self._is_plain, islice(vary(twin.call, others), CHOICE))]
            if calls:
                # What is varied in several ways is so by turns.
                call = calls[number % len(calls)]
                rules = self._conditions.behaviours(call)
                yield self._case(twin, call, ("cases", "draw"), way, rules)
                number += 1

    def _is_plain(self, call: Call) -> bool:
        """Whether `call` is valid and touches no ambiguity."""
        return not self._conditions.standing(call).broken and not self._conditions.ambiguity(call)

    def rejected(self) -> Iterator[Case]:
        """Yield cases that break one rule alone, for each way of breaking it."""
        for i, rule in enumerate(self._spec.rules):
            for name, change in rule.broken_by.items():
                place = ("rules", i, "broken_by", name)
                way = _Way(place, rule.id, name, change, breaks=rule.id)
                for each in self._changed(way):
                    yield self._case(
                        each.twin, each.call, place, way.kind, (rule.id,), rejects=rule.id
                    )

    def ambiguous(self) -> Iterator[Case]:
        """Yield cases that touch an ambiguity, for each way of showing it."""
        for i, each in enumerate(self._spec.ambiguities):
            for name, change in each.shown_by.items():
                place = ("ambiguities", i, "shown_by", name)
                way = _Way(place, each.id, name, change, ambiguity=each.id)
                for found in self._changed(way):
                    broken = self._conditions.standing(found.call).broken
                    rules = broken or self._conditions.behaviours(found.call)
                    rejects = broken[0] if broken else None
                    yield self._case(
                        found.twin, found.call, place, way.kind, rules, rejects, each.id
                    )

    def _case(
        self,
        twin: Case,
        call: Call,
        place: SpecPath,
        kind: str,
        rules: Sequence[str],
        rejects: str | None = None,
        ambiguity: str | None = None,
    ) -> Case:
        return Case(
            self._spec.full_id(f"{kind}-{digest(twin.id)}"),
            call,
            place,
            self._spec.full_ids(*rules),
            rejects=rejects and self._spec.full_id(rejects),
            twin=twin.id,
            ambiguity=ambiguity,
            feature_levels=twin.feature_levels,
        )

    def _changed(self, way: _Way) -> list[_Candidate]:
        """Return twins, up to `TWINS` of them, with what a change makes of them.

        The twins are asked in an order of the change's own, so that a new case among them moves
        few others; the types of the changed argument take turns. A call comes before others that
        shows a missing check better, then one whose twin has levels that the rule is not broken
        with yet.
        """
        found: list[_Candidate] = []
        most, patience = TWINS[self._profile], PATIENCE if way.breaks else 0
        seen = self._levels[way.owner]
        waiting = [self._applied(way, twins) for twins in self._by_type(way)]
        while waiting and len(found) < most and way.place not in self._mistakes:
            line = waiting.pop(0)
            some = list(islice(line, CHOICE))
            while patience > 0 and some and all(each.shows < SHOWS for each in some):
                more = list(islice(line, CHOICE))
                if not more and (not waiting or any(each.shows > HIDES for each in some)):
                    break
                if not more:
                    # Another rule rejects every call of this type: perhaps none of the next.
                    line = waiting.pop(0)
                some += more
                patience -= len(more)
            if some:
                best = max(
                    some,
                    key=lambda each: (each.shows, len(each.twin.levels.items() - seen)),
                )
                some.remove(best)
                seen |= best.twin.levels.items()
                found.append(best)
                waiting.append(chain(some, line))
        # Under stress there are fewer calls, of other sizes.
        if not found and self._profile != "stress":
            text = "applies to no call: no valid call becomes one that does this alone"
            self._mistakes.note(way.place, f"'{way.kind}' {text}")
        return found

    def _applied(self, way: _Way, twins: Sequence[Case]) -> Iterator[_Candidate]:
        """Yield the changed calls that do what `way` is there for, and that alone."""
        for twin in twins:
            with self._mistakes.noting(way.place, f", in a change to {twin.id}"):
                call = after(self._conditions, twin.call, way.change)
                if call is None or self._conditions.ambiguity(call) != way.ambiguity:
                    continue
                broken = self._conditions.standing(call).broken
                if way.breaks is None:
                    yield _Candidate(twin, call)
                elif broken == (way.breaks,):
                    yield _Candidate(twin, call, self._without_check(call, way.breaks))

    def _without_check(self, call: Call, rule: str) -> int:
        """Return what comes of `call` where the reference does not check `rule`."""
        given = {**call.inputs, **call.attributes}
        if not all(each.name in given for each in self._spec.arguments if each.required):
            return MAY_SHOW
        outputs: list[Tensor] = []
        # The shapes of a call that breaks a rule need not come to anything.
        with suppress(ExpressionError, Inapplicable):
            outputs = self._conditions.outputs(call)
        sizes = [prod(each.shape) * ELEMENT_TYPES[each.type].itemsize for each in outputs]
        if any(size > _LARGEST for size in sizes):
            return MAY_SHOW
        inputs = {name: _plain_array(tensor) for name, tensor in call.inputs.items()}
        try:
            with np.errstate(all="ignore"), unchecked(self._spec.full_id(rule)):
                self._reference(**inputs, **deepcopy(dict(call.attributes)))
        except RuleBroken:
            return HIDES
        except Exception:  # without its check, a reference may fail in any way
            return MAY_SHOW
        return SHOWS

    def _by_type(self, way: _Way) -> list[list[Case]]:
        """Return the twins by the type of what changes, all in an order by chance."""
        lines: defaultdict[str, list[Case]] = defaultdict(list)
        for twin in self._by_chance(way.kind):
            lines[self._type_of(twin.call, way.change)].append(twin)
        return [*lines.values()]

    def _by_chance(self, seed: str) -> list[Case]:
        return sorted(self._twins, key=lambda case: digest(f"{seed}|{case.id}"))

    def _type_of(self, call: Call, change: Change) -> str:
        """Return the type of the changed input, or of the first where an attribute changes."""
        changed = [call.inputs[name] for name in change if name in call.inputs]
        return (changed or [call.inputs[self._spec.leading.name]])[0].type


def _plain_array(tensor: Tensor) -> Array:
    """Return an array of the tensor's values, or zeros where a pattern fills it."""
    if tensor.values is None:
        return np.zeros(tensor.shape, ELEMENT_TYPES[tensor.type])
    return array_of(tensor)
