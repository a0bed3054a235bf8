"""The report next to a certificate is exactly the one that opcert renders."""

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from opcert.certificate.submission import write_submission
from opcert.report.files import render_report
from tests import handed_in
from tests import wrong_backends as wrong
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.handed_in import GIVEN, named, without, write, write_changed
from tests.suite_of_levels import write_specs


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


OPERATOR_PAGE = "operators/directml-DML_OPERATOR_SPLIT.html"
TAMPERINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "another report": (
        forge("report.html"),
        r"files\.report\.html: found .*; opcert renders this certificate",
    ),
    "other results": (
        forge("junit.xml"),
        r"files\.junit\.xml: found .*; opcert renders this certificate",
    ),
    "another page of an operator": (
        forge(OPERATOR_PAGE),
        r"_SPLIT\.html: found .*; opcert renders",
    ),
    "a page of an operator that was not run": (
        forge("operators/openvino-Slice-8.html"),
        r"files\.operators/openvino-Slice-8\.html: opcert writes no such file for such a run",
    ),
    "a file that is named": (forge("notes.txt"), r"files\.notes\.txt: opcert writes no such file"),
    "no report": (omit("report.html"), r"files\.report\.html: missing file; expected one for"),
    "no results": (omit("junit.xml"), r"files\.junit\.xml: missing file; expected one for"),
    "another backend than the report's": (
        lambda folder: write_changed(folder, lambda data: data["backend"].update(name="fine")),
        r"files\.report\.html: found .*; opcert renders this certificate",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
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


def test_an_operators_page_may_be_missing_where_the_report_has_no_link_to_it(folder: Path) -> None:
    certificate = handed_in.certificate()
    (folder / OPERATOR_PAGE).unlink()
    files = {name: text.encode() for name, text in GIVEN.items()}
    files |= render_report(certificate, core_suite(), ())
    write_submission(certificate, folder / "certificate.json", files)
    assert opcert("verify", folder).exit_code == 0


def test_the_page_of_an_operator_whose_spec_is_not_at_hand_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    write_specs(tmp_path / "specs")
    suite, out = tmp_path / "suite", tmp_path / "out"
    specs = ("--specs", tmp_path / "specs")
    assert opcert("generate", *specs, "--out", suite).exit_code == 0
    assert opcert("certify", *specs, "--suite", suite, "--out", out).exit_code == 0
    page = next((out / "operators").iterdir()).name
    alone = opcert("verify", out, "--suite", suite)
    assert alone.exit_code == 0
    assert f"operators/{page} (name its --specs)" in alone.stdout
    for how in (("--suite", suite, *specs), specs):
        result = opcert("verify", out, *how)
        assert result.exit_code == 0, result.stdout
        assert "--specs" not in result.stdout


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
