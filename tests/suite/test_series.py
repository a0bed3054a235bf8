"""A series: each copy is the suite of its seed, whatever makes its parts, and all are replaced."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from opcert import generate, load, load_series
from opcert.errors import OpcertError, SpecError, SuiteError
from opcert.specification.files import read_specs_in
from opcert.suite.generation import iterate_files
from opcert.suite.parts import Part, PartTask, make_part, parts_here
from opcert.suite.suite import Suite
from tests import small_spec
from tests.command_line import opcert
from tests.small_suite import contents


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small spec."""
    return small_spec.spec(tmp_path_factory.mktemp("specs")).parent


@pytest.fixture(scope="module")
def series(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A series of three copies, from seed 7 on, that no test changes."""
    folder = tmp_path_factory.mktemp("parent") / "series"
    generate(folder, specs, seed=7, repeat=3)
    return folder


@pytest.fixture
def own_series(series: Path, tmp_path: Path) -> Path:
    """A copy of the series that a test may change."""
    for name, data in contents(series).items():
        path = tmp_path / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "own"


def test_each_copy_is_the_suite_of_its_seed(series: Path, specs: Path, tmp_path: Path) -> None:
    found = contents(series)
    del found["series.json"]
    expected: dict[str, bytes] = {}
    for k in range(3):
        generate(tmp_path / "suite", specs, seed=7 + k)
        files = contents(tmp_path / "suite")
        expected |= {f"copy-0{k}/{name}": data for name, data in files.items()}
    assert found == expected


def test_the_series_states_its_copies(series: Path) -> None:
    stated = json.loads((series / "series.json").read_bytes())
    suites = [Suite(series / f"copy-0{k}") for k in range(3)]
    assert (stated["profile"], stated["seed"]) == ("core", 7)
    assert stated["copies"] == [
        {
            "folder": f"copy-0{k}",
            "seed": 7 + k,
            "digest": suite.digest,
            "cases": len(suite.cases),
        }
        for k, suite in enumerate(suites)
    ]
    assert len({suite.digest for suite in suites}) == 3


def test_processes_give_the_same_bytes(series: Path, specs: Path, tmp_path: Path) -> None:
    finished: list[str] = []
    folder = tmp_path / "series"
    generate(folder, specs, seed=7, repeat=3, jobs=2, on_operator=finished.append)
    assert contents(folder) == contents(series)
    assert sorted(finished) == [f"copy-0{k}: example/Take-1" for k in range(3)]


def test_the_order_of_finished_parts_does_not_matter(series: Path, specs: Path) -> None:
    def make(tasks: Sequence[PartTask]) -> Iterator[tuple[PartTask, Part]]:
        return ((task, make_part(task)) for task in reversed(tasks))

    assert dict(iterate_files(read_specs_in(specs), "core", 7, 3, make=make)) == contents(series)


def test_a_part_is_made_when_the_files_of_the_last_one_are_taken(specs: Path) -> None:
    made: list[int] = []
    read = read_specs_in(specs)

    def make(tasks: Sequence[PartTask]) -> Iterator[tuple[PartTask, Part]]:
        for task, part in parts_here(read)(tasks):
            made.append(task.seed)
            yield task, part

    files = iterate_files(read, "core", 0, 5, make=make)
    next(files)
    assert made == [0]


@pytest.mark.parametrize(("repeat", "names"), [(2, "copy-00 copy-01"), (101, "copy-000 copy-100")])
def test_folders_have_as_many_digits_as_the_last(repeat: int, names: str, specs: Path) -> None:
    part = make_part(PartTask(next(specs.glob("*.yaml")), "core", 0))
    files = iterate_files(
        read_specs_in(specs),
        "core",
        0,
        repeat,
        make=lambda tasks: ((task, part) for task in tasks),
    )
    folders = [name.partition("/")[0] for name, _ in files if name.endswith("/manifest.json")]
    assert f"{folders[0]} {folders[-1]}" == names
    assert len(folders) == repeat


def test_a_suite_and_a_series_replace_each_other(
    own_series: Path, series: Path, specs: Path, tmp_path: Path
) -> None:
    (own_series / "README.md").write_bytes(b"mine")
    generate(tmp_path / "suite", specs)
    generate(own_series, specs)
    assert contents(own_series) == {**contents(tmp_path / "suite"), "README.md": b"mine"}
    generate(own_series, specs, seed=7, repeat=3)
    assert contents(own_series) == {**contents(series), "README.md": b"mine"}


def test_a_shorter_series_leaves_nothing_of_the_longer(own_series: Path, specs: Path) -> None:
    generate(own_series, specs, seed=7, repeat=2)
    assert {name.partition("/")[0] for name in contents(own_series)} == {
        "copy-00",
        "copy-01",
        "series.json",
    }


@pytest.mark.parametrize("name", ["copy-01/thesis.txt", "copy-03/thesis.txt", "copy-01/README.md"])
def test_a_series_with_another_file_is_refused(name: str, own_series: Path, specs: Path) -> None:
    (own_series / name).parent.mkdir(exist_ok=True)
    (own_series / name).write_text("mine")
    before = contents(own_series)
    with pytest.raises(OpcertError, match=f"contains {re.escape(name)}, not part of a suite"):
        generate(own_series, specs)
    assert contents(own_series) == before


def test_another_series_json_is_refused(specs: Path, tmp_path: Path) -> None:
    (tmp_path / "series.json").write_text('{"copies": [{"folder": "copy-00"}, {"folder": ".."}]}')
    with pytest.raises(OpcertError, match=r"contains series\.json, not part of a suite"):
        generate(tmp_path, specs)


def test_a_file_that_comes_meanwhile_is_not_lost(own_series: Path, specs: Path) -> None:
    before = contents(own_series)

    def add_file(_: str) -> None:
        (own_series / "thesis.txt").write_bytes(b"mine")

    with pytest.raises(OpcertError, match=r"contains thesis\.txt"):
        generate(own_series, specs, repeat=2, on_operator=add_file)
    assert contents(own_series) == {**before, "thesis.txt": b"mine"}


def test_check_lists_differences_of_every_copy(own_series: Path, specs: Path) -> None:
    assert generate(own_series, specs, seed=7, repeat=3, check=True) == []
    (own_series / "copy-02" / "conftest.py").unlink()
    (own_series / "copy-00" / "conftest.py").write_text("changed")
    (own_series / "copy-03").mkdir()
    (own_series / "copy-03" / "notes.txt").write_text("mine")
    before = contents(own_series)
    assert generate(own_series, specs, seed=7, repeat=3, check=True) == [
        "changed: copy-00/conftest.py",
        "missing: copy-02/conftest.py",
        "unexpected: copy-03/notes.txt",
    ]
    assert contents(own_series) == before


def test_the_mistakes_of_a_spec_are_found_once_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    spec = small_spec.spec(tmp_path / "specs")
    text = spec.read_text()
    spec.write_text(text.replace("values: [1, 2]}", "values: [2, 1]}"))
    with pytest.raises(SpecError) as caught:
        generate(tmp_path / "out", tmp_path / "specs", repeat=3)
    assert len(caught.value.mistakes) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["specs"]


def test_a_spec_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    spec = small_spec.spec(tmp_path)

    def make(tasks: Sequence[PartTask]) -> Iterator[tuple[PartTask, Part]]:
        for task in tasks:
            yield task, make_part(task)
            spec.write_text(f"{spec.read_text()}# changed\n")

    files = iterate_files(read_specs_in(tmp_path), "core", 0, 2, make=make)
    with pytest.raises(OpcertError, match=r"\.yaml: another process found other text"):
        dict(files)


@pytest.mark.parametrize("repeat", [0, -1, 10_001])
def test_the_number_of_copies_has_limits(repeat: int, specs: Path, tmp_path: Path) -> None:
    with pytest.raises(OpcertError, match=f"found {repeat} copies; expected 1 to 10000"):
        generate(tmp_path / "out", specs, repeat=repeat)


def test_the_last_seed_is_a_seed_of_the_command_line(specs: Path, tmp_path: Path) -> None:
    last = (1 << 62) - 1
    with pytest.raises(OpcertError, match=rf"has the seed {last + 1}; expected a seed below"):
        generate(tmp_path / "out", specs, seed=last, repeat=2)


def test_the_command_generates_a_series(series: Path, specs: Path, tmp_path: Path) -> None:
    options = ("--specs", specs, "--seed", 7, "--repeat", 3)
    result = opcert("generate", "--out", tmp_path / "out", *options)
    assert result.exit_code == 0, result.stderr
    assert contents(tmp_path / "out") == contents(series)
    assert result.stderr.splitlines() == [f"copy-0{k}: example/Take-1" for k in range(3)]
    result = opcert("generate", "--out", tmp_path / "out", "--repeat", "none")
    assert result.exit_code == 2
    assert "--repeat: found 'none'; expected a number of suites, at least 1" in result.stderr


def test_a_loaded_series_yields_its_suites(series: Path, specs: Path) -> None:
    loaded = load_series(series, specs)
    assert len(loaded) == 3
    assert [(suite.folder, suite.manifest.seed) for suite in loaded] == [
        (series / f"copy-0{k}", 7 + k) for k in range(3)
    ]


def test_another_suite_in_place_of_a_copy_is_an_error(own_series: Path) -> None:
    (own_series / "copy-01").rename(own_series / "x")
    (own_series / "copy-02").rename(own_series / "copy-01")
    suites = iter(load_series(own_series))
    assert next(suites).manifest.seed == 7
    with pytest.raises(SuiteError, match=r"series\.json: another suite in copy-01 than it states"):
        next(suites)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 2}, "found format 2, expected 1"),
        ({"seed": 8}, "suites that are not in different folders, with successive seeds"),
        ({"copies": []}, "copies"),
        ({"copies": [{"folder": "../x", "seed": 7, "digest": "0" * 64, "cases": 1}]}, "folder"),
    ],
)
def test_a_damaged_series_is_an_error(
    change: dict[str, object], text: str, own_series: Path
) -> None:
    path = own_series / "series.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}))
    with pytest.raises(SuiteError, match=rf"series\.json: .*{re.escape(text)}"):
        load_series(own_series)


def test_a_series_in_place_of_a_suite_is_an_error_that_names_its_suites(series: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        load(series)
    assert str(caught.value) == (
        f"{series}: is a series of 3 suites; expected one suite: name {series / 'copy-00'} or "
        "another of copy-00, copy-01, copy-02; in Python, load_series yields them"
    )
