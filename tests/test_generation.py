"""Generation: the same bytes however it is run, and a folder that is whole or as it was."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opcert.generator.emit import Files
from opcert.generator.errors import OpcertError, SpecError, SuiteError
from opcert.generator.generation import generate, suite_of
from opcert.generator.spec_files import spec_paths, specs_in
from opcert.generator.suite import Suite
from opcert.generator.writing import write_suite

SPLIT = "directml/*"
SPEC = next(path for path in spec_paths(None) if path.parent.name == "directml")


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@cache
def files() -> Files:
    return suite_of(specs_in(None, SPLIT))


@cache
def other_files() -> Files:
    return suite_of(specs_in(None, SPLIT), seed=1)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a suite, alone in its parent."""
    folder = tmp_path / "parent" / "suite"
    write_suite(folder, files())
    return folder


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """Two specs, the second of which comes first as a path."""
    folder = tmp_path / "specs"
    text = SPEC.read_text(encoding="utf-8")
    other = text.replace("DML_OPERATOR_SPLIT", "A_COPY").replace("slug: dml-split", "slug: a-copy")
    other = other.replace("opcert.reference.dml_split:dml_split", "copied.py:copied")
    for name, spec in (("b/first.yaml", text), ("a/second.yaml", other)):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(spec, encoding="utf-8")
    (folder / "a" / "copied.py").write_text(COPIED, encoding="utf-8")
    return folder


COPIED = """\
from opcert.reference.dml_split import dml_split


def copied(**arguments):
    try:
        return dml_split(**arguments)
    except ValueError as error:
        error.rule = error.rule.replace("dml-split", "a-copy")
        raise
"""


def test_every_file_is_written_and_nothing_else(suite: Path) -> None:
    assert contents(suite) == dict(files())
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_the_suite_can_be_opened(suite: Path) -> None:
    opened = Suite(suite)
    assert [case.id for _, case in opened] == [
        case["id"] for case in json.loads(files()["directml/dml-split.json"])["cases"]
    ]


def test_generating_again_gives_the_same_bytes() -> None:
    assert suite_of(specs_in(None, SPLIT)) == files()


def test_two_workers_give_the_bytes_of_one(specs: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        generate(tmp_path / str(jobs), specs, jobs=jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert len(Suite(tmp_path / "1").manifest.operators) == 2


def test_the_order_of_spec_files_does_not_matter(specs: Path, tmp_path: Path) -> None:
    turned = tmp_path / "turned"
    shutil.copytree(specs / "a", turned / "z")
    shutil.copytree(specs / "b", turned / "b")
    assert suite_of(specs_in(turned)) == suite_of(specs_in(specs))


def test_an_operator_has_the_same_bytes_beside_others(specs: Path) -> None:
    together = suite_of(specs_in(specs))
    alone = suite_of(specs_in(specs, "*/A_COPY"))
    mine = {name for name in alone if "a-copy" in name or "a_copy" in name}
    assert len(mine) == 3
    assert {name: together[name] for name in mine} == {name: alone[name] for name in mine}


@pytest.mark.parametrize("hash_seed", ["1", "4242"])
def test_another_process_gives_the_same_bytes(hash_seed: str, tmp_path: Path) -> None:
    program = (
        "import sys; from opcert.generator import generate; "
        f"generate(sys.argv[1], operator='{SPLIT}')"
    )
    out = tmp_path / "out"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", program, out], env=environment, cwd=tmp_path, check=True)
    assert contents(out) == dict(files())


def test_another_seed_gives_other_bytes_under_the_same_drawn_ids() -> None:
    def drawn(suite: Files) -> list[str]:
        cases: list[dict[str, Any]] = json.loads(suite["directml/dml-split.json"])["cases"]
        return [case["id"] for case in cases if "twin" not in case]

    assert drawn(other_files()) == drawn(files())
    assert other_files()["directml/dml-split.npz"] != files()["directml/dml-split.npz"]
    assert json.loads(other_files()["manifest.json"])["seed"] == 1


def test_each_finished_operator_is_told(specs: Path) -> None:
    told: list[str] = []
    suite_of(specs_in(specs), done=told.append)
    assert told == ["directml/A_COPY", "directml/DML_OPERATOR_SPLIT"]


def test_the_mistakes_of_every_spec_are_told_at_once(specs: Path) -> None:
    for path in specs.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('minus-one: {Axis: "-1"}', 'minus-one: {Axis: "0"}'))
    with pytest.raises(SpecError) as caught:
        suite_of(specs_in(specs))
    assert len(caught.value.mistakes) == 2
    assert {Path(each.file).name for each in caught.value.mistakes} == {"first.yaml", "second.yaml"}


def test_a_profile_that_there_is_not_is_told(tmp_path: Path) -> None:
    with pytest.raises(OpcertError, match=r"'large' .*; expected core, full, stress"):
        generate(tmp_path / "out", operator=SPLIT, profile="large")
    assert not (tmp_path / "out").exists()


def check(folder: Path) -> list[str]:
    return generate(folder, operator=SPLIT, check=True)


def test_check_finds_nothing_where_the_suite_is_what_the_specs_give(suite: Path) -> None:
    (suite / "__pycache__").mkdir()
    (suite / "__pycache__" / "conftest.cpython-311.pyc").write_bytes(b"left by pytest")
    assert check(suite) == []


def test_check_names_files_that_are_missing_changed_or_not_generated(suite: Path) -> None:
    (suite / "conftest.py").unlink()
    (suite / "directml" / "dml-split.npz").write_bytes(b"changed")
    (suite / "directml" / "notes.txt").write_text("mine")
    assert check(suite) == [
        "differs: directml/dml-split.npz",
        "missing: conftest.py",
        "not generated: directml/notes.txt",
    ]


def test_check_names_every_file_where_there_is_no_suite(tmp_path: Path) -> None:
    assert check(tmp_path / "nowhere") == [f"missing: {name}" for name in sorted(files())]


def test_check_writes_nothing(suite: Path) -> None:
    (suite / "conftest.py").write_text("changed")
    before = contents(suite)
    check(suite)
    assert contents(suite) == before
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_a_suite_is_written_in_the_place_of_the_former(suite: Path) -> None:
    fewer = {name: data for name, data in other_files().items() if name != "conftest.py"}
    write_suite(suite, fewer)
    assert contents(suite) == fewer
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_a_suite_may_be_written_into_an_empty_folder(tmp_path: Path) -> None:
    write_suite(tmp_path, files())
    assert contents(tmp_path) == dict(files())


def test_parents_are_made(tmp_path: Path) -> None:
    write_suite(tmp_path / "a" / "b" / "c", files())
    assert contents(tmp_path / "a" / "b" / "c") == dict(files())


def test_a_link_to_a_suite_stays_a_link(suite: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(suite, target_is_directory=True)
    write_suite(link, other_files())
    assert link.is_symlink()
    assert contents(suite) == dict(other_files())


def test_a_damaged_suite_can_be_generated_again(suite: Path) -> None:
    (suite / "conftest.py").write_text("changed by hand")
    (suite / "directml" / "dml-split.npz").unlink()
    write_suite(suite, files())
    assert contents(suite) == dict(files())


FAILURES = (OSError(28, "No space left on device"), KeyboardInterrupt())


@pytest.fixture(params=FAILURES, ids=["full-disk", "interrupt"])
def failure(request: pytest.FixtureRequest) -> BaseException:
    """What a run may die of."""
    found: BaseException = request.param
    return found


def dying(
    method: Callable[..., Any], failure: BaseException, after: int, late: bool = False
) -> Callable[..., Any]:
    """A method that works `after` times and then dies, `late` when it has done its work."""
    calls = iter(range(10**6))

    def call(*arguments: Any) -> Any:
        last = next(calls) == after
        if last and not late:
            raise failure
        found = method(*arguments)
        if last:
            raise failure
        return found

    return call


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Patches that are gone before the folders are looked at."""
    with monkeypatch.context() as context:
        yield context


def assert_dies(folder: Path, failure: BaseException) -> None:
    expected = SuiteError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        write_suite(folder, other_files())


def assert_as_it_was(suite: Path) -> None:
    assert contents(suite) == dict(files())
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


@pytest.mark.parametrize("after", range(6))
def test_a_run_that_dies_while_writing_leaves_the_former_suite(
    suite: Path, failure: BaseException, after: int, patched: pytest.MonkeyPatch
) -> None:
    assert after < len(files())
    patched.setattr(Path, "write_bytes", dying(Path.write_bytes, failure, after))
    assert_dies(suite, failure)
    assert_as_it_was(suite)


@pytest.mark.parametrize("after", [0, 1])
def test_a_run_that_dies_before_a_move_leaves_the_former_suite(
    suite: Path, failure: BaseException, after: int, patched: pytest.MonkeyPatch
) -> None:
    patched.setattr(Path, "rename", dying(Path.rename, failure, after))
    assert_dies(suite, failure)
    assert_as_it_was(suite)


def test_a_run_that_is_interrupted_behind_the_first_move_leaves_the_former_suite(
    suite: Path, patched: pytest.MonkeyPatch
) -> None:
    patched.setattr(Path, "rename", dying(Path.rename, KeyboardInterrupt(), 0, late=True))
    assert_dies(suite, KeyboardInterrupt())
    assert_as_it_was(suite)


def test_a_run_that_is_interrupted_behind_the_last_move_leaves_the_new_suite(
    suite: Path, patched: pytest.MonkeyPatch
) -> None:
    patched.setattr(Path, "rename", dying(Path.rename, KeyboardInterrupt(), 1, late=True))
    assert_dies(suite, KeyboardInterrupt())
    assert contents(suite) == dict(other_files())
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


def test_a_first_run_that_dies_leaves_nothing(
    tmp_path: Path, failure: BaseException, patched: pytest.MonkeyPatch
) -> None:
    patched.setattr(Path, "write_bytes", dying(Path.write_bytes, failure, 2))
    assert_dies(tmp_path / "suite", failure)
    assert list(tmp_path.iterdir()) == []


def test_a_spec_with_mistakes_leaves_the_former_suite(suite: Path, specs: Path) -> None:
    (specs / "b" / "first.yaml").write_text("operator: nothing")
    with pytest.raises(SpecError):
        generate(suite, specs)
    assert_as_it_was(suite)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_parent_that_cannot_be_written_is_told(suite: Path) -> None:
    suite.parent.chmod(0o555)
    try:
        with pytest.raises(SuiteError, match="cannot be written: Permission denied"):
            write_suite(suite, other_files())
        assert_as_it_was(suite)
    finally:
        suite.parent.chmod(0o755)


def test_a_parent_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SuiteError, match="cannot be written: "):
        write_suite(tmp_path / "file" / "suite", files())
    assert (tmp_path / "file").read_text() == "mine"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "suite").write_text("mine")
    with pytest.raises(SuiteError, match="suite: a file; expected a folder"):
        write_suite(tmp_path / "suite", files())
    assert (tmp_path / "suite").read_text() == "mine"


def test_a_folder_without_a_suite_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(SuiteError, match="holds files but no suite"):
        write_suite(tmp_path, files())
    assert contents(tmp_path) == {"thesis.txt": b"mine"}


def test_a_suite_with_a_strangers_file_is_refused_by_the_files_name(suite: Path) -> None:
    (suite / "directml" / "thesis.txt").write_text("mine")
    with pytest.raises(SuiteError, match=r"holds directml/thesis\.txt, no part of a suite"):
        write_suite(suite, other_files())
    assert contents(suite) == {**files(), "directml/thesis.txt": b"mine"}


@pytest.mark.parametrize("text", ["mine", '{"format": 99}', "[]"])
def test_a_folder_with_a_manifest_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(SuiteError, match=r"manifest\.json: .*; move the folder away first"):
        write_suite(tmp_path, files())
    assert contents(tmp_path) == {"manifest.json": text.encode()}
