"""Verification: a certificate belongs to its suite, and its parts follow from its verdicts.

A sample that runs again agrees on the same backend, and not on another one.
"""

import re
from pathlib import Path

import pytest

from opcert import Certificate, certify
from opcert.certificate.file import Finding
from opcert.certificate.rerun import sample_verdicts
from opcert.suite.generation import open_certified_suite
from opcert.verification import folder_findings, verify_certificate
from tests import handed_in
from tests.command_line import WRONG, opcert
from tests.faults.finding import core_suite
from tests.handed_in import changed, write
from tests.suite_of_levels import OPERATOR, write_specs
from tests.tamperings import TAMPERINGS


def findings(certificate: Certificate) -> list[str]:
    return [str(each) for each in verify_certificate(certificate, core_suite())]


def test_a_certificate_with_claim_and_waivers_is_sound() -> None:
    counts = handed_in.certificate().counts
    for status in ("pass", "fail", "waived", "out-of-claim"):
        assert counts[status] > 0
    assert findings(handed_in.certificate()) == []


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_found(name: str) -> None:
    change, expected = TAMPERINGS[name]
    messages = findings(changed(handed_in.certificate(), change))
    assert [each for each in messages if re.search(expected, each)], messages[:5]
    assert all(len(each.splitlines()) == 1 for each in messages)


def test_a_finding_is_one_line_without_control_characters() -> None:
    assert str(Finding("a\x1b[2J", "found\nb\u202e")) == r"a\x1b[2J: found b\u202e"


def test_a_file_in_a_hidden_folder_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / ".opcert-new").mkdir()
    (tmp_path / ".opcert-new" / "other.html").write_text("x")
    places = [each.place for each in folder_findings(tmp_path, handed_in.certificate())]
    assert ".opcert-new/other.html" in places


def test_the_suite_can_be_regenerated_from_specs(tmp_path: Path) -> None:
    write_specs(tmp_path)
    certificate = certify("reference", specs=tmp_path)
    suite = open_certified_suite(certificate.suite, specs=tmp_path)
    assert verify_certificate(certificate, suite) == []
    text = (tmp_path / "take.yaml").read_text()
    (tmp_path / "take.yaml").write_text(text + "# another\n")
    changed = open_certified_suite(certificate.suite, specs=tmp_path)
    found = verify_certificate(certificate, changed)
    assert [each.place for each in found] == ["suite.digest", f"suite.specs.{OPERATOR}"]


def test_the_same_backend_agrees(tmp_path: Path) -> None:
    write(tmp_path)
    backend = f"{handed_in.__file__}:Declares"
    result = opcert("verify", tmp_path, "--rerun", 1000, "--backend", backend, exits=0)
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


def test_a_backend_that_ends_its_process_does_not_end_the_verification(tmp_path: Path) -> None:
    # The certified run was not isolated, which is not for a certificate to decide.
    assert not handed_in.certificate().run.isolated
    write(tmp_path)
    (tmp_path / "ends.py").write_text(
        "import os\n\n\nclass Backend:\n    name = version = 'x'\n\n"
        "    def run(self, *call):\n        os._exit(0)\n"
    )
    backend = f"{tmp_path / 'ends.py'}:Backend"
    result = opcert("verify", tmp_path, "--rerun", 2, "--backend", backend, exits=1)
    assert result.stdout.count("run again: crash") == 2


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
