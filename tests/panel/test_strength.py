"""The strength of a suite: planted holes are named, and nothing counts that makes no difference."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from opcert.panel import Strength, measure_strength
from opcert.panel.fresh_calls import fresh_calls
from opcert.panel.strength import Panel
from opcert.suite import check_specs
from opcert.suite.spec_check import CheckedSpec
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


def test_a_missing_negative_case_is_a_hole() -> None:
    hole = {"count-at-least-zero", "count-without-sign"}
    assert not hole & missed()
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    panel._deciding = [
        case for case in panel._deciding if not str(case.attributes.get("count")).startswith("-")
    ]
    for member in (each for each in panel.members() if each.name in hole):
        assert not panel.finds(member)
        assert panel.witness(member) is not None


def test_a_requirement_is_found_unchecked_by_its_negative_cases_alone() -> None:
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    unchecked = next(each for each in panel.members() if each.name == "count-range-unchecked")
    assert panel.finds(unchecked)
    panel._deciding = [case for case in panel._deciding if case.violated_rule is None]
    assert not panel.finds(unchecked)
    assert panel.witness(unchecked) is not None


def test_data_that_no_case_has_is_a_hole_with_a_call_that_shows_it() -> None:
    (beyond,) = (each for each in strength().missed if each.name == "extents-beyond-255")
    assert beyond.text == "results are wrong where data has an extent above 255"
    assert beyond.witness.startswith("data=")


def test_what_makes_no_difference_does_not_count() -> None:
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    # A count is no list, and the operator has one output.
    idle = {"outputs-order", "outputs-first-repeated", "count-wrong-for-several"}
    members = {each.name: each for each in panel.members()}
    assert idle <= members.keys()
    assert all(panel.witness(members[name]) is None for name in idle)
    assert idle.isdisjoint(missed())
    assert strength().applicable < len(members)


def test_what_is_not_missed_is_found() -> None:
    assert strength().applicable == strength().detected + len(strength().missed)
    assert strength().detected > 50


def test_fresh_calls_are_valid_or_break_one_requirement() -> None:
    found = checked()
    panel = Panel(found.spec_file, found.operator)
    fresh = [*fresh_calls(panel._conditions, panel._reference, [*panel._valid.values()])]
    broken = {getattr(each.result, "rule", None) for each in fresh}
    assert broken == {None, "take-1/count-range"}
    for each in fresh:
        count, data = each.call.attributes["count"], each.call.inputs["data"]
        assert isinstance(each.result, list) == (0 <= count <= len(data))


def test_the_strength_is_the_same_each_time() -> None:
    found = checked()
    assert measure_strength(found.spec_file, found.operator) == strength()


def test_check_names_the_faults_that_no_case_finds(tmp_path: Path) -> None:
    result = opcert("check", spec(tmp_path))
    assert result.exit_code == 0, result.stderr
    weak = strength()
    lines = result.stdout.splitlines()
    assert f"example/Take-1: generic faults found: {weak.detected} of {weak.applicable}" in lines
    text = "results are wrong where data has an extent above 255 (extents-beyond-255)"
    assert f"  not found: {text}" in lines


def test_check_leaves_the_panel_out_where_asked(tmp_path: Path) -> None:
    result = opcert("check", "--no-strength", spec(tmp_path))
    assert result.exit_code == 0
    assert "generic faults" not in result.stdout
