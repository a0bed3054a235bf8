"""Generation: the same bytes however it runs, and the comparison of a folder with them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opcert.errors import OpcertError, SpecError
from opcert.specification import find_spec_files, read_specs_in
from opcert.suite import FileContents, Suite, generate, generate_suite_files, write_suite
from tests.small_suite import GLOB, contents, files, other_files

SPEC = next(path for path in find_spec_files(None) if path.stem == "DML_OPERATOR_SPLIT")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a suite, alone in its parent."""
    folder = tmp_path / "parent" / "suite"
    write_suite(folder, files())
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two specs, the second of which comes first as a path."""
    folder = tmp_path_factory.mktemp("two")
    text = SPEC.read_text(encoding="utf-8")
    other = text.replace("DML_OPERATOR_SPLIT", "A_COPY").replace("slug: dml-split", "slug: a-copy")
    other = other.replace("opcert.reference.dml_split:dml_split", "copied.py:copied")
    for name, spec in (("b/first.yaml", text), ("a/second.yaml", other)):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(spec, encoding="utf-8")
    (folder / "a" / "copied.py").write_text(COPIED, encoding="utf-8")
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
    return generate_suite_files(read_specs_in(two), on_operator=finished.append)


COPIED = """\
from opcert.reference.dml_split import dml_split


def copied(**arguments):
    try:
        return dml_split(**arguments)
    except ValueError as error:
        error.rule = error.rule.replace("dml-split", "a-copy")
        raise
"""


def test_exactly_the_files_of_the_suite_are_written(suite: Path) -> None:
    assert contents(suite) == dict(files())
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_the_suite_can_be_opened(suite: Path) -> None:
    assert [case.id for case in Suite(suite)] == [
        case["id"] for case in json.loads(files()["directml/dml-split.json"])["cases"]
    ]


def test_generating_again_gives_the_same_bytes() -> None:
    assert generate_suite_files(read_specs_in(None, GLOB)) == files()


def test_two_workers_give_the_bytes_of_one(
    two: Path, together: FileContents, tmp_path: Path
) -> None:
    generate(tmp_path / "suite", two, jobs=2)
    assert contents(tmp_path / "suite") == dict(together)
    assert len(Suite(tmp_path / "suite").manifest.operators) == 2


def test_the_order_of_spec_files_does_not_matter(
    two: Path, together: FileContents, tmp_path: Path
) -> None:
    reordered = tmp_path / "reordered"
    shutil.copytree(two / "a", reordered / "z")
    shutil.copytree(two / "b", reordered / "b")
    assert generate_suite_files(read_specs_in(reordered)) == together


def test_an_operator_has_the_same_bytes_with_and_without_others(
    two: Path, together: FileContents
) -> None:
    alone = generate_suite_files(read_specs_in(two, "*/A_COPY"))
    of_copy = {name for name in alone if "a-copy" in name or "a_copy" in name}
    assert len(of_copy) == 3
    assert {name: together[name] for name in of_copy} == {name: alone[name] for name in of_copy}


@pytest.mark.parametrize("hash_seed", ["1", "4242"])
def test_another_process_gives_the_same_bytes(hash_seed: str, tmp_path: Path) -> None:
    program = f"import sys; from opcert import generate; generate(sys.argv[1], operator='{GLOB}')"
    out = tmp_path / "out"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", program, out], env=environment, cwd=tmp_path, check=True)
    assert contents(out) == dict(files())


def test_another_seed_gives_other_data_for_the_same_planned_cases() -> None:
    def planned(suite: FileContents) -> list[str]:
        cases: list[dict[str, Any]] = json.loads(suite["directml/dml-split.json"])["cases"]
        return [case["id"] for case in cases if "baseline" not in case]

    assert sorted(planned(other_files())) == sorted(planned(files()))
    assert other_files()["directml/dml-split.npz"] != files()["directml/dml-split.npz"]
    assert json.loads(other_files()["manifest.json"])["seed"] == 1


@pytest.mark.usefixtures("together")
def test_each_finished_operator_is_reported(finished: list[str]) -> None:
    assert finished == ["directml/A_COPY", "directml/DML_OPERATOR_SPLIT"]


def test_the_mistakes_of_all_specs_are_reported_together(specs: Path) -> None:
    for path in specs.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        violation = 'no-tensors: {OutputCount: "0", OutputTensors: "[]"}'
        path.write_text(text.replace(violation, "no-tensors: {OutputCount: OutputCount}"))
    with pytest.raises(SpecError) as caught:
        generate_suite_files(read_specs_in(specs))
    assert len(caught.value.mistakes) == 2
    assert {Path(mistake.file).name for mistake in caught.value.mistakes} == {
        "first.yaml",
        "second.yaml",
    }


def test_an_unknown_profile_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OpcertError, match="unknown profile 'large'; expected core, full or stress"):
        generate(tmp_path / "out", operator=GLOB, profile="large")
    assert not (tmp_path / "out").exists()


def check(folder: Path) -> list[str]:
    return generate(folder, operator=GLOB, check=True)


def test_check_finds_no_difference_in_the_suite_of_the_specs(suite: Path) -> None:
    (suite / "__pycache__").mkdir()
    (suite / "__pycache__" / "conftest.cpython-311.pyc").write_bytes(b"left by pytest")
    assert check(suite) == []


def test_check_names_missing_changed_and_unexpected_files(suite: Path) -> None:
    (suite / "conftest.py").unlink()
    (suite / "directml" / "dml-split.npz").write_bytes(b"changed")
    (suite / "directml" / "notes.txt").write_text("mine")
    assert check(suite) == [
        "changed: directml/dml-split.npz",
        "missing: conftest.py",
        "unexpected: directml/notes.txt",
    ]


def test_check_names_every_file_of_a_missing_suite(tmp_path: Path) -> None:
    assert check(tmp_path / "nowhere") == [f"missing: {name}" for name in sorted(files())]


def test_check_writes_nothing(suite: Path) -> None:
    (suite / "conftest.py").write_text("changed")
    before = contents(suite)
    check(suite)
    assert contents(suite) == before
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_a_spec_with_mistakes_leaves_the_former_suite(suite: Path, specs: Path) -> None:
    (specs / "b" / "first.yaml").write_text("operator: nothing")
    with pytest.raises(SpecError):
        generate(suite, specs)
    assert contents(suite) == dict(files())
