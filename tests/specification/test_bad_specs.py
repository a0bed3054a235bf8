"""Every bad spec in bad_specs/ is told as it expects: one line per mistake, and nothing else.

A spec's leading comments list what is expected: `# expect: LINE:COLUMN: what is wrong`. The specs
of one folder are checked together.
"""

from pathlib import Path

import pytest

from tests.command_line import opcert, opcert_program

FOLDER = Path(__file__).parents[1] / "bad_specs"
FILES = sorted(path.relative_to(FOLDER) for path in FOLDER.rglob("*.yaml"))
ALONE = [path for path in FILES if path.parent == Path()]
TOGETHER = sorted({path.parent for path in FILES} - {Path()})
MARK = b"# expect: "


def expected(file: Path) -> list[str]:
    """Return the lines that the file at `file`, below the folder, says to expect."""
    lines = (FOLDER / file).read_bytes().splitlines()
    marked = [line.removeprefix(MARK).decode() for line in lines if line.startswith(MARK)]
    return [f"{file.as_posix()}:{line}" for line in marked]


def told(output: str) -> list[str]:
    """Return the lines of standard error."""
    return output.splitlines()


def check(*files: Path) -> list[str]:
    """Return what `opcert check` says of `files` as it exits with 2."""
    result = opcert("check", *files)
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (2, "")
    return told(result.stderr)


@pytest.fixture(autouse=True)
def _in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


@pytest.mark.parametrize("file", ALONE, ids=[path.stem for path in ALONE])
def test_each_mistake_is_told_once_where_it_stands(file: Path) -> None:
    assert expected(file), f"{file} says nothing of what is expected"
    assert check(file) == expected(file)


@pytest.mark.parametrize("folder", TOGETHER, ids=str)
def test_specs_that_claim_the_same_are_told(folder: Path) -> None:
    files = [path for path in FILES if path.parent == folder]
    assert check(*files) == [line for file in files for line in expected(file)]


def test_the_mistakes_of_all_files_are_told_in_the_order_of_their_places() -> None:
    files = [Path("several.yaml"), Path("misspelt_key.yaml"), Path("tab.yaml")]
    assert check(*files) == [line for file in sorted(files) for line in expected(file)]


def test_a_file_that_does_not_exist_is_told() -> None:
    assert check(Path("nowhere.yaml")) == [
        "nowhere.yaml:1:1: cannot be read: No such file or directory"
    ]


def test_a_folder_in_the_place_of_a_file_is_told() -> None:
    assert check(Path("one_slug")) == ["one_slug:1:1: cannot be read: a folder, not a file"]


@pytest.mark.parametrize("name", ["several.yaml", "reference_fails.yaml"])
def test_the_command_itself_says_it_without_a_traceback(name: str) -> None:
    code, stdout, stderr = opcert_program("check", name)
    assert (code, stdout) == (2, "")
    assert told(stderr) == expected(Path(name))
