"""The mutation run: its verdict on a few mutants, its bounds, and its list of equivalent ones."""

from dataclasses import replace

import pytest

pytest.importorskip("cosmic_ray", reason="cosmic-ray of the extra 'mutation' is not installed")
pytest.importorskip("pebble", reason="pebble of the extra 'mutation' is not installed")

from opcert.reference import rules
from tests.mutation.__main__ import Score, complaints, table, tried
from tests.mutation.equivalents import Equivalent, equivalents
from tests.mutation.mutants import Mutant, mutants_of, source_of
from tests.mutation.trial import fate_of, served_by


def changed(module: str, line: str, becomes: str) -> Mutant:
    source = source_of(module)
    assert source.count(line) == 1
    return Mutant(module, "by hand", line, becomes, source.replace(line, becomes))


@pytest.mark.parametrize(
    ("module", "line", "becomes", "fate"),
    [
        ("slicing", "data.ndim >= 1", "data.ndim >= 2", "killed"),
        ("gathering", "and axis.size == 1", "and axis.size >= 1", "distinguished"),
        ("slicing", "data[tuple(region)].copy()", "data[tuple(region)]", "killed"),
        ("slicing", "data.ndim >= 1", "1 <= data.ndim", "survived"),
        ("slicing", "axes: Array | None", "axes: Array + None", "not importable"),
        ("slicing", "is_integer(axes)", "missing(axes)", "killed"),
        ("rules", "if not holds", "if holds", "killed"),
        ("variadic_split", "initial=0", "initial=1", "killed"),
    ],
)
def test_fates(module: str, line: str, becomes: str, fate: str) -> None:
    assert fate_of(changed(module, line, becomes)) == fate


def test_the_installed_reference_is_not_touched() -> None:
    before = rules.RuleBroken
    fate_of(changed("rules", "if not holds", "if holds"))
    assert rules.RuleBroken is before
    with pytest.raises(before):
        rules.require(False, "rule", "found")


def test_what_a_module_serves() -> None:
    assert served_by("variadic_split") == [
        "openvino/VariadicSplit-1",
        "directml/DML_OPERATOR_SPLIT",
    ]
    assert len(served_by("rules")) == 5


def test_loops_and_crashes_end_as_fates() -> None:
    loops = changed("slicing", "region = [slice", "while True: pass\n    region = [slice")
    crashes = changed(
        "slicing", "region = [slice", "__import__('os')._exit(3)\n    region = [slice"
    )
    score = tried([loops, crashes], jobs=1, seconds=60, deadline=5)
    assert set(score.fates.values()) == {"timed out", "crashed"}
    assert not list(complaints(score, []))


def test_what_there_is_no_time_for_is_reported() -> None:
    mutant = changed("slicing", "data.ndim >= 1", "data.ndim >= 2")
    score = tried([mutant], jobs=1, seconds=0)
    assert score.undone == [mutant]
    assert list(complaints(score, [])) == ["1 mutants not tried: give it more --minutes"]


def test_mutants_have_names_of_their_own() -> None:
    mutants = list(mutants_of("slicing"))
    assert len({mutant.identity for mutant in mutants}) == len(mutants) > 60
    assert len({mutant.source for mutant in mutants}) == len(mutants)


def baselines(mutant: Mutant) -> list[Mutant]:
    return [mutant, replace(mutant, source="elsewhere")]


@pytest.fixture(name="survivor")
def one_survivor() -> Mutant:
    return Mutant("slicing", "mutation", "line", "other line", "")


def test_survivors_and_the_list_have_to_agree(survivor: Mutant) -> None:
    listed = Equivalent(*survivor.identity, why="no call distinguishes it")
    assert not list(complaints(Score({survivor: "survived"}), [listed]))
    assert not list(complaints(Score({}, [survivor]), [listed]))[:-1]
    (text,) = complaints(Score(dict.fromkeys(baselines(survivor), "survived")), [listed])
    assert text.startswith("two survivors look alike")
    (text,) = complaints(Score({survivor: "survived"}), [])
    assert text.startswith("survived: slicing, mutation")
    (text,) = complaints(Score({survivor: "killed"}), [listed])
    assert text.startswith("listed as equivalent, but no survivor: slicing, mutation")


def test_the_score_leaves_equivalents_out(survivor: Mutant) -> None:
    other = replace(survivor, line="third line")
    score = Score({survivor: "survived", other: "killed"})
    rows = list(table(score, [Equivalent(*survivor.identity, why="")], ["slicing"]))
    assert rows[2].endswith("| 1 | 1 | 0 | 100.0% |")
    assert list(table(score, [], ["slicing"]))[2].endswith("| 1 | 0 | 0 | 50.0% |")


def test_every_listed_mutant_has_a_reason() -> None:
    listed = equivalents()
    assert all(each.why for each in listed)
    assert len({each.identity for each in listed}) == len(listed)
