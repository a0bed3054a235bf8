"""Candidates -> negative cases, and those of ambiguities: some of each stratum.

Of the calls that break a requirement, those are preferred that an implementation without its check
would accept: one that is rejected for another reason does not show that the check is missing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy

import numpy as np

from opcert.arrays import ELEMENT_TYPES, Array, Call, Tensor, materialize
from opcert.cases.candidates import Candidate, Candidates
from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable
from opcert.reference import RuleBroken, unchecked
from opcert.specification import Reference, Spec

# How many cases a stratum has at most: the calls that break a requirement by a kind of mutation of
# an argument. With so many cases of a requirement, no stratum gets a second one.
STRATUM = {"core": 4, "full": 16, "stress": 2}
ENOUGH = {"core": 36, "full": 256, "stress": 16}
# How many cases an ambiguity has at most: they decide nothing.
OPEN = {"core": 6, "full": 32, "stress": 4}
# How many candidates are weighed for the place of one.
_WEIGHED = 32
# How many bytes more of changed arrays count as more, for the suite to stay small.
_COARSE = 128
# The most bytes of an array for which the reference is run without a check.
_LARGEST = 1 << 24

HIDES, MAY_SHOW, SHOWS = range(3)


class NegativeCases:
    """Writes the cases that are one change away from `baselines` and no longer plainly valid."""

    def __init__(
        self,
        spec: Spec,
        reference: Reference,
        profile: str,
        seed: int,
        baselines: Sequence[Case],
        mistakes: MistakeLog,
    ) -> None:
        self._spec = spec
        self._reference = reference
        self._profile = profile
        self._conditions = Conditions(spec)
        self._candidates = Candidates(self._conditions, profile, seed, baselines, mistakes)
        self._mistakes = mistakes

    def cases(self) -> Iterator[Case]:
        """Yield the cases that break a requirement, then those that an ambiguity decides."""
        candidates = self._candidates.found()
        self._note_unbroken(set(candidates))
        for rule in self._spec.requirements:
            for candidate in self._chosen(rule, candidates.get(rule, ()), decides=True):
                yield self._case(candidate, (rule,), rule)
        for each in self._spec.ambiguities:
            for candidate in self._chosen(each.id, candidates.get(each.id, ()), decides=False):
                rules = candidate.broken or self._conditions.behaviours(candidate.call)
                rejects = candidate.broken[0] if candidate.broken else None
                yield self._case(candidate, rules, rejects, each.id)

    def _case(
        self,
        candidate: Candidate,
        rules: Sequence[str],
        rejects: str | None,
        ambiguity: str | None = None,
    ) -> Case:
        baseline = candidate.baseline
        return Case(
            self._spec.full_id(
                f"{ambiguity or rejects}.{candidate.name}-{short_digest(baseline.id)}"
            ),
            candidate.call,
            candidate.place,
            self._spec.full_ids(*rules),
            violated_rule=rejects and self._spec.full_id(rejects),
            baseline=baseline.id,
            extra_behaviours=() if rejects is None else self._new_behaviours(candidate),
            ambiguity=ambiguity,
            feature_levels=baseline.feature_levels,
        )

    def _new_behaviours(self, candidate: Candidate) -> tuple[str, ...]:
        """Return the behaviours that the changed call would show and its baseline does not.

        A backend that does not support one of them declines the call for that.
        """
        known = self._conditions.behaviours(candidate.baseline.call)
        shown = self._conditions.behaviours(candidate.call, where_answered=True)
        return self._spec.full_ids(*(name for name in shown if name not in known))

    def _note_unbroken(self, reached: set[str]) -> None:
        """Note each requirement that nothing breaks without a reason, or that something does."""
        # Under stress there are fewer calls, of other sizes.
        unbroken = [] if self._profile == "stress" else [*self._spec.requirements.keys() - reached]
        for i, rule in enumerate(self._spec.rules):
            if rule.unbreakable is not None and rule.id in reached:
                text = f"'{rule.id}' can be broken alone, by a mutation; expected no 'unbreakable'"
                self._mistakes.note(("rules", i, "unbreakable"), text)
            elif rule.unbreakable is None and rule.id in unbroken:
                text = f"no mutation breaks '{rule.id}' alone; expected 'violations' that do"
                self._mistakes.note(("rules", i, "id"), f"{text}, or 'unbreakable'")
                # A call on which a condition has no answer is no candidate.
                for place, failure in self._candidates.failures.items():
                    self._mistakes.note(place, failure)

    def _chosen(
        self, owner: str, candidates: Sequence[Candidate], *, decides: bool
    ) -> list[Candidate]:
        """Choose from the candidates of a requirement, or of an ambiguity.

        First one of each stratum, then more: of other positions in the argument, of other types,
        beside baselines that have levels not used yet.
        """
        strata: dict[tuple[str, str], list[Candidate]] = {}
        known: set[tuple[str, str]] = set()
        for candidate in candidates:
            # Several mutations may come to the same.
            key = candidate.baseline.id, str(candidate.call)
            if key not in known:
                known.add(key)
                strata.setdefault(candidate.stratum, []).append(candidate)
        chosen: list[Candidate] = []
        used: Counter[object] = Counter()
        levels: set[tuple[str, str]] = set()

        def novelty(candidate: Candidate) -> tuple[int, int, int, int]:
            stratum, argument = candidate.stratum, candidate.stratum[0]
            return (
                -used[stratum, candidate.position] - used[stratum, candidate.type],
                -used[argument, candidate.position] - used[argument, candidate.type],
                -candidate.bytes // _COARSE,
                len(candidate.baseline.levels.items() - levels),
            )

        most = ENOUGH[self._profile] if decides else OPEN[self._profile]
        for turn in range(STRATUM[self._profile]):
            for stratum, rest in strata.items():
                if not rest or (len(chosen) >= most and (turn or not decides)):
                    continue
                rest.sort(key=novelty, reverse=True)
                best = self._showing(owner, rest) if decides else rest[0]
                if turn and best.extra_behaviours == HIDES:
                    continue
                rest.remove(best)
                chosen.append(best)
                levels |= best.baseline.levels.items()
                for part in (stratum, stratum[0]):
                    used.update([(part, best.position), (part, best.type)])
        return chosen

    def _showing(self, rule: str, candidates: Sequence[Candidate]) -> Candidate:
        """Return the first candidate that extra_behaviours best whether a requirement is checked."""
        best = candidates[0]
        for candidate in candidates[:_WEIGHED]:
            if candidate.extra_behaviours is None:
                candidate.extra_behaviours = self._without_check(candidate.call, rule)
            if candidate.extra_behaviours > (best.extra_behaviours or HIDES):
                best = candidate
            if best.extra_behaviours == SHOWS:
                break
        return best

    def _without_check(self, call: Call, rule: str) -> int:
        """Return what comes of `call` where the reference does not check `rule`.

        It gives outputs (`SHOWS`), fails by chance (`MAY_SHOW`), or rejects the call for another
        rule (`HIDES`).
        """
        given = {**call.inputs, **call.attributes}
        if not all(each.name in given for each in self._spec.arguments if each.required):
            return MAY_SHOW
        outputs: list[Tensor] = []
        # The shapes of a call that breaks a rule need not come to anything.
        with suppress(ExpressionError, Inapplicable):
            outputs = self._conditions.outputs(call)
        if any(tensor.nbytes > _LARGEST for tensor in (*call.inputs.values(), *outputs)):
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


def _plain_array(tensor: Tensor) -> Array:
    """Return an array of the tensor's values, or zeros where a pattern fills it."""
    if tensor.values is None:
        return np.zeros(tensor.shape, ELEMENT_TYPES[tensor.type])
    return materialize(tensor)
