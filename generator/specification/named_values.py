"""Named values of a call: expressions that the other expressions of a spec refer to."""

from collections.abc import Mapping

from opcert.errors import ExpressionError
from opcert.specification.expressions import parse_expression
from opcert.specification.model import LawCall, Spec


def with_named_values(spec: Spec) -> Spec:
    """Return the spec with variables for `names` in the expressions of outputs and laws.

    Conditions of rules and ambiguities, of which many are evaluated on one call, share the values
    instead.
    """
    if not spec.names:
        return spec

    def bound(text: str | None) -> str | None:
        return None if text is None else bind_names(text, spec.names)

    def bound_call(call: LawCall) -> LawCall:
        parts = {"inputs": call.inputs, "attributes": call.attributes}
        return call.model_copy(
            update={
                key: {name: bound(text) for name, text in expressions.items()}
                for key, expressions in parts.items()
            }
        )

    outputs = tuple(
        output.model_copy(
            update={
                "type": bound(output.type),
                "shape": bound(output.shape),
                "count": bound(output.count),
                "element": bound(output.element),
                "where": {name: bound(text) for name, text in output.where.items()},
            }
        )
        for output in spec.outputs
    )
    laws = tuple(
        law.model_copy(
            update={
                "when": bound(law.when),
                "holds": bound(law.holds),
                "calls": {name: bound_call(call) for name, call in law.calls.items()},
            }
        )
        for law in spec.laws
    )
    return spec.with_parts(outputs=outputs, laws=laws)


def bind_names(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with variables for the named values that it needs, in their order.

    An expression E that uses a name becomes `[E for name in [value]][0]`: the value is computed
    once, and only for expressions that need it.
    """
    if not values:
        return text
    try:
        needed = needed_names(text, values)
    except ExpressionError:
        # The checks of the spec report it.
        return text
    variables = [f"for {name} in [{values[name].strip()}]" for name in needed]
    return f"[({text.strip()}) {' '.join(variables)}][0]" if variables else text


def needed_names(text: str, values: Mapping[str, str]) -> list[str]:
    """Return the named values that an expression needs, in the order of `values`.

    Raises:
        ExpressionError: an expression cannot be parsed.
    """
    needed = parse_expression(text).names & values.keys()
    for name in reversed([*values]):
        if name in needed:
            needed |= parse_expression(values[name]).names & values.keys()
    return [name for name in values if name in needed]
