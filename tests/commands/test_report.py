"""`opcert report` and `opcert docs`, and what `certify` writes and prints."""

import os
import re
from pathlib import Path

import pytest

from opcert.certificate.file import read_certificate
from opcert.specification.files import shipped_operators
from tests import samples
from tests.command_line import WRONG, opcert, opcert_program
from tests.small_suite import contents
from tests.suite_of_levels import write_specs

DML = ["--operator", "directml/DML_OPERATOR_SPLIT"]
SMALL = [*DML, "--case", "*drawn-f32-*"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with certificates: `right` and `faulty`, each in a folder of its own."""
    for name, certificate in (("right", samples.right()), ("faulty", samples.faulty())):
        (tmp_path / name).mkdir()
        (tmp_path / name / "certificate.json").write_text(certificate.to_json())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("given", ["faulty", "faulty/certificate.json"])
@pytest.mark.usefixtures("folder")
def test_a_certificate_is_printed_as_by_certify(given: str) -> None:
    result = opcert("report", given, exits=0)
    assert "NOT CONFORMANT, 1 failure waived: faulty 1 on core suite" in result.stdout
    assert "DML_OPERATOR_SPLIT accepts invalid calls" in result.stdout


def test_a_report_is_written_as_by_certify(folder: Path) -> None:
    result = opcert("report", "right", "--out", "html", exits=0)
    assert "wrote html/report.html, html/junit.xml" in result.stdout
    assert set(contents(folder / "html")) == {"report.html", "junit.xml"}
    opcert("report", "right", "--out", "html", exits=0)


def test_several_certificates_are_printed_side_by_side(folder: Path) -> None:
    result = opcert("report", "right", "faulty", "right", "--out", "html", exits=0)
    cases = rf"[\d,]+ of {len(samples.suite().cases):,} cases selected"
    right = rf"1\. CONFORMANT for 1 of 5 operators, {cases}, bit-exact: right 1"
    assert re.search(right, result.stdout)
    assert "2. NOT CONFORMANT, 1 failure waived: faulty 1" in result.stdout
    assert re.search(
        r"2\. faulty 1 compared with 1: \d+ new and 0 fixed causes; \d+ regressed, 0 fixed, ",
        result.stdout,
    )
    assert "3. right 1 compared with 1: 0 new and 0 fixed causes; 0 regressed, " in result.stdout
    assert "wrote html/side-by-side.html" in result.stdout
    assert set(contents(folder / "html")) == {"side-by-side.html"}


@pytest.mark.parametrize("given", ["right", "."])
def test_a_pattern_may_match_what_opcert_wrote_next_to_certificates(
    folder: Path, given: str
) -> None:
    for name in ("report.html", "junit.xml", "side-by-side.html", "certificate.json.sig"):
        (folder / given / name).touch()
    opcert("report", *sorted((folder / given).iterdir()), exits=0)


@pytest.mark.parametrize(
    ("former", "later", "code"),
    [("right", "faulty", 1), ("faulty", "right", 0), ("faulty", "faulty", 0)],
)
@pytest.mark.usefixtures("folder")
def test_fail_on_new_exits_1_if_a_later_certificate_has_new_failures(
    former: str, later: str, code: int
) -> None:
    opcert("report", former, later, "--fail-on", "new", "--quiet", exits=code)


def test_the_page_of_another_suite_is_made_with_that_suite(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    write_specs(tmp_path / "specs")
    out, specs = tmp_path / "out", ("--specs", tmp_path / "specs")
    opcert("certify", *specs, "--out", out, exits=0)
    opcert("report", out, "--out", tmp_path / "html", exits=2)
    assert not (tmp_path / "html").exists()
    opcert("report", out, *specs, "--out", tmp_path / "html", exits=0)


@pytest.mark.slow
def test_the_suite_of_shipped_specs_is_generated_again_for_the_page(tmp_path: Path) -> None:
    out, suite = tmp_path / "out", tmp_path / "suite"
    opcert("generate", *DML, "--out", suite, exits=0)
    opcert("certify", "--suite", suite, "--out", out, "--case", "*drawn-i8*", exits=0)
    with_suite = opcert("report", out, "--suite", suite, "--out", tmp_path / "html")
    assert (with_suite.exit_code, "generated" in with_suite.stderr) == (0, False)
    assert contents(tmp_path / "html") == {
        name: data for name, data in contents(out).items() if name != "certificate.json"
    }
    without = opcert("report", out, "--out", tmp_path / "again")
    assert (without.exit_code, "generated the core suite of" in without.stderr) == (0, True)
    assert contents(tmp_path / "again") == contents(tmp_path / "html")


@pytest.mark.parametrize(("backend", "code"), [("reference", 0), ("AcceptsEverything", 1)])
def test_certify_writes_the_report_next_to_the_certificate(
    backend: str, code: int, tmp_path: Path
) -> None:
    named = backend if code == 0 else f"{WRONG}:{backend}"
    opcert(
        "certify", "--backend", named, "--case", "*axis-range*", *DML, "--out", tmp_path, exits=code
    )
    left = contents(tmp_path)
    assert set(left) == {"certificate.json", "report.html", "junit.xml"}
    stated = read_certificate(tmp_path / "certificate.json").files
    assert set(stated) == set(left) - {"certificate.json"}
    opcert("verify", tmp_path, exits=0)


@pytest.mark.parametrize(
    ("arguments", "code", "colour", "no_colour"),
    [
        pytest.param(SMALL, 0, r"3\d", False, marks=pytest.mark.slow),
        (SMALL, 0, r"3\d", True),
        (["--bogus"], 2, "31m", False),
        pytest.param(["--bogus"], 2, "31m", True, marks=pytest.mark.slow),
    ],
)
def test_no_color_overrides_forced_colour(
    arguments: list[str], code: int, colour: str, no_colour: bool
) -> None:
    colours = {"FORCE_COLOR": "1", **({"NO_COLOR": "1"} if no_colour else {})}
    found, stdout, stderr = opcert_program("certify", *arguments, env={**os.environ, **colours})
    assert found == code
    coloured = re.search(rf"\x1b\[[\d;]*{colour}", stdout + stderr)
    assert (coloured is None) is no_colour


@pytest.mark.usefixtures("folder")
def test_output_that_is_no_terminal_has_plain_lines() -> None:
    result = opcert("certify", *SMALL)
    assert "\x1b" not in result.output
    assert re.search(r"^1/\d+ directml/DML_OPERATOR_SPLIT$", result.stderr, re.MULTILINE)


@pytest.mark.slow
def test_docs_writes_pages_of_each_operator_and_replaces_them(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    opcert("docs", "--out", folder, exits=0)
    names = {path.name for path in (folder / "operators").iterdir()}
    assert names >= {f"{operator.replace('/', '-')}.md" for operator in shipped_operators()}
    opcert("docs", "--out", folder, "--operator", DML[1], exits=0)
    names = {path.name for path in (folder / "operators").iterdir()}
    page = DML[1].replace("/", "-")
    assert names == {f"{page}.md", f"{page}-cases.md"}
    assert {path.name for path in folder.iterdir()} == {"index.md", "conf.py", "operators"}
