"""Certification of a series is resumed, or begun anew, where there are certificates."""

import json
import shutil
from pathlib import Path

import pytest

from opcert.certificate.file import read_certificate
from opcert.certificate.journal import JOURNAL_FILE, Journal
from opcert.certificate.series_result import read_series_result
from tests.command_line import opcert
from tests.small_series import BACKENDS, copied, run, verify
from tests.small_suite import contents


def test_an_interrupted_series_is_resumed(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(home, out, backend="Interrupted")
    assert first.exit_code == 130
    assert "3 copies: 1 conformant, 1 interrupted, 1 not started" in first.stdout
    result = read_series_result(out)
    assert [copy.conformant for copy in result.copies] == [True, False]
    assert not result.conformant
    finished = contents(out / "copy-00")
    stopped = read_certificate(out / "copy-01" / "certificate.json")
    reached = len(stopped.verdicts) - stopped.counts["not-run"]
    again = run(home, out, "--resume", backend="Interrupted")
    assert again.exit_code == 0, again.stderr
    assert f"\n{reached} cases have run already" in again.stderr
    assert read_series_result(out).conformant
    assert contents(out / "copy-00")["certificate.json"] == finished["certificate.json"]
    assert verify(home, out).exit_code == 0


def test_a_killed_copy_is_resumed_from_its_journal(right: Path, home: Path, tmp_path: Path) -> None:
    out = copied(right, tmp_path / "out")
    path = out / "copy-01" / "certificate.json"
    certificate = read_certificate(path)
    for file in (out / "copy-01").rglob("*.*"):
        file.unlink()
    reached = certificate.replace(verdicts=certificate.verdicts[:5], causes=(), excerpts={})
    Journal(out / "copy-01" / JOURNAL_FILE, reached).close()
    result = run(home, out, "--resume")
    assert result.exit_code == 0, result.stderr
    assert "\n5 cases have run already" in result.stderr
    assert read_series_result(out).conformant
    assert [v.case for v in read_certificate(path).verdicts] == [
        v.case for v in certificate.verdicts
    ]


def began(out: Path, copy: str, date: str) -> None:
    """Change the date of a certificate, as if its run had begun then."""
    path = out / copy / "certificate.json"
    certificate = json.loads(path.read_bytes())
    certificate["platform"]["date"] = date
    path.write_text(json.dumps(certificate))


def with_damaged_copy(home: Path, target: Path) -> Path:
    """Copy the series and its specs; no backend can be certified by its copy-01."""
    copied(home / "series", target / "series")
    next((target / "series" / "copy-01").rglob("*.npz")).write_bytes(b"")
    copied(home / "specs", target / "specs")
    return target


def test_certificates_of_a_run_that_was_replaced_are_not_resumed(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    # A new run was killed after its first copy.
    began(out, "copy-01", "2020-01-01T00:00:00+00:00")
    again = run(home, out, "--resume")
    assert again.exit_code == 0, again.stderr
    assert again.stderr.count("as the earlier run found") == 1, again.stderr
    assert read_certificate(out / "copy-01" / "certificate.json").platform.date > "2021"


def test_a_new_run_that_ends_early_leaves_nothing_of_the_former_one(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    assert run(home, out, "-x", backend="Wrong").exit_code == 1
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["copy-00"]
    assert opcert("verify", out, "--specs", home / "specs").exit_code == 0


def test_a_resumed_run_that_ends_early_names_all_finished_copies(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    # Its certificate has to be made again, from a suite that is damaged.
    shutil.rmtree(out / "copy-01")
    damaged = with_damaged_copy(home, tmp_path / "home")
    assert run(damaged, out, "--resume", file=home / "b.py").exit_code == 2
    assert [copy.folder for copy in read_series_result(out).copies] == ["copy-00", "copy-02"]
    assert opcert("verify", out, "--specs", home / "specs").exit_code == 0


def kill_in_copy_01(out: Path) -> None:
    """Leave a journal of the run in copy-01, as if it had been killed there."""
    first = read_certificate(out / "copy-00" / "certificate.json")
    certificate = read_certificate(out / "copy-01" / "certificate.json")
    platform = certificate.platform.model_copy(update={"date": first.platform.date})
    reached = certificate.replace(platform=platform, verdicts=certificate.verdicts[:5])
    Journal(out / "copy-01" / JOURNAL_FILE, reached).close()


def test_a_journal_is_kept_without_the_certificate_that_it_replaces(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    kill_in_copy_01(out)
    began(out, "copy-01", "2020-01-01T00:00:00+00:00")
    (out / "certificates.json").unlink()
    damaged = with_damaged_copy(home, tmp_path / "home")
    assert run(damaged, out, "--resume", file=home / "b.py").exit_code == 2
    assert [copy.folder for copy in read_series_result(out).copies] == ["copy-00", "copy-02"]
    assert [*contents(out / "copy-01")] == [JOURNAL_FILE]
    assert opcert("verify", out, "--specs", home / "specs").exit_code == 0
    again = run(home, out, "--resume")
    assert again.exit_code == 0, again.stderr
    assert "\n5 cases have run already" in again.stderr


def test_removing_a_former_run_keeps_the_files_of_others(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    note = out / "copy-02" / "notes.txt"
    backend = tmp_path / "b.py"
    backend.write_text(
        f"""{BACKENDS}
class Noting(Wrong):
    def run(self, operator, inputs, attributes):
        Path({str(note)!r}).write_text("mine")
        return super().run(operator, inputs, attributes)
"""
    )
    assert run(home, out, "-x", backend="Noting", file=backend).exit_code == 1
    assert [*contents(out / "copy-02")] == ["notes.txt"]
    assert not (out / "copy-01").exists()


def test_resuming_a_run_of_which_a_copy_was_lost_keeps_the_others(
    right: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(right, tmp_path / "out")
    for name in ("copy-00", "copy-01", "copy-02"):
        began(out, name, "2020-01-01T00:00:00+00:00")
    shutil.rmtree(out / "copy-01")
    assert run(home, out, "--resume").exit_code == 0
    again = run(home, out, "--resume")
    assert again.stderr.count("as the earlier run found") == 2, again.stderr


def test_a_finished_series_is_resumed_without_a_run(right: Path, home: Path) -> None:
    before = contents(right)
    result = run(home, right, "--resume")
    assert result.exit_code == 0
    assert result.stderr.count("as the earlier run found") == 2
    assert contents(right) == before


def test_another_run_is_not_resumed(right: Path, home: Path) -> None:
    before = contents(right)
    result = run(home, right, "--resume", backend="Wrong")
    assert result.exit_code == 2
    assert "cannot resume, the certificate is of another run" in result.stderr
    assert contents(right) == before


def test_copies_of_different_runs_are_not_mixed(
    right: Path, wrong: Path, home: Path, tmp_path: Path
) -> None:
    out = copied(wrong, tmp_path / "out")
    copied(right / "copy-01", out / "copy-01")
    began(out, "copy-01", read_certificate(out / "copy-00" / "certificate.json").platform.date)
    result = run(home, out, "--resume", backend="Wrong")
    assert result.exit_code == 2
    assert "copy-01/certificate.json: found backend." in result.stderr
    assert "as for the other copies" in result.stderr


def test_resuming_needs_a_certificate(home: Path, tmp_path: Path) -> None:
    result = run(home, tmp_path / "out", "--resume")
    assert result.exit_code == 2
    assert "copy-00/certificate.json: No such file; expected the certificate" in result.stderr


@pytest.mark.parametrize("command", ["verify", "report"])
@pytest.mark.parametrize("finished", ["3 certificates", "1 certificate", "0 certificates"])
def test_an_unfinished_run_is_to_be_resumed(
    command: str, finished: str, right: Path, tmp_path: Path
) -> None:
    for name in ("copy-00", "copy-01", "copy-02")[: int(finished[0])]:
        copied(right / name, tmp_path / name)
    certificate = read_certificate(right / "copy-02" / "certificate.json")
    Journal(tmp_path / "copy-02" / JOURNAL_FILE, certificate).close()
    result = opcert(command, tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path}: is an unfinished run of a series, with {finished}; " in result.stderr
    assert "finish it by `opcert certify --resume`" in result.stderr
    assert result.stderr.count("\n") == 1
