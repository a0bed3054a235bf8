"""Measures what a suite covers: rules, pairs of levels that fresh calls have, types and ranks."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from opcert.cases.drawn import DRAWN, choices_of, draw_call, drawn_calls
from opcert.settings import PROFILES
from opcert.specification.files import SpecFile
from opcert.specification.model import Spec
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import cases_by_rule, valid_calls
from opcert.suite.suite import Suite


@dataclass(frozen=True)
class DimensionCoverage:
    """The number of covered items of a dimension, and the names of the missing ones."""

    dimension: str
    present: int
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of covered items; 1.0 if the dimension has no items."""
        total = self.present + len(self.missing)
        return self.present / total if total else 1.0


@dataclass(frozen=True)
class Coverage:
    """The coverage of one operator by a suite.

    Attributes:
        rules: For each rule, the number of valid calls that satisfy or exhibit it, and the number
            of calls that violate it.
        levels: For each choice and option, the number of drawn calls that take it.
        types: The number of valid calls by element type and rank of the first input.
        feature_levels: The number of valid calls in each feature level.
    """

    operator: str
    rules: Mapping[str, tuple[int, int]]
    levels: Mapping[str, Mapping[str, int]]
    types: Mapping[tuple[str, int], int]
    feature_levels: Mapping[str, int]
    dimensions: tuple[DimensionCoverage, ...]


def measure_coverage(suite: Suite, specs: Mapping[str, SpecFile]) -> Iterator[Coverage]:
    """Yield the coverage of each operator that has a spec.

    Raises:
        OpcertError: a condition of a spec cannot be evaluated on a call of the suite.
    """
    for name, operator in suite.operators.items():
        if name in specs:
            yield _measure(operator, specs[name], suite.manifest.profile, suite.manifest.seed)


def _measure(operator: OperatorSuite, spec_file: SpecFile, profile: str, seed: int) -> Coverage:
    spec = spec_file.spec
    calls = valid_calls(operator)
    cases = [operator.cases[case_id] for case_id in calls]
    by_rule = cases_by_rule(spec, operator, calls).values()
    rules = {
        rule.id: (len(of_rule.positive), len(of_rule.negative))
        for rule, of_rule in zip(spec.rules, by_rule, strict=True)
    }
    lowest_rank, highest_rank = map(int, spec.leading.rank)
    counts = Counter((case.type, case.rank) for case in cases)
    types = {
        (element_type, rank): counts[element_type, rank]
        for element_type in spec.type_sets[spec.leading.type]
        for rank in range(lowest_rank, highest_rank + 1)
    }
    feature_levels = {
        level.name: sum(level.name in case.feature_levels for case in cases)
        for level in spec.feature_levels
    }
    size = PROFILES[profile]
    drawn = [drawn_levels(spec, seed, case_id, large=size.large) for case_id in calls]
    levels: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for choice, option in (level for of_case in drawn for level in of_case.items()):
        levels[choice][option] += 1
    dimensions = [*_coverage_of_levels(spec, drawn, large=size.large)]
    # Large calls test sizes and need not cover the rest again.
    if not size.large:
        covered = {
            "rules": {
                rule: positive > 0 and (negative > 0 or rule not in spec.requirements)
                for rule, (positive, negative) in rules.items()
            },
            "types x ranks": {f"{t} of rank {rank}": n > 0 for (t, rank), n in types.items()},
            "feature levels": {name: n > 0 for name, n in feature_levels.items()},
        }
        for dimension, names in covered.items():
            missing = tuple(name for name, is_covered in names.items() if not is_covered)
            present = len(names) - len(missing)
            dimensions.append(DimensionCoverage(dimension, present, missing))
    return Coverage(
        operator=spec.operator,
        rules=rules,
        levels=levels,
        types=types,
        feature_levels=feature_levels,
        dimensions=tuple(dimensions),
    )


# The pairs of levels that so many fresh calls show are those that a suite may cover.
_FRESH_CALLS = 2000
# Fresh calls have another seed than those of any suite is likely to have.
_FRESH_SEED = 0x0FC0FFEE
# A level: a choice of a draw, and the option that a call takes.
Level = tuple[str, str]


def drawn_levels(spec: Spec, seed: int, case: str, *, large: bool) -> Mapping[str, str]:
    """Return the option that a drawn case takes of each choice; nothing for other cases."""
    name = case.rpartition("/")[2]
    if not name.startswith(DRAWN):
        return {}
    choices = choices_of(spec, seed, int(name.rpartition("-")[2]))
    draw_call(spec, choices, large=large)
    return choices.levels


def _pairs(levels: Mapping[str, str]) -> Iterator[tuple[Level, Level]]:
    return combinations(sorted(levels.items()), 2)


def _coverage_of_levels(
    spec: Spec, drawn: Sequence[Mapping[str, str]], *, large: bool
) -> Iterator[DimensionCoverage]:
    """Yield how many of the levels, and of the pairs, of fresh calls the drawn calls have."""
    calls = drawn_calls(spec, _FRESH_SEED, large=large)
    fresh = [choices.levels for _, _, choices in islice(calls, _FRESH_CALLS)]
    singles = {level for levels in drawn for level in levels.items()}
    pairs = {pair for levels in drawn for pair in _pairs(levels)}
    expected = {level for levels in fresh for level in levels.items()}
    missing = [_text(level) for level in sorted(expected - singles)]
    yield DimensionCoverage("levels", len(expected & singles), tuple(missing))
    common = Counter(pair for levels in fresh for pair in _pairs(levels))
    missing = [", ".join(map(_text, p)) for p, _ in common.most_common() if p not in pairs]
    yield DimensionCoverage("pairs of levels", len(common) - len(missing), tuple(missing))


def _text(level: Level) -> str:
    return f"{level[0]} = {level[1]}"
