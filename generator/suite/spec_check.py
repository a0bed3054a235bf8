"""Checks a spec with its cases: a rule, type or bound that no case exercises is a mistake."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.calls import tensors_in
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.cases.generation import generate_cases
from opcert.cases.laws import check_laws
from opcert.cases.vectors import Vector, make_vectors
from opcert.errors import ExpressionError, Inapplicable, Mistake, SpecError
from opcert.roles.argument import BoundExpressions
from opcert.specification.expressions import abbreviate, evaluate_integer, parse_expression
from opcert.specification.files import SpecFile, read_specs
from opcert.specification.references import call_reference, load_references
from opcert.suite.emit import operator_files
from opcert.suite.format import Index
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_warnings import RuleCounts, warnings_of
from opcert.yaml_files.source import YamlPath

# Returns the integers of an argument to which a declared range applies.
ValuesOf: TypeAlias = Callable[[Any], Iterable[int]]


@dataclass(frozen=True)
class CheckedSpec:
    """A spec without mistakes, with its core suite, case counts by rule, and warnings."""

    spec_file: SpecFile
    operator: OperatorSuite
    counts: Sequence[RuleCounts]
    warnings: Sequence[Mistake]


def check_specs(paths: Sequence[Path]) -> list[CheckedSpec]:
    """Check spec files, the cases generated from them, their references, and rule coverage.

    Raises:
        SpecError: with the mistakes of all specs.
    """
    mistakes: list[Mistake] = []
    checked: list[CheckedSpec] = []
    specs = read_specs(paths)
    references = {spec_file.spec.operator: spec_file.reference for spec_file in specs}
    laws = [law for spec_file in specs for law in spec_file.spec.laws]
    if any(call.operator for law in laws for call in law.calls.values()):
        # A law may call an operator that comes with opcert.
        references = {**load_references(None), **references}
    for spec_file in specs:
        try:
            cases = generate_cases(spec_file, "core", seed=0)
            vectors = make_vectors(spec_file, cases)
            check_laws(spec_file, vectors, references)
            entry, files = operator_files(spec_file, vectors, "core")
        except SpecError as error:
            mistakes += error.mistakes
            continue
        index = Index.model_validate_json(files[entry.index], context={})
        read_pack = partial(files.__getitem__, entry.pack)
        operator = OperatorSuite(entry, index, read_pack, Path(entry.spec).parent)
        decisive = [case for case in cases if case.ambiguity is None]
        counts = _count_cases(spec_file, decisive)
        mistakes += _aliasing(spec_file, vectors)
        mistakes += _unexercised_rules(spec_file, counts)
        mistakes += _unreached(spec_file, [case for case in decisive if not case.violated_rule])
        warnings = sorted({*warnings_of(spec_file, decisive, counts)})
        checked.append(CheckedSpec(spec_file, operator, counts, warnings))
    if mistakes:
        raise SpecError(mistakes)
    return checked


def _count_cases(spec_file: SpecFile, cases: Sequence[Case]) -> list[RuleCounts]:
    positive = [rule for case in cases if case.violated_rule is None for rule in case.rules]
    negative = [case.violated_rule for case in cases]
    rules = ((spec_file.spec.full_id(rule.id), rule.kind) for rule in spec_file.spec.rules)
    return [RuleCounts(id_, kind, positive.count(id_), negative.count(id_)) for id_, kind in rules]


def _aliasing(spec_file: SpecFile, vectors: Sequence[Vector]) -> Iterator[Mistake]:
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
                yield spec_file.mistake(
                    ("reference",),
                    f"the reference returns a view of its input '{name}'; expected a new array",
                )
                return


def _unexercised_rules(spec_file: SpecFile, counts: Sequence[RuleCounts]) -> Iterator[Mistake]:
    for i, (rule, rule_counts) in enumerate(zip(spec_file.spec.rules, counts, strict=True)):
        if not rule_counts.positive:
            yield spec_file.mistake(("rules", i, "id"), f"no valid case exercises '{rule.id}'")


def _unreached(spec_file: SpecFile, valid_cases: Sequence[Case]) -> Iterator[Mistake]:
    """Yield each type, feature level, and bound of a rank or range that no valid case reaches."""
    spec = spec_file.spec
    conditions = Conditions(spec)
    scopes = [conditions.names(case.call) for case in valid_cases]
    for i, argument in enumerate(spec.inputs):
        tensors = (tensors_in(scope[argument.name]) for scope in scopes)
        types = {tensor.type for parts in tensors for tensor in parts}
        for name in sorted(set(spec.type_sets[argument.type]) - types):
            text = f"no case has '{argument.name}' of {name}"
            yield spec_file.mistake(("inputs", i, "type"), text)
    for i, level in enumerate(spec.feature_levels):
        if not any(level.name in case.feature_levels for case in valid_cases):
            text = f"no case is in feature level {level.name}"
            yield spec_file.mistake(("feature_levels", i), text)
    for path, name, values_of, bounds in _declared_ranges(spec_file):
        with_argument = [scope for scope in scopes if scope[name] is not None]
        try:
            texts = list(_unreached_bounds(with_argument, name, values_of, bounds))
        except (ExpressionError, Inapplicable, TypeError) as error:
            texts = [str(error)]
        for text in texts:
            yield spec_file.mistake(path, text)


def _declared_ranges(
    spec_file: SpecFile,
) -> Iterator[tuple[YamlPath, str, ValuesOf, BoundExpressions]]:
    """Yield each rank and range: its path, argument, function for the values, and bounds."""
    for i, argument in enumerate(spec_file.spec.inputs):
        yield ("inputs", i, "rank"), argument.name, _ranks, argument.rank
        if argument.variadic is not None:
            least, most = map(str, argument.variadic)
            yield (
                ("inputs", i, "variadic"),
                argument.name,
                lambda value: (len(value),),
                (least, most),
            )
        if argument.range is not None:
            # A tensor filled by a pattern has no values.
            path: YamlPath = ("inputs", i, "range")
            yield path, argument.name, lambda tensor: tensor.values or (), argument.range
    for i, attribute in enumerate(spec_file.spec.attributes):
        if attribute.range is not None:
            path = ("attributes", i, "range")
            yield path, attribute.name, lambda value: (value,), attribute.range


def _ranks(value: Any) -> list[int]:
    return [tensor.rank for tensor in tensors_in(value)]


def _unreached_bounds(
    scopes: Sequence[Mapping[str, Any]], name: str, values_of: ValuesOf, bounds: BoundExpressions
) -> Iterator[str]:
    """Yield each bound of an argument that no call reaches, or the first value out of bounds."""
    is_lower_reached = is_upper_reached = False
    for scope in scopes:
        lower, upper = (evaluate_integer(parse_expression(bound), scope) for bound in bounds)
        for value in values_of(scope[name]):
            if not lower <= value <= upper:
                yield f"a valid case has {value} for '{name}', outside [{lower}, {upper}]"
                return
            is_lower_reached |= value == lower
            is_upper_reached |= value == upper
    for bound, is_reached in zip(bounds, (is_lower_reached, is_upper_reached), strict=True):
        if not is_reached:
            yield f"no case of '{name}' reaches the boundary {abbreviate(bound)}"
