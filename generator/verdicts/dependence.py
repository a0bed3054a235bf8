"""Failures that need an earlier call: what the two calls share, and in what they differ.

A plan cache whose key lacks the axis fails in a call after another one with the same shapes and
another axis. No levels of the failing call say so. So earlier calls are tried, and a relation is
the least that those share which make the call fail, and that no other one shares.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Annotated, Literal, Self

from pydantic import Field

from opcert.arrays.calls import Call
from opcert.errors import listed
from opcert.specification.files import SpecFile
from opcert.suite.format import StrictModel
from opcert.suite.spec_check import call_of_case
from opcert.suite.suite import Suite
from opcert.verdicts.call_facts import CONTENT, Facts, facts_of, facts_of_outputs, follows
from opcert.verdicts.verdict import Verdict

# How many earlier calls are tried that are alike, and how many of all sorts.
ALIKE = 12
# What an earlier call states of an input; of an attribute, it states the value.
_GIVEN = "given"
# Fewer earlier calls that make others fail may state one value by chance.
_FEW = 8
_Count = Annotated[int, Field(ge=0)]


class Relation(StrictModel):
    """Which earlier calls make a call fail.

    They have the facts `same` in common with it, differ from it in each fact of `other`, and state
    the arguments that are `stated`. `outcome` is what is expected of them. `counts` are the trials
    that match and fail, match and pass, do not match and fail, and do not match and pass.
    """

    outcome: Literal["outputs", "rejection"] | None
    same: tuple[str, ...]
    other: tuple[str, ...]
    stated: tuple[tuple[str, str], ...] = ()
    counts: tuple[_Count, _Count, _Count, _Count]

    @property
    def text(self) -> str:
        """The earlier calls in words."""
        call = {"outputs": "a valid call", "rejection": "a rejected call"}.get(self.outcome or "")
        call = call or ("another call" if self.same or self.other or self.stated else "any call")
        same = f" with the same {listed(self.same)}" if self.same else ""
        another = [f"another {name}" for name in self.other]
        stated = [f"{name} {value}" for name, value in self.stated]
        other = listed([*another, *stated])
        other = f"{', but' if same else ' with'} {other}" if other else ""
        return f"{call}{same}{other}"

    @property
    def figures(self) -> str:
        """How many of the earlier calls that were tried made the call fail, in words."""
        failing, passing, others_failing, others_passing = self.counts
        return (
            f"tried: after {failing} of {failing + passing} such calls, "
            f"after {others_failing} of {others_failing + others_passing} others"
        )

    @property
    def is_evident(self) -> bool:
        """Whether the trials say more than that the call fails at times, as by what memory held."""
        _, passing, _, others_passing = self.counts
        return not passing or others_passing > 0

    @property
    def facts(self) -> Sequence[object]:
        """The facts that it names."""
        return (*self.same, *self.other, *self.stated)

    def without(self, fact: object) -> Self:
        """Return the relation without one of its facts."""
        parts = {"same": self.same, "other": self.other, "stated": self.stated}
        return self.model_copy(
            update={name: tuple(n for n in part if n != fact) for name, part in parts.items()}
        )

    def explains(self, earlier: "Known", later: "Known") -> bool:
        """Whether an earlier call is one after which a later one fails."""
        return (
            self.outcome in (None, earlier.outcome)
            and all(earlier.facts.get(n) == later.facts.get(n) for n in self.same)
            and all(earlier.facts.get(n) != later.facts.get(n) for n in self.other)
            and earlier.stated.items() >= {*self.stated}
        )


@dataclass(frozen=True)
class Known:
    """A case with its facts, the most specific ones first, and what is expected of it."""

    case: str
    baseline: str | None
    facts: Facts
    outcome: Literal["outputs", "rejection"]

    @cached_property
    def stated(self) -> Mapping[str, str]:
        """The arguments that it states, each with its value, if that is an attribute's."""
        stated: dict[str, str] = {}
        for name, fact in self.facts.items():
            aspect, _, argument = name.rpartition(" of ")
            is_attribute = aspect == "value" and isinstance(fact, str)
            stated.setdefault(argument, "= " + str(fact).strip('"') if is_attribute else _GIVEN)
        return stated


def known_case(suite: Suite, specs: Mapping[str, SpecFile], name: str) -> Known:
    """Return what is known of a case of a suite, also from the spec of its operator, if any."""
    operator, case = suite.cases[name]
    call, is_valid = call_of_case(operator, case), case.expects == "outputs"
    # Of an invalid call, the baseline says which inputs are only moved.
    moved = (case if is_valid else operator.cases[case.baseline or name]).data_inputs
    inputs = {
        key: replace(tensor, values=None) if key in moved else tensor
        for key, tensor in call.inputs.items()
    }
    facts = facts_of(
        Call(inputs, call.attributes),
        lambda key: operator.read_array(case.inputs[key]),
        specs.get(operator.index.operator),
    )
    if not is_valid:
        return Known(name, case.baseline, facts, case.expects)
    facts |= facts_of_outputs((o.shape for o in case.outputs), (o.type for o in case.outputs))
    return Known(name, None, facts, case.expects)


def known_in_run(
    cases: Mapping[str, Known], operator: str, verdicts: Iterable[Verdict]
) -> dict[str, Known]:
    """Return the cases of an operator in the order of a run, each after its baseline.

    A call that the backend declines shows nothing.
    """
    known: dict[str, Known] = {}
    for verdict in verdicts:
        if verdict.operator == operator and verdict.observed not in ("not-run", "unsupported"):
            baseline = cases[verdict.case].baseline
            if baseline is not None:
                known.setdefault(baseline, cases[baseline])
            known.setdefault(verdict.case, cases[verdict.case])
    return known


@dataclass(frozen=True)
class Trial:
    """A call that was made after another one in a fresh process, and whether it failed."""

    first: Known
    last: Known
    fails: bool

    def shares(self, name: str) -> bool:
        """Whether a fact of both calls is the same, or both lack it."""
        return self.first.facts.get(name) == self.last.facts.get(name)

    def has_in_common(self, name: str) -> bool:
        """Whether both calls have the same fact, or omit its argument."""
        is_given = name.rpartition(" of ")[2] in self.last.stated
        return self.shares(name) and (name in self.last.facts or not is_given)


def most_alike(last: Known, cases: Iterable[Known], most: int = ALIKE) -> list[Known]:
    """Return the cases that share the most with another one, the most alike last.

    The fewer cases share a fact, the more it weighs (as in retrieval; Sparck Jones, 1972): a cache
    confuses calls of one shape, and many calls have the same type.
    """
    cases = [*cases]
    likeness = dict.fromkeys((case.case for case in cases), 0.0)
    for name, fact in last.facts.items():
        sharing = [case.case for case in cases if case.facts.get(name) == fact]
        for id_ in sharing:
            likeness[id_] += math.log(len(cases) / len(sharing))
    return sorted(cases, key=lambda case: likeness[case.case])[-most:]


def candidates(last: Known, cases: Sequence[Known]) -> list[Known]:
    """Return the earlier calls to try: those that are most alike, the call itself too, and any."""
    some = (*most_alike(last, cases), *cases[:: max(1, len(cases) // ALIKE)])
    return [*{case.case: case for case in some}.values()]


def relation_of(trials: Sequence[Trial], different: Sequence[str] = ()) -> Relation:
    """Return the least that earlier calls share with those that fail after them.

    An earlier call is known that differs in the facts `different` alone. A call that omits an
    argument may take it from the earlier one. Then what that states says more than a difference.
    """
    failing = [trial for trial in trials if trial.fails]
    may_differ = {name.rpartition(" of ")[2] for name in different}
    taken = [
        (argument, value)
        for argument, value in failing[0].first.stated.items()
        if not different or argument in may_differ
        if all(
            argument not in trial.last.stated and trial.first.stated.get(argument) == value
            for trial in failing
        )
    ]
    is_few = len(failing) < _FEW
    relations = [_covering(trials, different, stated) for stated in [*((t,) for t in taken), ()]]

    def order(relation: Relation) -> tuple[int, int, bool]:
        _, passing, others_failing, _ = relation.counts
        # One value says the most, but few earlier calls state one by chance.
        has_value = any(value != _GIVEN for _, value in relation.stated)
        return passing + others_failing, len(relation.facts), has_value if is_few else not has_value

    return min(relations, key=order)


def _covering(
    trials: Sequence[Trial], different: Sequence[str], stated: tuple[tuple[str, str], ...]
) -> Relation:
    """Return a relation with what is `stated`, or else `different`, and the least besides."""
    failing = [trial for trial in trials if trial.fails]
    different = [name for name in different if not any(trial.shares(name) for trial in failing)]
    outcomes = {trial.first.outcome for trial in failing}
    outcome = outcomes.pop() if len(outcomes) == 1 else None
    # What passes after a call of the other sort is explained by the sort alone.
    unexplained = [
        trial
        for trial in trials
        if not trial.fails
        and outcome in (None, trial.first.outcome)
        and trial.first.stated.items() >= {*stated}
    ]
    names, common = _names(trials), common_facts(trials)
    never = [name for name in names if not any(trial.shares(name) for trial in failing)]
    # If it is known in what they may differ alone, nothing else need differ.
    never = [name for name in never if name in different] if different else never
    often = {name: sum(trial.shares(name) for trial in trials) for name in names}
    same, other = list[str](), [] if stated else [*different]
    unexplained = [t for t in unexplained if not any(t.shares(name) for name in other)]
    while unexplained:
        # A greedy cover: the fact that the most of them lack, or have although no failing one does.
        # Of equals, one that follows from another says too much, and the one that is shared most
        # often differs least often by chance.
        ranked = [(sum(not t.shares(n) for t in unexplained), True, 0, n) for n in common]
        ranked += [
            (sum(t.shares(n) for t in unexplained), not follows(n, never), often[n], n)
            for n in never
        ]
        count, _, _, name = max(ranked, key=itemgetter(0, 1, 2), default=(0, True, 0, ""))
        if not count:
            break
        is_common = name in common
        (same if is_common else other).append(name)
        unexplained = [t for t in unexplained if t.shares(name) == is_common]
    if all(trial.first.outcome == outcome for trial in trials):
        outcome = None
    relation = Relation(
        outcome=outcome, same=tuple(same), other=tuple(other), stated=stated, counts=(0, 0, 0, 0)
    )
    counts = Counter((relation.explains(t.first, t.last), t.fails) for t in trials)
    order = [(True, True), (True, False), (False, True), (False, False)]
    return relation.model_copy(update={"counts": tuple(counts[both] for both in order)})


def common_facts(trials: Iterable[Trial]) -> list[str]:
    """Return the facts that a backend may compare, of those that all failing trials share."""
    failing = [trial for trial in trials if trial.fails]
    # Alike calls share their data by chance: no backend keeps a result for one content alone.
    kept = (name for name in _names(failing) if not name.startswith(CONTENT))
    return [name for name in kept if all(trial.has_in_common(name) for trial in failing)]


def _names(trials: Iterable[Trial]) -> list[str]:
    """Return the names of all facts; what one of two calls omits is a difference, too."""
    return [*dict.fromkeys(n for t in trials for n in (*t.last.facts, *t.first.facts))]


def explained_by(
    relation: Relation, cases: Collection[str], known: Mapping[str, Known]
) -> list[str]:
    """Return those of some failing cases that have such an earlier call.

    `known` are all cases in the order of the run. A case makes its own call again, with other data
    if it is valid, and a case that must be rejected is followed by the call of its baseline.
    """
    explained, searched = [], {*cases}
    # Of earlier calls that differ in nothing that the relation names, one is kept.
    seen: dict[tuple[object, ...], dict[tuple[object, ...], Known]] = defaultdict(dict)
    for name, own in known.items():
        earlier = seen[tuple(own.facts.get(fact) for fact in relation.same)]
        if name in searched:
            followed = own.baseline is not None and relation.explains(own, known[own.baseline])
            before = (_made_again(own), *earlier.values())
            if followed or any(relation.explains(other, own) for other in before):
                explained.append(name)
        stated = (own.stated.get(argument) for argument, _ in relation.stated)
        others = (own.facts.get(fact) for fact in relation.other)
        earlier[own.outcome, *stated, *others] = own
    return explained


def _made_again(case: Known) -> Known:
    """Return a case as an earlier call of its own, which has other data if it is valid."""
    kept = [fact for fact in case.facts if not fact.startswith(CONTENT)]
    is_valid = case.outcome == "outputs"
    return replace(case, facts={name: case.facts[name] for name in kept}) if is_valid else case
