"""The cases behind each rule: as the index says where it does, and as many as coverage counts."""

import pytest

from opcert.suite import cases_by_rule, valid_calls
from tests.faults.finding import core_suite
from tests.shipped import cases, each_spec, spec

SUITE = core_suite()


@each_spec
def test_each_case_stands_behind_the_rules_that_the_index_names(name: str) -> None:
    operator = SUITE.operators[spec(name).spec.operator]
    found = cases_by_rule(spec(name).spec, operator, valid_calls(operator))
    for rule, behind in found.items():
        telling = [case for case in operator.index.cases if rule in case.rules]
        negative = [
            case.id for case in telling if case.violated_rule == rule and not case.ambiguity
        ]
        assert list(behind.negative) == negative
        assert list(behind.ambiguous) == [case.id for case in telling if case.ambiguity]
        shown = [c.id for c in telling if c.expects == "outputs" and not c.ambiguity]
        if not negative and shown:
            assert list(behind.positive) == shown


def test_a_drawn_case_stands_behind_the_rules_that_check_counts_it_for() -> None:
    name = "DML_OPERATOR_SPLIT"
    operator = SUITE.operators[spec(name).spec.operator]
    found = cases_by_rule(spec(name).spec, operator, valid_calls(operator))
    drawn = [c for c in cases(name) if c.baseline is None and c.ambiguity is None]
    for rule, behind in found.items():
        of_drawn = {case.id for case in drawn} & set(behind.positive)
        assert of_drawn == {case.id for case in drawn if rule in case.rules}


def test_what_is_left_open_has_no_valid_call() -> None:
    operator = SUITE.operators["directml/DML_OPERATOR_SPLIT"]
    calls = valid_calls(operator)
    ambiguous = [case.id for case in operator.index.cases if case.ambiguity is not None]
    assert ambiguous
    assert calls.keys().isdisjoint(ambiguous)
    with pytest.raises(KeyError):
        cases_by_rule(spec("DML_OPERATOR_SPLIT").spec, operator, {})
