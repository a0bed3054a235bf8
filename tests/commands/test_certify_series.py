"""A series is certified copy by copy."""

import weakref
from pathlib import Path

import pytest

from opcert import certify, load_series
from opcert.certificate.file import read_certificate
from opcert.certificate.series_result import read_series_result
from opcert.errors import OpcertError
from opcert.suite.format import CopyEntry
from opcert.suite.series import Series
from opcert.suite.suite import Suite
from tests.command_line import opcert
from tests.small_series import copied, run
from tests.small_suite import contents


def test_each_copy_gets_the_certificate_that_it_gets_alone(right: Path, home: Path) -> None:
    for k, suite in enumerate(load_series(home / "series", home / "specs")):
        certificate = read_certificate(right / f"copy-0{k}" / "certificate.json")
        alone = certify(f"{home / 'b.py'}:Backend", suite, False, specs=home / "specs")
        assert certificate.suite == alone.suite
        assert [v.status for v in certificate.verdicts] == [v.status for v in alone.verdicts]
        assert (right / f"copy-0{k}" / "report.html").is_file()


def test_the_result_states_each_certificate(wrong: Path, home: Path) -> None:
    result = read_series_result(wrong)
    certificates = [read_certificate(wrong / f"copy-0{k}" / "certificate.json") for k in range(3)]
    assert not result.conformant
    assert (result.suite.seed, result.suite.copies) == (4, 3)
    assert result.suite.digest == load_series(home / "series").digest
    assert [copy.suite for copy in result.copies] == [c.suite.digest for c in certificates]
    assert result.counts["fail"] == sum(c.counts["fail"] for c in certificates) > 0


def test_a_new_run_replaces_the_certificates(right: Path, home: Path, tmp_path: Path) -> None:
    assert read_series_result(right).conformant
    again = run(home, copied(right, tmp_path / "out"), "--quiet")
    assert again.stdout.splitlines()[-1] == "3 copies: 3 conformant"
    assert again.stderr == ""


def test_stopping_at_a_failure_stops_the_series(home: Path, tmp_path: Path) -> None:
    result = run(home, tmp_path / "out", "-x", backend="Wrong")
    assert result.exit_code == 1
    assert "3 copies: 1 not conformant, 2 not started" in result.stdout
    assert [copy.folder for copy in read_series_result(tmp_path / "out").copies] == ["copy-00"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--json",), "--json prints one certificate; name one copy of the series by --suite"),
        (("--backend-option", "device=all"), "found 2 configurations and a series"),
        (("--operator", "no/such"), "no operator matches 'no/such'"),
        (("--case", "no-such"), "no case matches 'no-such'"),
    ],
)
def test_a_wrong_call_is_explained_in_one_line(
    arguments: tuple[str, ...], message: str, home: Path, tmp_path: Path
) -> None:
    result = run(home, tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_series_needs_a_folder_for_its_certificates(home: Path) -> None:
    result = opcert("certify", "--suite", home / "series")
    assert result.exit_code == 2
    assert "a series needs --out, the folder for the certificates" in result.stderr


@pytest.mark.parametrize("name", ["thesis.txt", "index.html", "copy-03/x", "certificates.json"])
def test_other_files_are_refused(name: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    result = run(home, tmp_path)
    assert result.exit_code == 2
    assert (
        f"contains {name.partition('/')[0]}, not part of the result of this series" in result.stderr
    )
    assert [*contents(tmp_path)] == [name]


def test_a_folder_in_the_series_is_refused(home: Path) -> None:
    before = contents(home / "series")
    assert run(home, home / "series" / "out").exit_code == 2
    assert contents(home / "series") == before


def test_a_damaged_copy_ends_the_series(home: Path, tmp_path: Path) -> None:
    copied(home, tmp_path / "home")
    (tmp_path / "home" / "series" / "copy-01" / "conftest.py").write_text("changed")
    result = run(tmp_path / "home", tmp_path / "out")
    assert result.exit_code == 2
    assert "copy-01/conftest.py: the digest of its" in result.stderr
    assert "3 copies: 1 conformant, 1 invalid input, 1 not started" in result.stdout
    assert len(read_series_result(tmp_path / "out").copies) == 1


def test_unused_waivers_do_not_end_the_series(home: Path, tmp_path: Path) -> None:
    waivers = tmp_path / "w.yaml"
    waivers.write_text("- {case: '*', reason: r, owner: o, link: l, expires: '2099-01-01'}\n")
    result = run(home, tmp_path / "out", "--waivers", waivers)
    assert result.exit_code == 2
    assert result.stderr.count("unused waiver") == 3
    assert len(read_series_result(tmp_path / "out").copies) == 3
    resumed = run(home, tmp_path / "out", "--waivers", waivers, "--resume")
    assert resumed.exit_code == 2
    assert resumed.stderr.count("unused waiver") == 3


def test_a_copy_is_forgotten_before_the_next_is_opened(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[weakref.ref[Suite]] = []
    open_copy = Series.open

    def record(series: Series, entry: CopyEntry) -> Suite:
        assert not any(reference() for reference in opened)
        suite = open_copy(series, entry)
        opened.append(weakref.ref(suite))
        return suite

    monkeypatch.setattr(Series, "open", record)
    assert run(home, tmp_path / "out").exit_code == 0
    assert len(opened) == 3


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("report", "wrong", "right"), "wrong: has the certificates of a series; to compare"),
        (("verify", "wrong", "--rerun", "1", "-b", "reference"), "--rerun needs one"),
        (("sign", "wrong", "--key", "k"), "found certificates of 3 copies; expected one"),
        (("coverage", "--suite", "series"), "series: is a series of 3 suites; expected one suite"),
    ],
)
@pytest.mark.usefixtures("right", "wrong")
def test_other_commands_want_one_certificate_or_suite(
    command: tuple[str, ...], message: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    result = opcert(*command)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_failed_check_advises_the_same_command(home: Path) -> None:
    options = ("--specs", home / "specs", "--repeat", "3", "--seed", "5")
    result = opcert("generate", "--check", "--out", home / "series", *options)
    assert result.exit_code == 1
    assert "run the same command without --check" in result.stderr


def test_in_python_a_series_is_refused_with_a_hint(home: Path) -> None:
    with pytest.raises(OpcertError, match=r"is a series of 3 suites; .* load_series yields them"):
        certify("reference", home / "series")
