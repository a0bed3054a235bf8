"""Warns the author of a spec of rules and oracles that are probably missing."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from opcert.arrays.calls import Tensor, tensors_in
from opcert.arrays.element_types import INTEGERS, TYPE_SETS, highest, lowest
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable, Mistake
from opcert.roles.argument import BoundExpressions
from opcert.specification.expressions import abbreviate, evaluate_integer, parse_expression
from opcert.specification.files import SpecFile

# The minimum number of valid cases that should exhibit a behaviour.
_MIN_CASES = 3


@dataclass(frozen=True)
class RuleCounts:
    """The number of valid cases that satisfy or exhibit a rule, and of cases that violate it."""

    rule: str
    kind: str
    positive: int
    negative: int


def warnings_of(
    spec_file: SpecFile, cases: Sequence[Case], counts: Sequence[RuleCounts]
) -> Iterator[Mistake]:
    """Yield warnings about the decisive `cases` of a spec.

    They are not errors: only the author knows whether the document forbids calls that violate a
    declaration.
    """
    spec = spec_file.spec
    yield from _unviolated_declarations(spec_file, [case for case in cases if case.violated_rule])
    for i, count in enumerate(counts):
        if count.kind == "behaviour" and 0 < count.positive < _MIN_CASES:
            yield spec_file.mistake(
                ("rules", i, "id"),
                f"few valid cases exhibit '{spec.rules[i].id}': found {count.positive}, expected "
                f"{_MIN_CASES} or more",
            )
    outputs = [output for example in spec.examples for output in example.outputs]
    has_oracle = spec.laws or any(output.values is not None for output in outputs)
    for i, output in enumerate(spec.outputs):
        if output.element is None and not has_oracle:
            yield spec_file.mistake(
                ("outputs", i, "name"),
                f"nothing can show that the reference computes wrong values for '{output.name}': "
                "there is no example with output values, no law, and no 'element' formula",
            )


def _unviolated_declarations(spec_file: SpecFile, negative: Sequence[Case]) -> Iterator[Mistake]:
    """Yield each type, rank, range and required argument that no negative case violates."""
    spec = spec_file.spec
    conditions = Conditions(spec)
    scopes = [conditions.names(case.call) for case in negative]
    for i, argument in enumerate(spec.inputs):
        tensors = [tensor for scope in scopes for tensor in tensors_in(scope[argument.name])]
        types = set(spec.type_sets[argument.type])
        # Only boolean is outside the numeric types, and few documents say whether it is one.
        if not types.issuperset(TYPE_SETS["numeric"]) and all(
            tensor.type in types for tensor in tensors
        ):
            text = f"no negative case has '{argument.name}' of a type outside {argument.type}"
            yield spec_file.mistake(("inputs", i, "type"), text)
        for bound in _unexceeded_bounds(scopes, argument.name, argument.rank, is_rank=True):
            text = f"no negative case has '{argument.name}' of a rank {bound}"
            yield spec_file.mistake(("inputs", i, "rank"), text)
    for part, declared in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        for i, declaration in enumerate(declared):
            name = declaration.name
            for bound in _unexceeded_bounds(scopes, name, declaration.range, is_rank=False):
                text = f"no negative case has '{name}' {bound}"
                yield spec_file.mistake((part, i, "range"), text)
            if declaration.required and all(name not in scope["omitted"] for scope in scopes):
                text = f"no negative case omits the required '{name}'"
                yield spec_file.mistake((part, i, "required"), text)


def _unexceeded_bounds(
    scopes: Sequence[dict[str, Any]], name: str, bounds: BoundExpressions | None, *, is_rank: bool
) -> Iterator[str]:
    """Yield the bounds of an argument's rank or range that no call exceeds, as "below '0'"."""
    if bounds is None:
        return
    is_below = is_above = False
    # No rank is below 0, and no element exceeds the limits of its type.
    can_be_below, can_be_above = is_rank and bounds[0] != "0", is_rank
    for scope in scopes:
        argument = scope[name]
        if argument is None:
            continue
        # Bounds may refer to an argument that this call omits or has in another form.
        with suppress(ExpressionError, Inapplicable, TypeError):
            lower, upper = (evaluate_integer(parse_expression(bound), scope) for bound in bounds)
            if is_rank:
                values: Sequence[Any] = [tensor.rank for tensor in tensors_in(argument)]
            elif isinstance(argument, Tensor):
                values = argument.values or ()
                is_integer = argument.type in INTEGERS
                can_be_below |= is_integer and lower > lowest(argument.type)
                can_be_above |= is_integer and upper < highest(argument.type)
            else:
                values, can_be_below, can_be_above = (argument,), True, True
            is_below = is_below or any(value < lower for value in values)
            is_above = is_above or any(value > upper for value in values)
    if can_be_below and not is_below:
        yield f"below {abbreviate(bounds[0])}"
    if can_be_above and not is_above:
        yield f"above {abbreviate(bounds[1])}"
