"""The strength of a suite: missed faults are named, and those without effect do not count."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from opcert.panel.fresh_calls import fresh_calls
from opcert.panel.strength import Panel, Strength, measure_strength
from opcert.suite.spec_check import CheckedSpec, check_specs
from tests.command_line import opcert
from tests.small_spec import spec


@cache
def checked(*changes: tuple[str, str]) -> CheckedSpec:
    with TemporaryDirectory() as folder:
        return check_specs([spec(Path(folder), *changes)])[0]


@cache
def strength(*changes: tuple[str, str]) -> Strength:
    found = checked(*changes)
    return measure_strength(found.spec_file, found.operator)


def missed(*changes: tuple[str, str]) -> set[str]:
    return {each.name for each in strength(*changes).missed}


def test_faults_that_only_missing_cases_would_detect_are_missed() -> None:
    missed_faults = {"count-at-least-zero", "count-without-sign"}
    assert not missed_faults & missed()
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    panel._decisive = [
        case for case in panel._decisive if not str(case.attributes.get("count")).startswith("-")
    ]
    for fault in (each for each in panel.faults() if each.name in missed_faults):
        assert not panel.detects(fault)
        assert panel.witness(fault) is not None


def test_an_unchecked_requirement_is_detected_only_by_its_negative_cases() -> None:
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    unchecked = next(each for each in panel.faults() if each.name == "count-range-unchecked")
    assert panel.detects(unchecked)
    panel._decisive = [case for case in panel._decisive if case.violated_rule is None]
    assert not panel.detects(unchecked)
    assert panel.witness(unchecked) is not None


def test_a_missed_fault_comes_with_a_call_that_it_affects() -> None:
    (beyond,) = (each for each in strength().missed if each.name == "extents-beyond-255")
    assert beyond.text == "results are wrong where data has an extent above 255"
    assert beyond.witness.startswith("data=")


def test_a_fault_without_effect_does_not_count() -> None:
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    # A count is no list, and the operator has one output.
    without_effect = {"outputs-order", "outputs-first-repeated", "count-wrong-for-several"}
    faults = {fault.name: fault for fault in panel.faults()}
    assert without_effect <= faults.keys()
    assert all(panel.witness(faults[name]) is None for name in without_effect)
    assert without_effect.isdisjoint(missed())
    assert strength().applicable < len(faults)


def test_every_applicable_fault_is_either_detected_or_missed() -> None:
    assert strength().applicable == strength().detected + len(strength().missed)
    assert strength().detected > 50


def test_fresh_calls_are_valid_or_violate_one_requirement() -> None:
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    fresh = [*fresh_calls(panel._conditions, panel._reference, panel._valid)]
    broken = {getattr(each.result, "rule", None) for each in fresh}
    assert broken == {None, "take-1/count-range"}
    for each in fresh:
        count, data = each.call.attributes["count"], each.call.inputs["data"]
        assert isinstance(each.result, list) == (0 <= count <= len(data))


def test_strength_is_deterministic() -> None:
    found = checked()
    assert measure_strength(found.spec_file, found.operator) == strength()


def test_check_names_the_missed_faults(tmp_path: Path) -> None:
    result = opcert("check", spec(tmp_path))
    assert result.exit_code == 0, result.stderr
    weak = strength()
    lines = result.stdout.splitlines()
    assert f"example/Take-1: generic faults found: {weak.detected} of {weak.applicable}" in lines
    text = "results are wrong where data has an extent above 255 (extents-beyond-255)"
    assert f"  not found: {text}" in lines


def test_check_omits_the_panel_on_request(tmp_path: Path) -> None:
    result = opcert("check", "--no-strength", spec(tmp_path))
    assert result.exit_code == 0
    assert "generic faults" not in result.stdout
