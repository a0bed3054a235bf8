"""Verification: a certificate belongs to its suite, and its parts follow from its verdicts."""

import re
from pathlib import Path

import pytest

from opcert import Certificate, certify
from opcert.suite.generation import open_certified_suite
from opcert.verification import Finding, verify_certificate
from tests import handed_in
from tests.faults.finding import core_suite
from tests.handed_in import changed
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
