"""Cases of an operator -> the levels that each exhibits, for the diagnosis of failures.

A runtime that narrows integers fails in all of these calls and in no other. No levels say so: a
stop of 2^32 + 1 is read as 1, which changes nothing where the data ends before. As in a fault
dictionary, the cases that reveal a common fault are listed, here with the help of the reference.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from math import prod
from typing import Self

import ml_dtypes
import numpy as np

from opcert.arrays.calls import Call
from opcert.arrays.element_types import FLOATS, INTEGERS, Array, bits_of, type_name
from opcert.cases.case import Change
from opcert.cases.conditions import Conditions, are_small
from opcert.cases.drawn import GoldenCalls, choices_of, draw_call
from opcert.cases.properties import MULTIPLES, Properties, multiple_of, number_of, range_of
from opcert.diagnosis.table import BoolArray, LevelTable, Point
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.run.session import Step
from opcert.specification.files import SpecFile, golden_outputs
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import call_of_case
from opcert.suite.support import CallProperties
from opcert.verdicts.reduction import StepMaker, call_of
from opcert.verdicts.reproduction import VALUE_KINDS, FreshCall

# Larger calls and outputs are not computed.
_MAX_ELEMENTS = 1 << 18

# Factors that no spec declares.
VIOLATED_RULE, MUTATED, CHANGE = "violated rule", "mutated argument", "change"
COMPARISON, POSITION = "comparison", "position"
NEIGHBOUR, BEHAVIOUR = "neighbour", "behaviour "
OUTPUT_SIZE, OUTPUT_RANK = "output elements", "output rank"
OUTPUT_MULTIPLE, SPECIAL = "output multiple", "special elements"
NARROWED = "narrowed integers"
# Where the spec is missing, whose factors say more.
TYPE, RANK = "type of the first input", "rank of the first input"
# What an invalid call does not have.
_OF_RESULTS = (OUTPUT_SIZE, OUTPUT_MULTIPLE, OUTPUT_RANK, NEIGHBOUR, NARROWED, SPECIAL)
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

    `calls` is None without the spec: it finds levels of further calls. `numbers` are the cases'
    numbers in the table.
    """

    operator: OperatorSuite
    points: Mapping[str, Sequence[Point]]
    calls: "LevelledCalls | None" = None
    _visible: dict[str, tuple[bool, bool]] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each case in the table."""
        return {name: number for number, name in enumerate(self.points)}

    @cached_property
    def table(self) -> LevelTable:
        """The levels as a table."""
        # Of conditions that are worth the same, that of the first factors is preferred.
        factors: dict[str, dict[str, None]] = {
            name: {} for name in (VIOLATED_RULE, NARROWED, COMPARISON, MUTATED, CHANGE, POSITION)
        }
        for point in chain.from_iterable(self.points.values()):
            for name, levels in point.items():
                factors.setdefault(name, {}).update(dict.fromkeys(sorted(levels)))
        present = {name: sorted(levels, key=_number) for name, levels in factors.items() if levels}
        # Each rule that is not checked is a cause of its own, and so is each width of integers.
        separate = (VIOLATED_RULE, NARROWED)
        return LevelTable(present, [*self.points.values()], separate)

    def with_fresh(self, calls: Sequence[FreshCall]) -> Self:
        """Return the levels of the cases and of some fresh calls, which only a spec can draw."""
        if not calls or self.calls is None:
            return self
        points = dict(self.points)
        for fresh in calls:
            call = self.calls.fresh(fresh.number)
            if call is not None and (own := self.calls.fresh_points(fresh.number, call)):
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

        Wrong values show where outputs have different elements, unless they are no elements of the
        data. Other bits of equal values show in signalling NaNs, since few faults change the sign
        of a zero.
        """
        if kind not in VALUE_KINDS or case.expects == "rejection":
            return True
        if case.id not in self._visible:
            self._visible[case.id] = _visible(self.operator, case)
        has_different_elements, has_fragile_bits = self._visible[case.id]
        return has_fragile_bits if kind == "bits" else has_different_elements


def case_levels(operator: OperatorSuite, spec_file: SpecFile | None) -> CaseLevels:
    """Return the levels that each case exhibits; without the spec, type and rank at most."""
    of_spec = None if spec_file is None else LevelledCalls(spec_file)
    calls = {case.id: call_of_case(operator, case) for case in operator.cases.values()}
    points: dict[str, list[Point]] = {}
    for case in operator.cases.values():
        call, is_valid = calls[case.id], case.expects == "outputs"
        if is_valid:
            shapes = [output.shape for output in case.outputs]
            own = _of_outputs(shapes, case.rules)
            own |= _of_data(
                operator.read_array(case.inputs[name])
                for name in case.data_inputs
                if case.inputs[name].type in FLOATS
            )
            if case.change is not None:
                own[NEIGHBOUR] = frozenset([case.change.kind])
            known: list[Point] = [{}]
            if of_spec is None:
                own |= {TYPE: frozenset([case.type]), RANK: frozenset([str(case.rank)])}
            elif case.ambiguity is None:
                known = of_spec.properties.points(call, shapes)
            points[case.id] = [{**levels, **own} for levels in known]
        else:
            change, baseline = case.change or Change(kind=""), case.baseline or ""
            # A violation that the spec lists may change several arguments.
            changed = {change.argument} if change.argument else _differing(calls[baseline], call)
            rule = case.violated_rule or ""
            own = _of_change(change, changed, rule, calls[baseline])
            own |= {} if of_spec is None else of_spec.violation(call, rule, changed)
            points[case.id] = [{**point, **own} for point in _shared(points[baseline], changed)]
        if of_spec is not None:
            narrowed = of_spec.narrowing(call, is_valid, partial(_bare_step, operator, case))
            points[case.id] = [{**point, **narrowed} for point in points[case.id]]
    return CaseLevels(operator, points, of_spec)


def _differing(one: Call, other: Call) -> set[str]:
    """Return the arguments in which calls differ."""
    arguments, others = one.arguments, other.arguments
    return {n for n in {**arguments, **others} if arguments.get(n) != others.get(n)}


def _bare_step(operator: OperatorSuite, case: IndexedCase) -> Step:
    """Return the call of a case without its golden outputs, which may take long to recompute."""
    layouts = {name: array.layout for name, array in case.inputs.items()}
    inputs = operator.elements(case)
    return Step(operator.index.operator, inputs, case.attributes, None, layouts, case.data_inputs)


# To how many bits integers may be narrowed.
_WIDTHS = (8, 16, 32)
# The seed of fresh calls; suites are not likely to have it.
_SEED = 0xF4E54
# The most elements of the outputs of a fresh call.
_MAX_FRESH_ELEMENTS = 1 << 12


class LevelledCalls:
    """The calls of one operator with their levels.

    Fresh ones are valid, and no ambiguity touches them; a number determines each.
    """

    def __init__(self, spec_file: SpecFile) -> None:
        self._file, self._spec = spec_file, spec_file.spec
        self._conditions, self.properties = Conditions(spec_file.spec), Properties(spec_file.spec)
        self._maker, self._golden = StepMaker(spec_file), GoldenCalls(spec_file)

    def fresh(self, number: int) -> Call | None:
        """Return the call with a number, if that draws one."""
        # A spec that has not been checked may contradict itself on a call.
        with suppress(Inapplicable, ExpressionError):
            call = draw_call(self._spec, choices_of(self._spec, _SEED, number))
            if self._conditions.is_decided(call, _MAX_FRESH_ELEMENTS):
                return call
        return None

    def support(self, call: Call) -> CallProperties:
        """Return what a declaration of support can exclude."""
        return CallProperties.of(call, self._conditions)

    def fresh_points(self, number: int, call: Call) -> list[Point]:
        """Return the levels of the call with a number."""
        return self.points(call, partial(self._fresh_step, number, call))

    def fresh_steps(self, number: int, call: Call) -> list[Step]:
        """Return the calls to make, with other data the second time; [] if there is no result."""
        with suppress(OpcertError):
            return self._maker.steps(self._fresh_step(number, call), (False, True))
        return []

    def _fresh_step(self, number: int, call: Call) -> Step:
        patterned = call.patterned(f"fresh|{number}")
        return Step(
            self._spec.operator,
            self._golden.arrays(patterned),
            call.attributes,
            None,
            {name: tensor.layout for name, tensor in call.inputs.items()},
            tuple(name for name, tensor in call.inputs.items() if tensor.values is None),
        )

    def points(self, call: Call, make_step: Callable[[], Step]) -> list[Point]:
        """Return the levels of a call at each of its points; none if the spec is at fault.

        `make_step` returns the call with its arrays.
        """
        with suppress(OpcertError, Inapplicable):
            shapes, step = [output.shape for output in self._conditions.outputs(call)], make_step()
            own = {
                **_of_data(step.inputs[name] for name in step.data_inputs),
                **_of_outputs(shapes, self._spec.full_ids(*self._conditions.behaviours(call))),
                **self.narrowing(call, True, lambda: step),
            }
            return [{**levels, **own} for levels in self.properties.points(call, shapes)]
        return []

    def narrowing(self, call: Call, is_valid: bool, make_step: Callable[[], Step]) -> Point:
        """Return to how many bits the integers of a call cannot be narrowed without effect."""
        inputs = [tensor for tensor in call.inputs.values() if tensor.type in INTEGERS]
        integers = [int(number) for tensor in inputs for number in tensor.values or ()] or [0]
        least, greatest = min(integers), max(integers)
        widths = [
            bits for bits in _WIDTHS if not -1 << (bits - 1) <= least <= greatest < 1 << (bits - 1)
        ]
        if not widths or not are_small(call.inputs.values(), _MAX_ELEMENTS):
            return {NARROWED: frozenset()}
        step = make_step()
        own = self._result(step) if is_valid else ()
        differing = [bits for bits in widths if self._result(_narrowed(step, bits)) != own]
        return {NARROWED: frozenset(f"{bits} bits" for bits in differing)}

    def _result(self, step: Step) -> Sequence[object]:
        """Return what determines the outputs of a call; nothing if the reference rejects it."""
        try:
            if not self._conditions.has_small_outputs(call_of(step), _MAX_ELEMENTS):
                return ("large",)
        except (ExpressionError, Inapplicable):
            return ()
        with suppress(OpcertError):
            outputs = golden_outputs(self._file.reference, step.inputs, step.attributes)
            return tuple((output.shape, bits_of(output).tobytes()) for output in outputs)
        return ()

    def points_of(self, step: Step) -> list[Point]:
        """Return the levels of the valid call of a step."""
        return self.points(call_of(step), lambda: step)

    def invalid_points(self, valid: Step, step: Step, change: Change) -> list[Point]:
        """Return the levels of an invalid call, which is a `valid` one with a `change`."""
        call, changed, rule = call_of(step), {change.argument}, step.rule or ""
        own = {
            **_of_change(change, changed, rule, call_of(valid)),
            **self.violation(call, rule, changed),
            **self.narrowing(call, False, lambda: step),
        }
        return [{**point, **own} for point in _shared(self.points_of(valid), changed)]

    def violation(self, call: Call, rule: str, changed: Collection[str]) -> Point:
        """Return the levels of what makes a call invalid."""
        compared = self._conditions.comparison(rule.rpartition("/")[2], call)
        levels = self.properties.of_changed(call, changed)
        return {**levels, COMPARISON: frozenset([compared] if compared else [])}


def _narrowed(step: Step, bits: int) -> Step:
    """Return a call whose integer inputs have only their low bits."""
    inputs = {
        name: array.astype(f"i{bits // 8}").astype(np.int64)
        if array.dtype.kind in "iu" and name not in step.data_inputs
        else array
        for name, array in step.inputs.items()
    }
    return replace(step, inputs=inputs)


def _of_outputs(shapes: Sequence[Sequence[int]], rules: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the levels of outputs, and the behaviours that a call exhibits."""
    size = sum(map(prod, shapes))
    return {
        OUTPUT_SIZE: frozenset([range_of(size)]),
        OUTPUT_MULTIPLE: frozenset([multiple_of(size)] if size else []),
        OUTPUT_RANK: frozenset(str(len(shape)) for shape in shapes),
        **{f"{BEHAVIOUR}{rule}": frozenset(["exhibited"]) for rule in rules},
    }


def _of_data(moved: Iterable[Array]) -> dict[str, frozenset[str]]:
    """Return which of -0.0 and NaN are among the elements that are moved."""
    special: set[str] = set()
    for array in moved:
        if type_name(array.dtype) in FLOATS and array.size <= _MAX_ELEMENTS:
            with np.errstate(invalid="ignore"):
                found = {"-0.0": np.signbit(array) & (array == 0), "NaN": np.isnan(array)}
            special |= {name for name, flags in found.items() if flags.any()}
    return {SPECIAL: frozenset(special)}


def _number(level: str) -> int:
    """Return the number by which levels are sorted."""
    number = MULTIPLES.index(level) if level in MULTIPLES else number_of(level)
    return -1 if number is None else number


def _of_change(
    change: Change, changed: Collection[str], rule: str, valid: Call
) -> dict[str, frozenset[str]]:
    """Return the levels of the change that makes a valid call violate a rule."""
    property_ = next((c for c, pattern in _CHANGES.items() if re.search(pattern, change.kind)), "")
    if property_ == "another element type":
        former = next((tensor.type for tensor in valid.inputs.values()), "")
        # The first number in a name is that of bits; a boolean has 8.
        bits = {next(iter(re.findall(r"\d+", name)), "8") for name in (change.kind, former)}
        property_ += " of the same size" if len(bits) == 1 else ""
    return {
        CHANGE: frozenset([property_ or "other values"]),
        VIOLATED_RULE: frozenset([rule]),
        MUTATED: frozenset(changed),
        POSITION: frozenset([change.position] if change.position else []),
    }


def _shared(baseline: Sequence[Point], changed: Collection[str]) -> Iterable[Point]:
    """Return what an invalid call has of the levels of its baseline."""
    dropped = (*(f"{argument} " for argument in changed), BEHAVIOUR)
    shared = [
        {
            factor: levels
            for factor, levels in point.items()
            if not factor.startswith(dropped) and factor not in _OF_RESULTS
        }
        for point in baseline
    ]
    # Points that differ in dropped factors alone count once.
    return {tuple(sorted((f, *sorted(v)) for f, v in p.items())): p for p in shared}.values()


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


def have_different_elements(outputs: Iterable[Array]) -> bool:
    """Whether an output has different elements, so that wrong values show.

    Elements that change places are wrong values, too.
    """
    every = (bits_of(output).ravel() for output in outputs)
    return any(bool((bits[1:] != bits[:1]).any()) for bits in every)
