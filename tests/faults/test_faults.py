"""Every fault of the catalogue is one, and the core suite finds it."""

import pytest

from opcert.generator.spec_files import specs_in
from tests.faults.catalogue import FAULTS, MECHANISMS
from tests.faults.fault import OPERATORS, the_right_one
from tests.faults.finding import first_failure
from tests.faults.witness import shown

_EACH = pytest.mark.parametrize("name", FAULTS)


@_EACH
def test_its_witness_shows_the_fault(name: str) -> None:
    assert shown(FAULTS[name]) is not None


@_EACH
def test_the_core_suite_finds_the_fault(name: str) -> None:
    assert first_failure(FAULTS[name]) is not None, FAULTS[name].text


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_reference_has_no_fault(operator: str) -> None:
    assert first_failure(the_right_one(operator)) is None


def test_each_mechanism_is_there_for_every_operator_to_which_it_applies() -> None:
    found = {(fault.mechanism, fault.operator) for fault in FAULTS.values()}
    assert found == {(name, each) for name, operators in MECHANISMS.items() for each in operators}


def test_each_requirement_goes_unchecked_in_a_fault() -> None:
    requirements = {
        f"{file.spec.slug}/{rule.id}"
        for file in specs_in(None)
        for rule in file.spec.rules
        if rule.kind == "requirement" and rule.unbreakable is None
    }
    assert {fault.rule for fault in FAULTS.values()} - {None} == requirements
