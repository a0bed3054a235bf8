"""A backend that keeps crashing: the rest of an operator is given up, and the run ends."""

from pathlib import Path

import pytest

from opcert.certificate.file import read_certificate
from opcert.verdicts.verdict import FAILURE_STATUSES
from tests.command_line import MISBEHAVING, opcert

# Of two operators.
CASES = "*-split*/drawn-f32-3-*[0-6]"
BACKEND = "--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=abort", "--case", CASES


@pytest.mark.usefixtures("barely_confirmed")
def test_after_too_many_crashes_the_rest_of_each_operator_is_not_run(tmp_path: Path) -> None:
    done = opcert("certify", *BACKEND, "--max-crashes", 2, "--out", tmp_path, exits=1)
    certificate = read_certificate(tmp_path / "certificate.json")
    for operator, counts in certificate.operators.items():
        assert counts["crash"] == 2
        assert counts["not-run"] > 0
        given_up = [v for v in certificate.verdicts if v.status == "not-run"]
        reason = f"2 crashes and hangs ended the run of {operator}"
        assert {v.detail for v in given_up if v.operator == operator} == {reason}
        assert f"{counts['not-run']} cases of {operator} were not run" in done.stderr


@pytest.mark.slow
def test_a_run_that_gave_up_is_finished_and_can_be_resumed(tmp_path: Path) -> None:
    opcert("certify", *BACKEND, "--max-crashes", 1, "--out", tmp_path)
    certificate = read_certificate(tmp_path / "certificate.json")
    assert not certificate.conformant
    assert certificate.reproductions.keys() <= {
        v.case for v in certificate.verdicts if v.status in FAILURE_STATUSES
    }
    assert (tmp_path / "report.html").exists()
    opcert("verify", tmp_path, exits=0)
    opcert("certify", *BACKEND, "--out", tmp_path, "--resume")
    assert not read_certificate(tmp_path / "certificate.json").counts["not-run"]
