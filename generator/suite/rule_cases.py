"""Suite + spec -> the cases behind each rule, told from the suite's own arrays."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opcert.arrays import Array, Call, Tensor, bits_of
from opcert.cases import Conditions
from opcert.specification import Spec
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite


@dataclass(frozen=True)
class RuleCases:
    """The ids of the cases behind one rule.

    `positive` are valid calls that keep or show it, `negative` calls that must be rejected for it,
    `left_open` calls that tell of it where the document leaves open what is right.
    """

    positive: tuple[str, ...]
    negative: tuple[str, ...]
    ambiguous: tuple[str, ...]


def cases_by_rule(
    spec: Spec, operator: OperatorSuite, calls: Mapping[str, Call]
) -> dict[str, RuleCases]:
    """Return the cases behind each rule of `spec` by its full id; `calls` are the valid ones.

    Raises:
        ExpressionError: a condition of `spec` cannot be evaluated on a call of the suite.
    """
    conditions = Conditions(spec)
    positive, negative, ambiguous = (defaultdict[str, list[str]](list) for _ in range(3))
    for case in operator.index.cases:
        if case.ambiguity is not None:
            for rule in case.rules:
                ambiguous[rule].append(case.id)
        elif case.violated_rule is not None:
            negative[case.violated_rule].append(case.id)
        else:
            call = calls[case.id]
            for name in (*conditions.check(call).satisfied, *conditions.behaviours(call)):
                positive[spec.full_id(name)].append(case.id)
    return {
        rule: RuleCases(tuple(positive[rule]), tuple(negative[rule]), tuple(ambiguous[rule]))
        for rule in spec.full_ids(*(each.id for each in spec.rules))
    }


def valid_calls(operator: OperatorSuite) -> dict[str, Call]:
    """Return the calls that have to give outputs, by case, but those that are left open."""
    cases = [case for case in operator.index.cases if case.ambiguity is None]
    return {case.id: _call(operator, case) for case in cases if case.expects == "outputs"}


def _call(operator: OperatorSuite, case: IndexedCase) -> Call:
    """Return the call of a case, made of nothing but its arrays and attributes."""
    inputs = {}
    for name, array in operator.inputs(case).items():
        given = case.inputs[name]
        is_free = name in case.data_inputs
        values = None if is_free else tuple(array.ravel().tolist())
        uniform = _alike(array) if is_free else "no"
        inputs[name] = Tensor(
            given.type, given.shape, values, requested_layout=given.layout, uniform=uniform
        )
    return Call(inputs, case.attributes)


def _alike(array: Array) -> Literal["no", "some", "zero"]:
    bits = bits_of(array).ravel()
    if bits.size <= 1 or (bits != bits[0]).any():
        return "no"
    return "some" if bits[0] else "zero"
