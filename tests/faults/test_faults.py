"""The core suite finds every fault of the catalogue, and names the rule that goes unchecked.

One fault of each mechanism is sought always, the others where slow tests run.
"""

import pytest

from tests import shipped
from tests.at_length import at_length
from tests.faults.catalogue import FAULTS, MECHANISMS
from tests.faults.fault import OPERATORS, the_right_one
from tests.faults.finding import core_suite, first_failure_of, found

_FIRST = {(fault.mechanism, fault.operator): name for name, fault in reversed(FAULTS.items())}
# One of each mechanism, of each operator in turn.
_QUICK = {
    _FIRST[mechanism, operators[number % len(operators)]]
    for number, (mechanism, operators) in enumerate(MECHANISMS.items())
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in _QUICK else pytest.mark.slow) for name in FAULTS],
)
def test_the_core_suite_finds_the_fault(name: str) -> None:
    verdict, rule = found(name), FAULTS[name].rule
    assert verdict is not None
    assert rule is None or (verdict.kind, rule in verdict.rules) == ("accepted", True)


@pytest.mark.parametrize("operator", at_length(OPERATORS, 3))
def test_the_reference_has_no_fault(operator: str) -> None:
    assert first_failure_of(core_suite(), the_right_one(operator)) is None


def test_each_mechanism_is_there_for_every_operator_to_which_it_applies() -> None:
    there = {(fault.mechanism, fault.operator) for fault in FAULTS.values()}
    assert there == {(name, each) for name, operators in MECHANISMS.items() for each in operators}


def test_each_requirement_goes_unchecked_in_a_fault() -> None:
    requirements = {
        f"{spec.slug}/{rule.id}"
        for spec in (shipped.spec(operator.partition("/")[2]).spec for operator in OPERATORS)
        for rule in spec.rules
        if rule.kind == "requirement"
    }
    assert {fault.rule for fault in FAULTS.values()} - {None} == requirements
