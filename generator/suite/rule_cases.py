"""Finds the cases of each rule, from the suite's own arrays."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import Array, bits_of
from opcert.cases.conditions import Conditions
from opcert.specification.model import Spec
from opcert.suite.format import GeneratedArray, IndexedCase
from opcert.suite.operator_suite import OperatorSuite


@dataclass(frozen=True)
class RuleCases:
    """The ids of the cases of one rule.

    `positive` are valid calls that satisfy the requirement or exhibit the behaviour, `negative`
    calls that must be rejected for it, `ambiguous` calls that touch an ambiguity as well.
    """

    positive: tuple[str, ...]
    negative: tuple[str, ...]
    ambiguous: tuple[str, ...]


def cases_by_rule(
    spec: Spec, operator: OperatorSuite, calls: Mapping[str, Call]
) -> dict[str, RuleCases]:
    """Return the cases of each rule by its full id; `calls` are the operator's `valid_calls`.

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
            # The index names the behaviours of a valid call, and not what it satisfies.
            satisfied = conditions.check(calls[case.id]).satisfied
            for rule in (*spec.full_ids(*satisfied), *case.rules):
                positive[rule].append(case.id)
    return {
        rule: RuleCases(tuple(positive[rule]), tuple(negative[rule]), tuple(ambiguous[rule]))
        for rule in spec.full_ids(*(rule.id for rule in spec.rules))
    }


def valid_calls(operator: OperatorSuite) -> dict[str, Call]:
    """Return the valid calls by case id, without those that touch an ambiguity."""
    return {
        case.id: _call(operator, case)
        for case in operator.index.cases
        if case.ambiguity is None and case.expects == "outputs"
    }


def _call(operator: OperatorSuite, case: IndexedCase) -> Call:
    """Return the call of a case in the form in which the planner describes calls."""
    inputs = {}
    for name, record in case.inputs.items():
        is_data = name in case.data_inputs
        is_random = is_data and isinstance(record, GeneratedArray)
        array = None if is_random else operator.read_array(record)
        inputs[name] = Tensor(
            record.type,
            record.shape,
            None if is_data or array is None else tuple(array.ravel().tolist()),
            requested_layout=record.layout,
            uniform=_uniform_elements(array) if is_data and array is not None else "no",
        )
    return Call(inputs, case.attributes)


def _uniform_elements(array: Array) -> Literal["no", "some", "zero"]:
    """Return "zero" if all elements are zero, "some" if several are equal, and "no" otherwise."""
    bits = bits_of(array).ravel()
    if not bits.size or (bits != bits[0]).any():
        return "no"
    # The pattern of one element is not zero.
    return "zero" if not bits[0] else "some" if bits.size > 1 else "no"
