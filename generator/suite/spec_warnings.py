"""Cases of a spec -> warnings: what its author is likely to have forgotten."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from opcert.arrays import INTEGERS, TYPE_SETS, Tensor, highest, lowest
from opcert.cases import Case, Conditions
from opcert.errors import ExpressionError, Inapplicable, Mistake
from opcert.roles import BoundExpressions
from opcert.specification import SpecFile, abbreviate, evaluate_integer, parse_expression

# How few valid calls that show a behaviour are few.
_FEW = 3


@dataclass(frozen=True)
class RuleCounts:
    """How many cases stand behind one rule: calls that keep or show it, calls that break it."""

    rule: str
    kind: str
    positive: int
    negative: int


def warnings_of(
    spec_file: SpecFile, cases: Sequence[Case], counts: Sequence[RuleCounts]
) -> Iterator[Mistake]:
    """Yield what `cases`, those that decide something, seem to lack.

    Only the author knows whether the document makes a call beyond a declaration invalid.
    """
    spec = spec_file.spec
    negative = [case for case in cases if case.violated_rule is not None]
    names = [Conditions(spec).names(case.call) for case in negative]
    for i, argument in enumerate(spec.inputs):
        given = [
            case.call.inputs[argument.name]
            for case in negative
            if argument.name in case.call.inputs
        ]
        types = set(spec.type_sets[argument.type])
        if not types.issuperset(TYPE_SETS["any"]) and all(each.type in types for each in given):
            text = f"no negative case has '{argument.name}' of a type outside {argument.type}"
            yield spec_file.mistake(("inputs", i, "type"), text)
        for beyond in _never_beyond(names, argument.name, argument.rank, ranks=True):
            text = f"no negative case has '{argument.name}' of a rank {beyond}"
            yield spec_file.mistake(("inputs", i, "rank"), text)
    yield from _unbroken_declarations(spec_file, names)
    for i, count in enumerate(counts):
        if count.kind == "behaviour" and 0 < count.positive < _FEW:
            found = f"found {count.positive}, expected {_FEW} or more"
            text = f"few valid cases show '{spec.rules[i].id}': {found}"
            yield spec_file.mistake(("rules", i, "id"), text)
    stated = any(output.values is not None for each in spec.examples for output in each.outputs)
    for i, output in enumerate(spec.outputs):
        if output.element is None and not stated and not spec.laws:
            text = "no example states values of outputs, no law speaks of them, and no formula"
            yield spec_file.mistake(
                ("outputs", i, "name"),
                f"{text} ('element') gives those of '{output.name}': nothing can show that the "
                "reference computes wrong values",
            )


def _unbroken_declarations(
    spec_file: SpecFile, names: Sequence[dict[str, Any]]
) -> Iterator[Mistake]:
    """Yield each range, and each required argument, that no negative case breaks."""
    spec = spec_file.spec
    for part, arguments in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        for i, each in enumerate(arguments):
            for beyond in _never_beyond(names, each.name, each.range, ranks=False):
                text = f"no negative case has '{each.name}' {beyond}"
                yield spec_file.mistake((part, i, "range"), text)
            if each.required and all(each.name not in found["omitted"] for found in names):
                text = f"no negative case omits the required '{each.name}'"
                yield spec_file.mistake((part, i, "required"), text)


def _never_beyond(
    calls: Sequence[dict[str, Any]], name: str, ends: BoundExpressions | None, *, ranks: bool
) -> Iterator[str]:
    """Yield beyond which ends of a rank or range the calls never have an argument."""
    if ends is None:
        return
    below = above = False
    # There is nothing below rank 0, or beyond what an element type has.
    has_below, has_above = ranks and ends[0] != "0", ranks
    for names in calls:
        value = names[name]
        if value is None:
            continue
        # Where another argument is missing or of another form, an end may have no meaning.
        with suppress(ExpressionError, Inapplicable, TypeError):
            least, most = (evaluate_integer(parse_expression(end), names) for end in ends)
            if ranks:
                found: Sequence[Any] = (value.rank,)
            elif isinstance(value, Tensor):
                found = value.values or ()
                is_integer = value.type in INTEGERS
                has_below = has_below or (is_integer and least > lowest(value.type))
                has_above = has_above or (is_integer and most < highest(value.type))
            else:
                found, has_below, has_above = (value,), True, True
            below = below or any(number < least for number in found)
            above = above or any(number > most for number in found)
    if has_below and not below:
        yield f"below {abbreviate(ends[0])}"
    if has_above and not above:
        yield f"above {abbreviate(ends[1])}"
