"""Calls of an operator -> the levels that each exhibits.

A runtime that narrows integers fails in all of these calls and in no other. No levels say so: a
stop of 2^32 + 1 is read as 1, which changes nothing where the data ends before. As in a fault
dictionary, the cases that reveal a common fault are listed, here with the help of the reference.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, Tensor, argument_of
from opcert.arrays.element_types import (
    FLOATS,
    INTEGERS,
    UNSIGNED_INTEGERS,
    Array,
    bits_of,
    highest,
    type_name,
)
from opcert.arrays.notable_numbers import numbers_of_note
from opcert.cases.case import Change
from opcert.cases.conditions import Conditions, are_small
from opcert.cases.integer_levels import multiple_of, range_of
from opcert.cases.properties import OUTPUT_EXTENTS, OUTPUT_LENGTH, Properties
from opcert.diagnosis.table import Point
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.roles.argument import integers_in
from opcert.run.session import Step
from opcert.specification.files import SpecFile, golden_outputs
from opcert.verdicts.reduction import call_of

# Larger calls and outputs are not computed.
MAX_ELEMENTS = 1 << 18
# To how many bits integers may be narrowed; in place of a number, that they are read as signed.
_WIDTHS, _SIGNED = (8, 16, 32, 64), 0
# Factors that no spec declares.
VIOLATED_RULE, MUTATED, CHANGE = "violated rule", "mutated argument", "change"
COMPARISON, POSITION = "comparison", "position"
NEIGHBOUR, BEHAVIOUR = "neighbour", "behaviour "
OUTPUT_SIZE, OUTPUT_RANK = "output elements", "output rank"
OUTPUT_MULTIPLE, _SPECIAL = "output multiple", " special"
RESULTS = f"outputs{_SPECIAL}"
NARROWED, _OUT_OF = "narrowed integers", " out of the "
# Where the spec is missing, whose factors say more.
TYPE, RANK = "type of the first input", "rank of the first input"
# What follows from other properties of a call, as factors of it or of an argument.
DERIVED = (
    " family",
    " width",
    " divisor",
    " power",
    " within",
    " leading",
    " trailing",
    " tail",
    " bytes",
    OUTPUT_EXTENTS,
    OUTPUT_LENGTH,
    OUTPUT_SIZE,
    OUTPUT_MULTIPLE,
    OUTPUT_RANK,
    RESULTS,
    NEIGHBOUR,
)
# What an invalid call does not have.
_OF_RESULTS = (*DERIVED, NARROWED)
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


class LevelledCalls:
    """The calls of one operator with their levels."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file, self._spec = spec_file, spec_file.spec
        self._conditions = Conditions(spec_file.spec)
        self.properties = Properties(self._conditions)

    def points(self, call: Call, make_step: Callable[[], Step]) -> list[Point]:
        """Return the levels of a call at each of its points; none if the spec is at fault.

        `make_step` returns the call with its arrays.
        """
        with suppress(OpcertError, Inapplicable):
            shapes, step = [output.shape for output in self._conditions.outputs(call)], make_step()
            own = {
                **levels_of_data({name: step.inputs[name] for name in step.data_inputs}),
                **levels_of_outputs(
                    shapes, self._spec.full_ids(*self._conditions.behaviours(call))
                ),
                **self.results(lambda: self._outputs(step)),
                **self.narrowing(call, True, lambda: step),
            }
            return [{**levels, **own} for levels in self.properties.points(call, shapes)]
        return []

    def results(self, outputs: Callable[[], Iterable[Array]]) -> Point:
        """Return which numbers of note a valid call computes, if its operator computes numbers."""
        if not any(output.computed for output in self._spec.outputs):
            return {}
        found = (numbers_of_note(output, computed=True) for output in outputs())
        return {RESULTS: frozenset().union(*found)}

    def _outputs(self, step: Step) -> list[Array]:
        return golden_outputs(self._file.reference, step.inputs, step.attributes)

    def narrowing(self, call: Call, is_valid: bool, make_step: Callable[[], Step]) -> Point:
        """Return to how many bits integers of a call cannot be narrowed without effect.

        They are those of one argument, or of all together. Unsigned ones of a type may have an
        effect if they are read as signed ones of the same width.
        """
        integers = {name: [0, *_integers(value)] for name, value in call.arguments.items()}
        wide = {
            bits: [
                name
                for name, own in integers.items()
                if min(own) < -1 << (bits - 1) or max(own) >= 1 << (bits - 1)
            ]
            for bits in _WIDTHS
        }
        wide[_SIGNED] = [
            name
            for name, value in call.arguments.items()
            if isinstance(value, Tensor)
            and value.type in UNSIGNED_INTEGERS
            and max(integers[name]) > highest(value.type) // 2
        ]
        if not any(wide.values()) or not are_small(call.inputs.values(), MAX_ELEMENTS):
            return {NARROWED: frozenset()}
        step = make_step()
        own = self._result(step) if is_valid else ()

        def has_effect(names: Collection[str], bits: int) -> bool:
            return self._result(_narrowed(step, names, bits)) != own

        levels: set[str] = set()
        for bits, names in wide.items():
            found = [name for name in names if has_effect([name], bits)]
            if has_effect(names, bits) if len(names) > 1 else found:
                found.append("integers")
            range_ = f"{bits}-bit range" if bits else "range of the signed type"
            levels |= {f"{words}{_OUT_OF}{range_}" for words in found}
        return {NARROWED: frozenset(levels)}

    def _result(self, step: Step) -> Sequence[object]:
        """Return what determines the outputs of a call; nothing if the reference rejects it."""
        try:
            if not self._conditions.has_small_outputs(call_of(step), MAX_ELEMENTS):
                return ("large",)
        except (ExpressionError, Inapplicable):
            return ()
        with suppress(OpcertError):
            outputs = self._outputs(step)
            return tuple((output.shape, bits_of(output).tobytes()) for output in outputs)
        return ()

    def points_of(self, step: Step) -> list[Point]:
        """Return the levels of the valid call of a step."""
        return self.points(call_of(step), lambda: step)

    def invalid_points(self, valid: Step, step: Step, change: Change) -> list[Point]:
        """Return the levels of an invalid call, which is a `valid` one with a `change`."""
        call, changed, rule = call_of(step), {change.argument}, step.rule or ""
        own = {
            **levels_of_change(change, changed, rule, call_of(valid)),
            **self.violation(call, rule, changed),
            **self.narrowing(call, False, lambda: step),
        }
        return [{**point, **own} for point in shared_points(self.points_of(valid), changed)]

    def violation(self, call: Call, rule: str, changed: Collection[str]) -> Point:
        """Return the levels of what makes a call invalid: what changed, and what its rule names."""
        _, _, name = rule.rpartition("/")
        compared = self._conditions.comparison(name, call)
        named = self._conditions.named_arguments(name)
        levels = self.properties.of_changed(call, {*changed, *named})
        return {**levels, COMPARISON: frozenset([compared] if compared else [])}


def width_of(narrowed: str) -> str:
    """Return the range that a level of narrowed integers names, whatever the argument."""
    return narrowed.rpartition(_OUT_OF)[2]


def _narrowed(step: Step, names: Collection[str], bits: int) -> Step:
    """Return a call of which the integers of some arguments have only their low bits.

    With `_SIGNED`, they keep all, of which the highest is the sign.
    """
    inputs = {
        name: array.astype(f"i{bits // 8 or array.itemsize}").astype(np.int64)
        if name in names and array.dtype.kind in "iu" and name not in step.data_inputs
        else array
        for name, array in step.inputs.items()
    }
    attributes = {
        name: _low_bits(value, bits) if name in names else value
        for name, value in step.attributes.items()
    }
    return replace(step, inputs=inputs, attributes=attributes)


def _low_bits(value: Any, bits: int) -> Any:
    """Return the value of an attribute whose integers have only their low bits."""
    if isinstance(value, Mapping):
        return {name: _low_bits(item, bits) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_low_bits(item, bits) for item in value]
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half if type(value) is int else value


def _integers(value: Any) -> Iterator[int]:
    """Yield the integers of an argument."""
    if isinstance(value, Tensor):
        yield from integers_in(value) if value.type in INTEGERS else ()
    elif isinstance(value, Mapping | list | tuple):
        items = value.values() if isinstance(value, Mapping) else value
        yield from chain.from_iterable(map(_integers, items))
    elif type(value) is int:
        yield value


def levels_of_outputs(
    shapes: Sequence[Sequence[int]], rules: Iterable[str]
) -> dict[str, frozenset[str]]:
    """Return the levels of outputs, and the behaviours that a call exhibits."""
    size = sum(map(prod, shapes))
    last = [shape[-1] for shape in shapes if len(shape)]
    return {
        "outputs trailing": frozenset(map(range_of, last)),
        "outputs tail": frozenset(map(multiple_of, filter(None, last))),
        OUTPUT_SIZE: frozenset([range_of(size)]),
        OUTPUT_MULTIPLE: frozenset([multiple_of(size)] if size else []),
        OUTPUT_RANK: frozenset(str(len(shape)) for shape in shapes),
        **{f"{BEHAVIOUR}{rule}": frozenset(["exhibited"]) for rule in rules},
    }


def levels_of_data(moved: Mapping[str, Array]) -> dict[str, frozenset[str]]:
    """Return which numbers of note each argument with floats has."""
    special: dict[str, frozenset[str]] = {}
    for name, array in moved.items():
        if type_name(array.dtype) in FLOATS and array.size <= MAX_ELEMENTS:
            factor = f"{argument_of(name)}{_SPECIAL}"
            found = numbers_of_note(array, computed=False)
            special[factor] = special.get(factor, frozenset()) | found
    return special


def levels_of_change(
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


def shared_points(baseline: Sequence[Point], changed: Collection[str]) -> Iterable[Point]:
    """Return what an invalid call has of the levels of its baseline."""
    shared = [
        {
            factor: levels
            for factor, levels in point.items()
            if {*factor.split()[:-1]}.isdisjoint(changed)
            and not factor.startswith(BEHAVIOUR)
            and not factor.endswith(_SPECIAL)
            and factor not in _OF_RESULTS
        }
        for point in baseline
    ]
    # Points that differ in dropped factors alone count once.
    return {tuple(sorted((f, *sorted(v)) for f, v in p.items())): p for p in shared}.values()
