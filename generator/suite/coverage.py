"""Measures what a suite covers in its own data: rules, combinations of levels, types and ranks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from opcert.arrays.calls import Call
from opcert.cases.generation import COVERING_STRENGTH
from opcert.cases.input_space import InputSpace, MistakeLog, Observer
from opcert.cases.positive import PositiveCases, discriminates
from opcert.combinatorics.covering_arrays import alternative_rows
from opcert.combinatorics.feasible_rows import FeasibleRows
from opcert.specification.files import SpecFile
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import cases_by_rule, valid_calls
from opcert.suite.suite import Suite

BoolArray = npt.NDArray[np.bool_]
_TUPLE_NAMES = {1: "levels", 2: "pairs of levels", 3: "triples of levels"}


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
        levels: For each factor and level, the number of observations of the level in calls.
        types: The number of valid calls by element type and rank of the first input.
        feature_levels: The number of valid calls in each feature level.
    """

    operator: str
    rules: Mapping[str, tuple[int, int]]
    levels: Mapping[str, Mapping[str, int]]
    types: Mapping[tuple[str, int], int]
    feature_levels: Mapping[str, int]
    dimensions: tuple[DimensionCoverage, ...]

    @property
    def share(self) -> float:
        """The least share of all dimensions."""
        return min(dimension.share for dimension in self.dimensions)


def measure_coverage(suite: Suite, specs: Mapping[str, SpecFile]) -> Iterator[Coverage]:
    """Yield the coverage of each operator that has a spec, at the strength of the suite's profile.

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
    level_coverage = _LevelCoverage(operator, spec_file, profile, seed, calls)
    dimensions = [
        level_coverage.count(_TUPLE_NAMES[t], [*combinations(level_coverage.levels, t)])
        for t in range(1, COVERING_STRENGTH[profile] + 1)
    ]
    full_combinations = level_coverage.space.full_combinations()
    dimensions.append(level_coverage.count("full combinations", full_combinations))
    # The stress profile tests sizes and need not cover the rest again.
    if profile != "stress":
        breakable = {rule for rule, it in spec.requirements.items() if it.unbreakable is None}
        covered = {
            "rules": {
                rule: positive > 0 and (negative > 0 or rule not in breakable)
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
        levels=level_coverage.observations(),
        types=types,
        feature_levels=feature_levels,
        dimensions=tuple(dimensions),
    )


class _LevelCoverage:
    """The levels that the valid calls of one operator exhibit, alone and in combination."""

    def __init__(
        self,
        operator: OperatorSuite,
        spec_file: SpecFile,
        profile: str,
        seed: int,
        calls: Mapping[str, Call],
    ) -> None:
        observer = Observer(spec_file.spec, profile)
        self.levels = {factor: [*levels] for factor, levels in observer.levels.items()}
        self.space = InputSpace(spec_file.spec, profile)
        self._feasible, self._discriminating = self.space.feasible_rows()
        self._planner = PositiveCases(spec_file, profile, seed, MistakeLog(spec_file))
        levels = [(factor, level) for factor in self.levels for level in self.levels[factor]]
        # One line for each observation of a call.
        lines: list[list[bool]] = []
        is_discriminating: list[bool] = []
        for case_id, call in calls.items():
            case = operator.cases[case_id]
            inputs = operator.inputs(case)
            call_discriminates = discriminates(
                [inputs[name] for name in case.data_inputs],
                operator.outputs(case),
                operator.inverted_data_outputs(case),
            )
            for observation in observer.observe(call):
                lines.append([observation.exhibits(*level) for level in levels])
                is_discriminating.append(call_discriminates)
        ends = np.cumsum([len(levels) for levels in self.levels.values()])
        matrix = np.array(lines, bool).reshape(len(lines), ends[-1] if len(ends) else 0)
        columns = np.split(matrix, ends[:-1], axis=1)
        self._exhibited: dict[str, BoolArray] = dict(zip(self.levels, columns, strict=True))
        self._is_discriminating = np.array(is_discriminating, bool)

    def observations(self) -> dict[str, dict[str, int]]:
        """Return the number of observations of each level of each factor."""
        return {
            factor: dict(zip(levels, self._exhibited[factor].sum(axis=0).tolist(), strict=True))
            for factor, levels in self.levels.items()
        }

    def count(self, dimension: str, groups: Sequence[Sequence[str]]) -> DimensionCoverage:
        """Count the covered combinations of levels of each group of factors.

        Only a discriminating call covers a combination, unless no such call can have it.
        """
        present, missing = 0, list[str]()
        for group in groups:
            columns = [self._exhibited[factor] for factor in group]
            in_any = _combined(columns)
            in_discriminating = _combined([c[self._is_discriminating] for c in columns])
            positions = [[*self.levels].index(factor) for factor in group]
            for cell in np.ndindex(in_any.shape):
                levels = dict(zip(positions, cell, strict=True))
                if in_discriminating[cell] or (in_any[cell] and not self._can_discriminate(levels)):
                    present += 1
                elif _is_feasible(levels, self._feasible):
                    names = zip(group, cell, strict=True)
                    missing.append(" ".join(f"{f}={self.levels[f][i]}" for f, i in names))
        return DimensionCoverage(dimension, present, tuple(missing))

    def _can_discriminate(self, levels: Mapping[int, int]) -> bool:
        """Whether any of a few calls with these levels (by factor position) discriminates."""
        return _is_feasible(levels, self._discriminating) and any(
            self._planner.discriminates(self.space, row)
            for row in alternative_rows(self._discriminating, levels)
        )


def _is_feasible(levels: Mapping[int, int], rows: FeasibleRows) -> bool:
    """Whether a feasible row has these levels (by factor position)."""
    # The table of pairs decides most questions.
    for (f, i), (g, j) in combinations(sorted(levels.items()), 2):
        if not rows.pairs[f, g][i, j]:
            return False
    return len(levels) == 2 or rows.consistent_with(levels) is not None


def _combined(columns: Sequence[BoolArray]) -> BoolArray:
    """Return a mask of the combinations of levels that occur together in a line.

    Each of `columns` has the shape [lines, levels of a factor]; the mask has one axis per factor.
    """
    first, *others = columns
    if not others:
        return np.asarray(first.any(axis=0))
    if len(others) == 1:
        # A product of float matrices is much faster than one of Booleans.
        return np.asarray(first.T.astype(np.float32) @ others[0].astype(np.float32) > 0)
    return np.stack([_combined([c[has_level] for c in others]) for has_level in first.T])
