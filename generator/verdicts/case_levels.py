"""Cases of an operator -> the levels that each exhibits, for the diagnosis of failures.

A runtime that narrows integers fails in all of these calls and in no other. No levels say so: a
stop of 2^32 + 1 is read as 1, which changes nothing where the data ends before. As in a fault
dictionary, the cases that reveal a common fault are listed, here with the help of the reference.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from math import prod
from typing import Any, Self

import ml_dtypes
import numpy as np

from opcert.arrays.calls import Call, argument_of
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, INTEGERS, Array, bits_of, type_name
from opcert.cases.case import Change
from opcert.cases.conditions import Conditions
from opcert.cases.properties import Properties, range_of
from opcert.diagnosis import BoolArray, LevelTable, Point
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.run.session import Step
from opcert.specification.files import SpecFile, golden_outputs
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import valid_calls
from opcert.verdicts.fresh import VALUE_KINDS, FreshCall, NumberedCalls, have_different_elements
from opcert.verdicts.reduction import Candidate

# To how many bits integers may be narrowed.
_WIDTHS = (8, 16, 32)
# Larger calls and outputs are not computed.
_MAX_ELEMENTS = 1 << 18


class Narrowing:
    """Computes the calls of one operator with narrowed integers."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._reference = spec_file.reference
        self._conditions = Conditions(spec_file.spec)

    def level(
        self, numbers: Iterable[Array], is_valid: bool, make_call: Callable[[], Candidate]
    ) -> Point:
        """Return to how many bits the integers of a call cannot be narrowed without effect."""
        arrays = [*numbers]
        widths = [bits for bits in _WIDTHS if any(_exceeds(array, bits) for array in arrays)]
        if not widths:
            return {NARROWED: frozenset()}
        call = make_call()
        own = self._result(call) if is_valid else ()
        differing = [bits for bits in widths if self._result(_narrowed(call, bits)) != own]
        return {NARROWED: frozenset(f"{bits} bits" for bits in differing)}

    def level_of_case(self, operator: OperatorSuite, case: IndexedCase) -> Point:
        """Return the same for a case."""

        def call() -> Candidate:
            layouts = {name: stored.layout for name, stored in case.inputs.items()}
            return Candidate(operator.inputs(case), case.attributes, layouts, case.data_inputs)

        is_small = sum(prod(stored.shape) for stored in case.inputs.values()) <= _MAX_ELEMENTS
        numbers = (
            operator.read_array(stored)
            for name, stored in case.inputs.items()
            if is_small and _is_number(name, ELEMENT_TYPES[stored.type], case.data_inputs)
        )
        return self.level(numbers, case.expects == "outputs", call)

    def _result(self, call: Candidate) -> Sequence[object]:
        """Return what determines the outputs of a call; nothing if the reference rejects it."""
        try:
            if not self._conditions.has_small_outputs(call.call, _MAX_ELEMENTS):
                return ("large",)
        except (ExpressionError, Inapplicable):
            return ()
        with suppress(OpcertError):
            outputs = golden_outputs(self._reference, call.inputs, call.attributes)
            return tuple((output.shape, bits_of(output).tobytes()) for output in outputs)
        return ()


def _is_number(name: str, dtype: np.dtype[Any], data_inputs: Sequence[str]) -> bool:
    return dtype.kind in "iu" and name not in data_inputs


def _exceeds(array: Array, bits: int) -> bool:
    """Whether a signed integer of so many bits cannot hold one of the elements."""
    least, limit = -1 << (bits - 1), 1 << (bits - 1)
    return array.size > 0 and not least <= int(array.min()) <= int(array.max()) < limit


def _narrowed(call: Candidate, bits: int) -> Candidate:
    """Return a call whose integer inputs have only their low bits."""
    inputs = {
        name: array.astype(f"i{bits // 8}").astype(np.int64)
        if _is_number(name, array.dtype, call.data_inputs)
        else array
        for name, array in call.inputs.items()
    }
    return replace(call, inputs=inputs)


# Factors that no spec declares.
VIOLATED_RULE, MUTATED, CHANGE = "violated rule", "mutated argument", "change"
MUTATION, POSITION = "mutation", "position"
NEIGHBOUR, BEHAVIOUR = "neighbour", "behaviour "
OUTPUT_SIZE, OUTPUT_RANK = "output elements", "output rank"
NARROWED = "narrowed integers"
# Where the spec is missing, whose factors say more.
TYPE, RANK = "type of the first input", "rank of the first input"
# What a call with a level of these has, in words.
PHRASES = {
    VIOLATED_RULE: "a violation of {}",
    MUTATED: "a change of {}",
    CHANGE: "{}",
    MUTATION: "the mutation {}",
    POSITION: "a change at the position {}",
    NARROWED: "integers that need more than {}",
    NEIGHBOUR: "the difference '{}' from the previous call",
    OUTPUT_RANK: "an output of rank {}",
    OUTPUT_SIZE: "outputs of {} elements",
    TYPE: "a first input of {}",
    RANK: "a first input of rank {}",
}
# Which mutations change the same property of an argument, by what their names contain.
_CHANGES = {
    "an omitted argument": r"^omitted",
    "another element type": r"^as-[a-z]+\d|^as-boolean|set-to-[A-Z]",
    "values that wrap": r"2-(8|16|32)|of-u|as-u|wraps|past-u",
    "balanced values": r"balanced",
    "other extents": r"extent",
    "another rank": r"dimension|scalar|^(row|column|cube|square|row-of-two|column-of-two)$",
    "more or fewer elements": r"^(with|first-alone|none|two$|three$)",
    "another order": r"reversed|rotated|exchanged|alike|as-the",
    "values above the bounds": r"above|greatest|plus",
    "values below the bounds": r"below|least|minus|negated|inverted",
}


@dataclass(frozen=True)
class CaseLevels:
    """The levels of all cases of an operator, at each of their points.

    Fresh calls can be added, if the spec is known. `numbers` are the cases' numbers in the table.
    """

    operator: OperatorSuite
    points: Mapping[str, Sequence[Point]]
    spec_file: SpecFile | None = None
    _visible: dict[str, tuple[bool, bool]] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each case in the table."""
        return {name: number for number, name in enumerate(self.points)}

    @cached_property
    def table(self) -> LevelTable:
        """The levels as a table."""
        return level_table([*self.points.values()])

    def with_fresh(self, calls: Sequence[FreshCall]) -> Self:
        """Return the levels of the cases and of some fresh calls, which only a spec can draw."""
        if not calls or self.spec_file is None:
            return self
        known, points = LevelledCalls(self.spec_file), dict(self.points)
        for fresh in calls:
            call = known.call(fresh.number)
            if call is not None and (
                own := known.points(call, partial(known.candidate, fresh.number, call))
            ):
                points[fresh.name] = own
        return replace(self, points=points)

    def mask(self, cases: Iterable[str]) -> BoolArray:
        """Return flags of some cases."""
        flags = np.zeros(len(self.numbers), bool)
        flags[[self.numbers[case] for case in cases]] = True
        return flags

    def names(self, flags: BoolArray) -> list[str]:
        """Return the flagged cases of the suite, in its order."""
        cases = self.operator.cases
        return [name for name, number in self.numbers.items() if flags[number] and name in cases]

    def can_show(self, kind: str, case: IndexedCase) -> bool:
        """Whether a case could fail in this way: a pass says nothing where no fault would show.

        Other bits of equal values show in signalling NaNs, since few faults change the sign of a
        zero.
        """
        if kind not in VALUE_KINDS or case.expects == "rejection":
            return True
        if case.id not in self._visible:
            self._visible[case.id] = _visible(self.operator, case)
        has_different_elements, has_fragile_bits = self._visible[case.id]
        return has_fragile_bits if kind == "bits" else has_different_elements


def level_table(points: Sequence[Sequence[Point]]) -> LevelTable:
    """Return the levels of cases, each with its points, as a table."""
    # Of conditions that are worth the same, that of the first factors is preferred.
    factors: dict[str, dict[str, None]] = {
        name: {} for name in (VIOLATED_RULE, NARROWED, MUTATED, CHANGE, POSITION, MUTATION)
    }
    for point in chain.from_iterable(points):
        for name, levels in point.items():
            factors.setdefault(name, {}).update(dict.fromkeys(sorted(levels)))
    present = {name: sorted(levels, key=_number) for name, levels in factors.items() if levels}
    # Each rule that is not checked is a cause of its own, and so is each width of integers.
    return LevelTable(present, points, separate=(VIOLATED_RULE, NARROWED))


def case_levels(operator: OperatorSuite, spec_file: SpecFile | None) -> CaseLevels:
    """Return the levels that each case exhibits; without the spec, type and rank at most."""
    properties = None if spec_file is None else Properties(spec_file.spec)
    calls = {} if properties is None else valid_calls(operator)
    narrowing = None if spec_file is None else Narrowing(spec_file)
    points: dict[str, list[Point]] = {}
    for case in operator.cases.values():
        if case.expects == "rejection" and case.baseline is not None:
            change = case.change or Change(kind="")
            # A violation that the spec lists may change several arguments.
            changed = {change.argument} if change.argument else _changed_arguments(operator, case)
            rule = case.violated_rule or ""
            points[case.id] = _invalid_points(change, changed, rule, points[case.baseline])
        else:
            shapes = [output.shape for output in case.outputs]
            own = _of_outputs(shapes, case.rules)
            if case.change is not None:
                own[NEIGHBOUR] = frozenset([case.change.kind])
            known: list[Point] = [{}]
            if properties is None:
                own |= {TYPE: frozenset([case.type]), RANK: frozenset([str(case.rank)])}
            elif case.id in calls:
                known = properties.points(calls[case.id], shapes)
            points[case.id] = [{**levels, **own} for levels in known]
        if narrowing is not None:
            narrowed = narrowing.level_of_case(operator, case)
            points[case.id] = [{**point, **narrowed} for point in points[case.id]]
    return CaseLevels(operator, points, spec_file)


class LevelledCalls(NumberedCalls):
    """Calls with their levels."""

    def __init__(self, spec_file: SpecFile) -> None:
        super().__init__(spec_file)
        self._properties, self._narrowing = Properties(spec_file.spec), Narrowing(spec_file)

    def points(self, call: Call, make_call: Callable[[], Candidate]) -> list[Point]:
        """Return the levels of a call at each of its points; none if the spec is at fault.

        `make_call` returns the call with its arrays.
        """
        with suppress(OpcertError, Inapplicable):
            shapes = [output.shape for output in self._conditions.outputs(call)]
            own = {
                **_of_outputs(shapes, self._spec.full_ids(*self._conditions.behaviours(call))),
                **self._narrowing.level(_numbers(call), True, make_call),
            }
            return [{**levels, **own} for levels in self._properties.points(call, shapes)]
        return []

    def points_of(self, step: Step) -> list[Point]:
        """Return the levels of the valid call of a step."""
        candidate = Candidate.from_step(step)
        return self.points(candidate.call, lambda: candidate)

    def invalid_points(self, valid: Step, step: Step, change: Change) -> list[Point]:
        """Return the levels of an invalid call, which is a `valid` one with a `change`."""
        baseline, changed = self.points_of(valid), Candidate.from_step(step)
        narrowed = self._narrowing.level(_numbers(changed.call), False, lambda: changed)
        points = _invalid_points(change, {change.argument}, step.rule or "", baseline)
        return [{**point, **narrowed} for point in points]


def _numbers(call: Call) -> Iterator[Array]:
    """Yield the integers of each input whose values are known."""
    for tensor in call.inputs.values():
        if tensor.values is not None and tensor.type in INTEGERS:
            yield np.array(tensor.values, ELEMENT_TYPES[tensor.type])


def _of_outputs(shapes: Sequence[Sequence[int]], rules: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the levels of outputs, and the behaviours that a call exhibits."""
    return {
        OUTPUT_SIZE: frozenset([range_of(sum(map(prod, shapes)))]),
        OUTPUT_RANK: frozenset(str(len(shape)) for shape in shapes),
        **{f"{BEHAVIOUR}{rule}": frozenset(["exhibited"]) for rule in rules},
    }


def _number(level: str) -> int:
    """Return the number with which a level begins, by which levels are sorted."""
    match = re.match(r"[\d,]+$|[\d,]+(?= to | or )", level)
    return int(match[0].replace(",", "")) if match else -1


def _changed_arguments(operator: OperatorSuite, case: IndexedCase) -> set[str]:
    """Return the arguments in which an invalid call differs from its baseline."""
    former = operator.cases[case.baseline or case.id]
    return {
        *map(argument_of, operator.changed_inputs(case)),
        *(
            name
            for name in {**former.attributes, **case.attributes}
            if case.attributes.get(name) != former.attributes.get(name)
        ),
    }


def _invalid_points(
    change: Change, changed: Collection[str], rule: str, baseline: list[Point]
) -> list[Point]:
    """Return the levels of an invalid call: its change, and what it shares with its baseline."""
    property_ = next((c for c, pattern in _CHANGES.items() if re.search(pattern, change.kind)), "")
    own: Point = {
        CHANGE: frozenset([property_ or "other values"]),
        VIOLATED_RULE: frozenset([rule]),
        MUTATED: frozenset(changed),
        MUTATION: frozenset([change.kind]),
        POSITION: frozenset([change.position] if change.position else []),
    }
    dropped = (*(f"{argument} " for argument in changed), BEHAVIOUR)
    shared = [
        {
            factor: levels
            for factor, levels in point.items()
            if not factor.startswith(dropped)
            and factor not in (OUTPUT_SIZE, OUTPUT_RANK, NEIGHBOUR, NARROWED)
        }
        for point in baseline
    ]
    # Points that differ in dropped factors alone count once.
    distinct = {tuple(sorted((f, *sorted(v)) for f, v in point.items())): point for point in shared}
    return [{**point, **own} for point in distinct.values()]


def _visible(operator: OperatorSuite, case: IndexedCase) -> tuple[bool, bool]:
    """Return whether the outputs of a case have different elements, and fragile bits."""
    size = sum(prod(output.shape) for output in case.outputs)
    if not 0 < size <= _MAX_ELEMENTS:
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
