"""Spec -> valid calls, drawn at random: each by a seed of its own, and none chosen.

How many calls there are, and which values they offer, decides what a suite finds; to choose among
calls by their levels is worth a factor of two in calls, and costs more than that.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

from opcert.arrays.calls import Call, flatten_variadic
from opcert.cases.conditions import Conditions
from opcert.choices.choices import Choices, call_seed
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.drawing import Drawing
from opcert.specification.expressions import evaluate, parse_expression
from opcert.specification.model import Spec

# How many calls a profile draws for an operator.
DRAWN_CALLS = {"smoke": 500}
# So many draws in a row may give no valid call.
_PATIENCE = 2000
# The outputs of a drawn call have at most so many elements.
MAX_OUTPUT_ELEMENTS = 1 << 21


def draw_call(spec: Spec, choices: Choices) -> Call:
    """Draw one call, which need not be valid.

    Raises:
        Inapplicable: a choice has no option.
    """

    def evaluate_over_arguments(text: str) -> Any:
        names = parse_expression(text).names
        named = {r.name: drawing.fact(r.draw) for r in spec.bound_roles if r.name in names}
        return evaluate(text, {**spec.fixed_names, **named})

    drawing = Drawing(choices, evaluate_over_arguments)
    drawn = {role.name: drawing.fact(role.draw) for role in spec.bound_roles}
    for name, text in spec.cases.attributes.items():
        drawn[name] = evaluate_over_arguments(text)
    inputs, attributes = (
        {item.name: drawn[item.name] for item in declared if drawn.get(item.name) is not None}
        for declared in (spec.inputs, spec.attributes)
    )
    return Call(flatten_variadic(inputs), attributes)


def drawn_calls(spec: Spec, seed: int) -> Iterator[tuple[int, Call, Choices]]:
    """Yield valid calls without end, each with its number and the choices that drew it.

    A call depends on the seed and its number alone. The numbers of draws without a valid call are
    left out.

    Raises:
        ExpressionError: many draws in a row give no valid call.
    """
    conditions = Conditions(spec)
    last, reason = -1, ""
    for number in count():
        if number - last > _PATIENCE:
            text = f"{_PATIENCE:,} draws in a row gave no valid call; of the last one, {reason}"
            raise ExpressionError(text, ("inputs",))
        choices = Choices(call_seed(spec.operator, seed, number))
        try:
            call = draw_call(spec, choices)
        except Inapplicable as error:
            reason = str(error)
            continue
        if violated := conditions.check(call).violated:
            reason = f"{call} violates {', '.join(violated)}"
        elif not conditions.has_small_outputs(call, MAX_OUTPUT_ELEMENTS):
            reason = f"the outputs of {call} have too many elements"
        else:
            last = number
            yield number, call, choices
