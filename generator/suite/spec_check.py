"""Checks a spec with its cases: rules, types and bounds without a case, missing oracles."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, Tensor, tensors_in
from opcert.arrays.element_types import INTEGERS, TYPE_SETS, highest, lowest, uniform_elements
from opcert.backends.reference import checked_reference
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.cases.generation import generate_cases
from opcert.cases.vectors import Vector, check_laws, make_vectors
from opcert.errors import ExpressionError, Inapplicable, Mistake, SpecError, abbreviate
from opcert.roles.argument import BoundExpressions, Input
from opcert.roles.role import Role
from opcert.specification.expressions import evaluate_integer
from opcert.specification.files import (
    RejectedError,
    SpecFile,
    call_reference,
    find_spec_files,
    golden_outputs,
    load_references,
    read_specs,
)
from opcert.specification.model import Mistakes, Spec
from opcert.suite.emit import operator_files
from opcert.suite.format import GeneratedArray, IndexedCase, content_of
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import read_index
from opcert.system import limited
from opcert.yaml_files import YamlPath


@dataclass(frozen=True)
class RuleCases:
    """The ids of the cases of one rule.

    `positive` are valid calls that satisfy the requirement or exhibit the behaviour, `negative`
    calls that must be rejected for it, `ambiguous` calls that touch an ambiguity as well.
    """

    positive: list[str] = field(default_factory=list)
    negative: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)


def cases_by_rule(
    spec: Spec, operator: OperatorSuite, calls: Mapping[str, Call]
) -> dict[str, RuleCases]:
    """Return the cases of each rule by its full id; `calls` are the operator's `valid_calls`.

    Raises:
        ExpressionError: a condition of `spec` cannot be evaluated on a call of the suite.
    """
    conditions = Conditions(spec)
    by_rule = defaultdict[str, RuleCases](RuleCases)
    for case in operator.cases.values():
        if case.ambiguity is not None:
            for rule in case.rules:
                by_rule[rule].ambiguous.append(case.id)
        elif case.violated_rule is not None:
            by_rule[case.violated_rule].negative.append(case.id)
        else:
            # The index names the behaviours of a valid call, and not what it satisfies.
            satisfied = conditions.check(calls[case.id]).satisfied
            for rule in (*spec.full_ids(*satisfied), *case.rules):
                by_rule[rule].positive.append(case.id)
    return {rule: by_rule[rule] for rule in spec.full_ids(*(rule.id for rule in spec.rules))}


def valid_calls(operator: OperatorSuite) -> dict[str, Call]:
    """Return the valid calls by case id, without those that touch an ambiguity."""
    return {
        case.id: call_of_case(operator, case)
        for case in operator.cases.values()
        if case.ambiguity is None and case.expects == "outputs"
    }


def call_of_case(operator: OperatorSuite, case: IndexedCase) -> Call:
    """Return the call of a case in the form in which calls are drawn."""
    inputs = {}
    for name, record in case.inputs.items():
        is_data = name in case.data_inputs
        is_random = is_data and isinstance(record, GeneratedArray) and record.stride != 0
        array = None if is_random else operator.read_array(record)
        inputs[name] = Tensor(
            record.type,
            record.shape,
            None if is_data or array is None else tuple(array.ravel().tolist()),
            layout=record.layout,
            uniform=uniform_elements(array) if is_data and array is not None else "no",
        )
    return Call(inputs, case.attributes)


# The minimum number of valid cases that should exhibit a behaviour.
_MIN_CASES = 3


@dataclass(frozen=True)
class RuleCounts:
    """The number of valid cases that satisfy or exhibit a rule, and of cases that violate it."""

    rule: str
    kind: str
    positive: int
    negative: int


def warnings_of(spec: Spec, cases: Sequence[Case], counts: Sequence[RuleCounts]) -> Mistakes:
    """Yield warnings about the decisive `cases` of a spec.

    They are not errors: only the author knows whether the document forbids calls that violate a
    declaration.
    """
    yield from _unviolated_declarations(spec, [case for case in cases if case.violated_rule])
    for i, count in enumerate(counts):
        if count.kind == "behaviour" and 0 < count.positive < _MIN_CASES:
            text = f"few valid cases exhibit '{spec.rules[i].id}': found {count.positive}, expected"
            yield ("rules", i, "id"), f"{text} {_MIN_CASES} or more"
    outputs = [output for example in spec.examples for output in example.outputs]
    has_oracle = spec.laws or any(output.values is not None for output in outputs)
    for i, output in enumerate(spec.outputs):
        if output.element is None and not has_oracle:
            text = f"nothing can show that the reference computes wrong values for '{output.name}'"
            reason = "there is no example with output values, no law, and no 'element' formula"
            yield ("outputs", i, "name"), f"{text}: {reason}"


def _unviolated_declarations(spec: Spec, negative: Sequence[Case]) -> Mistakes:
    """Yield each type, rank, range and required argument that no negative case violates."""
    conditions = Conditions(spec)
    scopes = [conditions.names(case.call) for case in negative]
    for i, argument in enumerate(spec.inputs):
        tensors = [tensor for scope in scopes for tensor in tensors_in(scope[argument.name])]
        types = set(spec.type_sets[argument.type])
        # Only boolean is outside the numeric types, and few documents say whether it is one.
        if not types.issuperset(TYPE_SETS["numeric"]) and all(
            tensor.type in types for tensor in tensors
        ):
            text = f"no negative case has '{argument.name}' of a type outside {argument.type}"
            yield ("inputs", i, "type"), text
    for path, name, bounds in _declared_bounds(spec):
        unexceeded = _unexceeded_bounds(scopes, path, name, bounds)
        for bound in unexceeded if path[-1] != "variadic" else ():
            rank = "of a rank " * (path[-1] == "rank")
            yield path, f"no negative case has '{name}' {rank}{bound}"
    for path, declared in spec.located_arguments:
        name = declared.name
        if declared.required and all(name not in scope["omitted"] for scope in scopes):
            yield (*path, "required"), f"no negative case omits the required '{name}'"


def _declared_bounds(spec: Spec) -> Iterator[tuple[YamlPath, str, BoundExpressions]]:
    """Yield each rank, number of tensors and range: its path, its argument, and its bounds."""
    for path, argument in spec.located_arguments:
        if isinstance(argument, Input | Role) and path[0] == "inputs":
            yield (*path, "rank"), argument.name, argument.rank
        if argument.variadic is not None:
            least, most = map(str, argument.variadic)
            yield (*path, "variadic"), argument.name, (least, most)
        if argument.range is not None:
            yield (*path, "range"), argument.name, argument.range


def _bounded_values(path: YamlPath, value: Any) -> Sequence[Any]:
    """Return the numbers of an argument to which the bounds at a path apply."""
    if path[-1] == "rank":
        return [tensor.rank for tensor in tensors_in(value)]
    if path[-1] == "variadic":
        return (len(value),)
    # A tensor filled by a pattern has no values.
    return value.values or () if isinstance(value, Tensor) else (value,)


def _unexceeded_bounds(
    scopes: Sequence[Mapping[str, Any]], path: YamlPath, name: str, bounds: BoundExpressions
) -> Iterator[str]:
    """Yield the bounds of a rank or a range that no call exceeds, as "below '0'"."""
    is_below = is_above = False
    # No rank is below 0, and no element exceeds the limits of its type.
    is_rank = path[-1] == "rank"
    can_be_below, can_be_above = is_rank and bounds[0] != "0", is_rank
    for argument, scope in _given(scopes, name):
        # Bounds may refer to an argument that this call omits or has in another form.
        with suppress(ExpressionError, Inapplicable, TypeError):
            lower, upper = (evaluate_integer(bound, scope) for bound in bounds)
            if path[0] == "attributes":
                can_be_below = can_be_above = True
            elif not is_rank and argument.type in INTEGERS:
                can_be_below |= lower > lowest(argument.type)
                can_be_above |= upper < highest(argument.type)
            values = _bounded_values(path, argument)
            is_below = is_below or any(value < lower for value in values)
            is_above = is_above or any(value > upper for value in values)
    if can_be_below and not is_below:
        yield f"below {abbreviate(bounds[0])}"
    if can_be_above and not is_above:
        yield f"above {abbreviate(bounds[1])}"


def _given(
    scopes: Sequence[Mapping[str, Any]], name: str
) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    return ((scope[name], scope) for scope in scopes if scope[name] is not None)


@dataclass(frozen=True)
class CheckedSpec:
    """A spec without mistakes, with its core suite, case counts by rule, and warnings.

    Its reference rejects what violates a requirement, also one of those `stated_once`: by the spec
    alone.
    """

    spec_file: SpecFile
    operator: OperatorSuite
    counts: Sequence[RuleCounts]
    warnings: Sequence[Mistake]
    stated_once: Sequence[str] = ()


def check_specs(
    paths: Sequence[Path], profile: str = "core", announce: Callable[[str], None] = lambda _: None
) -> list[CheckedSpec]:
    """Check spec files, the cases of a profile, their references, and rule coverage.

    Before the cases of each, `announce` gets a line.

    Raises:
        SpecError: with the mistakes of all specs.
    """
    mistakes: list[Mistake] = []
    checked: list[CheckedSpec] = []
    specs = [replace(file, reference=limited(file.reference)) for file in read_specs(paths)]
    references = {spec_file.spec.operator: spec_file.reference for spec_file in specs}
    laws = [law for spec_file in specs for law in spec_file.spec.laws]
    if any(call.operator for law in laws for call in law.calls.values()):
        # A law may call an operator that comes with opcert.
        references = {**load_references(find_spec_files(None)), **references}
    for spec_file in specs:
        announce(f"checking {spec_file.spec.operator}")
        try:
            cases = generate_cases(spec_file, profile, seed=0)
            vectors = make_vectors(spec_file, cases)
            check_laws(spec_file, vectors, references)
            _, entry, files = operator_files(spec_file, vectors)
        except SpecError as error:
            mistakes += error.mistakes
            continue
        path = Path(entry.index)
        index = read_index(path, content_of(entry.index, files[entry.index]))
        operator = OperatorSuite(entry, *index, partial(files.__getitem__, entry.pack), path.parent)
        decisive = [case for case in cases if case.ambiguity is None]
        counts = _count_cases(spec_file, decisive)
        valid = [case for case in decisive if not case.violated_rule]
        located = (*_aliasing(spec_file, vectors), *_unreached(spec_file.spec, counts, valid))
        mistakes += [spec_file.mistake(place, text) for place, text in located]
        found = warnings_of(spec_file.spec, decisive, counts)
        warnings = sorted({spec_file.mistake(place, text) for place, text in found})
        stated_once = _stated_once(spec_file, vectors)
        reference = spec_file.reference
        if stated_once:
            reference = checked_reference(spec_file.spec, reference)
        whole = replace(spec_file, reference=reference)
        checked.append(CheckedSpec(whole, operator, counts, warnings, stated_once))
    if mistakes:
        raise SpecError(mistakes)
    return checked


def _stated_once(spec_file: SpecFile, vectors: Sequence[Vector]) -> list[str]:
    """Return the requirements that the reference leaves to the spec: it never names them."""
    examples = {vector.case.violated_rule: vector for vector in reversed(vectors)}
    rules: list[str] = []
    for rule, vector in examples.items():
        if rule is not None:
            try:
                golden_outputs(spec_file.reference, vector.inputs, vector.case.call.attributes)
            except RejectedError as error:
                if error.rule == rule:
                    continue
            rules.append(rule)
    return sorted(rules)


def _count_cases(spec_file: SpecFile, cases: Sequence[Case]) -> list[RuleCounts]:
    positive = [rule for case in cases if case.violated_rule is None for rule in case.rules]
    negative = [case.violated_rule for case in cases]
    rules = ((spec_file.spec.full_id(rule.id), rule.kind) for rule in spec_file.spec.rules)
    return [RuleCounts(id_, kind, positive.count(id_), negative.count(id_)) for id_, kind in rules]


def _aliasing(spec_file: SpecFile, vectors: Sequence[Vector]) -> Mistakes:
    """Yield a mistake if an output of the reference shares memory with one of its inputs."""
    for vector in vectors:
        if vector.case.violated_rule is not None:
            continue
        inputs = {name: array.copy() for name, array in vector.inputs.items()}
        attributes = vector.case.call.attributes
        outputs = call_reference(spec_file.reference, inputs, attributes)
        for name, array in inputs.items():
            # The inputs are copies, so memory bounds overlap only if an output is a view.
            if any(np.may_share_memory(array, output) for output in outputs):
                text = f"the reference returns a view of its input '{name}'; expected a new array"
                yield ("reference",), text
                return


def _unreached(spec: Spec, counts: Sequence[RuleCounts], valid_cases: Sequence[Case]) -> Mistakes:
    """Yield each rule, type, feature level, and bound of a rank or range without a valid case."""
    for i, (rule, of_rule) in enumerate(zip(spec.rules, counts, strict=True)):
        if not of_rule.positive:
            yield ("rules", i, "id"), f"no valid case exercises '{rule.id}'"
    conditions = Conditions(spec)
    scopes = [conditions.names(case.call) for case in valid_cases]
    for i, argument in enumerate(spec.inputs):
        tensors = (tensors_in(scope[argument.name]) for scope in scopes)
        types = {tensor.type for parts in tensors for tensor in parts}
        for name in sorted(set(spec.type_sets[argument.type]) - types):
            yield ("inputs", i, "type"), f"no case has '{argument.name}' of {name}"
    for i, level in enumerate(spec.feature_levels):
        if not any(level.name in case.feature_levels for case in valid_cases):
            yield ("feature_levels", i), f"no case is in feature level {level.name}"
    for path, name, bounds in _declared_bounds(spec):
        try:
            yield from ((path, text) for text in _unreached_bounds(scopes, path, name, bounds))
        except (ExpressionError, Inapplicable, TypeError) as error:
            yield path, str(error)


def _unreached_bounds(
    scopes: Sequence[Mapping[str, Any]], path: YamlPath, name: str, bounds: BoundExpressions
) -> Iterator[str]:
    """Yield each bound of an argument that no call reaches, or the first value out of bounds."""
    is_lower_reached = is_upper_reached = False
    for argument, scope in _given(scopes, name):
        lower, upper = (evaluate_integer(bound, scope) for bound in bounds)
        for value in _bounded_values(path, argument):
            if not lower <= value <= upper:
                yield f"a valid case has {value} for '{name}', outside [{lower}, {upper}]"
                return
            is_lower_reached |= value == lower
            is_upper_reached |= value == upper
    for bound, is_reached in zip(bounds, (is_lower_reached, is_upper_reached), strict=True):
        if not is_reached:
            yield f"no case of '{name}' reaches the boundary {abbreviate(bound)}"
