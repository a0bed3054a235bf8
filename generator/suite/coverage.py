"""What a suite covers, counted in its arrays: rules, levels, tuples of levels, types and ranks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from opcert.cases import (
    COVERING_STRENGTH,
    InputSpace,
    MistakeLog,
    Observer,
    PositiveCases,
    discriminates,
)
from opcert.combinatorics import FeasibleRows, alternative_rows
from opcert.specification import SpecFile, evaluate_integer, parse_expression
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.rule_cases import cases_by_rule, valid_calls
from opcert.suite.suite import Suite

Flags = npt.NDArray[np.bool_]
Level = tuple[str, str]
PAIR = 2


@dataclass(frozen=True)
class DimensionCoverage:
    """How much there is of one dimension, and the names of what is not there."""

    dimension: str
    present: int
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """The part that is present, 1.0 where there is nothing to be."""
        whole = self.present + len(self.missing)
        return self.present / whole if whole else 1.0


@dataclass(frozen=True)
class Coverage:
    """What a suite covers of one operator; `told` are the factors counted in the data.

    `rules` has the number of calls that keep or show each rule, and of those that break it.
    """

    operator: str
    rules: Mapping[str, tuple[int, int]]
    levels: Mapping[str, Mapping[str, int]]
    types: Mapping[tuple[str, int], int]
    feature_levels: Mapping[str, int]
    told: tuple[str, ...]
    covered: tuple[DimensionCoverage, ...]

    @property
    def share(self) -> float:
        """The least share of all dimensions: the figure of the operator."""
        return min(each.share for each in self.covered)


def measure_coverage(suite: Suite, specs: Mapping[str, SpecFile]) -> Iterator[Coverage]:
    """Yield what the suite covers of each operator that has a spec, by its profile's strength."""
    for name, operator in suite.operators.items():
        if name in specs:
            manifest = suite.manifest
            yield _Count(operator, specs[name], manifest.profile, manifest.seed).coverage()


class _Count:
    """The calls of one operator, with the levels that show in each."""

    def __init__(
        self, operator: OperatorSuite, spec_file: SpecFile, profile: str, seed: int
    ) -> None:
        self.operator = operator
        self.spec = spec = spec_file.spec
        self.author = PositiveCases(spec_file, profile, seed, MistakeLog(spec_file))
        self.profile = profile
        self.calls = valid_calls(operator)
        self.valid = [operator.cases[case] for case in self.calls]
        self.observer = Observer(spec, profile)
        self.space = InputSpace(spec, profile)
        self.choices, self.telling = self.space.choices()
        self.levels: list[Level] = [
            (factor, level) for factor, levels in self.observer.levels.items() for level in levels
        ]

    def coverage(self) -> Coverage:
        rules, types = self.rules(), self.types()
        first = self.spec.feature_levels
        features = {
            each.name: sum(each.name in case.feature_levels for case in self.valid)
            for each in first
        }
        counted = self.shown.sum(axis=0).tolist()
        levels: dict[str, dict[str, int]] = {factor: {} for factor in self.observer.levels}
        for (factor, level), count in zip(self.levels, counted, strict=True):
            levels[factor][level] = count
        strength = COVERING_STRENGTH[self.profile]
        return Coverage(
            operator=self.spec.operator,
            rules=rules,
            levels=levels,
            types=types,
            feature_levels=features,
            told=tuple(self.observer.factors),
            covered=(
                *(self.tuples(t) for t in range(1, strength + 1)),
                self.full_combinations(),
                # Under stress it is sizes that count.
                *(() if self.profile == "stress" else self.named(rules, types, features)),
            ),
        )

    def named(
        self,
        rules: Mapping[str, tuple[int, int]],
        types: Mapping[tuple[str, int], int],
        features: Mapping[str, int],
    ) -> Iterator[DimensionCoverage]:
        """Yield what there is of that which the spec lists by name."""
        yield _named("rules", {rule: self.is_exercised(rule, rules[rule]) for rule in rules})
        yield _named("types x ranks", {f"{t} of rank {r}": n > 0 for (t, r), n in types.items()})
        yield _named("feature levels", {name: n > 0 for name, n in features.items()})

    def rules(self) -> dict[str, tuple[int, int]]:
        found = cases_by_rule(self.spec, self.operator, self.calls).values()
        return {
            rule.id: (len(cases.positive), len(cases.negative))
            for rule, cases in zip(self.spec.rules, found, strict=True)
        }

    def is_exercised(self, rule: str, counts: tuple[int, int]) -> bool:
        """Whether valid calls keep or show a rule, and others break it where that can be."""
        requirement = self.spec.requirements.get(rule)
        breakable = requirement is not None and requirement.unbreakable is None
        return counts[0] > 0 and (counts[1] > 0 or not breakable)

    def types(self) -> dict[tuple[str, int], int]:
        """Count the valid calls by type and rank of the leading input, the declared ones."""
        least, most = (
            evaluate_integer(parse_expression(end), self.spec.fixed_names)
            for end in self.spec.leading.rank
        )
        counts = Counter((case.type, case.rank) for case in self.valid)
        types = self.spec.type_sets[self.spec.leading.type]
        return {(t, r): counts[t, r] for t in types for r in range(least, most + 1)}

    @cached_property
    def lines(self) -> tuple[Flags, Flags]:
        """For each place of each valid call: the levels that show, and whether its output tells."""
        shown: list[list[bool]] = []
        tells: list[bool] = []
        for case in self.valid:
            told = self.tells(case)
            for observation in self.observer.observe(self.calls[case.id]):
                seen = {factor: observation.levels(factor) for factor in self.observer.factors}
                drawn = {f: frozenset([level]) for f, level in case.levels.items()}
                here = {**drawn, **seen}
                shown.append([level in here.get(factor, ()) for factor, level in self.levels])
                tells.append(told)
        return np.array(shown, bool).reshape(len(shown), len(self.levels)), np.array(tells, bool)

    def tells(self, case: IndexedCase) -> bool:
        """Whether outputs depend on data, in which there are elements to be told apart."""
        inputs = self.operator.inputs(case)
        outputs, others = self.operator.outputs(case), self.operator.inverted_data_outputs(case)
        return discriminates([inputs[name] for name in case.data_inputs], outputs, others)

    @property
    def shown(self) -> Flags:
        return self.lines[0]

    def tuples(self, t: int) -> DimensionCoverage:
        """Count the t-tuples of levels that stand in a call, where it can be one that tells."""
        names = {1: "levels", 2: "pairs of levels", 3: "triples of levels"}
        groups = combinations(self.observer.levels, t)
        return self.counted(names[t], [group for group in groups if len(group) == t])

    def full_combinations(self) -> DimensionCoverage:
        """Count the combinations that the spec wants of some factors."""
        return self.counted("full combinations", self.space.full_combinations())

    def counted(self, dimension: str, groups: Sequence[Sequence[str]]) -> DimensionCoverage:
        present, missing = 0, list[str]()
        shown, tells = self.lines
        for group in groups:
            everywhere, told = self.standing(group, shown), self.standing(group, shown[tells])
            for cell in np.ndindex(told.shape):
                named = {f: self.names[f][i] for f, i in zip(group, cell, strict=True)}
                if told[cell] or (everywhere[cell] and not self.can_discriminate(named)):
                    present += 1
                elif self.can_be(named, self.choices):
                    missing.append(" ".join(f"{f}={level}" for f, level in named.items()))
        return DimensionCoverage(dimension, present, tuple(missing))

    def standing(self, group: Sequence[str], lines: Flags) -> Flags:
        """Return which combinations of the levels of `group` stand in one of `lines`."""
        return _together([lines[:, self.columns[factor]] for factor in group])

    @cached_property
    def names(self) -> dict[str, list[str]]:
        return {factor: [*levels] for factor, levels in self.observer.levels.items()}

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Where the levels of each factor are among all levels."""
        ends = np.cumsum([0, *map(len, self.names.values())]).tolist()
        return {f: slice(*ends[i : i + 2]) for i, f in enumerate(self.names)}

    def can_be(self, levels: Mapping[str, str], choices: FeasibleRows) -> bool:
        """Whether one of the rows of `choices` has `levels`."""
        wanted = self._wanted(levels)
        pairs = combinations(sorted(wanted.items()), 2)
        if not all(choices.pairs[f, g][i, j] for (f, i), (g, j) in pairs):
            return False
        return len(wanted) == PAIR or choices.consistent_with(wanted) is not None

    def can_discriminate(self, levels: Mapping[str, str]) -> bool:
        """Whether a row with `levels` has a call that discriminates: of the few that were tried."""
        return self.can_be(levels, self.telling) and any(
            self.author.discriminates(self.space, row)
            for row in alternative_rows(self.telling, self._wanted(levels))
        )

    def _wanted(self, levels: Mapping[str, str]) -> dict[int, int]:
        order = [*self.names]
        return {order.index(f): self.names[f].index(level) for f, level in levels.items()}


def _together(columns: Sequence[Flags]) -> Flags:
    """Return which levels, one of each factor, are set in one line."""
    first, *others = columns
    if not others:
        return np.asarray(first.any(axis=0))
    if len(others) == 1:
        counts = first.T.astype(np.float32) @ others[0].astype(np.float32)
        return np.asarray(counts > 0)
    return np.stack([_together([each[set_] for each in others]) for set_ in first.T])


def _named(dimension: str, present: Mapping[str, bool]) -> DimensionCoverage:
    missing = tuple(name for name, is_there in present.items() if not is_there)
    return DimensionCoverage(dimension, len(present) - len(missing), missing)
