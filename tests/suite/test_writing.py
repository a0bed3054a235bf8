"""Writing a suite: the folder has exactly its files, or stays as it was."""

import json
import os
import re
from pathlib import Path

import pytest

from opcert.errors import OpcertError
from opcert.suite.format import content_digest, json_file
from opcert.suite.suite import read_manifest
from opcert.suite.writing import folder_differences, write_suite
from opcert.system import FileContents
from tests.small_suite import MANIFEST, contents, edit, failing_at, files, other_files


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a suite, alone in its parent."""
    folder = tmp_path / "parent" / "suite"
    write_suite(folder, files().items())
    return folder


def test_a_suite_replaces_a_former_one(suite: Path) -> None:
    fewer = {name: data for name, data in other_files().items() if name != "conftest.py"}
    write_suite(suite, fewer.items())
    assert contents(suite) == fewer
    assert [path.name for path in suite.parent.iterdir()] == ["suite"]


@pytest.mark.parametrize("folder", ["", "a/b/c"])
def test_a_suite_can_be_written_to_an_empty_or_missing_folder(folder: str, tmp_path: Path) -> None:
    write_suite(tmp_path / folder, files().items())
    assert contents(tmp_path / folder) == dict(files())


def test_a_damaged_suite_can_be_generated_again(suite: Path) -> None:
    (suite / "conftest.py").write_text("changed by hand")
    (suite / "directml" / "dml-split.npz").unlink()
    write_suite(suite, files().items())
    assert contents(suite) == dict(files())


def test_an_intact_suite_of_another_format_is_replaced(suite: Path) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(format=1, unknown=1))
    write_suite(suite, files().items())
    assert contents(suite) == dict(files())


def test_a_damaged_suite_of_another_format_is_refused(suite: Path) -> None:
    edit(suite, MANIFEST, lambda manifest: manifest.update(format=1))
    (suite / "conftest.py").write_text("changed by hand")
    with pytest.raises(OpcertError, match="not part of a suite"):
        write_suite(suite, files().items())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_suite_below_a_read_only_parent_is_replaced(suite: Path) -> None:
    suite.parent.chmod(0o555)
    try:
        write_suite(suite, other_files().items())
    finally:
        suite.parent.chmod(0o755)
    assert contents(suite) == dict(other_files())


@pytest.mark.parametrize("folder", ["file", "file/suite"])
def test_a_file_instead_of_the_folder_or_its_parent_is_refused(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OpcertError, match="file: is not a folder; expected a folder"):
        write_suite(tmp_path / folder, files().items())
    assert (tmp_path / "file").read_text() == "mine"


def test_a_suite_with_another_file_is_refused_with_its_name(suite: Path) -> None:
    (suite / "directml" / "thesis.txt").write_text("mine")
    with pytest.raises(OpcertError, match=r"contains directml/thesis\.txt, not part of a suite"):
        write_suite(suite, other_files().items())
    assert contents(suite) == {**files(), "directml/thesis.txt": b"mine"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("thesis.txt", "mine"), *((MANIFEST, text) for text in ("mine", '{"format": 99}', "[]"))],
)
def test_a_folder_with_another_file_or_manifest_is_refused(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(OpcertError, match=f"contains {re.escape(name)}, not part of a suite"):
        write_suite(tmp_path, files().items())
    assert contents(tmp_path) == {name: text.encode()}


def interrupt(number: int, folder: Path, files: FileContents, patch: pytest.MonkeyPatch) -> None:
    """Write files, and interrupt this at one of its steps."""
    with patch.context() as patched:
        failing_at(number, KeyboardInterrupt(), patched)
        with pytest.raises(KeyboardInterrupt):
            write_suite(folder, files.items())


@pytest.mark.parametrize("number", range(1, 6))
def test_what_an_interrupted_command_wrote_is_replaced(
    number: int, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = {f"other/{name}": data for name, data in files().items() if name != MANIFEST}
    manifest = read_manifest(suite)
    digests = {f"other/{name}": digest for name, digest in manifest.files.items()}
    changed = manifest.model_copy(update={"files": digests})
    interrupt(number, suite, {**new, MANIFEST: json_file(changed)}, monkeypatch)
    assert any(name.startswith("other/") for name in contents(suite))
    write_suite(suite, files().items())
    assert contents(suite) == dict(files())


@pytest.mark.parametrize("number", range(5))
def test_tests_of_onnx_that_an_interrupted_command_wrote_are_replaced(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = {f"family/operator/test_{k}/model.onnx": bytes([k]) for k in range(4)}
    digests = {name: content_digest(name, data) for name, data in tests.items()}
    tests[MANIFEST] = json.dumps({"format": "onnx-backend-test", "files": digests}).encode()
    interrupt(number, tmp_path, tests, monkeypatch)
    write_suite(tmp_path, tests.items())
    assert contents(tmp_path) == tests


def test_a_readme_is_kept_and_is_no_difference(suite: Path) -> None:
    (suite / "README.md").write_text("mine")
    assert folder_differences(suite, files().items()) == []
    write_suite(suite, other_files().items())
    assert contents(suite) == {**other_files(), "README.md": b"mine"}


def test_a_readme_in_a_subfolder_or_a_link_is_refused(suite: Path, tmp_path: Path) -> None:
    below, link = suite / "directml" / "README.md", suite / "README.md"
    below.write_text("mine")
    with pytest.raises(OpcertError, match=r"contains directml/README\.md, not part of a suite"):
        write_suite(suite, other_files().items())
    below.unlink()
    (tmp_path / "guide").write_text("mine")
    link.symlink_to(tmp_path / "guide")
    with pytest.raises(OpcertError, match=r"contains README\.md, not part of a suite"):
        write_suite(suite, other_files().items())
    assert link.is_symlink()
