"""Measures what a suite covers: rules, pairs of levels that fresh calls have, types and ranks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice

from opcert.cases.drawn import choices_of, draw_call, drawn_calls, drawn_number
from opcert.specification.files import SpecFile
from opcert.specification.model import Spec
from opcert.suite.format import Manifest
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import cases_by_rule, valid_calls
from opcert.suite.suite import Suite

# By dimension and item, whether a suite covers it.
Coverage = dict[str, dict[str, bool]]


def measure_coverage(suite: Suite, specs: Iterable[SpecFile]) -> Iterator[tuple[str, Coverage]]:
    """Yield each operator of the suite that has a spec, and what the suite covers.

    Raises:
        OpcertError: a condition of a spec cannot be evaluated on a call of the suite.
    """
    for spec in (file.spec for file in specs):
        if (operator := suite.operators.get(spec.operator)) is not None:
            yield spec.operator, _measure(operator, spec, suite.manifest)


def _measure(operator: OperatorSuite, spec: Spec, manifest: Manifest) -> Coverage:
    calls, is_large = valid_calls(operator), manifest.is_large
    drawn = [_drawn_levels(spec, manifest.seed, case_id, large=is_large) for case_id in calls]
    coverage = _coverage_of_levels(spec, drawn, large=is_large)
    # Large calls test sizes and need not cover the rest again.
    if is_large:
        return coverage
    cases = [operator.cases[case_id] for case_id in calls]
    by_rule = cases_by_rule(spec, operator, calls).values()
    lowest_rank, highest_rank = map(int, spec.leading.rank)
    present = {(case.type, case.rank) for case in cases}
    levels = {level for case in cases for level in case.feature_levels}
    return {
        **coverage,
        "rules": {
            rule.id: bool(of_rule.positive)
            and bool(of_rule.negative or rule.id not in spec.requirements)
            for rule, of_rule in zip(spec.rules, by_rule, strict=True)
        },
        "types x ranks": {
            f"{element_type} of rank {rank}": (element_type, rank) in present
            for element_type in spec.type_sets[spec.leading.type]
            for rank in range(lowest_rank, highest_rank + 1)
        },
        "feature levels": {level.name: level.name in levels for level in spec.feature_levels},
    }


# The pairs of levels that so many fresh calls show are those that a suite may cover.
_FRESH_CALLS = 2000
# Fresh calls have another seed than those of any suite is likely to have.
_FRESH_SEED = 0x0FC0FFEE
# A level: a choice of a draw, and the option that a call takes.
Level = tuple[str, str]


def _drawn_levels(spec: Spec, seed: int, case: str, *, large: bool) -> Mapping[str, str]:
    """Return the option that a drawn case takes of each choice; nothing for other cases."""
    if (number := drawn_number(case)) is None:
        return {}
    choices = choices_of(spec, seed, number)
    draw_call(spec, choices, large=large)
    return choices.levels


def _pairs(levels: Mapping[str, str]) -> Iterator[tuple[Level, Level]]:
    return combinations(sorted(levels.items()), 2)


def _coverage_of_levels(spec: Spec, drawn: Sequence[Mapping[str, str]], *, large: bool) -> Coverage:
    """Return which levels of fresh calls, and which pairs of them, the drawn calls have."""
    calls = drawn_calls(spec, _FRESH_SEED, large=large)
    fresh = [choices.levels for _, _, choices in islice(calls, _FRESH_CALLS)]
    singles = {level for levels in drawn for level in levels.items()}
    pairs = {pair for levels in drawn for pair in _pairs(levels)}
    expected = sorted({level for levels in fresh for level in levels.items()})
    # The most frequent first.
    common = Counter(pair for levels in fresh for pair in _pairs(levels)).most_common()
    return {
        "levels": {" = ".join(level): level in singles for level in expected},
        "pairs of levels": {", ".join(map(" = ".join, pair)): pair in pairs for pair, _ in common},
    }
