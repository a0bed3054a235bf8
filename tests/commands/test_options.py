"""What the commands share: printed lines have no control characters, an error is one line."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

from tests.command_line import opcert
from tests.small_suite import GLOB, INDEX, edit_index, read_json, write

HOSTILE = "\x1b[2J\x9b31mx\r\nopcert: CONFORMANT\u2028\u202e"
FEW = "--case", "*example-[12]"
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


def hostile_lines(text: str) -> list[str]:
    """The lines with control characters, and those that forge a conclusion."""
    lines = text.split("\n")
    forged = [line for line in lines if line.startswith("opcert: CONFORMANT")]
    return [line for line in lines if not line.isprintable()] + forged


def run_safely(*arguments: str | Path) -> Result:
    """Run a command that prints hostile text, and check that it is escaped."""
    result = opcert(*arguments)
    assert hostile_lines(result.stdout) == hostile_lines(result.stderr) == []
    assert "\\x1b[2J\\x9b31mx" in result.output
    return result


def test_an_error_of_a_backend_is_printed_in_one_line(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(BACKEND, encoding="utf-8")
    call = ("--suite", suite, *FEW, "--backend", f"{tmp_path / 'b.py'}:Backend")
    assert run_safely("certify", *call, "--out", tmp_path / "out").exit_code == 1
    assert run_safely("report", tmp_path / "out").exit_code == 0


@pytest.mark.parametrize("attribute", ["unmade", "Misnamed"])
def test_a_backend_that_cannot_be_made_is_reported_in_one_line(
    suite: Path, tmp_path: Path, attribute: str
) -> None:
    (tmp_path / "b.py").write_text(BACKEND, encoding="utf-8")
    backend = f"{tmp_path / 'b.py'}:{attribute}"
    result = run_safely("certify", "--suite", suite, "--backend", backend)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_glob_is_printed_in_one_line(suite: Path) -> None:
    assert run_safely("certify", "--suite", suite, "--case", HOSTILE).exit_code == 2
    assert run_safely("certify", "--suite", suite, "--operator", HOSTILE).exit_code == 2
    assert run_safely("explain", HOSTILE).exit_code == 2


@pytest.mark.parametrize("option", ["--suite", "--claim", "--waivers", "--specs"])
def test_a_path_is_reported_in_one_line(tmp_path: Path, option: str) -> None:
    result = run_safely("certify", option, tmp_path / HOSTILE, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_path_that_was_written_is_printed_in_one_line(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / HOSTILE
    assert (
        run_safely("certify", "--suite", suite, "--case", "*example*", "--out", out).exit_code == 0
    )
    assert (out / "certificate.json").is_file()
    assert run_safely("verify", out, "--suite", out / "none").exit_code == 2
    assert run_safely("generate", "--operator", GLOB, "--out", out / "suite").exit_code == 0


def test_spaces_in_a_path_are_kept(tmp_path: Path) -> None:
    assert "two  spaces, ä" in opcert("report", tmp_path / "two  spaces, ä").stderr


def test_text_of_a_suite_cannot_forge_lines(suite: Path) -> None:
    def spoil(index: dict[str, list[dict[str, str]]]) -> None:
        index["cases"][0]["example"] = HOSTILE

    edit_index(suite, spoil)
    case = read_json(suite, INDEX)["cases"][0]["id"]
    assert run_safely("explain", case, "--suite", suite).exit_code == 0


def test_text_of_a_wrong_spec_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{json.dumps(HOSTILE)}: 1\n")
    assert run_safely("check", tmp_path / "a.yaml").exit_code == 2


def test_markup_is_printed_as_it_is(suite: Path, tmp_path: Path) -> None:
    text = BACKEND.replace(repr(HOSTILE), "'[bold]:warning:'")
    (tmp_path / "b.py").write_text(text, encoding="utf-8")
    result = opcert("certify", *FEW, "--suite", suite, "--backend", f"{tmp_path / 'b.py'}:Backend")
    assert "[bold]:warning:" in result.stdout
