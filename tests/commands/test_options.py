"""What the commands share: nothing that others wrote is obeyed by a terminal, errors are a line."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

from tests.command_line import opcert
from tests.small_suite import GLOB, INDEX, edit_index, write

HOSTILE = "\x1b[2J\x9b31mx\r\nopcert: CONFORMANT\u2028\u202e"
BACKEND = f"""
class Backend:
    name, version = "b", "1"
    def run(self, operator, inputs, attributes):
        raise ValueError({HOSTILE!r})
def unmade():
    raise RuntimeError({HOSTILE!r})
class Misnamed(Backend):
    name = {HOSTILE!r}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write(tmp_path / "suite")


def obeyed(text: str) -> list[str]:
    """What a terminal would obey, or show as a line of its own, of what others wrote."""
    lines = text.split("\n")
    forged = [line for line in lines if line.startswith("opcert: CONFORMANT")]
    return [line for line in lines if not line.isprintable()] + forged


def plain(*arguments: str | Path) -> Result:
    """Run a command that shows hostile text, of which nothing may be obeyed."""
    result = opcert(*arguments)
    assert obeyed(result.stdout) == obeyed(result.stderr) == []
    assert "\\x1b[2J\\x9b31mx" in result.output
    return result


def test_what_a_backend_raises_is_shown_in_one_line(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(BACKEND, encoding="utf-8")
    call = ("--suite", suite, "--backend", f"{tmp_path / 'b.py'}:Backend")
    assert plain("certify", *call, "--out", tmp_path / "out").exit_code == 1
    assert plain("report", tmp_path / "out").exit_code == 0


@pytest.mark.parametrize("attribute", ["unmade", "Misnamed"])
def test_how_a_backend_refuses_is_told_in_one_line(
    suite: Path, tmp_path: Path, attribute: str
) -> None:
    (tmp_path / "b.py").write_text(BACKEND, encoding="utf-8")
    backend = f"{tmp_path / 'b.py'}:{attribute}"
    result = plain("certify", "--suite", suite, "--backend", backend)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_glob_of_cases_is_shown_in_one_line(suite: Path) -> None:
    assert plain("certify", "--suite", suite, "--case", HOSTILE).exit_code == 1
    assert plain("certify", "--suite", suite, "--operator", HOSTILE).exit_code == 1
    assert plain("explain", HOSTILE).exit_code == 2


@pytest.mark.parametrize("option", ["--suite", "--claim", "--waivers", "--specs", "--sign"])
def test_a_path_is_told_in_one_line(tmp_path: Path, option: str) -> None:
    result = plain("certify", option, tmp_path / HOSTILE, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_what_is_written_to_a_path_is_told_in_one_line(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / HOSTILE
    assert plain("certify", "--suite", suite, "--out", out).exit_code == 0
    assert (out / "certificate.json").is_file()
    assert plain("verify", out, "--suite", out / "none").exit_code == 2
    assert plain("generate", "--operator", GLOB, "--out", out / "suite").exit_code == 0


def test_spaces_within_a_path_are_told_as_they_are(tmp_path: Path) -> None:
    assert "two  spaces, ä" in opcert("report", tmp_path / "two  spaces, ä").stderr


def test_what_a_suite_says_of_a_case_is_shown_in_lines_of_opcerts_own(suite: Path) -> None:
    def spoil(index: dict[str, list[dict[str, str]]]) -> None:
        index["cases"][0]["example"] = HOSTILE

    edit_index(suite, spoil)
    case = json.loads((suite / INDEX).read_bytes())["cases"][0]["id"]
    assert plain("explain", case, "--suite", suite).exit_code == 0


def test_the_text_of_a_wrong_spec_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{json.dumps(HOSTILE)}: 1\n")
    assert plain("check", tmp_path / "a.yaml").exit_code == 2


def test_what_is_no_line_of_markup_is_shown_as_it_is(suite: Path, tmp_path: Path) -> None:
    text = BACKEND.replace(repr(HOSTILE), "'[bold]:warning:'")
    (tmp_path / "b.py").write_text(text, encoding="utf-8")
    result = opcert("certify", "--suite", suite, "--backend", f"{tmp_path / 'b.py'}:Backend")
    assert "[bold]:warning:" in result.stdout
