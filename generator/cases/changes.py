"""Changes to a valid call, as specs write them: an argument, and what it is to be instead."""

from collections.abc import Mapping

from opcert.arrays import TENSOR_BUILDERS, TENSOR_CHANGES, Call
from opcert.cases.conditions import Conditions
from opcert.errors import Inapplicable
from opcert.specification import evaluate_in, evaluation_scope, parse_expression

Change = Mapping[str, str]
_FUNCTIONS = {**TENSOR_BUILDERS, **TENSOR_CHANGES}


def after(conditions: Conditions, valid: Call, change: Change) -> Call | None:
    """Return a valid call with a change, or None where it does not admit it.

    Raises:
        ExpressionError: the change cannot be evaluated.
    """
    defaults = conditions.spec.defaults
    scope = evaluation_scope(conditions.names(valid), _FUNCTIONS)
    call = valid
    for target, text in change.items():
        expression = parse_expression(text)
        if any(scope[each] is None for each in expression.names & defaults.keys()):
            return None
        try:
            value = evaluate_in(scope, expression)
        except Inapplicable:
            return None
        call = call.changed(target, value, tuple(defaults))
    return call if call != valid else None
