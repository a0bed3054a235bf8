"""Coverage: what a suite exhibits in its own arrays is counted, and what it misses is named."""

import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from opcert import generate
from opcert.commands.specs import print_coverage
from opcert.specification.files import read_spec
from opcert.suite.coverage import Coverage, measure_coverage
from opcert.suite.suite import Suite
from tests import shipped
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.small_suite import MANIFEST, edit
from tests.suite_of_levels import OPERATOR, remove_cases, valid, write_specs

pytestmark = pytest.mark.usefixtures("few_calls")


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
    ((_, coverage),) = measure_coverage(Suite(suite, specs), [spec])
    return coverage


def missing(suite: Path, specs: Path) -> dict[str, set[str]]:
    """Return what each dimension misses, for those that miss something."""
    missing = {
        dimension: {name for name, is_covered in items.items() if not is_covered}
        for dimension, items in measured(suite, specs).items()
    }
    return {dimension: names for dimension, names in missing.items() if names}


def test_the_core_suite_has_nearly_all_pairs_of_levels_of_fresh_calls() -> None:
    spec = shipped.spec("DML_OPERATOR_SPLIT")
    ((_, coverage),) = measure_coverage(core_suite(), [spec])
    shares = {name: sum(items.values()) / len(items) for name, items in coverage.items()}
    assert [*shares] == ["levels", "pairs of levels", "rules", "types x ranks", "feature levels"]
    assert shares["rules"] == shares["feature levels"] == 1
    assert shares["levels"] > 0.95
    assert shares["pairs of levels"] > 0.8


def test_a_complete_suite_misses_nothing(complete: Path, specs: Path) -> None:
    assert missing(complete, specs) == {}
    coverage = measured(complete, specs)
    assert (len(coverage["levels"]), len(coverage["rules"])) == (2 + 2 + 3 + 2, 3)
    ranks = (f"{name} of rank {rank}" for name in ("i8", "f32") for rank in (1, 2))
    assert {*coverage["types x ranks"]} == {*ranks}


def test_a_missing_level_is_named_with_its_pairs(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(type="f32"))
    lacking = missing(suite, specs)
    assert lacking["levels"] == {"data type = f32"}
    assert lacking["types x ranks"] == {"f32 of rank 1", "f32 of rank 2"}
    pairs = lacking["pairs of levels"]
    assert "data rank = two, data type = f32" in pairs
    assert all("data type = f32" in pair for pair in pairs)
    assert len(pairs) == 2 + 3 + 2


def test_a_missing_pair_is_named_alone(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(rank=2, n=3))
    pairs = {"data n = three, data rank = two"}
    assert missing(suite, specs) == {"pairs of levels": pairs}


def test_large_calls_need_not_cover_the_rest_again(suite: Path, specs: Path) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(profile="stress"))
    assert [*measured(suite, specs)] == ["levels", "pairs of levels"]


def test_a_suite_with_a_profile_of_its_own_is_measured_as_others_are(
    suite: Path, specs: Path
) -> None:
    former = measured(suite, specs)
    edit(suite, MANIFEST, lambda manifest: manifest.update(profile="mine"))
    assert measured(suite, specs) == former


def test_a_rule_that_no_call_violates_is_named(suite: Path, specs: Path) -> None:
    remove_cases(suite, lambda case: case["expects"] == "rejection")
    assert missing(suite, specs) == {"rules": {"count-range"}}


def test_a_behaviour_that_no_call_exhibits_is_named(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(count=0))
    assert missing(suite, specs)["rules"] == {"nothing"}


def test_the_command_prints_shares_and_what_is_missing(suite: Path, specs: Path) -> None:
    remove_cases(suite, valid(rank=2, n=1))
    result = opcert("coverage", "--suite", suite, "--specs", specs, exits=0)
    assert result.stdout.startswith(f"{OPERATOR}\n")
    assert "missing: data n = one, data rank = two\n" in result.stdout
    assert "100%  rules: 3 of 3\n" in result.stdout


def test_a_share_just_below_1_is_not_printed_as_100_percent() -> None:
    printed = StringIO()
    console = Console(file=printed, width=80)
    nearly = {"type=f32": False, **dict.fromkeys(map(str, range(99999)), True)}
    print_coverage("made/Up", {"levels": nearly}, console)
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
    result = opcert("coverage", "--suite", complete, *arguments, exits=2)
    assert message in result.stderr.replace("\n", " ")


def test_a_folder_without_a_suite_exits_2(tmp_path: Path) -> None:
    result = opcert("coverage", "--suite", tmp_path, exits=2)
    assert "opcert generate" in result.stderr.replace("\n", " ")


def test_specs_alone_are_measured_on_a_core_suite_that_is_not_kept(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = opcert("coverage", "--specs", specs, exits=0)
    assert f"generated the core suite of {OPERATOR} in " in result.stderr
    assert result.stdout.startswith(f"{OPERATOR}\n")
    assert not list(tmp_path.iterdir())
