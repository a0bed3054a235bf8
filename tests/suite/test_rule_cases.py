"""The cases of each rule: those that the index names, and as many as `check` counts."""

import pytest

from opcert.cases.conditions import Conditions
from opcert.suite.spec_check import cases_by_rule, valid_calls
from tests.faults.finding import core_suite
from tests.shipped import each_core_spec, spec

SUITE = core_suite()


@each_core_spec
def test_the_index_names_the_behaviours_of_each_valid_call(name: str) -> None:
    of = spec(name).spec
    operator, conditions = SUITE.operators[of.operator], Conditions(of)
    for case, call in valid_calls(operator).items():
        assert operator.cases[case].rules == of.full_ids(*conditions.behaviours(call))


@each_core_spec
def test_the_cases_of_a_rule_are_those_that_the_index_names(name: str) -> None:
    operator = SUITE.operators[spec(name).spec.operator]
    by_rule = cases_by_rule(spec(name).spec, operator, valid_calls(operator))
    for rule, cases_of_rule in by_rule.items():
        named = [case for case in operator.cases.values() if rule in case.rules]
        negative = [case.id for case in named if case.violated_rule == rule and not case.ambiguity]
        assert list(cases_of_rule.negative) == negative
        assert list(cases_of_rule.ambiguous) == [case.id for case in named if case.ambiguity]
        # The index names behaviours alone; valid calls satisfy requirements as well.
        positive = [c.id for c in named if c.expects == "outputs" and not c.ambiguity]
        if not negative and positive:
            assert list(cases_of_rule.positive) == positive


def test_ambiguous_cases_are_no_valid_calls() -> None:
    operator = SUITE.operators["directml/DML_OPERATOR_SPLIT"]
    calls = valid_calls(operator)
    ambiguous = [case.id for case in operator.cases.values() if case.ambiguity is not None]
    assert ambiguous
    assert calls.keys().isdisjoint(ambiguous)
    with pytest.raises(KeyError):
        cases_by_rule(spec("DML_OPERATOR_SPLIT").spec, operator, {})
