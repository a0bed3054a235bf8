"""Baselines x mutations -> candidates: mutated calls that violate exactly one requirement.

A mutation is applied to a few baselines, and given up early where nothing comes of it: hundreds of
mutations of a thousand calls would take minutes. The conditions of the spec classify each call.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from math import prod

from opcert.arrays import TENSOR_BUILDERS, TENSOR_CHANGES, Call, recipe_seed
from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.list_mutations import MutationContext
from opcert.cases.mutations import Mutation, mutations_of
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification import (
    evaluate_in,
    evaluate_integer,
    evaluation_scope,
    parse_expression,
)
from opcert.yaml_files import YamlPath

# To how many baselines a mutation is applied, after how many it is given up if none became a
# candidate, and how many may pass to which it does not apply.
_APPLICATIONS = {"core": 16, "full": 64, "stress": 12}
_PATIENCE = 8
_MAX_INAPPLICABLE = 48
# With fewer candidates than these for a requirement, all baselines are tried.
_FEW_CANDIDATES = 16
# How many elements the outputs of a mutated call may have, where it is still valid.
_MAX_OUTPUT_ELEMENTS = 1 << 18

# A change as specs write it: the expression of what each changed argument is instead.
Violation = Mapping[str, str]


class UncheckedResult(IntEnum):
    """What comes of a call where an implementation does not check the violated requirement."""

    REJECTED = 0  # another check rejects it
    FAILED = 1  # it fails by chance, or that is not known
    ACCEPTED = 2  # it gives outputs


@dataclass(eq=False)
class Candidate:
    """A mutated call that violates exactly one requirement, or that an ambiguity decides.

    `owner` is the id of that requirement or ambiguity. `stratum` is the argument and the kind of
    the mutation, or the name of a violation of the spec; `type` is that of the argument, or of the
    leading input for an attribute. `unchecked_result` is determined on demand.
    """

    owner: str
    baseline: Case
    call: Call
    name: str
    place: YamlPath
    stratum: tuple[str, str]
    position: str
    type: str
    violated: tuple[str, ...]
    unchecked_result: UncheckedResult | None = None

    @cached_property
    def stored_bytes(self) -> int:
        """How many bytes a pack stores for it beyond its baseline's."""
        known = self.baseline.call.inputs
        return sum(
            tensor.nbytes
            for name, tensor in self.call.inputs.items()
            if tensor is not known.get(name) and recipe_seed(tensor) is None
        )


def declared_bounds(
    conditions: Conditions, call: Call, argument: str
) -> tuple[int | None, int | None]:
    """Return the declared range of an argument in a call, or Nones where it has no range."""
    (declared,) = (each for each in conditions.spec.arguments if each.name == argument)
    if declared.range is None:
        return None, None
    names = conditions.names(call)
    try:
        least, greatest = (evaluate_integer(parse_expression(end), names) for end in declared.range)
    except (ExpressionError, Inapplicable):
        return None, None
    return least, greatest


def apply_violation(conditions: Conditions, call: Call, violation: Violation) -> Call | None:
    """Return a valid call with a change that the spec writes; None where it does not apply.

    Raises:
        ExpressionError: an expression of the change cannot be evaluated.
    """
    defaults = conditions.spec.defaults
    scope = evaluation_scope(conditions.names(call), {**TENSOR_BUILDERS, **TENSOR_CHANGES})
    changed = call
    for target, text in violation.items():
        expression = parse_expression(text)
        if any(scope[name] is None for name in expression.names & defaults.keys()):
            return None
        try:
            value = evaluate_in(scope, expression)
        except Inapplicable:
            return None
        changed = changed.changed(target, value, tuple(defaults))
    return changed if changed != call else None


@dataclass(frozen=True)
class _Baseline:
    """A baseline, its random position among those of its type, and that type."""

    position: int
    case: Case
    type: str


class CandidateSearch:
    """Finds the candidates of each requirement and ambiguity of a spec."""

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
        self._applications = _APPLICATIONS[profile]
        self._seed = seed
        self._baselines = baselines
        self._mistakes = mistakes
        self._found: defaultdict[str, list[Candidate]] = defaultdict(list)
        self._rings: dict[tuple[str, bool | None], list[list[_Baseline]]] = {}
        self._bounds: dict[tuple[str, str], tuple[int | None, int | None]] = {}
        # Where a condition could not be evaluated on a mutated call, and why.
        self.failures: dict[YamlPath, str] = {}

    def candidates(self) -> dict[str, list[Candidate]]:
        """Return the candidates by the id of the requirement or ambiguity.

        A violation of the spec that is never applicable is recorded as a mistake.
        """
        mutations = mutations_of(self._spec)
        for mutation in mutations:
            self._apply(mutation)
        for owner, (place, violations) in self._owners.items():
            for name, violation in violations.items():
                self._apply_violation(owner, (*place, "violations", name), violation)
        # Where that found few, every baseline is tried: with the mutations that found some, or
        # else with those of each argument that the conditions name.
        for owner in (*self._spec.requirements, *(each.id for each in self._spec.ambiguities)):
            known = {candidate.name for candidate in self._found[owner]}
            arguments = () if known else self._conditions.named_arguments(owner)
            for mutation in mutations:
                if len(self._found[owner]) >= _FEW_CANDIDATES:
                    break
                if mutation.name in known or mutation.argument in arguments:
                    self._apply(mutation, only=owner)
        return {owner: found for owner, found in self._found.items() if found}

    def _apply(self, mutation: Mutation, only: str | None = None) -> None:
        """Apply a mutation to some baselines, and keep the candidates.

        With `only`, it is applied to all baselines until that requirement or ambiguity has enough.
        """
        applied = useless = inapplicable = 0
        for baseline in self._in_turn(mutation.name, mutation.argument, given=not mutation.adds):
            if only is not None:
                if len(self._found[only]) >= _FEW_CANDIDATES:
                    break
            elif (
                applied == self._applications
                or useless == applied == _PATIENCE
                or inapplicable == _MAX_INAPPLICABLE
            ):
                break
            call = mutation.apply(self._spec, baseline.case.call, self._context(mutation, baseline))
            if call is None:
                inapplicable += 1
                continue
            applied += 1
            candidate = self._classify(mutation, baseline, call)
            if candidate is None or only not in (None, candidate.owner):
                useless += 1
            else:
                self._found[candidate.owner].append(candidate)

    def _classify(self, mutation: Mutation, baseline: _Baseline, call: Call) -> Candidate | None:
        """Return the candidate that a mutated call is, if it is one.

        A call that violates two requirements tests neither: a check of the other one rejects it.
        An ambiguity may also decide a call that is still valid.
        """
        try:
            violated, ambiguity = self._conditions.effect_of_change(call, mutation.argument)
        except ExpressionError as error:
            text = f"{error}, in '{mutation.name}' of {baseline.case.id}"
            self.failures.setdefault(error.place, text)
            return None
        owner = ambiguity or (violated[0] if len(violated) == 1 else None)
        if owner is None or not (violated or self._has_small_outputs(call)):
            return None
        return Candidate(
            owner,
            baseline.case,
            call,
            mutation.name,
            (*self._owners[owner][0], "id"),
            mutation.stratum,
            mutation.position,
            baseline.type,
            violated,
        )

    def _context(self, mutation: Mutation, baseline: _Baseline) -> MutationContext:
        key = baseline.case.id, mutation.argument
        if key not in self._bounds:
            call = baseline.case.call
            self._bounds[key] = declared_bounds(self._conditions, call, mutation.argument)
        # Mutations of one baseline should not all draw the same element.
        return MutationContext(*self._bounds[key], baseline.position + len(mutation.name))

    def _has_small_outputs(self, call: Call) -> bool:
        """Whether the outputs of a valid call are small enough to be stored."""
        try:
            outputs = self._conditions.outputs(call)
        except (ExpressionError, Inapplicable):
            return False
        # An empty output must not have a billion rows either.
        sizes = (prod(max(extent, 1) for extent in output.shape) for output in outputs)
        return sum(sizes) <= _MAX_OUTPUT_ELEMENTS

    def _apply_violation(self, owner: str, place: YamlPath, violation: Violation) -> None:
        """Apply a violation of the spec to baselines, and keep the candidates of `owner`."""
        name = str(place[-1])
        first = next(iter(violation))
        also_violated: Counter[str] = Counter()
        changed = count = 0
        for baseline in self._in_turn(f"{owner}.{name}", first, given=None):
            if count == self._applications:
                break
            with self._mistakes.collect(place, f", in a change of {baseline.case.id}"):
                call = apply_violation(self._conditions, baseline.case.call, violation)
                if call is None:
                    continue
                changed += 1
                violated = self._conditions.check(call).violated
                ambiguity = self._conditions.ambiguity(call)
                if owner != (ambiguity or (violated[0] if len(violated) == 1 else None)):
                    also_violated.update(violated if ambiguity is None else [ambiguity])
                    continue
                count += 1
                self._found[owner].append(
                    Candidate(
                        owner,
                        baseline.case,
                        call,
                        name,
                        place,
                        ("", name),
                        "",
                        baseline.type,
                        violated,
                    )
                )
            if place in self._mistakes:
                return
        if not count:
            target = "violate exactly this rule"
            if place[0] == "ambiguities":
                target = "depend on exactly this ambiguity"
            text = (
                f"'{owner}.{name}' is never applicable: on no valid call does this change {target}"
            )
            others = ", ".join(other for other in also_violated if other != owner)
            if others:
                reason = f"it also violates: {others}"
            else:
                reason = "the calls stay valid" if changed else "it changes none"
            self._mistakes.add(place, f"{text} ({reason})")

    @cached_property
    def _owners(self) -> dict[str, tuple[YamlPath, Mapping[str, Violation]]]:
        """The place of each rule and ambiguity in the spec, and the violations that it lists."""
        spec = self._spec
        owners: dict[str, tuple[YamlPath, Mapping[str, Violation]]] = {
            rule.id: (("rules", i), rule.violations) for i, rule in enumerate(spec.rules)
        }
        for i, ambiguity in enumerate(spec.ambiguities):
            owners[ambiguity.id] = ("ambiguities", i), ambiguity.violations
        return owners

    def _in_turn(self, start: str, argument: str, *, given: bool | None) -> Iterator[_Baseline]:
        """Yield the baselines in random order, the types of an argument in turns.

        They give the argument, omit it, or (None) either. Those of a type are on a ring at random
        positions, and each mutation starts at a position of its own. So a baseline that is added
        to the spec displaces few others, and most cases stay as they are.
        """
        first = int(short_digest(f"{self._seed}|{start}"), 16)
        iterators = []
        for ring in self._rings_of(argument, given=given):
            middle = bisect_left(ring, first, key=lambda baseline: baseline.position)
            iterators.append(iter(ring[middle:] + ring[:middle]))
        while iterators:
            for iterator in tuple(iterators):
                baseline = next(iterator, None)
                if baseline is None:
                    iterators.remove(iterator)
                else:
                    yield baseline

    def _rings_of(self, argument: str, *, given: bool | None) -> list[list[_Baseline]]:
        """Return a ring of baselines for each element type."""
        is_input = any(argument == each.name for each in self._spec.inputs)
        # An omitted attribute has its default.
        wanted = given if is_input else None
        key = argument, wanted
        if key not in self._rings:
            by_type: defaultdict[str, list[_Baseline]] = defaultdict(list)
            for case in self._baselines:
                inputs = case.call.inputs
                if wanted is None or (argument in inputs) == wanted:
                    position = int(short_digest(f"{self._seed}|{argument}|{case.id}"), 16)
                    leading = inputs[self._spec.leading.name]
                    element_type = inputs.get(argument, leading).type
                    by_type[element_type].append(_Baseline(position, case, element_type))
            self._rings[key] = [
                sorted(by_type[name], key=lambda baseline: (baseline.position, baseline.case.id))
                for name in sorted(by_type)
            ]
        return self._rings[key]
