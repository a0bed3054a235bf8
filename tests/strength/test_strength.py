"""The strength of a suite: what it misses is named, and what makes no difference does not count."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from opcert.errors import SpecError
from opcert.specification.files import SpecFile
from opcert.strength.strength import Strength, Survivor, measure_strength
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import check_specs
from tests.bad_specs.take import rejecting
from tests.command_line import opcert
from tests.small_spec import spec


@cache
def checked() -> tuple[SpecFile, OperatorSuite]:
    with TemporaryDirectory() as folder:
        (found,) = check_specs([spec(Path(folder))])
    return found.spec_file, found.operator


@cache
def whole() -> Strength:
    return measure_strength(*checked())


@cache
def measured_without(lack: str) -> Strength:
    """Return the strength of the suite without its cases of a type, or without negative ones."""
    spec_file, operator = checked()
    cases = [c for c in operator.cases.values() if lack not in (c.type, c.expects)]
    lines = {case.id: operator.lines[case.id] for case in cases}
    return measure_strength(spec_file, replace(operator, lines=lines))


def texts(survivors: tuple[Survivor, ...]) -> set[str]:
    return {survivor.text for survivor in survivors}


def test_the_whole_suite_finds_most_faults() -> None:
    strength = whole()
    assert strength.drawn == 1000
    assert strength.found > 900
    assert strength.systematic_found > 50
    assert len(strength.missed) < 5


@pytest.mark.slow
def test_a_suite_without_negative_cases_finds_no_missing_check() -> None:
    text = "take-1/count-range is not checked"
    weak = measured_without("rejection")
    (survivor,) = (each for each in weak.missed if each.text == text)
    assert survivor.call.startswith("data=")
    assert text not in texts(whole().missed)
    assert weak.interval[1] < whole().interval[0]


@pytest.mark.slow
def test_a_suite_without_a_type_misses_what_is_wrong_for_it() -> None:
    lost = {
        "the call is rejected, if data is f32",
        "data loses the sign of -0.0, if data is f32",
        "data loses the lowest bit of each element, if data is f32",
    }
    weak = measured_without("f32")
    assert lost <= texts(weak.missed)
    assert lost.isdisjoint(texts(whole().missed))
    assert all("f32" in each.call for each in weak.missed if each.text in lost)


def test_the_simplest_survivors_come_first_one_for_each_effect() -> None:
    weak = measured_without("f32")
    assert len(weak.survivors) > len(weak.simplest) > 3
    effects = [survivor.effect for survivor in weak.simplest]
    assert len({*effects}) == len(effects)
    assert {*effects}.isdisjoint(each.effect for each in weak.missed)
    counts = [len(survivor.conditions) for survivor in weak.simplest]
    assert counts == sorted(counts)
    assert counts[0] == 1


def test_the_interval_is_that_of_wilson() -> None:
    survivors = (Survivor("It is late", (), "take(1)"),) * 2
    assert Strength("made/Up-1", 8, survivors, 0, ()).percent == "49.0 to 94.3 %"
    assert Strength("made/Up-1", 0, (), 0, ()).interval == (0, 1)


def test_a_reference_that_rejects_a_fresh_call_is_a_mistake_of_the_spec() -> None:
    spec_file, operator = checked()
    with pytest.raises(SpecError, match=r"rejects a valid call: .* count 0, for data="):
        measure_strength(replace(spec_file, reference=rejecting), operator)


def test_check_shows_both_sorts_of_faults_and_the_same_each_time(tmp_path: Path) -> None:
    result = opcert("check", spec(tmp_path), exits=0)
    strength, lines = whole(), result.stdout.splitlines()
    systematic = f"{strength.systematic_found} of {strength.systematic}"
    assert f"example/Take-1: systematic faults found: {systematic}" in lines
    random = f"{strength.found} of 1000, so {strength.percent} of such faults"
    assert f"example/Take-1: random faults found: {random}, with 95 % confidence" in lines
    assert f"  not found: {strength.simplest[0].text}" in lines
    assert f"    it shows in {strength.simplest[0].call}" in lines
