"""The contents of an operator's page: counts as in the manifest, violations with their cases."""

import shutil
from pathlib import Path

import pytest

from opcert.errors import OpcertError
from opcert.pages.addresses import page_name
from opcert.pages.operator_page import OperatorPage, operator_page
from opcert.pages.site import render_site
from opcert.panel.strength import MissedFault, Strength
from opcert.specification.files import read_spec, read_specs_in
from tests.faults.finding import core_suite
from tests.shipped import SPECS, each_core_spec, each_spec, spec
from tests.suite_of_levels import write_specs

SUITE = core_suite()


def page_of(name: str) -> OperatorPage:
    return operator_page(spec(name), SUITE)


@each_core_spec
def test_the_numbers_of_cases_are_those_of_the_manifest(name: str) -> None:
    page = page_of(name)
    entry = SUITE.manifest.operators[page.spec.operator]
    assert page.cases is not None
    assert sum(page.cases) == entry.cases
    assert page.cases[2] == entry.implementation_defined
    assert sum(each.cases for each in page.ambiguities) == entry.implementation_defined


@each_core_spec
def test_the_cases_that_break_a_rule_are_those_of_its_violations(name: str) -> None:
    for entry in page_of(name).requirements:
        cases = {case for violation in entry.violations for case in violation.cases}
        assert cases == set(entry.cases.negative)
        assert all(violation.cases for violation in entry.violations)
        declared = {violation.name: violation.change for violation in entry.violations}
        assert declared.items() >= entry.rule.violations.items()


@each_spec
def test_every_rule_is_a_requirement_or_a_behaviour(name: str) -> None:
    page = page_of(name)
    kinds = [each.id for each in (*page.requirements, *page.behaviours)]
    assert sorted(kinds) == sorted(each.id for each in page.rules)
    assert [each.rule for each in page.rules] == list(page.spec.rules)


def test_a_factor_has_its_levels_by_profile() -> None:
    factors = {each.name: each for each in page_of("Gather-8").factors}
    assert list(factors["data_rank"].levels["core"]) == [*"12345678"]
    assert "past_u8" in factors["data_length"].levels["core"]
    assert "past_16_mb" in factors["data_length"].levels["stress"]
    assert "i4" in factors["data_type"].levels["full"]


def test_an_example_is_printed_nested_or_by_what_fills_it() -> None:
    examples = {each.id: each for each in page_of("Gather-8").examples}
    second, layer = examples["gather-8/example-2"], examples["gather-8/layer-example"]
    assert second.inputs[1].elements == "[[0, 0, 4], [4, 0, 0]]"
    assert second.attributes == {"batch_dims": "1"}
    assert layer.inputs[0].elements == "any: the document gives the shape alone"
    assert layer.inputs[1].elements.endswith("(37 * i + 11) % 64")


def test_an_operator_that_the_suite_does_not_have_is_not_counted(tmp_path: Path) -> None:
    write_specs(tmp_path)
    (take,) = read_specs_in(tmp_path)
    page = operator_page(take, SUITE)
    assert page.cases is None
    assert not any(entry.cases.positive for entry in page.rules)


def test_a_suite_of_another_text_of_the_spec_is_refused(tmp_path: Path) -> None:
    path = Path(shutil.copy(SPECS["Gather-8"], tmp_path))
    path.write_text(path.read_text().replace("Axis may be a scalar.", "It may be a scalar."))
    with pytest.raises(OpcertError, match=r"generated from another text of .*Gather-8\.yaml"):
        operator_page(read_spec(path), SUITE)


def test_a_page_has_the_strength_that_it_is_given() -> None:
    strength = Strength("a/B-1", 8, (MissedFault("x-cut", "x is <cut>", "x=<1>"),))
    name = "VariadicSplit-1"
    assert page_of(name).strength is None
    assert operator_page(spec(name), SUITE, strength).strength is strength
    operator = spec(name).spec.operator
    page = render_site([spec(name)], SUITE, {operator: strength}, [])[page_name(operator)].decode()
    assert "Generic faults found: 8 of 9." in page
    assert "x is &lt;cut&gt;" in page
