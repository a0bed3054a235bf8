"""`opcert certify --resume`: what it continues, and what it refuses."""

import json
from pathlib import Path

import pytest

from opcert.certificate.file import read_certificate
from opcert.certificate.journal import is_journal, read_journal
from tests.clusters import wait_until
from tests.command_line import MISBEHAVING, WRONG, interrupts, opcert, opcert_program, started

SPLIT = "directml/DML_OPERATOR_SPLIT"


def test_the_command_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    arguments = *interrupts(tmp_path), "--out", tmp_path / "out"
    code, _, _ = opcert_program("certify", *arguments)
    assert code == 130
    former = read_certificate(tmp_path / "out" / "certificate.json")
    assert 0 < former.counts["not-run"] < len(former.verdicts)
    result = opcert("certify", *arguments, "--resume")
    assert result.exit_code == 0
    left = former.counts["not-run"]
    assert f"{len(former.verdicts) - left} cases have run already" in result.stderr
    assert f"1/{left} " in result.stderr
    found = read_certificate(tmp_path / "out" / "certificate.json")
    assert found.conformant
    assert found.platform.date == former.platform.date
    assert len(found.run.resumed) == 1
    again = opcert("certify", *arguments, "--resume")
    assert again.exit_code == 0
    assert f"{len(former.verdicts)} cases have run already" in again.stderr
    assert read_certificate(tmp_path / "out" / "certificate.json") == found


def test_a_resumed_run_may_be_not_conformant(tmp_path: Path) -> None:
    backend = "--backend", f"{WRONG}:AcceptsEverything", "--case", "dml-split/axis-range*"
    assert opcert("certify", *backend, "--out", tmp_path, "-x").exit_code == 1
    assert read_certificate(tmp_path / "certificate.json").counts["not-run"] > 0
    assert opcert("certify", *backend, "--out", tmp_path, "--resume").exit_code == 1
    assert read_certificate(tmp_path / "certificate.json").counts["not-run"] == 0


def test_resuming_needs_out() -> None:
    result = opcert("certify", "--resume")
    assert result.exit_code == 2
    assert "--resume needs --out" in result.stderr


def test_resuming_needs_a_certificate(tmp_path: Path) -> None:
    result = opcert("certify", "--resume", "--out", tmp_path / "new")
    assert result.exit_code == 2
    assert "certificate.json: No such file; expected the certificate to continue" in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_refused_certificate_stays_as_it_is(tmp_path: Path) -> None:
    backend = "--backend", f"{WRONG}:AcceptsEverything", "--case", "dml-split/axis-range*"
    assert opcert("certify", *backend, "--out", tmp_path, "-x").exit_code == 1
    path = tmp_path / "certificate.json"
    before = path.read_bytes()
    result = opcert("certify", "--operator", SPLIT, "--resume", "--out", tmp_path)
    assert result.exit_code == 2
    assert "cannot resume, the certificate is of another run" in result.stderr
    assert path.read_bytes() == before
    path.write_text(json.dumps({"schema": 1}))
    result = opcert("certify", "--operator", SPLIT, "--resume", "--out", tmp_path)
    assert result.exit_code == 2
    assert "found schema 1; expected schema 9" in result.stderr


@pytest.mark.parametrize("cluster", [(), ("--cluster", "local:1")])
def test_a_run_that_is_killed_goes_on_from_its_journal(
    tmp_path: Path, cluster: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    arguments = "certify", "--backend", f"{MISBEHAVING}:Behaves", "--out", str(out)
    with started(*arguments, *cluster) as run:
        wait_until(lambda: is_journal(out / "journal.jsonl") and lines(out / "journal.jsonl") > 50)
        run.kill()
    assert not (out / "certificate.json").exists()
    reached = read_journal(out / "journal.jsonl")
    result = opcert(*arguments, "--resume")
    assert result.exit_code == 0, result.output
    assert f"{len(reached.verdicts)} cases have run already" in result.stderr
    resumed = read_certificate(out / "certificate.json")
    assert resumed.conformant
    assert len(resumed.run.resumed) == 1
    assert not (out / "journal.jsonl").exists()


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")
