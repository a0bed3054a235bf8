"""Verification: the certificate of a run is sound, and every change of it is found."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.certificate.certify_suite import CertificationInterrupted
from opcert.suite.opening import open_certified_suite
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import Verdict
from opcert.verification.verdict_checks import Finding
from opcert.verification.verification import verify_certificate
from tests import handed_in
from tests import wrong_backends as wrong
from tests.command_line import MISBEHAVING
from tests.faults.finding import core_suite
from tests.few_cases import few_cases
from tests.handed_in import Change, changed
from tests.suite_of_levels import OPERATOR, write_specs
from tests.tamperings import TAMPERINGS, add_evidence_of_a_pass, having, part, verdict, waiver

BACKENDS = [
    each
    for each in vars(wrong).values()
    if isinstance(each, type) and issubclass(each, wrong.Right)
]


def findings(certificate: Certificate, suite: Suite | None = None) -> list[str]:
    return [str(each) for each in verify_certificate(certificate, suite or core_suite())]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda each: str(each.__name__))
def test_a_certificate_of_any_backend_is_sound(backend: Callable[[], wrong.Right]) -> None:
    assert findings(certify(backend(), few_cases(), operator="directml/*"), few_cases()) == []


@pytest.mark.parametrize("glob", ["*", "gather-8/*-?1*", "*axis*", "no-such-case"])
def test_a_certificate_of_some_cases_is_sound(glob: str) -> None:
    certificate = certify(
        wrong.DeclinesHighRanks(), few_cases(), operator="openvino/Gather-8", case=glob
    )
    assert findings(certificate, few_cases()) == []


def test_a_certificate_with_feature_level_and_declared_support_is_sound() -> None:
    backend, suite = wrong.with_support(), core_suite()
    assert findings(certify(backend, suite, feature_level="1_0", case="*axis*")) == []


def test_a_certificate_with_claim_and_waivers_is_sound() -> None:
    counts = handed_in.certificate().counts
    for status in ("pass", "fail", "waived", "out-of-claim"):
        assert counts[status] > 0
    assert findings(handed_in.certificate()) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["segfault", "sleep", "lists", "odd-error", "print"])
def test_a_certificate_of_a_misbehaving_process_is_sound(how: str) -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    certificate = certify(
        backend, core_suite(), options={"how": how}, case="dml-split/*8-3-*", timeout=0.5
    )
    assert len({each.status for each in certificate.verdicts}) == 1
    chosen = core_suite().select("*", "dml-split/*8-3-*")
    assert [each.case for each in certificate.verdicts] == chosen
    assert len(chosen) > 1
    assert certificate.run.isolated
    assert findings(certificate) == []


def test_a_certificate_of_failures_that_depend_on_the_order_is_sound() -> None:
    certificate = certify(f"{MISBEHAVING}:CrashesOnce", core_suite(), case="dml-split/*-f32-2-*")
    assert [(each.kind, each.observed) for each in certificate.verdicts if each.kind] == [
        ("state", "crash")
    ]
    assert findings(certificate) == []


def interrupted(backend: str | wrong.Right, at: int, **options: Any) -> Certificate:
    def stop(_: Verdict, number: int, __: int) -> None:
        if number == at:
            raise KeyboardInterrupt

    with pytest.raises(CertificationInterrupted) as reached:
        certify(backend, few_cases(), operator="directml/*", progress=stop, **options)
    certificate = reached.value.certificate
    assert certificate.counts["not-run"] > 0
    return certificate


def test_a_certificate_of_an_interrupted_run_is_sound() -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    assert findings(interrupted(backend, 9, options={"how": "lists"}), few_cases()) == []


@pytest.mark.parametrize("at", [1, 25, 80])
@pytest.mark.parametrize("backend", [wrong.ThroughFloat16, wrong.DeclinesHighRanks])
def test_a_certificate_of_a_resumed_run_is_sound(
    backend: Callable[[], wrong.Right], at: int
) -> None:
    former = interrupted(backend(), at)
    assert findings(former, few_cases()) == []
    resumed = certify(backend(), few_cases(), operator="directml/*", resume=former)
    assert resumed.counts["not-run"] == 0
    assert findings(resumed, few_cases()) == []


def test_a_certificate_of_a_stopped_run_is_sound() -> None:
    certificate = certify(
        wrong.ThroughFloat16(), few_cases(), operator="directml/*", stop_at_failure=True
    )
    assert certificate.counts["not-run"] > 0
    assert findings(certificate, few_cases()) == []


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_found(name: str) -> None:
    change, expected = TAMPERINGS[name]
    messages = findings(changed(handed_in.certificate(), change))
    assert [each for each in messages if re.search(expected, each)], messages[:5]
    assert all(len(each.splitlines()) == 1 for each in messages)


def test_declined_cases_have_to_be_decided_right() -> None:
    certificate = certify(wrong.DeclinesHighRanks(), core_suite(), operator="directml/*")
    change = verdict(having(kind="undeclared"), status="unsupported", kind=None)
    assert "but not every call of" in findings(changed(certificate, change))[0]
    certificate = certify(wrong.DeclinesBfloat16(), core_suite(), operator="*/VariadicSplit-1")
    change = verdict(having(status="unsupported"), status="fail", kind="undeclared")
    assert "but every call of" in findings(changed(certificate, change))[0]


def test_only_types_whose_equal_values_differ_in_bits_fail_with_kind_bits() -> None:
    def of_integers(each: Any) -> bool:
        return each["kind"] == "count" and core_suite().cases[each["case"]][1].type == "i8"

    certificate = certify(wrong.ReturnsOneOutput(), core_suite(), operator="directml/*")
    change = verdict(of_integers, kind="bits")
    found = findings(changed(certificate, change))
    assert any("equal values of these output types have equal bits" in each for each in found)


def test_a_waiver_that_has_expired_since_is_reported() -> None:
    later = datetime(9999, 12, 31, 23, tzinfo=UTC)
    certificate = changed(handed_in.certificate(), lambda _: None)
    assert verify_certificate(certificate, core_suite(), later) == []
    change = waiver(expires="2500-12-31")
    texts = [
        str(each) for each in verify_certificate(changed(certificate, change), core_suite(), later)
    ]
    assert any("expires: expired on 2500-12-31" in each for each in texts)


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


@cache
def isolated() -> Certificate:
    backend = f"{wrong.__file__}:ThroughFloat16"
    return certify(backend, core_suite(), case="dml-split/valid-[fi]32-1-*")


def call_another_operator(data: Any) -> None:
    calls = [{"case": "gather-8/example-1", "inverted_data": False}]
    reproduction = next(iter(data["reproductions"].values()))
    reproduction.update(reproduced="after-other-calls", calls=calls)


def test_a_run_that_confirms_its_failures_is_sound() -> None:
    assert isolated().reproductions
    assert findings(isolated()) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (add_evidence_of_a_pass("reproductions"), "for a case that did not fail"),
        (call_another_operator, "expected calls of cases of directml/DML_OPERATOR_SPLIT"),
    ],
)
def test_a_reproduction_that_cannot_be_is_found(change: Change, expected: str) -> None:
    messages = findings(changed(isolated(), change))
    assert [each for each in messages if expected in each], messages


def test_calls_are_packed_only_for_another_process() -> None:
    change = part("backend", "delivery", value="packed")
    assert findings(changed(handed_in.certificate(), change)) == [
        "backend.delivery: found packed, but the run was not isolated; expected strided"
    ]
