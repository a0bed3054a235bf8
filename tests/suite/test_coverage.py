"""Coverage: what a suite exhibits in its own arrays is counted, and what it misses is named."""

import shutil
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from rich.console import Console

from opcert import generate
from opcert.commands.specs import print_coverage
from opcert.specification.files import read_spec, read_specs_in
from opcert.suite.coverage import Coverage, DimensionCoverage, measure_coverage
from opcert.suite.suite import Suite
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.small_suite import MANIFEST, edit
from tests.suite_of_levels import (
    LEVELS,
    OPERATOR,
    Case,
    combinations_of,
    edit_cases,
    is_discriminating,
    remove_cases,
    valid,
    write_specs,
)

SHIPPED = {each.spec.operator: each for each in read_specs_in(None)}


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small spec and its reference."""
    folder = tmp_path_factory.mktemp("specs")
    write_specs(folder)
    return folder


@pytest.fixture(scope="module")
def complete(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small suite, which covers everything."""
    folder = tmp_path_factory.mktemp("suites") / "complete"
    generate(folder, specs)
    return folder


@pytest.fixture
def suite(complete: Path, tmp_path: Path) -> Path:
    """A copy of the small suite, from which a test removes cases."""
    return Path(shutil.copytree(complete, tmp_path / "suite"))


def measured(suite: Path, specs: Path) -> Coverage:
    spec = read_spec(specs / "take.yaml")
    (coverage,) = measure_coverage(Suite(suite, specs), {OPERATOR: spec})
    return coverage


def missing(coverage: Coverage) -> dict[str, set[str]]:
    """Return what each dimension misses, for those that miss something."""
    return {d.dimension: set(d.missing) for d in coverage.dimensions if d.missing}


@pytest.mark.parametrize("operator", ["directml/DML_OPERATOR_SPLIT", "openvino/VariadicSplit-1"])
def test_the_core_suite_misses_nothing(operator: str) -> None:
    (coverage,) = measure_coverage(core_suite(), {operator: SHIPPED[operator]})
    assert missing(coverage) == {}
    assert coverage.share == 1
    assert [dimension.dimension for dimension in coverage.dimensions] == [
        "levels",
        "pairs of levels",
        "full combinations",
        "rules",
        "types x ranks",
        "feature levels",
    ]


def test_a_complete_suite_misses_nothing(complete: Path, specs: Path) -> None:
    coverage = measured(complete, specs)
    assert missing(coverage) == {}
    present = {d.dimension: d.present for d in coverage.dimensions}
    assert present["levels"] == sum(map(len, LEVELS.values()))
    assert present["full combinations"] == 2 * 2 * 3 * 2
    assert present["rules"] == 3
    assert coverage.types == {key: coverage.types[key] for key in product(["i8", "f32"], [1, 2])}


def test_a_missing_level_is_named_with_its_pairs(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(type="f32"))
    others = ("rank", "n", "count")
    pairs = set().union(*(combinations_of(each, type="f32") for each in others))
    assert missing(measured(suite, specs)) == {
        "levels": {"type=f32"},
        "pairs of levels": pairs,
        "full combinations": combinations_of(*others, type="f32"),
        "types x ranks": {"f32 of rank 1", "f32 of rank 2"},
    }


def test_a_missing_pair_is_named_alone(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(rank=2, n=3))
    assert missing(measured(suite, specs)) == {
        "pairs of levels": {"rank=two n=three"},
        "full combinations": combinations_of("type", "count", rank="two", n="three"),
    }


def test_a_rule_that_no_call_violates_is_named(suite: Path, specs: Path) -> None:
    remove_cases(suite, lambda case: case["expects"] == "rejection")
    coverage = measured(suite, specs)
    assert missing(coverage) == {"rules": {"count-range"}}
    positive, negative = coverage.rules["count-range"]
    assert positive > 0
    assert negative == 0


def test_a_behaviour_that_no_call_exhibits_is_named(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(count=0))
    coverage = measured(suite, specs)
    assert missing(coverage)["rules"] == {"nothing"}
    assert coverage.rules["nothing"] == (0, 0)


def test_observed_levels_count_whatever_the_index_claims(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(n=1))

    def claim(cases: list[Case]) -> list[Case]:
        for case in cases:
            if "levels" in case:
                case["levels"][[*LEVELS].index("n")] = "one"
        return cases

    edit_cases(suite, claim)
    coverage = measured(suite, specs)
    assert missing(coverage)["levels"] == {"n=one"}
    assert coverage.levels["n"]["one"] == 0
    assert coverage.levels["n"]["three"] > 0


def test_a_pair_counts_only_in_a_discriminating_call_where_there_can_be_one(
    suite: Path, specs: Path
) -> None:
    predicate = valid(type="i8", rank=1)
    remove_cases(suite, lambda case: predicate(case) and is_discriminating(case))
    coverage = measured(suite, specs)
    assert coverage.types["i8", 1] > 0
    # With one element, with 'n=zero' or with 'count=none' no call discriminates: those count.
    assert missing(coverage) == {
        "pairs of levels": {"type=i8 rank=one"},
        "full combinations": {"type=i8 rank=one n=three count=all"},
    }


@pytest.mark.parametrize(
    ("profile", "dimensions"),
    [
        ("full", {"levels", "pairs of levels", "triples of levels", "rules", "types x ranks"}),
        ("stress", {"levels", "pairs of levels"}),
    ],
)
def test_each_profile_has_its_dimensions(
    suite: Path, specs: Path, profile: str, dimensions: set[str]
) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(profile=profile))
    coverage = measured(suite, specs)
    assert missing(coverage) == {}
    assert {d.dimension for d in coverage.dimensions if d.present} == {
        *dimensions,
        "full combinations",
    }


def test_a_missing_triple_is_named_alone(suite: Path, specs: Path) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(profile="full"))
    remove_cases(suite, valid(type="f32", rank=2, n=3))
    coverage = missing(measured(suite, specs))
    assert coverage["triples of levels"] == {"type=f32 rank=two n=three"}
    assert "pairs of levels" not in coverage


def test_the_share_of_an_operator_is_that_of_its_weakest_dimension(
    suite: Path, specs: Path
) -> None:
    remove_cases(suite, lambda case: case["expects"] == "rejection")
    coverage = measured(suite, specs)
    assert coverage.share == 2 / 3
    assert DimensionCoverage("empty", 0, ()).share == 1


def test_a_complete_suite_exits_0(complete: Path, specs: Path) -> None:
    result = opcert("coverage", "--suite", complete, "--specs", specs)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{OPERATOR}: 100%\n")
    assert "missing" not in result.stdout
    assert "100%  full combinations: 24 of 24" in result.stdout
    assert "valid calls" in result.stdout


def test_a_missing_combination_exits_1_and_is_named(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(rank=2, n=1))
    result = opcert("coverage", "--suite", suite, "--specs", specs)
    assert result.exit_code == 1
    assert f"{OPERATOR}: 83.3%\n" in result.stdout
    assert "missing: rank=two n=one\n" in result.stdout
    assert "missing: type=i8 rank=two n=one count=all\n" in result.stdout


def test_a_share_just_below_1_is_not_printed_as_100_percent() -> None:
    printed = StringIO()
    console = Console(file=printed, width=80)
    nearly = DimensionCoverage("levels", 99999, ("type=f32",))
    print_coverage(Coverage("made/Up", {}, {}, {}, {}, (nearly,)), console)
    assert "99.9%  levels: 99999 of 100000" in printed.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), f"no spec of {OPERATOR} in the specs of opcert, so nothing was measured"),
        (("--specs", "no-such-folder"), "no spec in no-such-folder"),
        (("--operator", "example/*"), "example/*"),
    ],
)
def test_a_suite_without_specs_exits_2(
    complete: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = opcert("coverage", "--suite", complete, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")


def test_a_folder_without_a_suite_exits_2(tmp_path: Path) -> None:
    result = opcert("coverage", "--suite", tmp_path)
    assert result.exit_code == 2
    assert "opcert generate" in result.stderr.replace("\n", " ")


def test_specs_alone_are_measured_on_a_core_suite_that_is_not_kept(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = opcert("coverage", "--specs", specs)
    assert result.exit_code == 0
    assert f"generated the core suite of {OPERATOR} in " in result.stderr
    assert result.stdout.startswith(f"{OPERATOR}: 100%\n")
    assert not list(tmp_path.iterdir())
