"""Writing: a folder that holds just the files of a suite, whole or as it was."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from opcert.errors import OpcertError
from opcert.suite import write_suite
from tests.small_suite import contents, files, other_files


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a suite, alone in its parent."""
    folder = tmp_path / "parent" / "suite"
    write_suite(folder, files())
    return folder


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
    expected = OpcertError if isinstance(failure, OSError) else type(failure)
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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_parent_that_cannot_be_written_is_told(suite: Path) -> None:
    suite.parent.chmod(0o555)
    try:
        with pytest.raises(OpcertError, match="cannot be written: Permission denied"):
            write_suite(suite, other_files())
        assert_as_it_was(suite)
    finally:
        suite.parent.chmod(0o755)


def test_a_parent_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OpcertError, match="is not a folder; expected a folder"):
        write_suite(tmp_path / "file" / "suite", files())
    assert (tmp_path / "file").read_text() == "mine"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "suite").write_text("mine")
    with pytest.raises(OpcertError, match="suite: a file; expected a folder"):
        write_suite(tmp_path / "suite", files())
    assert (tmp_path / "suite").read_text() == "mine"


def test_a_folder_without_a_suite_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OpcertError, match=r"holds thesis\.txt, no part of a suite"):
        write_suite(tmp_path, files())
    assert contents(tmp_path) == {"thesis.txt": b"mine"}


def test_a_suite_with_a_strangers_file_is_refused_by_the_files_name(suite: Path) -> None:
    (suite / "directml" / "thesis.txt").write_text("mine")
    with pytest.raises(OpcertError, match=r"holds directml/thesis\.txt, no part of a suite"):
        write_suite(suite, other_files())
    assert contents(suite) == {**files(), "directml/thesis.txt": b"mine"}


@pytest.mark.parametrize("text", ["mine", '{"format": 99}', "[]"])
def test_a_folder_with_a_manifest_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(OpcertError, match=r"holds manifest\.json, no part of a suite"):
        write_suite(tmp_path, files())
    assert contents(tmp_path) == {"manifest.json": text.encode()}
