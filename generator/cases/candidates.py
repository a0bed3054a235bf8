"""Baselines x mutations -> candidates: changed calls that break one requirement alone.

A mutation is asked of many baselines, the types of its argument by turns, and left early where it
never comes to anything. What a changed call breaks, and which ambiguity decides it, the conditions
of the spec say.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from opcert.arrays import Call, recipe_seed
from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.changes import Change, after
from opcert.cases.conditions import Conditions
from opcert.cases.list_mutations import AT_A_BOUND, MutationContext
from opcert.cases.mutations import Mutation, mutations_of
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification import evaluate_integer, parse_expression
from opcert.yaml_files import YamlPath

# To how many baselines a mutation is applied, after how many it is left that all came to nothing,
# and how many are passed by that it does not apply to.
TRIES = {"core": 16, "full": 64, "stress": 12}
_PATIENCE = 8
_PASSED = 48
# How many elements of outputs a valid call may have, after a change.
_MOST_OUTPUT = 1 << 18
# With fewer candidates for a requirement than these, more baselines are asked.
_SCARCE = 16


Bounds = tuple[int | None, int | None]


def bounds_in(conditions: Conditions, call: Call, name: str) -> Bounds:
    """Return the declared range of an argument in a call, where it has one with a meaning."""
    (argument,) = (each for each in conditions.spec.arguments if each.name == name)
    if argument.range is None:
        return None, None
    names = conditions.names(call)
    try:
        least, most = (evaluate_integer(parse_expression(end), names) for end in argument.range)
    except (ExpressionError, Inapplicable):
        return None, None
    return least, most


@dataclass(frozen=True)
class Baseline:
    """A valid case that touches no ambiguity, and its place in an order by chance."""

    number: int
    case: Case
    type: str


@dataclass(eq=False)
class Candidate:
    """A changed call that breaks one requirement alone, or that an ambiguity decides.

    `stratum` is the argument and the kind of its mutation, or the name of a violation; `type` that
    of the argument, or of the first input beside an attribute. `extra_behaviours` is what comes of the call
    without the check that it is to show; None where that is not known yet.
    """

    baseline: Case
    call: Call
    name: str
    place: YamlPath
    stratum: tuple[str, str]
    position: str
    type: str
    broken: tuple[str, ...]
    extra_behaviours: int | None = None

    @cached_property
    def bytes(self) -> int:
        """How many bytes of arrays a pack stores for it that its baseline does not have."""
        inputs = self.baseline.call.inputs
        changed = [each for name, each in self.call.inputs.items() if each is not inputs.get(name)]
        return sum(each.nbytes for each in changed if recipe_seed(each) is None)


class Candidates:
    """Finds the candidates of each requirement and ambiguity beside `baselines`."""

    def __init__(
        self,
        conditions: Conditions,
        profile: str,
        seed: int,
        baselines: Sequence[Case],
        mistakes: MistakeLog,
    ) -> None:
        self._conditions = conditions
        self._spec = conditions.spec
        self._tries = TRIES[profile]
        self._seed = seed
        self._baselines = baselines
        self._mistakes = mistakes
        self._of: defaultdict[str, list[Candidate]] = defaultdict(list)
        self._circles: dict[tuple[str, bool | None], list[list[Baseline]]] = {}
        self._bounds: dict[tuple[str, str], Bounds] = {}
        self._failures: dict[YamlPath, str] = {}

    def found(self) -> Mapping[str, Sequence[Candidate]]:
        """Return the candidates by requirement or ambiguity.

        What is amiss is noted: a violation that applies to no call, a condition that cannot be
        evaluated where nothing breaks its requirement.
        """
        mutations = mutations_of(self._spec)
        for mutation in mutations:
            self._apply(mutation, self._tries, _PATIENCE, _PASSED)
        violations = [(rule.id, rule.violations) for rule in self._spec.rules]
        violations += [(each.id, each.violations) for each in self._spec.ambiguities]
        for owner, changes in violations:
            for name, change in changes.items():
                place = (*self._places[owner][:-1], "violations", name)
                self._violate(owner, place, name, change)
        self._search(mutations)
        return {owner: some for owner, some in self._of.items() if some}

    @property
    def failures(self) -> Mapping[YamlPath, str]:
        """Where a condition could not be evaluated on a changed call, and why."""
        return self._failures

    def _search(self, mutations: Sequence[Mutation]) -> None:
        """Ask all baselines where few candidates were found for a requirement or an ambiguity.

        That is of the mutations that have come to it, or of all that could.
        """
        for owner in (*self._spec.requirements, *(each.id for each in self._spec.ambiguities)):
            if len(self._of[owner]) >= _SCARCE:
                continue
            names = {candidate.name for candidate in self._of[owner]}
            about = () if names else self._conditions.named_by(owner)
            for mutation in mutations:
                if mutation.name in names or mutation.argument in about:
                    every = len(self._baselines)
                    self._apply(mutation, every, every, every, owner)
                if len(self._of[owner]) >= _SCARCE:
                    break

    def _apply(
        self, mutation: Mutation, tries: int, patience: int, passed: int, only: str | None = None
    ) -> None:
        """Apply a mutation to baselines until enough is known of what it comes to.

        With `only`, what it comes to beside is known already.
        """
        name = mutation.argument
        applied = useless = not_applied = 0
        for baseline in self._in_turn(mutation.name, name, present=not mutation.adds):
            if applied == tries or useless == applied == patience or not_applied == passed:
                break
            if only is not None and len(self._of[only]) >= _SCARCE:
                break
            changed = self._changed(mutation, baseline)
            if changed is None:
                not_applied += 1
                continue
            applied += 1
            try:
                broken, ambiguity = self._conditions.after_change(changed, name)
            except ExpressionError as error:
                text = f"{error}, in '{mutation.name}' of {baseline.case.id}"
                self._failures.setdefault(error.place, text)
                useless += 1
                continue
            owner = ambiguity or (broken[0] if len(broken) == 1 else None)
            if owner is None or only not in (None, owner) or not (broken or self._is_made(changed)):
                useless += 1
                continue
            self._of[owner].append(
                Candidate(
                    baseline.case,
                    changed,
                    mutation.name,
                    self._places[owner],
                    (name, mutation.name if mutation.kind in AT_A_BOUND else mutation.kind),
                    mutation.position,
                    baseline.type,
                    broken,
                )
            )

    def _is_made(self, call: Call) -> bool:
        """Whether the outputs of a valid call are few enough to be made."""
        try:
            outputs = self._conditions.outputs(call)
        except (ExpressionError, Inapplicable):
            return False
        # An output without elements is not to have a billion empty rows either.
        extents = (prod(max(extent, 1) for extent in output.shape) for output in outputs)
        return sum(extents) <= _MOST_OUTPUT

    @cached_property
    def _places(self) -> dict[str, YamlPath]:
        places: dict[str, YamlPath] = {}
        for i, rule in enumerate(self._spec.rules):
            places[rule.id] = "rules", i, "id"
        for i, ambiguity in enumerate(self._spec.ambiguities):
            places[ambiguity.id] = "ambiguities", i, "id"
        return places

    def _changed(self, mutation: Mutation, baseline: Baseline) -> Call | None:
        key = baseline.case.id, mutation.argument
        if key not in self._bounds:
            self._bounds[key] = bounds_in(self._conditions, baseline.case.call, mutation.argument)
        least, most = self._bounds[key]
        # Another mutation draws otherwise beside the same baseline.
        draw = baseline.number + len(mutation.name)
        return mutation.applied(self._spec, baseline.case.call, MutationContext(least, most, draw))

    def _violate(self, owner: str, place: YamlPath, name: str, change: Change) -> None:
        """Apply a violation of the spec to baselines until it has done often what it is for."""
        first = next(iter(change))
        count = 0
        for baseline in self._in_turn(f"{owner}.{name}", first, present=None):
            if count == self._tries:
                break
            with self._mistakes.noting(place, f", in a change to {baseline.case.id}"):
                call = after(self._conditions, baseline.case.call, change)
                if call is None:
                    continue
                broken = self._conditions.check(call).violated
                ambiguity = self._conditions.ambiguity(call)
                if owner == (ambiguity or (broken[0] if len(broken) == 1 else None)):
                    count += 1
                    self._of[owner].append(
                        Candidate(
                            baseline.case, call, name, place, ("", name), "", baseline.type, broken
                        )
                    )
            if place in self._mistakes:
                return
        if not count:
            text = "applies to no call: no valid call becomes one that does this alone"
            self._mistakes.note(place, f"'{owner}.{name}' {text}")

    # -- baselines

    def _in_turn(self, start: str, argument: str, *, present: bool | None) -> Iterator[Baseline]:
        """Yield baselines, the types of an argument by turns: with it, without, or either.

        Those of a type stand in a circle by chance, and each mutation starts at a place of its own:
        a new case among them moves few others.
        """
        first = int(short_digest(f"{self._seed}|{start}"), 16)
        lines = []
        for circle in self._circles_of(argument, present=present):
            middle = bisect_left(circle, first, key=lambda baseline: baseline.number)
            lines.append(iter(circle[middle:] + circle[:middle]))
        while lines:
            for line in tuple(lines):
                baseline = next(line, None)
                if baseline is None:
                    lines.remove(line)
                else:
                    yield baseline

    def _circles_of(self, argument: str, *, present: bool | None) -> list[list[Baseline]]:
        # An attribute that is left out has its default.
        is_input = any(argument == each.name for each in self._spec.inputs)
        anyway = present is None or not is_input
        key = argument, None if anyway else present
        if key not in self._circles:
            by_type: defaultdict[str, list[Baseline]] = defaultdict(list)
            for case in self._baselines:
                inputs = case.call.inputs
                if anyway or (argument in inputs) == present:
                    number = int(short_digest(f"{self._seed}|{argument}|{case.id}"), 16)
                    leading = inputs[self._spec.leading.name]
                    element_type = inputs.get(argument, leading).type
                    by_type[element_type].append(Baseline(number, case, element_type))
            circles = [by_type[element_type] for element_type in sorted(by_type)]
            for circle in circles:
                circle.sort(key=lambda baseline: (baseline.number, baseline.case.id))
            self._circles[key] = circles
        return self._circles[key]
