"""Verification: what a run certifies is sound, and what is changed afterwards is found."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.certificate import CertificationInterrupted
from opcert.verdicts import Verdict
from opcert.verification import Finding, regenerate_suite, verify_certificate
from tests import handed_in
from tests import wrong_backends as wrong
from tests.command_line import MISBEHAVING
from tests.faults.finding import core_suite
from tests.handed_in import changed
from tests.suite_of_levels import OPERATOR, write_specs
from tests.tamperings import TAMPERINGS, having, verdict, waiver

BACKENDS = [
    each
    for each in vars(wrong).values()
    if isinstance(each, type) and issubclass(each, wrong.Right)
]


def told(certificate: Certificate) -> list[str]:
    return [str(each) for each in verify_certificate(certificate, core_suite())]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda each: str(each.__name__))
def test_a_certificate_of_whatever_backend_is_sound(backend: Callable[[], wrong.Right]) -> None:
    assert told(certify(backend(), core_suite(), operator="directml/*")) == []


@pytest.mark.parametrize("glob", ["*", "gather-8/*-?1*", "*axis*", "no-such-case"])
def test_a_certificate_of_some_cases_is_sound(glob: str) -> None:
    certificate = certify(
        wrong.DeclinesHighRanks(), core_suite(), operator="openvino/Gather-8", case=glob
    )
    assert told(certificate) == []


def test_a_certificate_of_a_feature_level_and_of_a_declaration_is_sound() -> None:
    backend, suite = wrong.with_support(), core_suite()
    assert told(certify(backend, suite, feature_level="1_0", case="*axis*")) == []


def test_a_certificate_with_claim_and_waivers_is_sound() -> None:
    counts = handed_in.certificate().counts
    for status in ("pass", "fail", "waived", "out-of-claim"):
        assert counts[status] > 0
    assert told(handed_in.certificate()) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["segfault", "sleep", "lists", "odd-error", "print"])
def test_a_certificate_of_what_processes_do_is_sound(how: str) -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    certificate = certify(
        backend, core_suite(), options={"how": how}, case="dml-split/*8-3-*", timeout=0.5
    )
    assert len({each.status for each in certificate.verdicts}) == 1
    chosen = core_suite().select("*", "dml-split/*8-3-*")
    assert [each.case for each in certificate.verdicts] == chosen
    assert len(chosen) > 1
    assert certificate.run.isolated
    assert told(certificate) == []


def test_a_certificate_of_what_depends_on_the_order_is_sound() -> None:
    certificate = certify(f"{MISBEHAVING}:CrashesOnce", core_suite(), case="dml-split/*-f32-2-*")
    assert [(each.kind, each.observed) for each in certificate.verdicts if each.kind] == [
        ("state", "crash")
    ]
    assert told(certificate) == []


def interrupted(backend: str | wrong.Right, at: int, **options: Any) -> Certificate:
    def stop(_: Verdict, number: int, __: int) -> None:
        if number == at:
            raise KeyboardInterrupt

    with pytest.raises(CertificationInterrupted) as reached:
        certify(backend, core_suite(), operator="directml/*", progress=stop, **options)
    certificate = reached.value.certificate
    assert certificate.counts["not-run"] > 0
    return certificate


def test_a_certificate_of_an_interrupted_run_is_sound() -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    assert told(interrupted(backend, 9, options={"how": "lists"})) == []


@pytest.mark.parametrize("at", [1, 100, 300])
@pytest.mark.parametrize("backend", [wrong.ThroughFloat16, wrong.DeclinesHighRanks])
def test_a_certificate_of_a_resumed_run_is_sound(
    backend: Callable[[], wrong.Right], at: int
) -> None:
    former = interrupted(backend(), at)
    assert told(former) == []
    resumed = certify(backend(), core_suite(), operator="directml/*", resume=former)
    assert resumed.counts["not-run"] == 0
    assert told(resumed) == []


def test_a_certificate_of_a_stopped_run_is_sound() -> None:
    certificate = certify(
        wrong.ThroughFloat16(), core_suite(), operator="directml/*", stop_at_failure=True
    )
    assert certificate.counts["not-run"] > 0
    assert told(certificate) == []


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_found_and_named(name: str) -> None:
    change, wanted = TAMPERINGS[name]
    found = told(changed(handed_in.certificate(), change))
    assert [each for each in found if re.search(wanted, each)], found[:5]
    assert all(len(each.splitlines()) == 1 for each in found)


def test_what_is_declined_has_to_be_settled_right() -> None:
    certificate = certify(wrong.DeclinesHighRanks(), core_suite(), operator="directml/*")
    change = verdict(having(kind="undeclared"), status="unsupported", kind=None)
    assert "not every call of" in told(changed(certificate, change))[0]
    certificate = certify(wrong.DeclinesBfloat16(), core_suite(), operator="*/VariadicSplit-1")
    change = verdict(having(status="unsupported"), status="fail", kind="undeclared")
    assert "while every call of" in told(changed(certificate, change))[0]


def test_where_values_hide_no_bits_no_failure_is_of_bits_alone() -> None:
    def of_integers(each: Any) -> bool:
        return each["kind"] == "count" and core_suite().cases[each["case"]][1].type == "i8"

    certificate = certify(wrong.ReturnsOneOutput(), core_suite(), operator="directml/*")
    change = verdict(of_integers, kind="bits")
    found = told(changed(certificate, change))
    assert any("of these types equal values have equal bits" in each for each in found)


def test_a_waiver_whose_day_is_over_is_told() -> None:
    later = datetime(9999, 12, 31, 23, tzinfo=UTC)
    certificate = changed(handed_in.certificate(), lambda _: None)
    assert verify_certificate(certificate, core_suite(), later) == []
    change = waiver(expires="2500-12-31")
    texts = [
        str(each) for each in verify_certificate(changed(certificate, change), core_suite(), later)
    ]
    assert any("it has expired since, on 2500-12-31" in each for each in texts)


def test_a_flaw_is_one_line_that_no_terminal_obeys() -> None:
    assert str(Finding("a\x1b[2J", "found\nb\u202e")) == r"a\x1b[2J: found b\u202e"


def test_the_suite_may_be_made_of_specs_anew(tmp_path: Path) -> None:
    write_specs(tmp_path)
    certificate = certify("reference", specs=tmp_path)
    assert verify_certificate(certificate, regenerate_suite(certificate.suite, tmp_path)) == []
    text = (tmp_path / "take.yaml").read_text()
    (tmp_path / "take.yaml").write_text(text + "# another\n")
    found = verify_certificate(certificate, regenerate_suite(certificate.suite, tmp_path))
    assert [each.place for each in found] == ["suite.digest", f"suite.specs.{OPERATOR}"]
