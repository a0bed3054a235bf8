"""Coverage: what a suite's own arrays show is counted, and what is not there is named."""

import shutil
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from rich.console import Console

from opcert import generate
from opcert.commands.tables import print_coverage
from opcert.specification import read_spec, read_specs_in
from opcert.suite import Coverage, Suite, measure_coverage
from opcert.suite.coverage import DimensionCoverage
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.small_suite import MANIFEST, edit
from tests.suite_of_levels import (
    LEVELS,
    OPERATOR,
    Case,
    combinations_of,
    edit_cases,
    take_out,
    tells,
    valid,
    write_specs,
)

SHIPPED = {each.spec.operator: each for each in read_specs_in(None)}


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small spec whose factors show, and its reference."""
    folder = tmp_path_factory.mktemp("specs")
    write_specs(folder)
    return folder


@pytest.fixture(scope="module")
def whole(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small suite, with all that its spec asks for."""
    folder = tmp_path_factory.mktemp("suites") / "whole"
    generate(folder, specs)
    return folder


@pytest.fixture
def suite(whole: Path, tmp_path: Path) -> Path:
    """A copy of the small suite, to take something out of."""
    return Path(shutil.copytree(whole, tmp_path / "suite"))


def counted(suite: Path, specs: Path) -> Coverage:
    spec = read_spec(specs / "take.yaml")
    (found,) = measure_coverage(Suite(suite, specs), {OPERATOR: spec})
    return found


def missing(found: Coverage) -> dict[str, set[str]]:
    """Return what is missing by dimension, where something is."""
    return {each.dimension: set(each.missing) for each in found.covered if each.missing}


@pytest.mark.parametrize("operator", ["directml/DML_OPERATOR_SPLIT", "openvino/VariadicSplit-1"])
def test_the_core_suite_misses_nothing(operator: str) -> None:
    (found,) = measure_coverage(core_suite(), {operator: SHIPPED[operator]})
    assert missing(found) == {}
    assert found.share == 1
    assert [each.dimension for each in found.covered] == [
        "levels",
        "pairs of levels",
        "full combinations",
        "rules",
        "types x ranks",
        "feature levels",
    ]


def test_a_whole_suite_misses_nothing(whole: Path, specs: Path) -> None:
    found = counted(whole, specs)
    assert missing(found) == {}
    present = {each.dimension: each.present for each in found.covered}
    assert present["levels"] == sum(map(len, LEVELS.values()))
    assert present["full combinations"] == 2 * 2 * 3 * 2
    assert present["rules"] == 3
    assert found.types == {key: found.types[key] for key in product(["i8", "f32"], [1, 2])}
    assert found.told == tuple(LEVELS)


def test_ranks_may_be_expressions(whole: Path, specs: Path, tmp_path: Path) -> None:
    for path in specs.glob("*.*"):
        text = path.read_text()
        (tmp_path / path.name).write_text(text.replace("rank: [1, 2]", "rank: [1, 1 + 1]"))
    assert missing(counted(whole, tmp_path)) == {}


def test_a_level_that_was_taken_out_is_named_with_its_pairs(suite: Path, specs: Path) -> None:
    take_out(suite, valid(type="f32"))
    others = ("rank", "n", "count")
    pairs = set().union(*(combinations_of(each, type="f32") for each in others))
    assert missing(counted(suite, specs)) == {
        "levels": {"type=f32"},
        "pairs of levels": pairs,
        "full combinations": combinations_of(*others, type="f32"),
        "types x ranks": {"f32 of rank 1", "f32 of rank 2"},
    }


def test_a_pair_that_was_taken_out_is_named_alone(suite: Path, specs: Path) -> None:
    take_out(suite, valid(rank=2, n=3))
    assert missing(counted(suite, specs)) == {
        "pairs of levels": {"rank=two n=three"},
        "full combinations": combinations_of("type", "count", rank="two", n="three"),
    }


def test_a_rule_that_no_call_breaks_is_named(suite: Path, specs: Path) -> None:
    take_out(suite, lambda case: case["expects"] == "rejection")
    found = counted(suite, specs)
    assert missing(found) == {"rules": {"count-range"}}
    kept, broken = found.rules["count-range"]
    assert kept > 0
    assert broken == 0


def test_a_behaviour_that_no_call_shows_is_named(suite: Path, specs: Path) -> None:
    take_out(suite, valid(count=0))
    found = counted(suite, specs)
    assert missing(found)["rules"] == {"nothing"}
    assert found.rules["nothing"] == (0, 0)


def test_what_the_index_claims_is_not_counted(suite: Path, specs: Path) -> None:
    take_out(suite, valid(n=1))

    def claim(cases: list[Case]) -> list[Case]:
        for case in cases:
            if "levels" in case:
                case["levels"][[*LEVELS].index("n")] = "one"
        return cases

    edit_cases(suite, claim)
    found = counted(suite, specs)
    assert missing(found)["levels"] == {"n=one"}
    assert found.levels["n"]["one"] == 0
    assert found.levels["n"]["three"] > 0


def test_a_pair_in_empty_outputs_counts_only_where_no_output_could_tell(
    suite: Path, specs: Path
) -> None:
    chosen = valid(type="i8", rank=1)
    take_out(suite, lambda case: chosen(case) and tells(case))
    found = counted(suite, specs)
    assert found.types["i8", 1] > 0
    # With one element, 'n=zero' or 'count=none' there is none that tells, so those are left.
    assert missing(found) == {
        "pairs of levels": {"type=i8 rank=one"},
        "full combinations": {"type=i8 rank=one n=three count=all"},
    }


def test_a_factor_without_seen_counts_as_drawn(suite: Path, specs: Path, tmp_path: Path) -> None:
    text, told = (specs / "take.yaml").read_text(), "    type: data.type\n"
    assert told in text
    untold = Path(shutil.copytree(specs, tmp_path / "untold"))
    (untold / "take.yaml").write_text(text.replace(told, ""))
    take_out(suite, lambda case: "f32" in case.get("levels", []))
    found = counted(suite, untold)
    assert found.told == ("rank", "n", "count")
    assert missing(found)["levels"] == {"type=f32"}
    result = opcert("coverage", "--suite", suite, "--specs", untold)
    assert "    type (as planned: the spec cannot observe it): i8 " in result.stdout
    assert "    rank: one " in result.stdout


@pytest.mark.parametrize(
    ("profile", "dimensions"),
    [
        ("full", {"levels", "pairs of levels", "triples of levels", "rules", "types x ranks"}),
        ("stress", {"levels", "pairs of levels"}),
    ],
)
def test_each_profile_counts_what_it_is_for(
    suite: Path, specs: Path, profile: str, dimensions: set[str]
) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(profile=profile))
    found = counted(suite, specs)
    assert missing(found) == {}
    assert {each.dimension for each in found.covered if each.present} == {
        *dimensions,
        "full combinations",
    }


def test_a_triple_that_was_taken_out_is_named_alone(suite: Path, specs: Path) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(profile="full"))
    take_out(suite, valid(type="f32", rank=2, n=3))
    found = missing(counted(suite, specs))
    assert found["triples of levels"] == {"type=f32 rank=two n=three"}
    assert "pairs of levels" not in found


def test_the_share_of_an_operator_is_its_least(suite: Path, specs: Path) -> None:
    take_out(suite, lambda case: case["expects"] == "rejection")
    found = counted(suite, specs)
    assert found.share == 2 / 3
    assert DimensionCoverage("nothing to be", 0, ()).share == 1


def test_a_whole_suite_exits_0(whole: Path, specs: Path) -> None:
    result = opcert("coverage", "--suite", whole, "--specs", specs)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{OPERATOR}: 100%\n")
    assert "missing" not in result.stdout
    assert "100%  full combinations: 24 of 24" in result.stdout
    assert "valid calls" in result.stdout


def test_what_is_missing_exits_1_and_is_named(suite: Path, specs: Path) -> None:
    take_out(suite, valid(rank=2, n=1))
    result = opcert("coverage", "--suite", suite, "--specs", specs)
    assert result.exit_code == 1
    assert f"{OPERATOR}: 83.3%\n" in result.stdout
    assert "missing: rank=two n=one\n" in result.stdout
    assert "missing: type=i8 rank=two n=one count=all\n" in result.stdout


def test_what_is_nearly_all_is_not_called_100_percent() -> None:
    printed = StringIO()
    console = Console(file=printed, width=80)
    nearly = DimensionCoverage("levels", 99999, ("type=f32",))
    print_coverage(Coverage("made/Up", {}, {}, {}, {}, (), (nearly,)), console)
    assert "99.9%  levels: 99999 of 100000" in printed.getvalue()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "the suite has none of these operators"),
        (("--specs", "no-such-folder"), "no spec in no-such-folder"),
        (("--operator", "example/*"), "example/*"),
    ],
)
def test_nothing_to_count_exits_2(whole: Path, arguments: tuple[str, ...], told: str) -> None:
    result = opcert("coverage", "--suite", whole, *arguments)
    assert result.exit_code == 2
    assert told in result.stderr.replace("\n", " ")


def test_a_folder_that_is_no_suite_exits_2(tmp_path: Path) -> None:
    result = opcert("coverage", "--suite", tmp_path)
    assert result.exit_code == 2
    assert "opcert generate" in result.stderr.replace("\n", " ")
