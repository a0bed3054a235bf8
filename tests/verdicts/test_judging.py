"""Judging again: an honest certificate is sound, and what is known at the end counts."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.run.comparison import Difference
from opcert.suite.claims import Scope
from opcert.suite.support import Support
from opcert.verdicts.judging import Judge
from opcert.verdicts.verdict import Evidence, Verdict
from opcert.verification import verify_certificate
from tests import wrong_backends as wrong
from tests.at_length import at_length
from tests.command_line import MISBEHAVING
from tests.few_cases import few_cases
from tests.handed_in import changed

DML = "directml/DML_OPERATOR_SPLIT"
BACKENDS = [
    backend
    for backend in vars(wrong).values()
    if isinstance(backend, type) and issubclass(backend, wrong.Right)
]


@cache
def judge() -> Judge:
    return Judge(few_cases(), Scope(None, None, Support(None)))


def rejections() -> tuple[Verdict, list[Verdict]]:
    """Return the verdicts of a right backend: of a baseline, and of the rejections that need it."""
    certificate = certify(wrong.Right(), few_cases(), operator=DML)
    cases = few_cases().cases
    rejected = [v for v in certificate.verdicts if cases[v.case].expects == "rejection"]
    baseline = cases[rejected[0].case].baseline
    verdicts = {verdict.case: verdict for verdict in certificate.verdicts}
    assert baseline is not None
    return verdicts[baseline], [v for v in rejected if cases[v.case].baseline == baseline]


@pytest.mark.parametrize("backend", at_length(BACKENDS, 3))
@pytest.mark.parametrize("cases", ["*", "*-f32-*", "*type*"])
def test_an_honest_certificate_has_the_verdicts_that_follow(
    backend: type[wrong.Right], cases: str
) -> None:
    certificate = certify(backend(), few_cases(), operator=DML, case=cases)
    assert verify_certificate(certificate, few_cases()) == []


def test_a_baseline_that_fails_late_leaves_its_rejections_uncredited() -> None:
    baseline, rejected = rejections()
    assert {verdict.status for verdict in (baseline, *rejected)} == {"pass"}
    late = replace(baseline, evidence=Evidence(kind="aliased-output", text="it changed"))
    assert late.outcome.fault == Difference("aliased-output", "it changed")
    first, *others = judge().again([late, *rejected])
    assert (first.status, first.kind) == ("fail", "aliased-output")
    assert {(v.kind, v.attributed_to) for v in others} == {("uncredited", baseline.case)}


def test_a_rejection_without_its_baseline_stays_as_it_is() -> None:
    _, rejected = rejections()
    stated = [replace(v, status="fail", kind="uncredited", detail="it failed") for v in rejected]
    assert judge().again(stated) == stated
    accepted = [replace(verdict, observed="outputs", rejected_by=None) for verdict in rejected]
    assert {verdict.kind for verdict in judge().again(accepted)} == {"accepted"}


def test_an_invalid_call_is_declined_without_declaration() -> None:
    verdicts = certify(wrong.Right(), few_cases(), operator=DML).verdicts
    baseline, rejected = rejections()
    declined = {v.case for v in (baseline, *rejected)}
    stated = [
        replace(v, status="unsupported", observed="unsupported", rejected_by=None)
        if v.case in declined
        else v
        for v in verdicts
    ]
    found = {v.case: (v.status, v.kind) for v in judge().again(stated)}
    assert found[baseline.case] == ("fail", "undeclared")
    assert {found[v.case] for v in rejected} == {("unsupported", None)}


def test_a_type_is_declined_as_a_whole_although_invalid_calls_of_it_are_rejected() -> None:
    found = certify(wrong.DeclinesValidFloat16(), few_cases(), operator=DML)
    assert found.conformant
    of_type = [v for v in found.verdicts if few_cases().cases[v.case].record.type == "f16"]
    assert {"outputs", "rejection"} == {
        few_cases().cases[v.case].record.expects for v in of_type if v.observed != "not-run"
    }


def test_a_whole_type_of_data_that_is_declined_excuses_no_single_call_with_such_indices() -> None:
    suite = few_cases()
    found = certify(wrong.DeclinesSomeIndices(), suite, operator="openvino/Gather-8")
    failed = [suite.cases[v.case].record for v in found.verdicts if v.kind == "undeclared"]
    assert failed
    assert not any(record.type == "i64" for record in failed)
    assert all("i64" in record.index_types for record in failed)
    excused = [suite.cases[v.case].record for v in found.verdicts if v.status == "unsupported"]
    assert {record.type for record in excused if record.expects == "outputs"} == {"i64"}


def test_a_part_of_a_run_cannot_hide_that_calls_were_declined_as_waived() -> None:
    part = certify(wrong.DeclinesHighRanks(), few_cases(), operator=DML, case="*-f32-*")

    def excuse(data: Any) -> None:
        for verdict in data["verdicts"]:
            if verdict["kind"] == "undeclared":
                before = {name: verdict[name] for name in ("status", "kind", "detail")}
                verdict.update(status="waived", before_waiver=before)

    hidden = [f"verdicts, {v.case}" for v in part.verdicts if v.kind == "undeclared"]
    found = [finding.place for finding in verify_certificate(changed(part, excuse), few_cases())]
    assert found == hidden != []


@pytest.mark.parametrize("pattern", ["*", "**"])
def test_a_whole_run_cannot_hide_that_calls_were_declined(pattern: str) -> None:
    whole = certify(wrong.DeclinesHighRanks(), few_cases(), operator=DML, case=pattern)

    def excuse(data: Any) -> None:
        for verdict in data["verdicts"]:
            if verdict["kind"] == "undeclared":
                verdict.update(status="unsupported", kind=None, detail="declined")

    found = [finding.place for finding in verify_certificate(changed(whole, excuse), few_cases())]
    hidden = {f"verdicts, {v.case}" for v in whole.verdicts if v.kind == "undeclared"}
    assert hidden
    assert hidden <= {*found}


def test_a_part_of_a_run_cannot_hide_a_failure() -> None:
    part = certify(wrong.ThroughFloat16(), few_cases(), operator=DML, case="*-f32-*")

    def decline(data: Any) -> None:
        for verdict in data["verdicts"]:
            if verdict["status"] == "fail":
                verdict.update(status="unsupported", kind=None, detail="fine")

    places = [finding.place for finding in verify_certificate(changed(part, decline), few_cases())]
    failed = [verdict.case for verdict in part.verdicts if verdict.status == "fail"]
    assert places == [f"verdicts, {case}" for case in failed] != []


def test_a_waiver_for_a_device_with_a_path_is_applied_again(tmp_path: Path) -> None:
    device, file = "/opt/accelerators/card0", tmp_path / "waivers.yaml"
    rest = "reason: r, owner: o, link: l, expires: 9999-12-31"
    file.write_text(f"- {{case: '*', device: {device}, {rest}}}\n")
    certificate = certify(
        wrong.ThroughFloat16(),
        few_cases(),
        operator=DML,
        case="*-f32-*",
        options={"device": device},
        waivers=file,
    )
    assert certificate.counts["waived"] > 0
    assert verify_certificate(certificate, few_cases()) == []


@pytest.mark.slow
def test_a_run_that_gave_up_is_sound_after_it_was_resumed() -> None:
    given: dict[str, Any] = {"operator": DML, "options": {"how": "abort"}, "max_crashes": 3}
    certificate = certify(f"{MISBEHAVING}:Misbehaves", few_cases(), **given)
    assert certificate.counts["not-run"] > 0
    resumed = certify(f"{MISBEHAVING}:Misbehaves", few_cases(), **given, resume=certificate)
    for found in (certificate, resumed):
        assert verify_certificate(found, few_cases()) == []
        assert max(v.detail.count("confirmed: ") for v in found.verdicts) == 1


def test_a_confirmation_is_stated_once() -> None:
    baseline, _ = rejections()
    failed = replace(baseline, evidence=Evidence(kind="value", text="wrong"))
    (judged,) = judge().again([failed])
    confirmed = judged.confirmed("value in the run, but it passes alone", is_state=True)
    assert confirmed.kind == "state"
    assert judge().again([confirmed]) == [confirmed]


@pytest.mark.parametrize("backend", [wrong.AcceptsEverything, wrong.DeclinesHighRanks])
def test_a_certificate_that_was_saved_in_a_run_is_sound(
    backend: type[wrong.Right], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opcert.certificate.certify_suite.SAVE_SECONDS", 0.0)
    saved: list[Certificate] = []
    certify(backend(), few_cases(), operator=DML, save=saved.append)
    assert not saved[0].is_finished
    for certificate in saved[:: len(saved) // 5]:
        assert verify_certificate(certificate, few_cases()) == []


@pytest.mark.parametrize("change", [{"operator": "openvino/Slice-8"}, {"rules": []}])
def test_a_verdict_of_an_unfinished_run_is_of_its_case(change: dict[str, Any]) -> None:
    part = certify(wrong.AcceptsEverything(), few_cases(), operator=DML, stop_at_failure=True)
    assert not part.is_finished
    assert verify_certificate(part, few_cases()) == []

    def update(data: Any) -> None:
        data["verdicts"][0].update(change)

    (finding,) = verify_certificate(changed(part, update), few_cases())
    assert finding.place == f"verdicts, {part.verdicts[0].case}"
