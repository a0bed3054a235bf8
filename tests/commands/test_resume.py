"""`opcert certify --resume`: what it continues, and what it refuses."""

import subprocess
import sys
from pathlib import Path

import pytest

from opcert.certificate import certify_suite
from opcert.certificate.file import read_certificate
from tests.clusters import wait_until
from tests.command_line import MISBEHAVING, WRONG, interrupts, opcert, opcert_program

SPLIT = "directml/DML_OPERATOR_SPLIT"
SAVES_OFTEN = """
from opcert.certificate import certify_suite
from opcert.cli import main

certify_suite.SAVE_SECONDS = 0.1
main()
"""


def test_the_command_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    arguments = *interrupts(tmp_path), "--out", tmp_path / "out"
    code, _, _ = opcert_program("certify", *arguments)
    assert code == 130
    former = read_certificate(tmp_path / "out" / "certificate.json")
    assert 0 < former.counts["not-run"] < len(former.verdicts)
    code, _, errors = opcert_program("certify", *arguments, "--resume")
    assert code == 0
    left = former.counts["not-run"]
    assert f"{len(former.verdicts) - left} cases have run already" in errors
    assert f"1/{left} " in errors
    found = read_certificate(tmp_path / "out" / "certificate.json")
    assert found.conformant
    assert found.platform.date == former.platform.date
    assert len(found.run.resumed) == 1
    code, _, errors = opcert_program("certify", *arguments, "--resume")
    assert code == 0
    assert f"{len(former.verdicts)} cases have run already" in errors
    assert read_certificate(tmp_path / "out" / "certificate.json") == found


def test_a_refused_certificate_stays_as_it_is(tmp_path: Path) -> None:
    backend = "--backend", f"{WRONG}:AcceptsEverything", "--case", "dml-split/axis-range*"
    opcert("certify", *backend, "--out", tmp_path, "-x", exits=1)
    path = tmp_path / "certificate.json"
    before = path.read_bytes()
    result = opcert("certify", "--operator", SPLIT, "--resume", "--out", tmp_path, exits=2)
    assert "cannot resume, the certificate is of another run" in result.stderr
    assert path.read_bytes() == before


def test_a_run_saves_what_it_has_reached_with_copies_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "claim.yaml").write_text(f"operators:\n  {SPLIT}: {{}}\n")
    arguments = "--case", "dml-split/drawn-u8-*", "--claim", tmp_path / "claim.yaml"
    monkeypatch.setattr(certify_suite, "SAVE_SECONDS", -1)
    with monkeypatch.context() as patch:
        # It ends before it writes its certificate.
        patch.setattr("opcert.commands.certify._warn_of_doubts", lambda *_: sys.exit(9))
        opcert("certify", *arguments, "--out", tmp_path / "out", exits=9)
    saved = read_certificate(tmp_path / "out" / "certificate.json")
    assert saved.counts["not-run"] == 0
    opcert("verify", tmp_path / "out" / "certificate.json", exits=0)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "certificate.json",
        "claim.yaml",
    ]
    opcert("certify", *arguments, "--out", tmp_path / "out", "--resume", exits=0)
    opcert("verify", tmp_path / "out", exits=0)


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_from_what_it_saved(tmp_path: Path) -> None:
    out = tmp_path / "out"
    backend = "--backend", f"{MISBEHAVING}:Behaves", "--operator", SPLIT
    arguments = "certify", *backend, "--out", str(out)
    path, reached = out / "certificate.json", 0
    for how in ((), ("--resume",), ("--resume",)):
        with subprocess.Popen(
            [sys.executable, "-c", SAVES_OFTEN, *arguments, *how], stderr=subprocess.DEVNULL
        ) as run:
            wait_until(lambda: path.exists() and verdicts(path) > reached + 50)  # noqa: B023
            run.kill()
        reached = verdicts(path)
    assert f"{reached} cases have run already" in opcert(*arguments, "--resume", exits=0).stderr
    resumed = read_certificate(path)
    assert resumed.conformant
    assert len(resumed.run.resumed) == 3
    opcert("verify", out, exits=0)


def verdicts(path: Path) -> int:
    certificate = read_certificate(path)
    return len(certificate.verdicts) - certificate.counts["not-run"]
