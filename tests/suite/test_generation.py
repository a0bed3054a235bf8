"""Generation: the same bytes however it runs, and the comparison of a folder with them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opcert.cases.case import Case
from opcert.cases.generation import generate_cases
from opcert.errors import OpcertError, SpecError
from opcert.settings import PROFILES
from opcert.specification.files import SpecFile, read_specs_in
from opcert.suite import formats, generation
from opcert.suite.format import Manifest
from opcert.suite.generation import generate, iterate_files
from opcert.suite.suite import Suite, core_suite_folder
from opcert.suite.writing import write_suite
from opcert.system import FileContents
from tests import small_spec, small_suite
from tests.command_line import opcert
from tests.few_cases import read_index
from tests.short_suite import CORE
from tests.small_spec import mistakes_of
from tests.small_suite import contents
from tests.workers_here import WorkersHere

INDEX = "example/take-1.jsonl.gz"
PACK = "example/take-1.npz"


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small spec."""
    return small_spec.spec(tmp_path_factory.mktemp("specs")).parent


@pytest.fixture(scope="module")
def files(take: Path) -> FileContents:
    """The files of its suite."""
    return dict(iterate_files(read_specs_in(take)))


@pytest.fixture
def suite(files: FileContents, tmp_path: Path) -> Path:
    """A folder with the suite, alone in its parent."""
    folder = tmp_path / "parent" / "suite"
    write_suite(folder, files.items())
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two specs, the second of which comes first as a path."""
    folder = tmp_path_factory.mktemp("two")
    new = ("example/Take-1", "example/Copied-1"), ("slug: take-1", "slug: copied-1")
    small_spec.spec(folder / "b", name="first")
    small_spec.spec(folder / "a", *new, ("take.py:take", "take.py:unchecked"), name="second")
    return folder


@pytest.fixture
def specs(two: Path, tmp_path: Path) -> Path:
    """A copy of the two specs that a test may change."""
    return Path(shutil.copytree(two, tmp_path / "specs"))


@pytest.fixture(scope="module")
def finished() -> list[str]:
    """The operators that are reported as finished while `together` is generated."""
    return []


@pytest.fixture(scope="module")
def together(two: Path, finished: list[str]) -> FileContents:
    """The suite of both specs."""
    return dict(iterate_files(read_specs_in(two), on_operator=finished.append))


def test_the_suite_can_be_opened(suite: Path, files: FileContents) -> None:
    assert [case.id for case in Suite(suite)] == [
        case["id"] for case in read_index(files[INDEX])["cases"]
    ]


def test_two_workers_give_the_bytes_of_one(two: Path, tmp_path: Path) -> None:
    generate(tmp_path / "suite", two, profile="smoke", jobs=2)
    assert contents(tmp_path / "suite") == dict(iterate_files(read_specs_in(two), "smoke"))
    assert len(Suite(tmp_path / "suite").manifest.operators) == 2


def test_the_order_of_spec_files_does_not_matter(
    two: Path, together: FileContents, tmp_path: Path
) -> None:
    reordered = tmp_path / "reordered"
    shutil.copytree(two / "a", reordered / "z")
    shutil.copytree(two / "b", reordered / "b")
    assert dict(iterate_files(read_specs_in(reordered))) == together


def test_an_operator_has_the_same_bytes_with_and_without_others(
    two: Path, together: FileContents
) -> None:
    alone = dict(iterate_files(read_specs_in(two, "*/Copied-1")))
    of_copy = {name for name in alone if "copied-1" in name or "copied_1" in name}
    assert len(of_copy) == 3
    assert {name: together[name] for name in of_copy} == {name: alone[name] for name in of_copy}


@pytest.mark.slow
def test_another_process_gives_the_bytes_of_the_core_suite(tmp_path: Path) -> None:
    operator, out = small_suite.OPERATOR, tmp_path / "out"
    program = (
        f"import sys; from opcert import generate; generate(sys.argv[1], operator='{operator}')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "TZ": "Asia/Tokyo", "PYTHONPATH": ""}
    subprocess.run([sys.executable, "-c", program, out], env=environment, cwd=tmp_path, check=True)
    written = contents(out)
    for path in Manifest.model_validate_json(written["manifest.json"]).files:
        assert path == "__init__.py" or written[path] == (CORE / path).read_bytes()


def test_another_seed_gives_other_calls_and_data(take: Path, files: FileContents) -> None:
    def drawn(suite: FileContents) -> set[str]:
        cases: list[dict[str, Any]] = read_index(suite[INDEX])["cases"]
        return {case["id"] for case in cases if "/drawn-" in case["id"]}

    other = dict(iterate_files(read_specs_in(take), seed=1))
    assert len(drawn(other)) == len(drawn(files)) == PROFILES["core"].calls
    assert drawn(other) != drawn(files)
    assert other[PACK] != files[PACK]
    assert json.loads(other["manifest.json"])["seed"] == 1


def test_the_order_of_finished_parts_does_not_matter(two: Path, together: FileContents) -> None:
    class InReverse(WorkersHere):
        def each(self, *arguments: Any) -> Iterator[Any]:
            yield from reversed([*super().each(*arguments)])

    for workers in (WorkersHere(), InReverse()):
        assert dict(iterate_files(read_specs_in(two), "core", 0, workers)) == together


def test_a_part_is_made_when_the_files_of_the_last_one_are_taken(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def recorded(file: SpecFile, profile: str, seed: int) -> list[Case]:
        made.append(file.path.name)
        return generate_cases(file, profile, seed)

    monkeypatch.setattr(generation, "generate_cases", recorded)
    next(iterate_files(read_specs_in(two), "core", 0))
    assert made == ["second.yaml"]


@pytest.mark.usefixtures("together")
def test_each_finished_operator_is_reported(finished: list[str]) -> None:
    assert finished == ["example/Copied-1", "example/Take-1"]


def test_the_mistakes_of_all_specs_are_reported_together(specs: Path) -> None:
    for path in specs.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("i8[2] 1 2", "i8[2] 2 1"))
    mistakes = mistakes_of(lambda: dict(iterate_files(read_specs_in(specs))))
    assert [Path(mistake.file).name for mistake in mistakes] == ["second.yaml", "first.yaml"]


def test_a_spec_that_changes_meanwhile_is_an_error(specs: Path) -> None:
    files = iterate_files(read_specs_in(specs), "core", 0, WorkersHere())
    for path in specs.rglob("*.yaml"):
        path.write_text(f"{path.read_text()}# changed\n")
    with pytest.raises(OpcertError, match=r"\.yaml: another process found other text"):
        dict(files)


def test_a_file_that_comes_meanwhile_is_not_lost(
    suite: Path, take: Path, files: FileContents
) -> None:
    def add_file(_: str) -> None:
        (suite / "thesis.txt").write_bytes(b"mine")

    generate(suite, take, on_operator=add_file)
    assert contents(suite) == {**files, "thesis.txt": b"mine"}
    with pytest.raises(OpcertError, match=r"contains thesis\.txt"):
        generate(suite, take)


def test_an_unknown_profile_is_an_error(take: Path, tmp_path: Path) -> None:
    with pytest.raises(
        OpcertError, match="unknown profile 'large'; expected smoke, core, full or stress"
    ):
        generate(tmp_path / "out", take, profile="large")
    assert not (tmp_path / "out").exists()


def test_check_finds_no_difference_in_the_suite_of_the_specs(suite: Path, take: Path) -> None:
    (suite / "__pycache__").mkdir()
    (suite / "__pycache__" / "conftest.cpython-311.pyc").write_bytes(b"left by pytest")
    assert generate(suite, take, check=True) == []


def test_check_names_missing_changed_and_unexpected_files_and_writes_nothing(
    suite: Path, take: Path
) -> None:
    (suite / "conftest.py").unlink()
    (suite / PACK).write_bytes(b"changed")
    (suite / "example" / "notes.txt").write_text("mine")
    before = contents(suite)
    assert generate(suite, take, check=True) == [
        f"changed: {PACK}",
        "missing: conftest.py",
        "unexpected: example/notes.txt",
    ]
    assert contents(suite) == before
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_check_names_every_file_of_a_missing_suite(
    take: Path, files: FileContents, tmp_path: Path
) -> None:
    differences = generate(tmp_path / "nowhere", take, check=True)
    assert differences == [f"missing: {name}" for name in sorted(files)]


def test_a_spec_with_mistakes_leaves_the_former_suite(
    suite: Path, specs: Path, files: FileContents
) -> None:
    (specs / "b" / "first.yaml").write_text("operator: nothing")
    with pytest.raises(SpecError):
        generate(suite, specs)
    assert contents(suite) == dict(files)


@pytest.mark.parametrize("format_", ["onnx-backend-test", "safetensors"])
def test_the_core_suite_is_not_replaced_by_another_format(
    format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda package: package)
    with pytest.raises(OpcertError, match="expected a path outside"):
        generate(core_suite_folder(), format=format_)


@pytest.mark.parametrize(
    ("format_", "package"), [("onnx-backend-test", "onnx"), ("safetensors", "safetensors")]
)
def test_a_missing_package_is_named_with_its_extra(
    format_: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    result = opcert("generate", "--format", format_, "--out", tmp_path / "out", exits=2)
    text = f"the format {format_} needs the package {package}; pip install 'opcert[{package}]'"
    assert result.stderr == f"opcert: error: {text}\n"
    assert not (tmp_path / "out").exists()
