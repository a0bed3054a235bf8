"""Spec -> valid calls, drawn at random: each by a seed of its own, and none chosen.

How many calls there are, and which values they offer, decides what a suite finds; to choose among
calls by their levels is worth a factor of two in calls, and costs more than that.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from opcert.arrays.calls import Call, flatten_variadic
from opcert.arrays.element_types import Array
from opcert.arrays.patterns import materialize, with_special_values
from opcert.cases.conditions import Conditions
from opcert.cases.formulas import ElementFormulas
from opcert.choices import Choices, call_seed
from opcert.errors import ExpressionError, Inapplicable, OpcertError, SpecError, abbreviate
from opcert.roles.argument import Attribute, is_plain_value
from opcert.roles.drawing import Drawing
from opcert.specification.expressions import evaluate, parse_expression
from opcert.specification.files import SpecFile, golden_outputs
from opcert.specification.model import Spec

# How the name of a drawn case begins; type and rank of the first input and its number follow.
DRAWN = "drawn-"
# So many draws in a row may give no valid call.
_PATIENCE = 2000
# The outputs of a drawn call have at most so many elements.
MAX_OUTPUT_ELEMENTS = 1 << 21


def draw_call(spec: Spec, choices: Choices, *, large: bool = False) -> Call:
    """Draw one call, which need not be valid.

    Raises:
        Inapplicable: a choice has no option.
    """
    roles = {role.name: role for role in spec.bound_roles}

    def evaluate_over_arguments(text: str) -> Any:
        named = dict(spec.fixed_names)
        for name in parse_expression(text).names:
            if name in roles:
                value = drawing.fact(roles[name].draw)
                named[name] = spec.defaults[name] if value is None else value
            elif name in spec.names:
                named[name] = evaluate_over_arguments(spec.names[name])
        return evaluate(text, named)

    drawing = Drawing(choices, evaluate_over_arguments, large=large)
    drawn = {role.name: drawing.fact(role.draw) for role in spec.bound_roles}
    for attribute in spec.attributes:
        if isinstance(attribute, Attribute) and attribute.value is not None:
            value = evaluate_over_arguments(attribute.value)
            if value is not None and not is_plain_value(value, attribute.type):
                problem = f"{abbreviate(value)}; expected a value of type {attribute.type}"
                place = ("attributes", spec.attributes.index(attribute), "value")
                raise ExpressionError(problem, place)
            drawn[attribute.name] = value
    inputs, attributes = (
        {item.name: drawn[item.name] for item in declared if drawn.get(item.name) is not None}
        for declared in (spec.inputs, spec.attributes)
    )
    return Call(flatten_variadic(inputs), attributes)


class GoldenCalls:
    """Makes the arrays of drawn calls of one operator, and their golden outputs."""

    def __init__(self, file: SpecFile) -> None:
        self._file, self._formulas = file, ElementFormulas(file)

    def arrays(self, call: Call) -> dict[str, Array]:
        """Return the inputs of a call in C order, with special values that reach the outputs.

        Raises:
            SpecError: the reference rejects the call.
        """
        arrays = {key: materialize(tensor) for key, tensor in call.inputs.items()}
        with self._located(call):
            golden = golden_outputs(self._file.reference, arrays, call.attributes)
        return with_special_values(arrays, call.inputs, golden)

    def outputs(self, call: Call, arrays: Mapping[str, Array]) -> list[Array]:
        """Return the golden outputs of a call, with what else their elements may be.

        Raises:
            SpecError: the reference rejects the call, or contradicts a formula.
        """
        with self._located(call):
            outputs = golden_outputs(self._file.reference, arrays, call.attributes)
            return self._formulas.with_open_elements(call, arrays, outputs)

    @contextmanager
    def _located(self, call: Call) -> Iterator[None]:
        try:
            yield
        except OpcertError as error:
            place = error.place if isinstance(error, ExpressionError) else ("reference",)
            raise SpecError([self._file.mistake(place, f"{error}, for {call}")]) from None


def choices_of(spec: Spec, seed: int, number: int) -> Choices:
    """Return what answers the choices of the call with a number."""
    first = call_seed(spec.operator, seed)
    return Choices(call_seed(spec.operator, seed, number), first + number)


def drawn_calls(
    spec: Spec, seed: int, *, large: bool = False
) -> Iterator[tuple[int, Call, Choices]]:
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
        choices = choices_of(spec, seed, number)
        try:
            call = draw_call(spec, choices, large=large)
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
