"""Waivers: known failures do not block conformance, never pass, and have to be used."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from opcert import Certificate, certify
from opcert.errors import SpecError
from opcert.report.files import conclusion_line
from opcert.run.comparison import FailureKind
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import Status, Verdict
from opcert.verdicts.waivers import Waivers, read_waivers
from tests import wrong_backends as wrong
from tests.command_line import WRONG, opcert
from tests.faults.finding import core_suite
from tests.few_cases import few_cases

SPLIT = "directml/DML_OPERATOR_SPLIT"
REST = "reason: r, owner: o, link: l, expires: 9999-12-31"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "waivers.yaml"


def waiving(
    file: Path, text: str, backend: Callable[[], wrong.Right], suite: Suite | None = None
) -> Certificate:
    file.write_text(text)
    return certify(backend(), suite or few_cases(), operator=SPLIT, waivers=file)


def last_error(file: Path, text: str, *arguments: str) -> str:
    """Return the last message of `opcert certify` with the waivers `text`; it exits with 2."""
    file.write_text(text)
    selected = ("--operator", SPLIT, "--case", "*/axis-range*")
    result = opcert("certify", *selected, "--waivers", file, *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


def read_text(file: Path, text: str, device: str | None = None) -> Waivers:
    file.write_text(text)
    return read_waivers(file, few_cases(), device)


def failure(status: Status = "fail", kind: FailureKind | None = "value") -> Verdict:
    case = next(iter(few_cases().operators[SPLIT].cases.values()))
    return Verdict(case.id, SPLIT, status, kind, "outputs", case.rules, "went wrong")


def test_waived_failures_do_not_block_and_the_answer_counts_them(file: Path) -> None:
    certificate = waiving(file, f"- {{case: '*', {REST}}}\n", wrong.ThroughFloat16)
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"
    waived = f"{certificate.counts['waived']} failures waived"
    assert re.match(
        rf"CONFORMANT for 1 of 5 operators, .* bit-exact, {waived}: ", conclusion_line(certificate)
    )


def test_a_waived_failure_keeps_its_outcome_and_explains_the_waiver(file: Path) -> None:
    text = f"- {{case: '*', kind: value, {REST}}}\n- {{case: '*', kind: uncredited, {REST}}}\n"
    certificate = waiving(file, text, wrong.ThroughFloat16, core_suite())
    found = next(v for v in certificate.verdicts if v.status == "waived")
    assert (found.kind, found.observed) == ("value", "outputs")
    assert found.detail.startswith("r (waived until 9999-12-31; o, l): output 0 differs")


def test_a_failure_that_no_waiver_matches_still_blocks(file: Path) -> None:
    text = f"- {{case: 'dml-split/drawn-f32-[1-4]-*', kind: value, {REST}}}\n"
    certificate = waiving(file, text, wrong.ThroughFloat16)
    assert certificate.reasons == [f"{values(certificate)} x value"]
    waived = f"{certificate.counts['waived']} failures waived"
    assert conclusion_line(certificate).startswith(f"NOT CONFORMANT, {waived}: ")


@pytest.mark.slow
def test_rejections_whose_baseline_has_a_waived_failure_do_not_block(file: Path) -> None:
    text = f"- {{case: '*', kind: value, {REST}}}\n"
    certificate = waiving(file, text, wrong.ThroughFloat16, core_suite())
    assert {v.kind for v in certificate.verdicts if v.status == "fail"} == {"uncredited"}
    assert certificate.conformant
    assert certificate.grade == "bit-exact"


def values(certificate: Certificate) -> int:
    return sum((v.status, v.kind) == ("fail", "value") for v in certificate.verdicts)


def test_case_and_rule_both_have_to_match(file: Path) -> None:
    waivers = read_text(
        file, f"- {{case: 'dml-split/axis-range.*', rule: '*/axis-range', {REST}}}\n"
    )
    (waiver,) = waivers.content
    assert waiver.matches("dml-split/axis-range.x", ["dml-split/axis-range"])
    assert not waiver.matches("dml-split/axis-range.x", ["dml-split/output-rank"])
    assert not waiver.matches("dml-split/drawn-x", ["dml-split/axis-range"])


@pytest.mark.parametrize("status", ["crash", "hang"])
def test_a_crash_and_a_hang_can_be_waived_by_their_name(file: Path, status: Status) -> None:
    waivers = read_text(file, f"- {{case: '*', kind: {status}, {REST}}}\n")
    assert waivers.apply(failure(status, None)).status == "waived"
    assert waivers.apply(failure()).status == "fail"


@pytest.mark.parametrize("kind", ["crash", "value"])
def test_a_waived_verdict_stores_the_verdict_before_its_waiver(file: Path, kind: str) -> None:
    waivers = read_text(file, f"- {{case: '*', kind: {kind}, {REST}}}\n- {{case: '*', {REST}}}\n")
    crash = replace(failure("crash", None), observed="crash")
    for verdict in (failure(), crash, replace(failure(), detail="r")):
        waived = waivers.apply(verdict)
        assert waived.status == "waived"
        assert waived.before_waiver is not None
        before = waived.before_waiver
        assert (before.status, before.kind) == (verdict.status, verdict.kind)
        assert waived.without_waiver() == verdict


def test_a_certificate_has_the_verdict_before_a_waiver_and_the_one_after_it(file: Path) -> None:
    certificate = waiving(file, f"- {{case: '*', kind: value, {REST}}}\n", wrong.ThroughFloat16)
    verdicts = json.loads(certificate.to_json())["verdicts"]
    waived = [verdict for verdict in verdicts if verdict["status"] == "waived"]
    assert waived
    for verdict in waived:
        before = verdict["before_waiver"]
        assert (before["status"], before["kind"]) == ("fail", "value")
        assert verdict["detail"].endswith(before["detail"])
    assert {v["before_waiver"] for v in verdicts if v["status"] != "waived"} == {None}


@pytest.mark.parametrize("status", ["pass", "unsupported", "not-run", "implementation-defined"])
def test_only_failures_are_waived(file: Path, status: Status) -> None:
    waivers = read_text(file, f"- {{case: '*', {REST}}}\n")
    assert waivers.apply(failure(status, None)).status == status


@pytest.mark.parametrize(("device", "status"), [("NPU", "waived"), ("CPU", "fail"), (None, "fail")])
def test_a_waiver_of_one_device_applies_only_there(
    file: Path, device: str | None, status: Status
) -> None:
    waivers = read_text(file, f"- {{case: '*', device: NPU, {REST}}}\n", device)
    assert waivers.apply(failure()).status == status


def test_waiving_every_case_of_an_operator_verifies_nothing(file: Path) -> None:
    text = f"- {{case: '*', {REST}}}\n"
    certificate = waiving(file, text, wrong.DoesNothing)
    assert certificate.grade is None
    assert certificate.reasons == ["nothing was verified"]


def test_a_waived_failure_does_not_stop_a_run_that_stops_at_the_first_one(file: Path) -> None:
    file.write_text(f"- {{case: '*', kind: dtype, {REST}}}\n")
    certificate = certify(
        wrong.WrongDtype(), few_cases(), operator=SPLIT, waivers=file, stop_at_failure=True
    )
    assert certificate.counts["waived"] > 0
    assert certificate.counts["fail"] == 1


@pytest.mark.parametrize("of", ["case: '*'", "rule: dml-split/*"])
def test_a_stopped_run_reports_no_unused_waivers(file: Path, of: str) -> None:
    file.write_text(f"- {{{of}, kind: bits, {REST}}}\n")
    certificate = certify(
        wrong.WrongDtype(), few_cases(), operator=SPLIT, waivers=file, stop_at_failure=True
    )
    assert certificate.counts["not-run"] > 0


def test_the_certificate_has_the_waivers_and_their_digest(file: Path) -> None:
    certificate = waiving(file, f"- {{case: '*', {REST}}}\n", wrong.ThroughFloat16)
    found = json.loads(certificate.to_json())
    entry = {"case": "*", "reason": "r", "owner": "o", "link": "l", "expires": "9999-12-31"}
    assert found["waivers"] == {"sha256": sha256(file.read_bytes()).hexdigest(), "content": [entry]}
    assert found["claim"] is None


def test_a_waiver_applies_until_the_end_of_its_last_day(file: Path) -> None:
    today = datetime.now(UTC).date()
    rest = REST.replace("9999-12-31", (today + timedelta(days=1)).isoformat())
    assert read_text(file, f"- {{case: '*', {rest}}}\n").apply(failure()).status == "waived"
    rest = REST.replace("9999-12-31", (today - timedelta(days=1)).isoformat())
    with pytest.raises(SpecError, match="expired on"):
        read_text(file, f"- {{case: '*', {rest}}}\n")


def test_an_unused_waiver_is_an_error(file: Path) -> None:
    lines = REST.replace(", ", "\n  ")
    error = last_error(file, f"# known\n- case: dml-split/axis-range.*\n  {lines}\n")
    assert re.match(
        rf"{file}:2:3: unused waiver: none of the \d+ matching cases fails this way", error
    )


def test_every_unused_waiver_is_reported(file: Path) -> None:
    file.write_text(f"- {{case: '*', kind: value, {REST}}}\n- {{rule: '*/axis-range', {REST}}}\n")
    with pytest.raises(SpecError) as caught:
        certify("reference", operator=SPLIT, case="*/axis-range*", waivers=file)
    assert [mistake.line for mistake in caught.value.mistakes] == [1, 2]


def test_a_waiver_of_cases_that_are_not_selected_is_not_unused(file: Path) -> None:
    certificate = waiving(file, f"- {{case: 'slice-8/*', {REST}}}\n", wrong.Right)
    assert certificate.conformant
    assert not certificate.counts["waived"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"- {{case: dml-split/no-such-case, {REST}}}",
            "1:10: unused waiver: no case of the suite",
        ),
        (f"- {{rule: dml-split/axis-rang, {REST}}}", "did you mean 'dml-split/axis-range'?"),
        (f"- {{case: '*', kind: valeu, {REST}}}", "1:21: unknown kind 'valeu'; did you mean"),
        (f"- {{case: '*', {REST.replace('9999', '2020')}}}", "expired on 2020-12-31 (o, l); fix"),
        (f"- {{case: '*', {REST.replace('12-31', '13-01')}}}", "expected a date as YYYY-MM-DD"),
        (f"- {{case: '*', {REST.replace('9999-12-31', '99991231')}}}", "expected text"),
        (f"- {{case: '*', {REST.replace('9999-12-31', '2030-W01-1')}}}", "expected a date as"),
        (f"- {{kind: value, {REST}}}", "expected 'case', 'cases' or 'rule'"),
        (f"- {{casse: '*', {REST}}}", "1:4: unknown key 'casse'; did you mean 'case'?"),
        (f"- {{case: '*', {REST.replace('reason: r, ', '')}}}", "missing key 'reason'"),
        (f"- {{case: '*', {REST.replace('owner: o', 'owner: ')}}}", "key 'owner' has no value"),
        (f"- {{case: '', {REST}}}", "expected text that is not empty"),
        (f"- {{case: '*', case: '*', {REST}}}", "1:15: duplicate key 'case'"),
        ("case: '*'\n", "1:1: found {"),
        ("- {case: '*'\n", "not YAML"),
        ("", "1:1: found null; expected a list"),
    ],
)
def test_mistakes_in_waivers_are_reported_with_their_place(
    file: Path, text: str, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        read_text(file, text)
    (mistake,) = caught.value.mistakes
    assert str(mistake).startswith(f"{file}:")
    assert message in str(mistake)


def test_the_command_line_exits_0_where_all_failures_are_waived(file: Path) -> None:
    file.write_text(f"- {{case: '*', {REST}}}\n")
    wrong_one = ("--backend", f"{WRONG}:ThroughFloat16", "--case", "dml-split/drawn-f*-1-*")
    assert opcert("certify", *wrong_one).exit_code == 1
    result = opcert("certify", *wrong_one, "--waivers", file)
    assert result.exit_code == 0
    assert " waived: right 1 on core suite" in result.stdout.splitlines()[-1]


def test_a_draft_waives_each_cause_once_it_is_filled_in(file: Path, tmp_path: Path) -> None:
    arguments = ("certify", "--backend", f"{WRONG}:AcceptsEverything", "--operator", SPLIT)
    selected = (*arguments, "--case", "*0")
    assert opcert(*selected, "--out", tmp_path / "out").exit_code == 1
    drafting = ("waivers", "--from", tmp_path / "out", "--out", file)
    assert opcert(*drafting).exit_code == 0
    # What a draft leaves open has to be filled in.
    assert opcert(*selected, "--waivers", file).exit_code == 2
    text = file.read_text()
    assert "kind: accepted" in text
    file.write_text(text.replace("expires: ''", "expires: 9999-12-31").replace("''", "somebody"))
    assert opcert(*selected, "--waivers", file).exit_code == 0
    (text,) = opcert(*drafting).stderr.splitlines()
    assert text == f"opcert: error: {file}: exists; remove it or name another file with --out"


def test_there_is_nothing_to_waive_without_failures(file: Path, tmp_path: Path) -> None:
    right = opcert("certify", "--case", "dml-split/example-1", "--out", tmp_path / "out")
    assert right.exit_code == 0
    assert opcert("waivers", "--from", tmp_path / "out", "--out", file).exit_code == 1
    assert not file.exists()


def test_a_waiver_may_list_the_ids_of_cases(file: Path) -> None:
    one, other, *_ = few_cases().select(SPLIT, "*")
    waivers = read_text(file, f"- {{cases: [{one}], {REST}}}\n")
    assert waivers.content[0].matches(one, ())
    assert not waivers.content[0].matches(other, ())
    with pytest.raises(SpecError, match="no case of the suite matches"):
        read_text(file, f"- {{cases: [{one}-gone], {REST}}}\n")


def test_an_unused_waiver_of_one_case_says_so(file: Path) -> None:
    (case, *_) = few_cases().select(SPLIT, "*")
    with pytest.raises(SpecError, match="the one matching case does not fail this way; remove it"):
        waiving(file, f"- {{case: '{case}', {REST}}}\n", wrong.Right)
