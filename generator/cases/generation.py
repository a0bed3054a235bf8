"""Spec -> cases: documented calls, drawn calls, neighbours, and negative ones of each stratum.

Calls that an implementation without the check would accept are preferred. A call that is rejected
for another reason anyway does not reveal that the check is missing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, Tensor, flatten_variadic
from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.arrays.patterns import materialize
from opcert.cases.candidates import Candidate, CandidateSearch, UncheckedResult
from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import Neighbours, drawn_calls, drawn_id, pattern_seed
from opcert.errors import ExpressionError, Inapplicable
from opcert.reference import RuleBroken, unchecked
from opcert.settings import PROFILES, Profile
from opcert.specification.expressions import DocumentedTensor, evaluate
from opcert.specification.files import Reference, SpecFile, call_reference
from opcert.specification.model import Spec
from opcert.yaml_files import YamlPath

# How many candidates are run without the check for each selection.
_MAX_TRIED = 32
# The sizes of changed arrays are compared in steps of so many bytes.
_SIZE_STEP = 128
# The most bytes of an array for which the reference is run without a check.
_MAX_RUN_BYTES = 1 << 16


@dataclass(eq=False)
class PositiveCases:
    """Builds the positive cases of one spec; mistakes that come up are recorded in `mistakes`."""

    conditions: Conditions
    seed: int
    mistakes: MistakeLog

    @property
    def _spec(self) -> Spec:
        return self.conditions.spec

    def examples(self) -> Iterator[Case]:
        """Yield the documented calls."""
        for i, example in enumerate(self._spec.examples):
            with self.mistakes.collect(("examples", i)):
                documented = flatten_variadic(example.inputs)
                inputs = {key: _tensor(tensor) for key, tensor in documented.items()}
                call = Call(inputs, example.attributes)
                yield self._case(
                    self._spec.full_id(example.id), call, ("examples", i), example=example
                )

    def drawn(self, profile: Profile) -> Iterator[Case]:
        """Yield a case for each drawn call of a profile; a longer suite begins with a shorter."""
        with self.mistakes.collect(()):
            calls = drawn_calls(
                self._spec, self.seed, large=profile.large, conditions=self.conditions
            )
            computes = any(output.computed for output in self._spec.outputs)
            count = max(100, profile.calls // 10) if computes else profile.calls
            for draw, call, choices in islice(calls, count):
                yield self._case(drawn_id(self._spec, call, draw), call, (), choices=choices)

    def _case(self, identity: str, call: Call, place: YamlPath, **fields: Any) -> Case:
        """Return the case of a valid call, with data patterns of its own."""
        check = self.conditions.check(call)
        if check.violated:
            violated = ", ".join(check.violated)
            text = f"{identity} is meant to be a valid call, but violates {violated}: {call}"
            raise ExpressionError(text)
        return Case(
            identity,
            call.patterned(pattern_seed(self.seed, identity)),
            place,
            self._spec.full_ids(*check.satisfied, *self.conditions.behaviours(call)),
            ambiguity=self.conditions.ambiguity(call),
            feature_levels=self._feature_levels(call),
            **fields,
        )

    def _feature_levels(self, call: Call) -> tuple[str, ...]:
        """Return the feature levels whose table has the first input's rank and type."""
        first = call.inputs[self._spec.leading_key]
        return tuple(
            level.name
            for level in self._spec.feature_levels
            if level.ranks[0] <= first.rank <= level.ranks[1] and first.type in level.types
        )


def _tensor(documented: DocumentedTensor) -> Tensor:
    values = documented.values
    if documented.element is not None:
        values = tuple(evaluate(documented.element, {"i": i}) for i in range(documented.size))
    return Tensor(documented.type, documented.shape, values)


@dataclass(eq=False)
class NegativeCases:
    """Builds the cases of requirements and ambiguities: each is one change to a baseline."""

    reference: Reference
    search: CandidateSearch

    def cases(self) -> Iterator[Case]:
        """Yield the cases of requirements, then those of ambiguities.

        A requirement that cannot be violated alone is recorded as a mistake.
        """
        candidates = self.search.candidates()
        # So few large calls need not reach every rule.
        if not self.search.profile.large:
            self._record_unviolated(candidates)
        for owner in self.search.owners:
            for candidate in self._select(owner, candidates.get(owner, ())):
                yield self._case(candidate)

    def _record_unviolated(self, candidates: dict[str, list[Candidate]]) -> None:
        """Record why no call violates a rule alone, unless its violations are recorded already."""
        search = self.search
        unviolated = search.spec.requirements.keys() - candidates.keys()
        for i, rule in enumerate(search.spec.rules):
            places = [("rules", i, "violations", name) for name in rule.violations]
            if rule.id not in unviolated or any(place in search.mistakes for place in places):
                continue
            text = f"no mutation violates '{rule.id}' alone"
            # A mutated call is dropped where a condition cannot be evaluated on it.
            for place, failure in search.failures.items():
                advice = "add the requirements that exclude such calls to its 'prerequisites'"
                search.mistakes.add(place, f"{failure}; {advice}: {text}")
            if not search.failures:
                advice = "add 'violations' that do, or prerequisites that such calls meet"
                search.mistakes.add(("rules", i, "id"), f"{text}; {advice}")

    def _case(self, candidate: Candidate) -> Case:
        spec, conditions, baseline = self.search.spec, self.search.conditions, candidate.baseline
        is_ambiguous = candidate.owner not in spec.requirements
        extra: list[str] = []
        if candidate.violated:
            # A backend may declare that it does not support one of these, and decline the call.
            known = conditions.behaviours(baseline.call)
            exhibited = conditions.behaviours(candidate.call, ignore_errors=True)
            extra = [name for name in exhibited if name not in known]
        return Case(
            spec.full_id(f"{candidate.owner}.{candidate.change.name}-{short_digest(baseline.id)}"),
            candidate.call.patterned(pattern_seed(self.search.seed, baseline.id), only_new=True),
            candidate.place,
            spec.full_ids(*(candidate.violated or conditions.behaviours(candidate.call))),
            violated_rule=spec.full_id(candidate.violated[0]) if candidate.violated else None,
            baseline=baseline.id,
            change=candidate.change,
            extra_behaviours=spec.full_ids(*extra),
            ambiguity=candidate.owner if is_ambiguous else None,
            feature_levels=baseline.feature_levels,
        )

    def _select(self, owner: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Select from the candidates of a requirement, or of an ambiguity.

        First one of each stratum, since each kind of mutation reveals another mistake in a check.
        Then, up to a limit, more of each, with other properties.
        """
        is_decisive = owner in self.search.spec.requirements
        strata: dict[tuple[str, str], list[Candidate]] = {}
        calls: set[tuple[str, str]] = set()
        for candidate in candidates:
            # Several mutations may come to the same call.
            call = candidate.baseline.id, _changes(candidate)
            if call not in calls:
                calls.add(call)
                strata.setdefault(candidate.change.stratum, []).append(candidate)
        selected: list[Candidate] = []
        used: Counter[object] = Counter()

        def novelty(candidate: Candidate) -> tuple[int, int, int]:
            # First, properties that are rare in the stratum, then rare for the argument; last,
            # small arrays, since each is stored.
            stratum, found = candidate.change.stratum, candidate.properties
            in_stratum, of_argument = (
                -sum(used[part, property_] for property_ in found) for part in (stratum, stratum[0])
            )
            return in_stratum, of_argument, -candidate.stored_bytes // _SIZE_STEP

        profile = self.search.profile
        enough = profile.per_requirement if is_decisive else profile.per_ambiguity
        for turn in range(profile.per_stratum):
            for stratum, remaining in strata.items():
                # Each stratum of a requirement gets a case, however many strata there are.
                is_full = len(selected) >= enough and (turn > 0 or not is_decisive)
                if not remaining or is_full:
                    continue
                remaining.sort(key=novelty, reverse=True)
                best = self._most_revealing(remaining) if is_decisive else remaining[0]
                # Another check rejects this call as well; a second such case reveals nothing.
                if turn and best.unchecked_result == UncheckedResult.REJECTED:
                    continue
                remaining.remove(best)
                selected.append(best)
                for part in (stratum, stratum[0]):
                    used.update((part, property_) for property_ in best.properties)
        return selected

    def _most_revealing(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the first candidate that best reveals whether its requirement is checked."""
        best = candidates[0]
        for candidate in candidates[:_MAX_TRIED]:
            if candidate.unchecked_result is None:
                candidate.unchecked_result = self._run_unchecked(candidate.call, candidate.owner)
            if candidate.unchecked_result > (best.unchecked_result or UncheckedResult.REJECTED):
                best = candidate
            if best.unchecked_result == UncheckedResult.ACCEPTED:
                break
        return best

    def _run_unchecked(self, call: Call, rule: str) -> UncheckedResult:
        """Run the reference with the check of `rule` disabled."""
        if not self.search.conditions.required <= call.arguments.keys():
            return UncheckedResult.FAILED
        outputs: list[Tensor] = []
        # The declared shapes of an invalid call need not be computable.
        with suppress(ExpressionError, Inapplicable):
            outputs = self.search.conditions.outputs(call)
        if any(tensor.nbytes > _MAX_RUN_BYTES for tensor in (*call.inputs.values(), *outputs)):
            return UncheckedResult.FAILED
        inputs = {name: _plain_array(tensor) for name, tensor in call.inputs.items()}
        try:
            with np.errstate(all="ignore"), unchecked(self.search.spec.full_id(rule)):
                call_reference(self.reference, inputs, call.attributes)
        except RuleBroken:
            return UncheckedResult.REJECTED
        except (Exception, SystemExit):  # without its check, a reference may fail in any way
            return UncheckedResult.FAILED
        return UncheckedResult.ACCEPTED


def _changes(candidate: Candidate) -> str:
    """Return the arguments in which a candidate differs from its baseline, as text."""
    call, baseline = candidate.call, candidate.baseline.call
    former = {**baseline.inputs, **baseline.attributes}
    changed = {**call.inputs, **call.attributes}
    return ", ".join(
        f"{name}={changed.get(name)}"
        for name in {**former, **changed}
        if changed.get(name) is not former.get(name)
    )


def _plain_array(tensor: Tensor) -> Array:
    """Return the tensor's values, or zeros in place of a pattern: the data does not matter."""
    if tensor.values is None:
        return np.zeros(tensor.shape, ELEMENT_TYPES[tensor.type])
    return materialize(tensor)


def generate_cases(spec_file: SpecFile, profile: str, seed: int) -> list[Case]:
    """Return every case of a spec, each baseline before the cases that are changes of it.

    The same spec, profile and seed give the same cases.

    Raises:
        SpecError: with every mistake that the cases reveal in the spec.
    """
    spec, mistakes, size = spec_file.spec, MistakeLog(spec_file), PROFILES[profile]
    conditions = Conditions(spec)
    positive = PositiveCases(conditions, seed, mistakes)
    valid = [*positive.examples(), *positive.drawn(size)]
    # Changes of calls that are mistaken would repeat the mistakes.
    mistakes.raise_if_any()
    baselines = [case for case in valid if case.ambiguity is None]
    search = CandidateSearch(conditions, size, seed, baselines, mistakes)
    negative = NegativeCases(spec_file.reference, search)
    neighbours = Neighbours(spec_file.reference, conditions, size, seed, baselines)
    changed = [*neighbours.cases(), *negative.cases()]
    touched = {case.ambiguity for case in (*valid, *changed)}
    if spec.call_ambiguities != spec.ambiguities:
        touched |= {conditions.open_elements(case.call) for case in baselines}
    for i, ambiguity in enumerate(spec.ambiguities):
        if ambiguity.id not in touched and not size.large:
            text = f"no case touches the ambiguity '{ambiguity.id}'; add 'violations' that do"
            mistakes.add(("ambiguities", i, "id"), text)
    mistakes.raise_if_any()
    return _execution_order(valid, changed)


def _execution_order(valid: Sequence[Case], changed: Sequence[Case]) -> list[Case]:
    """Return the examples, then the other valid calls by signature, each before changes of it.

    State that a backend wrongly keeps from a call makes the next similar call fail: one with the
    same types and shapes, or a neighbour. Signatures are ordered by digest, so that element types
    alternate, and a run that is cut short covers some of each.
    """
    changes: defaultdict[str | None, list[Case]] = defaultdict(list)
    for case in changed:
        changes[case.baseline].append(case)

    def position(case: Case) -> tuple[bool, str]:
        is_example = case.example is not None
        return not is_example, "" if is_example else short_digest(str(case.call.signature))

    return [
        case
        for baseline in sorted(valid, key=position)
        for case in (baseline, *changes[baseline.id])
    ]
