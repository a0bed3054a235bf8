"""A sample run again: the same backend agrees, another one does not."""

from pathlib import Path

from opcert.verification import sample_verdicts
from tests import handed_in
from tests.command_line import WRONG, opcert
from tests.faults.finding import core_suite
from tests.handed_in import write

DECLARES = f"{Path(handed_in.__file__)}:Declares"


def test_the_same_backend_agrees(tmp_path: Path) -> None:
    write(tmp_path)
    result = opcert("verify", tmp_path, "--rerun", 1000, "--backend", DECLARES, exits=0)
    ran = sum(each.observed != "not-run" for each in handed_in.certificate().verdicts)
    assert f"running {ran} cases again: --rerun 1000 --seed " in result.stderr


def test_verdicts_that_differ_are_reported(tmp_path: Path) -> None:
    write(tmp_path)
    result = opcert("verify", tmp_path, "--rerun", 1000, "--backend", f"{WRONG}:Right", exits=1)
    findings = result.stdout.splitlines()[:-1]
    assert findings[0].startswith("backend.support: found {")
    assert all(each.startswith("verdicts, dml-split/") for each in findings[1:])
    wrong = [
        each
        for each in handed_in.certificate().verdicts
        if each.status in ("fail", "waived") and each.observed != "not-run"
    ]
    assert len(findings) == 1 + len(wrong)
    assert "found fail (value), observed 'outputs'; run again: pass" in result.stdout


def test_a_sample_follows_from_its_seed() -> None:
    certificate, suite = handed_in.certificate(), core_suite()
    first, same, other = (sample_verdicts(certificate, suite, 9, seed) for seed in (1, 1, 2))
    assert len(first) == 9
    assert first == same != other
    assert all(each.observed != "not-run" for each in first)


def test_an_unknown_backend_is_reported(tmp_path: Path) -> None:
    write(tmp_path)
    result = opcert("verify", tmp_path, "--rerun", 3, "--backend", "refrence", exits=2)
    assert "did you mean 'reference'?" in result.stderr
