"""Every fault of the catalogue is one, and the core suite finds it.

One fault of each mechanism of each operator is sought always, the others where slow tests run.
"""

import pytest

from tests.faults.catalogue import FAULTS, MECHANISMS
from tests.faults.conditions import conditions, open_in, violated_by
from tests.faults.fault import OPERATORS, the_right_one
from tests.faults.finding import first_failure, found
from tests.faults.witness import deviation

_FIRST = {(fault.mechanism, fault.operator): name for name, fault in reversed(FAULTS.items())}
_EACH = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in _FIRST.values() else pytest.mark.slow)
        for name in FAULTS
    ],
)


@_EACH
def test_its_witness_shows_the_fault(name: str) -> None:
    assert deviation(FAULTS[name]) is not None


@_EACH
def test_the_core_suite_finds_the_fault(name: str) -> None:
    assert found(name) is not None, FAULTS[name].text


def test_no_witness_touches_what_its_document_leaves_open() -> None:
    touched = {name: open_in(fault) for name, fault in FAULTS.items()}
    assert {name: ambiguities for name, ambiguities in touched.items() if ambiguities} == {}


def test_the_witness_of_an_unchecked_rule_breaks_that_rule_alone() -> None:
    unchecked = {name: fault for name, fault in FAULTS.items() if fault.rule}
    broken = {name: violated_by(fault) for name, fault in unchecked.items()}
    assert broken == {name: {fault.rule} for name, fault in unchecked.items()}


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_reference_has_no_fault(operator: str) -> None:
    assert first_failure(the_right_one(operator)) is None


def test_each_mechanism_is_there_for_every_operator_to_which_it_applies() -> None:
    there = {(fault.mechanism, fault.operator) for fault in FAULTS.values()}
    assert there == {(name, each) for name, operators in MECHANISMS.items() for each in operators}


def test_each_requirement_goes_unchecked_in_a_fault() -> None:
    requirements = {
        f"{spec.slug}/{rule.id}"
        for spec in (conditions(operator).spec for operator in OPERATORS)
        for rule in spec.rules
        if rule.kind == "requirement" and rule.unbreakable is None
    }
    assert {fault.rule for fault in FAULTS.values()} - {None} == requirements
