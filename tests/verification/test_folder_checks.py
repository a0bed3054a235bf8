"""The report next to a certificate is exactly the one that opcert renders."""

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests import wrong_backends as wrong
from tests.at_length import at_length
from tests.command_line import opcert
from tests.handed_in import named, without, write, write_changed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "out").parent


def forge(name: str, text: str = "forged") -> Callable[[Path], object]:
    """Return a change that writes a file, and its digest into the certificate."""

    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        named(name, sha256(text.encode()).hexdigest())(folder)

    return change


def omit(name: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        without(name)(folder)
        write_changed(folder, lambda data: data["files"].pop(name))

    return change


TAMPERINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "another report": (
        forge("report.html"),
        r"files\.report\.html: found .*; opcert renders this certificate",
    ),
    "other results": (
        forge("junit.xml"),
        r"files\.junit\.xml: found .*; opcert renders this certificate",
    ),
    "a file that is named": (forge("notes.txt"), r"files\.notes\.txt: opcert writes no such file"),
    "no report": (omit("report.html"), r"files\.report\.html: missing file; expected one for"),
    "no results": (omit("junit.xml"), r"files\.junit\.xml: missing file; expected one for"),
    "another backend than the report's": (
        lambda folder: write_changed(folder, lambda data: data["backend"].update(name="fine")),
        r"files\.report\.html: found .*; opcert renders this certificate",
    ),
}


@pytest.mark.parametrize("name", at_length(TAMPERINGS, 3))
def test_a_file_that_opcert_does_not_render_is_found(folder: Path, name: str) -> None:
    change, expected = TAMPERINGS[name]
    change(folder)
    result = opcert("verify", folder)
    assert result.exit_code == 1
    assert re.search(expected, result.stdout), result.stdout


def test_the_report_of_another_version_is_not_compared(folder: Path) -> None:
    forge("report.html")(folder)
    write_changed(folder, lambda data: data["platform"].update(opcert="99.1"))
    result = opcert("verify", folder)
    assert result.exit_code == 0
    assert "; made by opcert 99.1, checked with the rules of " in result.stdout
    assert "the report (another version of opcert made it)" in result.stdout


def test_an_unfinished_run_has_no_report(tmp_path: Path) -> None:
    backend = f"{wrong.__file__}:ReturnsItsInput"
    out = tmp_path / "out"
    assert (
        opcert(
            "certify", "--backend", backend, "--case", "dml-split/*-f32-*", "-x", "--out", out
        ).exit_code
        == 1
    )
    assert {each.name for each in out.iterdir()} == {"certificate.json"}
    assert opcert("verify", out).exit_code == 0
    forge("report.html")(out)
    result = opcert("verify", out)
    assert result.exit_code == 1
    assert "opcert writes no such file for an unfinished run" in result.stdout
