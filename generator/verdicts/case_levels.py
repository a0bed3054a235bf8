"""Cases of an operator -> the levels that each exhibits, for the diagnosis of failures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import prod
from typing import Self, TypeAlias

import ml_dtypes
import numpy as np

from opcert.arrays.calls import Call
from opcert.arrays.element_types import FLOATS, Array, bits_of, type_name
from opcert.cases.case import Change
from opcert.cases.integer_levels import MULTIPLES, number_of
from opcert.diagnosis.explanations import MIN_FAILING, necessary_condition
from opcert.diagnosis.table import BoolArray, Condition, LevelTable, Point
from opcert.run.session import Step
from opcert.specification.files import SpecFile
from opcert.suite.format import IndexedCase, Manifest
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import call_of_case
from opcert.verdicts.call_levels import (
    CHANGE,
    COMPARISON,
    DERIVED,
    MAX_ELEMENTS,
    MUTATED,
    NARROWED,
    NEIGHBOUR,
    POSITION,
    RANK,
    TYPE,
    VIOLATED_RULE,
    LevelledCalls,
    levels_of_change,
    levels_of_data,
    levels_of_outputs,
    shared_points,
)
from opcert.verdicts.fresh_calls import FreshCalls
from opcert.verdicts.reproduction import VALUE_KINDS, FreshCall

# A condition separates cases if no more of those that fail lack it, and no more than so many of
# those that pass have it.
_LACKING, _RARE = 0.05, 0.2
# A point as pairs. Thousands of points have most pairs in common, of which each is kept once.
_Pair: TypeAlias = tuple[str, frozenset[str]]
_Pairs: TypeAlias = tuple[_Pair, ...]


@dataclass(frozen=True)
class CaseLevels:
    """The levels of all cases of an operator, at each of their points, as a table.

    `calls` finds levels of further calls, and `drawn` draws fresh ones; both are None without the
    spec. `numbers` are the cases' numbers in the table.
    """

    operator: OperatorSuite
    numbers: Mapping[str, int]
    table: LevelTable
    calls: LevelledCalls | None = None
    drawn: FreshCalls | None = None
    _visible: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    # The points of fresh calls, since each of several searches has the former calls and more.
    _fresh: dict[str, Sequence[Point]] = field(default_factory=dict)

    def with_fresh(self, calls: Sequence[FreshCall]) -> Self:
        """Return the levels of the cases and of some fresh calls, which only a spec can draw."""
        if not calls or self.calls is None or self.drawn is None:
            return self
        for fresh in calls:
            if fresh.name not in self._fresh:
                self._fresh[fresh.name] = []
                if (call := self.drawn.call(fresh)) is not None:
                    step = partial(self.drawn.step, fresh, call)
                    self._fresh[fresh.name] = self.calls.points(call, step)
        found = {fresh.name: self._fresh[fresh.name] for fresh in calls}
        points = {name: levels for name, levels in found.items() if levels}
        numbers = {name: number for number, name in enumerate(points, len(self.numbers))}
        table = self.table.with_cases(points.values())
        return replace(self, numbers={**self.numbers, **numbers}, table=table)

    def mask(self, cases: Iterable[str]) -> BoolArray:
        """Return flags of some cases."""
        flags = np.zeros(len(self.numbers), bool)
        flags[[self.numbers[case] for case in cases]] = True
        return flags

    def separating(
        self, kind: str, failing: Iterable[str], passing: Iterable[str]
    ) -> tuple[Condition, int, int]:
        """Return what nearly all failing cases have and few passing ones, () if there is nothing.

        Also return how many passing cases have it, of how many that could fail in this way.
        """
        cases, fails = self.operator.cases, self.mask(failing)
        passes = self.mask(case for case in passing if self.can_show(kind, cases[case]))
        condition = necessary_condition(self.table, fails, passes, _LACKING)
        count, total = int((self.table.matching(condition) & passes).sum()), int(passes.sum())
        is_sure = fails.sum() >= MIN_FAILING and count <= _RARE * total
        return condition if is_sure else (), count, total

    def names(self, flags: BoolArray) -> list[str]:
        """Return the flagged cases of the suite, in its order."""
        cases = self.operator.cases
        return [name for name, number in self.numbers.items() if flags[number] and name in cases]

    def can_show(self, kind: str, case: IndexedCase) -> bool:
        """Whether a case could fail in this way: a pass says nothing where no fault would show.

        Wrong values show where outputs have different elements, unless they are no elements of the
        data. Other bits of equal values show in signalling NaNs, since few faults change the sign
        of a zero. Few faults change an output without elements.
        """
        if case.expects == "rejection":
            return True
        if kind == "shape":
            return any(prod(output.shape) for output in case.outputs)
        if kind not in VALUE_KINDS:
            return True
        if case.id not in self._visible:
            self._visible[case.id] = _visible(self.operator, case)
        has_different_elements, has_fragile_bits = self._visible[case.id]
        return has_fragile_bits if kind == "bits" else has_different_elements


def case_levels(
    operator: OperatorSuite, spec_file: SpecFile | None, manifest: Manifest | None = None
) -> CaseLevels:
    """Return the levels that each case exhibits; without the spec, type and rank at most.

    `manifest` is that of the suite.
    """
    of_spec = None if spec_file is None else LevelledCalls(spec_file)
    drawn = None if spec_file is None else FreshCalls(spec_file, manifest)
    points = points_of_cases(operator, of_spec)
    numbers = {name: number for number, name in enumerate(points)}
    return CaseLevels(operator, numbers, _table(points), of_spec, drawn)


def points_of_cases(
    operator: OperatorSuite, of_spec: LevelledCalls | None
) -> dict[str, list[_Pairs]]:
    """Return the levels of each case at each of its points."""
    calls = {case.id: call_of_case(operator, case) for case in operator.cases.values()}
    points: dict[str, list[_Pairs]] = {}
    kept: dict[_Pair, _Pair] = {}
    for case in operator.cases.values():
        call, is_valid = calls[case.id], case.expects == "outputs"
        if is_valid:
            shapes = [output.shape for output in case.outputs]
            own = levels_of_outputs(shapes, case.rules)
            own |= levels_of_data(
                {
                    name: operator.read_array(case.inputs[name])
                    for name in case.data_inputs
                    if case.inputs[name].type in FLOATS
                }
            )
            if case.change is not None:
                own[NEIGHBOUR] = frozenset([case.change.kind])
            known: list[Point] = [{}]
            if of_spec is None:
                own |= {TYPE: frozenset([case.type]), RANK: frozenset([str(case.rank)])}
            elif case.ambiguity is None:
                known = of_spec.properties.points(call, shapes)
                own |= of_spec.results(partial(operator.outputs, case))
        else:
            change, baseline = case.change or Change(kind=""), case.baseline or ""
            # A violation that the spec lists may change several arguments.
            changed = {change.argument} if change.argument else _differing(calls[baseline], call)
            rule = case.violated_rule or ""
            own = levels_of_change(change, changed, rule, calls[baseline])
            own |= {} if of_spec is None else of_spec.violation(call, rule, changed)
            known = [*shared_points([*map(dict, points[baseline])], changed)]
        if of_spec is not None:
            own |= of_spec.narrowing(call, is_valid, partial(_bare_step, operator, case))
        points[case.id] = [
            tuple(kept.setdefault(pair, pair) for pair in {**levels, **own}.items())
            for levels in known
        ]
    return points


def _table(points: Mapping[str, Sequence[_Pairs]]) -> LevelTable:
    """Return the levels of cases as a table."""
    # Of conditions that are worth the same, that of the first factors is preferred.
    factors: dict[str, dict[str, None]] = {
        name: {} for name in (VIOLATED_RULE, NARROWED, COMPARISON, MUTATED, CHANGE, POSITION)
    }
    every = chain.from_iterable(chain.from_iterable(points.values()))
    for name, levels in dict.fromkeys(every):
        factors.setdefault(name, {}).update(dict.fromkeys(sorted(levels)))
    present = {name: sorted(levels, key=_number) for name, levels in factors.items() if levels}
    # Each rule that is not checked is a cause of its own, and so is each width of integers.
    separate = (VIOLATED_RULE, NARROWED)
    ordered = {name for name, levels in present.items() if all(map(_is_number, levels))}
    derived = {name for name in present if name.endswith(DERIVED)}
    cases = ([*map(dict, own)] for own in points.values())
    return LevelTable(present, cases, separate, ordered, derived)


def _differing(one: Call, other: Call) -> set[str]:
    """Return the arguments in which calls differ."""
    arguments, others = one.arguments, other.arguments
    return {n for n in {**arguments, **others} if arguments.get(n) != others.get(n)}


def _bare_step(operator: OperatorSuite, case: IndexedCase) -> Step:
    """Return the call of a case without its golden outputs, which may take long to recompute."""
    layouts = {name: array.layout for name, array in case.inputs.items()}
    inputs = operator.elements(case)
    return Step(operator.index.operator, inputs, case.attributes, None, layouts, case.data_inputs)


def _number(level: str) -> float:
    """Return the number by which levels are sorted."""
    number = MULTIPLES.index(level) if level in MULTIPLES else number_of(level)
    return -1 if number is None else number


def _is_number(level: str) -> bool:
    return level in MULTIPLES or number_of(level) is not None


def _visible(operator: OperatorSuite, case: IndexedCase) -> tuple[bool, bool]:
    """Return whether the outputs of a case have different elements, and fragile bits."""
    size = sum(prod(output.shape) for output in case.outputs)
    if not 0 < size <= MAX_ELEMENTS:
        return size > 0, size > 0
    outputs = operator.outputs(case)
    return (
        have_different_elements(outputs),
        any(_has_fragile_bits(o) for o in outputs if type_name(o.dtype) in FLOATS),
    )


def _has_fragile_bits(output: Array) -> bool:
    """Whether an output has a signalling NaN, which conversions and arithmetic turn quiet."""
    bits = bits_of(output)
    quiet = 1 << (ml_dtypes.finfo(output.dtype).nmant - 1)  # type: ignore[no-untyped-call]
    with np.errstate(invalid="ignore"):
        return bool((np.isnan(output) & (bits & quiet == 0)).any())


def have_different_elements(outputs: Iterable[Array]) -> bool:
    """Whether an output has different elements, so that wrong values show.

    Elements that change places are wrong values, too.
    """
    every = (bits_of(output).ravel() for output in outputs)
    return any(bool((bits[1:] != bits[:1]).any()) for bits in every)
