"""Baselines x mutations -> candidates: mutated calls that violate exactly one requirement.

A mutation is applied to a few baselines, and given up early if it yields no candidate: to apply
hundreds of mutations to a thousand calls would take minutes. The conditions of the spec classify
each call.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import zip_longest
from math import prod

from opcert.arrays.calls import Call, broadcast_shape, compatible
from opcert.arrays.patterns import is_large
from opcert.arrays.tensor_functions import TENSOR_BUILDERS, TENSOR_CHANGES
from opcert.cases.case import Case, Change, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.list_mutations import MutationContext
from opcert.cases.mutations import Mutation, mutations_of
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.data import DataRole
from opcert.settings import Profile
from opcert.specification.expressions import evaluate, evaluate_integer, names_in
from opcert.specification.model import Spec
from opcert.yaml_files import YamlPath

# A mutation is given up after so many applications without a candidate, or after so many baselines
# to which it does not apply.
_PATIENCE = 8, 100
# With fewer candidates than these for a requirement, more baselines are tried: all of them with a
# mutation that yields candidates, and those that this patience allows with one that yields none.
_FEW_CANDIDATES = 16
_MORE_PATIENCE = 64, 400
# A baseline has at most so many input tensors.
_MAX_INPUTS = 40
# How many elements the outputs of a mutated call may have, where it is still valid; and those of an
# invalid call, where a kernel that lacks the check broadcasts the inputs.
_MAX_OUTPUT_ELEMENTS = 1 << 18
_MAX_BROADCAST_ELEMENTS = 1 << 21

# A change that a spec writes: for each changed argument, the expression of its new value.
Violation = Mapping[str, str]


class UncheckedResult(IntEnum):
    """The result of a call if an implementation does not check the violated requirement."""

    REJECTED = 0  # another check rejects the call
    FAILED = 1  # the call fails in another way, or cannot be tried
    ACCEPTED = 2  # the call returns outputs


@dataclass(eq=False)
class Candidate:
    """A mutated call that violates exactly one requirement, or that an ambiguity decides.

    `owner` is the id of that requirement or ambiguity. `type` is that of the changed argument, or
    of the leading input for an attribute. `unchecked_result` is determined on demand.
    """

    owner: str
    baseline: Case
    call: Call
    place: YamlPath
    change: Change
    type: str
    violated: tuple[str, ...]
    unchecked_result: UncheckedResult | None = None

    @cached_property
    def properties(self) -> tuple[str, str, bool]:
        """The position of the change, the type, and whether an extent or a number of a list is 0.

        A check may fail to notice what it should where one of these is rare.
        """
        has_zero = any(0 in (*t.shape, *(t.values or ())) for t in self.call.inputs.values())
        return self.change.position, self.type, has_zero

    @cached_property
    def stored_bytes(self) -> int:
        """How many bytes a pack stores for the call in addition to its baseline."""
        shared = self.baseline.call.inputs
        return sum(
            tensor.nbytes
            for name, tensor in self.call.inputs.items()
            if tensor is not shared.get(name) and not is_large(tensor)
        )


def declared_bounds(conditions: Conditions, call: Call, argument: str) -> tuple[int, int] | None:
    """Return the declared range of an argument in a call, if there is one."""
    if (declared := conditions.ranges.get(argument)) is not None:
        with suppress(ExpressionError, Inapplicable):
            least, greatest = (evaluate_integer(end, conditions.names(call)) for end in declared)
            return least, greatest
    return None


def violating_alone(
    conditions: Conditions, change: Mutation | Violation, call: Call, draw: int
) -> tuple[Call, str] | None:
    """Return a valid call, changed to violate one requirement, and the full id of that one.

    None where the change does not apply, or the call violates several or touches an ambiguity.
    """
    # A changed call on which a condition cannot be evaluated tests nothing.
    with suppress(ExpressionError):
        if isinstance(change, Mutation):
            context = MutationContext(declared_bounds(conditions, call, change.argument), draw)
            changed = change.apply(conditions.spec, call, context)
        else:
            changed = apply_violation(conditions, call, change)
        if changed is not None:
            violated = conditions.check(changed).violated
            if len(violated) == 1 and conditions.ambiguity(changed, violated) is None:
                return changed, conditions.spec.full_id(violated[0])
    return None


def apply_violation(conditions: Conditions, call: Call, violation: Violation) -> Call | None:
    """Return a valid call with a violation of the spec applied; None where it does not apply.

    Raises:
        ExpressionError: an expression of the change cannot be evaluated.
    """
    defaults = conditions.spec.defaults
    names, values = conditions.names(call), conditions.spec.names
    functions = {**TENSOR_BUILDERS, **TENSOR_CHANGES}
    changed = call
    for target, text in violation.items():
        if any(names[name] is None for name in names_in(text, values) & defaults.keys()):
            return None
        try:
            value = evaluate(text, names, functions, values)
        except Inapplicable:
            return None
        changed = changed.changed(target, value, defaults)
    return changed if changed != call else None


@dataclass(frozen=True)
class _Baseline:
    """A baseline with its element type, and its random position on the ring of that type.

    Mutations change its `argument`.
    """

    position: int
    case: Case
    type: str
    argument: str
    conditions: Conditions

    @cached_property
    def bounds(self) -> tuple[int, int] | None:
        """The declared range of the argument: few baselines of a long suite are mutated."""
        return declared_bounds(self.conditions, self.case.call, self.argument)


@dataclass(eq=False)
class CandidateSearch:
    """Finds the candidates of each requirement and ambiguity of a spec.

    `failures` says where a condition could not be evaluated on a mutated call, and why.
    """

    conditions: Conditions
    profile: Profile
    seed: int
    baselines: Sequence[Case]
    mistakes: MistakeLog
    failures: dict[YamlPath, str] = field(default_factory=dict)
    _by_owner: defaultdict[str, list[Candidate]] = field(default_factory=lambda: defaultdict(list))
    _rings: dict[tuple[str, bool | None], list[list[_Baseline]]] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """The spec of the conditions."""
        return self.conditions.spec

    @cached_property
    def owners(self) -> Sequence[str]:
        """The ids of the requirements, and of the ambiguities about calls."""
        return (*self.spec.requirements, *(item.id for item in self.spec.call_ambiguities))

    def candidates(self) -> dict[str, list[Candidate]]:
        """Return the candidates by the id of the requirement or ambiguity.

        A violation of the spec that yields no candidate is recorded as a mistake.
        """
        mutations = mutations_of(self.spec)
        for mutation in mutations:
            self._apply(mutation)
        for owner, (place, violations) in self._owners.items():
            for name, violation in violations.items():
                self._apply_violation(owner, (*place, "violations", name), violation)
        # An owner with few candidates tries more baselines: with the mutations that yielded its
        # candidates or, if it has none, with all mutations of the arguments that its conditions
        # name.
        for owner in self.owners:
            successful = {candidate.change.name for candidate in self._by_owner[owner]}
            arguments = () if successful else self.conditions.named_arguments(owner)
            for mutation in mutations:
                if len(self._by_owner[owner]) >= _FEW_CANDIDATES:
                    break
                if mutation.name in successful or mutation.argument in arguments:
                    self._apply(mutation, only=owner)
        return {owner: candidates for owner, candidates in self._by_owner.items() if candidates}

    def _apply(self, mutation: Mutation, only: str | None = None) -> None:
        """Apply a mutation to some baselines, and keep the candidates.

        With `only`, it is applied until that requirement or ambiguity has enough.
        """
        most_applied, most_inapplicable = _PATIENCE if only is None else _MORE_PATIENCE
        applied = useless = inapplicable = 0
        for baseline in self._in_turn(mutation.name, mutation.argument, present=not mutation.adds):
            is_fruitless = applied == most_applied or inapplicable == most_inapplicable
            if useless == applied and is_fruitless:
                break
            if only is not None:
                if len(self._by_owner[only]) >= _FEW_CANDIDATES:
                    break
            elif (
                applied == self.profile.applications
                or applied - useless == self.profile.candidates
                or inapplicable == most_inapplicable
            ):
                break
            # Mutations of one baseline should not all draw the same element.
            draw = baseline.position + len(mutation.name)
            context = MutationContext(baseline.bounds, draw)
            call = mutation.apply(self.spec, baseline.case.call, context)
            if call is None:
                inapplicable += 1
                continue
            applied += 1
            candidate = self._classify(mutation, baseline, call)
            if candidate is None or only not in (None, candidate.owner):
                useless += 1
            else:
                self._by_owner[candidate.owner].append(candidate)

    def _classify(self, mutation: Mutation, baseline: _Baseline, call: Call) -> Candidate | None:
        """Return the candidate of a mutated call, or None if the call is not one.

        A call that violates two requirements tests neither: a check of the other one rejects it.
        A call that an ambiguity decides may still be valid.
        """
        try:
            violated = self.conditions.check(call).violated
            ambiguity = self.conditions.ambiguity(call, violated)
        except ExpressionError as error:
            text = f"{error}, in '{mutation.name}' of {baseline.case.id}"
            self.failures.setdefault(error.place, text)
            return None
        owner = ambiguity or (violated[0] if len(violated) == 1 else None)
        is_small = self._broadcasts_small if violated else self._has_small_outputs
        if owner is None or not is_small(call):
            return None
        place = (*self._owners[owner][0], "id")
        change = mutation.change
        return Candidate(owner, baseline.case, call, place, change, baseline.type, violated)

    def _has_small_outputs(self, call: Call) -> bool:
        """Whether the outputs of a valid call are small enough to be stored."""
        with suppress(ExpressionError, Inapplicable):
            return self.conditions.has_small_outputs(call, _MAX_OUTPUT_ELEMENTS)
        return False

    def _broadcasts_small(self, call: Call) -> bool:
        """Whether tensors of a call, if they broadcast to one another, have a small result.

        Shapes such as [65536, 1] and [65536] are small; what they broadcast to fills the memory.
        """
        shapes = [call.inputs[name].shape for name in self._tensors if name in call.inputs]
        return not compatible(shapes) or prod(broadcast_shape(shapes)) <= _MAX_BROADCAST_ELEMENTS

    @cached_property
    def _tensors(self) -> list[str]:
        """The inputs of the spec that are data, and no parameters."""
        roles = self.spec.bound_roles
        return [role.name for role in roles if isinstance(role, DataRole)]

    def _apply_violation(self, owner: str, place: YamlPath, violation: Violation) -> None:
        """Apply a violation of the spec to baselines, and keep the candidates of `owner`."""
        name = str(place[-1])
        first = next(iter(violation))
        also_violated: Counter[str] = Counter()
        changed = count = 0
        for baseline in self._in_turn(f"{owner}.{name}", first, present=None):
            if count == self.profile.applications:
                break
            case = baseline.case
            with self.mistakes.collect(place, f", in a change of {case.id}"):
                call = apply_violation(self.conditions, case.call, violation)
                if call is None or not self._broadcasts_small(call):
                    continue
                changed += 1
                violated = self.conditions.check(call).violated
                ambiguity = self.conditions.ambiguity(call)
                if owner != (ambiguity or (violated[0] if len(violated) == 1 else None)):
                    also_violated.update(violated if ambiguity is None else [ambiguity])
                    continue
                count += 1
                self._by_owner[owner].append(
                    Candidate(owner, case, call, place, Change(name), baseline.type, violated)
                )
            if place in self.mistakes:
                return
        if not count:
            is_rule = place[0] == "rules"
            target = "violate exactly this rule" if is_rule else "depend on exactly this ambiguity"
            text = f"'{owner}.{name}' is never applicable: the change makes no valid call {target}"
            reason = "the calls stay valid" if changed else "it changes no call"
            if others := ", ".join(other for other in also_violated if other != owner):
                reason = f"it also violates: {others}"
            self.mistakes.add(place, f"{text} ({reason})")

    @cached_property
    def _owners(self) -> Mapping[str, tuple[YamlPath, Mapping[str, Violation]]]:
        """The place of each rule and ambiguity in the spec, and the violations that it lists."""
        return {
            owner.id: ((part, i), owner.violations)
            for part in ("rules", "ambiguities")
            for i, owner in enumerate(getattr(self.spec, part))
        }

    def _in_turn(self, start: str, argument: str, *, present: bool | None) -> Iterator[_Baseline]:
        """Yield the baselines in random order, alternating between the types of an argument.

        With `present`, only those that pass the argument, or only those that omit it. The
        baselines of a type have random positions on a ring, and each mutation starts at its own
        position. A baseline that is added to the spec therefore displaces few others, and most
        cases stay as they are.
        """
        first = int(short_digest(f"{self.seed}|{start}"), 16)
        iterators = []
        for ring in self._rings_of(argument, present=present):
            middle = bisect_left(ring, first, key=lambda baseline: baseline.position)
            # From there to its end, and from its beginning.
            iterators.append(map(ring.__getitem__, range(middle - len(ring), middle)))
        for of_each_type in zip_longest(*iterators):
            yield from filter(None, of_each_type)

    def _rings_of(self, argument: str, *, present: bool | None) -> list[list[_Baseline]]:
        """Return a ring of baselines for each element type."""
        if argument not in {item.name for item in self.spec.inputs}:
            # An omitted attribute has its default.
            present = None
        key = argument, present
        if key not in self._rings:
            rings: defaultdict[str, list[_Baseline]] = defaultdict(list)
            for case in self.baselines:
                call = case.call
                is_fitting = present is None or (argument in call.arguments) == present
                # A change of a call with hundreds of tensors takes much space, and shows no more.
                if is_fitting and len(call.inputs) <= _MAX_INPUTS:
                    position = int(short_digest(f"{self.seed}|{argument}|{case.id}"), 16)
                    name = call.inputs.get(argument, call.inputs[self.spec.leading_key]).type
                    rings[name].append(_Baseline(position, case, name, argument, self.conditions))
            for ring in rings.values():
                ring.sort(key=lambda baseline: (baseline.position, baseline.case.id))
            self._rings[key] = [rings[name] for name in sorted(rings)]
        return self._rings[key]
