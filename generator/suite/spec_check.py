"""Specs -> what their cases exercise; a rule, type or boundary without a case is a mistake.

What may be right and is likely to be forgotten is a warning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays import Call
from opcert.cases import Case, Conditions, Vector, check_laws, generate_cases, make_vectors
from opcert.errors import ExpressionError, Inapplicable, Mistake, SpecError
from opcert.roles import BoundExpressions
from opcert.specification import (
    SpecFile,
    abbreviate,
    evaluate_integer,
    load_references,
    parse_expression,
    read_specs,
)
from opcert.suite.emit import operator_files
from opcert.suite.format import Index
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_warnings import RuleCounts, warnings_of
from opcert.yaml_files import YamlPath

ValuesOf: TypeAlias = Callable[[Any], Iterable[int]]


@dataclass(frozen=True)
class CheckedSpec:
    """A spec without mistakes: its cases with their arrays, their counts by rule, and warnings."""

    spec_file: SpecFile
    operator: OperatorSuite
    counts: Sequence[RuleCounts]
    warnings: Sequence[Mistake]


def check_specs(paths: Sequence[Path]) -> list[CheckedSpec]:
    """Check specs whole: as files, as draws, against the reference, and for what they exercise.

    Raises:
        SpecError: with the mistakes of all of them.
    """
    mistakes: list[Mistake] = []
    checked: list[CheckedSpec] = []
    specs = read_specs(paths)
    references = {each.spec.operator: each.reference for each in specs}
    references = {**load_references(None), **references} if _names_others(specs) else references
    for spec_file in specs:
        try:
            cases = generate_cases(spec_file, "core", seed=0)
            vectors = make_vectors(spec_file, cases)
            check_laws(spec_file, vectors, references)
            operator = _operator_suite(spec_file, vectors)
        except SpecError as error:
            mistakes += error.mistakes
            continue
        deciding = [case for case in cases if case.ambiguity is None]
        counted = _rule_counts(spec_file, deciding)
        mistakes += _aliasing(spec_file, vectors)
        mistakes += _unexercised_rules(spec_file, counted)
        mistakes += _unreached(spec_file, [case for case in deciding if case.violated_rule is None])
        warnings = sorted({*warnings_of(spec_file, deciding, counted)})
        checked.append(CheckedSpec(spec_file, operator, counted, warnings))
    if mistakes:
        raise SpecError(mistakes)
    return checked


def _operator_suite(spec_file: SpecFile, vectors: Sequence[Vector]) -> OperatorSuite:
    """Return the cases as a suite has them, without a folder."""
    entry, files = operator_files(spec_file, vectors, "core")
    index = Index.model_validate_json(files[entry.index], context={})
    return OperatorSuite(entry, index, files[entry.pack], Path(entry.spec).parent)


def _aliasing(spec_file: SpecFile, vectors: Sequence[Vector]) -> Iterator[Mistake]:
    """Yield a mistake where an output of the reference shares memory with one of its inputs."""
    for vector in vectors:
        if vector.case.violated_rule is not None:
            continue
        inputs = {name: array.copy() for name, array in vector.inputs.items()}
        outputs = spec_file.reference(**inputs, **deepcopy(dict(vector.case.call.attributes)))
        for name, array in inputs.items():
            # Arrays of their own overlap only where one is a view of the other.
            if any(np.may_share_memory(array, output) for output in outputs):
                text = f"the reference returns a view of its input '{name}'"
                yield spec_file.mistake(("reference",), f"{text}; expected arrays of its own")
                return


def _names_others(specs: Sequence[SpecFile]) -> bool:
    """Whether a law calls another operator, which may be one of those that come with opcert."""
    laws = [law for each in specs for law in each.spec.laws]
    return any(call.operator for law in laws for call in law.calls.values())


def _rule_counts(spec_file: SpecFile, cases: Sequence[Case]) -> list[RuleCounts]:
    kept = [rule for case in cases if case.violated_rule is None for rule in case.rules]
    broken = [case.violated_rule for case in cases if case.violated_rule is not None]
    names = ((spec_file.spec.full_id(rule.id), rule.kind) for rule in spec_file.spec.rules)
    return [RuleCounts(name, kind, kept.count(name), broken.count(name)) for name, kind in names]


def _unexercised_rules(spec_file: SpecFile, counts: Sequence[RuleCounts]) -> Iterator[Mistake]:
    for i, (rule, counted) in enumerate(zip(spec_file.spec.rules, counts, strict=True)):
        if not counted.positive:
            yield spec_file.mistake(("rules", i, "id"), f"no valid case exercises '{rule.id}'")


def _unreached(spec_file: SpecFile, valid: Sequence[Case]) -> Iterator[Mistake]:
    """Yield each type, rank, feature level and end of a range that no valid case has."""
    spec = spec_file.spec
    drawn = {
        each.name: [case.call.inputs[each.name] for case in valid if each.name in case.call.inputs]
        for each in spec.inputs
    }
    for i, each in enumerate(spec.inputs):
        found = {tensor.type for tensor in drawn[each.name]}
        for name in sorted(set(spec.type_sets[each.type]) - found):
            yield spec_file.mistake(("inputs", i, "type"), f"no case has '{each.name}' of {name}")
    for i, level in enumerate(spec.feature_levels):
        if not any(level.name in case.feature_levels for case in valid):
            text = f"no case is in feature level {level.name}"
            yield spec_file.mistake(("feature_levels", i), text)
    yield from _unreached_ends(spec_file, [case.call for case in valid])


def _unreached_ends(spec_file: SpecFile, calls: Sequence[Call]) -> Iterator[Mistake]:
    conditions = Conditions(spec_file.spec)
    seen = [conditions.names(call) for call in calls]
    for place, name, values_of, ends in _ranges(spec_file):
        present = [names for names in seen if names[name] is not None]
        try:
            yield from _unreached_ends_of(spec_file, present, place, name, values_of, ends)
        except (ExpressionError, Inapplicable, TypeError) as error:
            yield spec_file.mistake(place, str(error))


def _unreached_ends_of(
    spec_file: SpecFile,
    seen: Sequence[Mapping[str, Any]],
    place: YamlPath,
    name: str,
    values_of: ValuesOf,
    ends: BoundExpressions,
) -> Iterator[Mistake]:
    reached = [False, False]
    for names in seen:
        least, most = (evaluate_integer(parse_expression(end), names) for end in ends)
        for value in values_of(names[name]):
            if not least <= value <= most:
                text = f"a valid case has {value} for '{name}', outside [{least}, {most}]"
                yield spec_file.mistake(place, text)
                return
            reached = [reached[0] or value == least, reached[1] or value == most]
    for end, is_reached in zip(ends, reached, strict=True):
        if not is_reached:
            text = f"no case of '{name}' reaches the boundary {abbreviate(end)}"
            yield spec_file.mistake(place, text)


def _ranges(spec_file: SpecFile) -> Iterator[tuple[YamlPath, str, ValuesOf, BoundExpressions]]:
    """Yield each declared range: its place, what it is of, how to read the values, its ends."""
    for i, each in enumerate(spec_file.spec.inputs):
        yield ("inputs", i, "rank"), each.name, lambda tensor: (tensor.rank,), each.rank
        if each.range is not None:
            # What a pattern fills has no values to speak of.
            yield ("inputs", i, "range"), each.name, lambda given: given.values or (), each.range
    for i, attribute in enumerate(spec_file.spec.attributes):
        if attribute.range is not None:
            place = ("attributes", i, "range")
            yield place, attribute.name, lambda value: (value,), attribute.range
