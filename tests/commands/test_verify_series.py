"""The certificates of a series are verified and reported."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opcert import generate
from tests.command_line import opcert
from tests.small_series import copied, verify


def test_the_certificates_of_a_series_are_sound(home: Path, right: Path, wrong: Path) -> None:
    assert verify(home, right).stdout.startswith("sound: CONFORMANT in all 3 copies: b 1 on core")
    assert verify(home, wrong).stdout.startswith("sound: NOT CONFORMANT in 3 of 3 copies: b 1 on")
    # Without the series, its suites are generated again.
    assert opcert("verify", right, "--specs", home / "specs").exit_code == 0


def edited(change: Callable[[Any], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "certificates.json"
        data = json.loads(path.read_bytes())
        change(data)
        path.write_text(json.dumps(data, indent=1) + "\n")

    return edit


def exchanged(folder: Path) -> None:
    (folder / "copy-00").rename(folder / "x")
    (folder / "copy-01").rename(folder / "copy-00")
    (folder / "x").rename(folder / "copy-01")


@pytest.mark.parametrize(
    ("tamper", "finding"),
    [
        (edited(lambda d: d.update(conformant=True)), "certificates.json: conformant: found true"),
        (edited(lambda d: d["counts"].update(fail=0)), "certificates.json: counts.fail: found 0"),
        (edited(lambda d: d["copies"].pop()), "certificates.json: "),
        (edited(lambda d: d["suite"].update(copies=2)), "certificates.json: suite."),
        (edited(lambda d: d["suite"].update(digest="0" * 64)), "certificates.json: suite.digest"),
        (edited(lambda d: d["suite"].update(seed=5)), "copy-00: found a suite of seed 4"),
        (edited(lambda d: d["suite"].update(profile="full")), "copy-00: found a suite of profile"),
        (edited(lambda d: d["backend"].update(version="2")), "copy-00: found a certificate of b 1"),
        (edited(lambda d: d["copies"].append(d["copies"][0])), "found copy-00 2 times"),
        (lambda f: (f / "index.html").write_text("mine"), "index.html: differs from what opcert"),
        (lambda f: (f / "index.html").unlink(), "index.html: No such file"),
        (lambda f: (f / "notes.txt").write_text("mine"), "notes.txt: the result does not name"),
        (lambda f: (f / "copy-02" / "junit.xml").unlink(), "copy-02: files.junit.xml: found"),
        (exchanged, "copy-00: suite"),
    ],
)
def test_each_change_is_a_finding_that_names_its_place(
    tamper: Callable[[Path], object], finding: str, home: Path, wrong: Path, tmp_path: Path
) -> None:
    folder = copied(wrong, tmp_path / "results")
    tamper(folder)
    result = verify(home, folder)
    assert result.exit_code == 1, result.output
    assert finding in result.stdout


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (edited(lambda d: d.update(format=2)), "found format 2; expected 1"),
        (edited(lambda d: d["copies"][0].update(folder="../x")), "copies.0.folder: "),
        (lambda f: (f / "certificates.json").write_text("[]"), "certificates.json: found []; "),
        (lambda f: (f / "copy-01" / "certificate.json").unlink(), "copy-01/certificate.json: No"),
    ],
)
def test_what_is_no_result_of_a_series_is_an_error(
    tamper: Callable[[Path], object], message: str, home: Path, wrong: Path, tmp_path: Path
) -> None:
    folder = copied(wrong, tmp_path / "results")
    tamper(folder)
    result = verify(home, folder)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_report_of_a_series(wrong: Path, tmp_path: Path) -> None:
    result = opcert("report", wrong)
    assert result.exit_code == 0
    assert "copy-02: Not conformant: " in result.stdout
    assert result.stdout.splitlines()[-1].startswith("NOT CONFORMANT in 3 of 3 copies: b 1 on core")
    assert opcert("report", wrong, "--quiet", "--out", tmp_path / "html").exit_code == 0
    page = (tmp_path / "html" / "index.html").read_text()
    target = page.partition('href="../')[2].partition('report.html#cause-1"')[0]
    assert (tmp_path / "html" / ".." / target / "report.html").is_file()


def without_copies(result: dict[str, Any]) -> None:
    counts = dict.fromkeys(result["counts"], 0)
    result.update(copies=[], conformant=False, counts=counts)


@pytest.mark.parametrize(
    ("tamper", "finding"),
    [
        (edited(without_copies), "found no copies; expected one at least"),
        (edited(lambda d: d.update(copies=[])), "found no copies; expected one at least"),
        (edited(lambda d: d.update(conformant=True)), "conformant: found true"),
        (edited(lambda d: d.update(copies=d["copies"][:1] * 3)), "found copy-00 3 times"),
        (edited(lambda d: d["copies"].reverse()), "found copy-02 before copy-01"),
        (edited(lambda d: d["suite"].update(seed=5)), "copy-00: found a suite of seed 4"),
        (edited(lambda d: d["suite"].update(copies=2)), "found copy-02 in a series of 2 copies"),
    ],
)
def test_a_result_that_contradicts_itself_has_no_report(
    tamper: Callable[[Path], None], finding: str, home: Path, wrong: Path, tmp_path: Path
) -> None:
    out = copied(wrong, tmp_path / "out")
    tamper(out)
    report = opcert("report", out, "--out", tmp_path / "report")
    assert report.exit_code == 2
    assert "certificates.json: contradicts itself; `opcert verify` lists how" in report.stderr
    assert report.stderr.count("\n") == 1
    assert finding in opcert("verify", out, "--specs", home / "specs").stdout


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ("series/copy-00", "copy-00: is a suite; expected a series: name "),
        ("short", "short: is a series of 2 copies; expected the series of the certificates, which"),
    ],
)
def test_another_suite_than_the_series_is_explained(
    suite: str, message: str, right: Path, home: Path, tmp_path: Path
) -> None:
    copied(home / "series", tmp_path / "series")
    generate(tmp_path / "short", home / "specs", seed=4, repeat=2)
    result = opcert("verify", right, "--suite", tmp_path / suite, "--specs", home / "specs")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_changed_certificate_has_no_report(wrong: Path, tmp_path: Path) -> None:
    folder = copied(wrong, tmp_path / "results")
    exchanged(folder)
    result = opcert("report", folder)
    assert result.exit_code == 2
    assert "is not the certificate that certificates.json states" in result.stderr
