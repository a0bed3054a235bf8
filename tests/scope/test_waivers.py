"""Waivers: known failures do not block conformance, never pass, and have to be used."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.errors import SpecError
from opcert.report.files import conclusion_line
from opcert.run.comparison import FailureKind
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import Status, Verdict
from opcert.verdicts.waivers import Waivers, read_waivers
from opcert.verification import verify_certificate
from tests import wrong_backends as wrong
from tests.command_line import WRONG, opcert
from tests.faults.finding import core_suite
from tests.few_cases import few_cases
from tests.handed_in import changed
from tests.small_spec import mistakes_of

SPLIT = "directml/DML_OPERATOR_SPLIT"
REST = "reason: r, owner: o, link: l, expires: 9999-12-31"


def waiver(of: str, rest: str = REST) -> str:
    """Return the line of a waiver."""
    return f"- {{{of}, {rest}}}\n"


ALL, VALUES = waiver("case: '*'"), waiver("case: '*', kind: value")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "waivers.yaml"


def waiving(
    file: Path,
    text: str,
    backend: Callable[[], wrong.Right],
    suite: Suite | None = None,
    **settings: Any,
) -> Certificate:
    file.write_text(text)
    return certify(backend(), suite or few_cases(), operator=SPLIT, waivers=file, **settings)


def read_text(file: Path, text: str, device: str | None = None) -> Waivers:
    file.write_text(text)
    return read_waivers(file, few_cases(), device)


def failure(status: Status = "fail", kind: FailureKind | None = "value") -> Verdict:
    case = next(iter(few_cases().operators[SPLIT].cases.values()))
    return Verdict(case.id, SPLIT, status, kind, "outputs", case.rules, "went wrong")


def test_waived_failures_do_not_block_and_the_answer_counts_them(file: Path) -> None:
    certificate = waiving(file, ALL, wrong.ThroughFloat16)
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"
    waived = f"{certificate.counts['waived']} failures waived"
    assert re.match(
        rf"CONFORMANT for 1 of 5 operators, .* bit-exact, {waived}: ", conclusion_line(certificate)
    )


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("expires", "2001-01-01", "expired on 2001-01-01 (o, l)"),
        ("kind", "vale", "unknown kind 'vale'; did you mean 'value'?"),
    ],
)
def test_a_waiver_that_a_run_refuses_is_a_finding(
    file: Path, key: str, value: str, text: str
) -> None:
    certificate = waiving(file, ALL, wrong.ThroughFloat16)
    assert not verify_certificate(certificate, few_cases())

    def edit(data: Any) -> None:
        data["waivers"]["content"][0][key] = value

    found = verify_certificate(changed(certificate, edit), few_cases())
    assert text in next(each.text for each in found if each.place == f"waivers.content[0].{key}")


def test_a_waived_failure_keeps_its_outcome_and_explains_the_waiver(file: Path) -> None:
    text = VALUES + waiver("case: '*', kind: uncredited")
    certificate = waiving(file, text, wrong.ThroughFloat16, core_suite())
    found = next(v for v in certificate.verdicts if v.status == "waived")
    assert (found.kind, found.observed) == ("value", "outputs")
    assert found.detail.startswith("r (waived until 9999-12-31; o, l): output 0 differs")


def test_a_failure_that_no_waiver_matches_still_blocks(file: Path) -> None:
    text = waiver("case: 'dml-split/drawn-f32-[1-4]-*', kind: value")
    certificate = waiving(file, text, wrong.ThroughFloat16)
    kinds = [verdict.kind for verdict in certificate.verdicts if verdict.status == "fail"]
    assert certificate.reasons == [f"{kinds.count('value')} x value"]
    waived = f"{certificate.counts['waived']} failures waived"
    assert conclusion_line(certificate).startswith(f"NOT CONFORMANT, {waived}: ")


@pytest.mark.slow
def test_rejections_whose_baseline_has_a_waived_failure_do_not_block(file: Path) -> None:
    text = VALUES
    certificate = waiving(file, text, wrong.ThroughFloat16, core_suite())
    assert {v.kind for v in certificate.verdicts if v.status == "fail"} == {"uncredited"}
    assert certificate.conformant
    assert certificate.grade == "bit-exact"


def test_case_and_rule_both_have_to_match(file: Path) -> None:
    text = waiver("case: 'dml-split/axis-range.*', rule: '*/axis-range'")
    (both,) = read_text(file, text).content
    assert both.matches("dml-split/axis-range.x", ["dml-split/axis-range"])
    assert not both.matches("dml-split/axis-range.x", ["dml-split/output-rank"])
    assert not both.matches("dml-split/drawn-x", ["dml-split/axis-range"])


@pytest.mark.parametrize("status", ["crash", "hang"])
def test_a_crash_and_a_hang_can_be_waived_by_their_name(file: Path, status: Status) -> None:
    waivers = read_text(file, waiver(f"case: '*', kind: {status}"))
    assert waivers.apply(failure(status, None)).status == "waived"
    assert waivers.apply(failure()).status == "fail"


def test_a_crash_after_other_calls_is_waived_as_a_crash_too(file: Path) -> None:
    crash = failure("crash", "state")
    for kind in ("crash", "state"):
        waivers = read_text(file, waiver(f"case: '*', kind: {kind}"))
        assert waivers.apply(crash).status == "waived"
    assert read_text(file, VALUES).apply(crash) == crash


@pytest.mark.parametrize("kind", ["crash", "value"])
def test_a_waived_verdict_stores_the_verdict_before_its_waiver(file: Path, kind: str) -> None:
    waivers = read_text(file, waiver(f"case: '*', kind: {kind}") + ALL)
    crash = replace(failure("crash", None), observed="crash")
    for verdict in (failure(), crash, replace(failure(), detail="r")):
        waived = waivers.apply(verdict)
        assert waived.status == "waived"
        assert waived.before_waiver is not None
        before = waived.before_waiver
        assert (before.status, before.kind) == (verdict.status, verdict.kind)
        assert waived.without_waiver() == verdict


def test_a_certificate_has_the_verdict_before_a_waiver_and_the_one_after_it(file: Path) -> None:
    certificate = waiving(file, VALUES, wrong.ThroughFloat16)
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
    waivers = read_text(file, ALL)
    assert waivers.apply(failure(status, None)).status == status


@pytest.mark.parametrize(("device", "status"), [("NPU", "waived"), ("CPU", "fail"), (None, "fail")])
def test_a_waiver_of_one_device_applies_only_there(
    file: Path, device: str | None, status: Status
) -> None:
    waivers = read_text(file, waiver("case: '*', device: NPU"), device)
    assert waivers.apply(failure()).status == status


def test_waiving_every_case_of_an_operator_verifies_nothing(file: Path) -> None:
    text = ALL
    certificate = waiving(file, text, wrong.DoesNothing)
    assert certificate.grade is None
    assert certificate.reasons == ["nothing was verified"]


def test_a_waived_failure_does_not_stop_a_run_that_stops_at_the_first_one(file: Path) -> None:
    text = waiver("case: '*', kind: dtype")
    counts = waiving(file, text, wrong.WrongDtype, stop_at_failure=True).counts
    assert counts["waived"] > 0
    assert counts["fail"] == 1


@pytest.mark.parametrize("of", ["case: '*'", "rule: dml-split/*"])
def test_a_stopped_run_reports_no_unused_waivers(file: Path, of: str) -> None:
    text = waiver(f"{of}, kind: bits")
    certificate = waiving(file, text, wrong.WrongDtype, stop_at_failure=True)
    assert certificate.counts["not-run"] > 0


def test_the_certificate_has_the_waivers_and_their_digest(file: Path) -> None:
    certificate = waiving(file, ALL, wrong.ThroughFloat16)
    found = json.loads(certificate.to_json())
    entry = {"case": "*", "reason": "r", "owner": "o", "link": "l", "expires": "9999-12-31"}
    assert found["waivers"] == {"sha256": sha256(file.read_bytes()).hexdigest(), "content": [entry]}
    assert found["claim"] is None


def test_a_waiver_applies_until_the_end_of_its_last_day(file: Path) -> None:
    today = datetime.now(UTC).date()
    rest = REST.replace("9999-12-31", (today + timedelta(days=1)).isoformat())
    assert read_text(file, waiver("case: '*'", rest)).apply(failure()).status == "waived"
    rest = REST.replace("9999-12-31", (today - timedelta(days=1)).isoformat())
    with pytest.raises(SpecError, match="expired on"):
        read_text(file, waiver("case: '*'", rest))


def test_an_unused_waiver_is_an_error(file: Path) -> None:
    lines = REST.replace(", ", "\n  ")
    file.write_text(f"# known\n- case: dml-split/axis-range.*\n  {lines}\n")
    selected = ("--operator", SPLIT, "--case", "*/axis-range*")
    result = opcert("certify", *selected, "--waivers", file, exits=2)
    assert result.stdout.startswith("CONFORMANT for 1 of 5 operators")
    assert "Traceback" not in result.stderr
    assert re.match(
        rf"{file}:2:3: unused waiver: none of the \d+ matching cases fails this way",
        result.stderr.splitlines()[-1],
    )


def test_every_unused_waiver_is_reported(file: Path) -> None:
    text = VALUES + waiver("rule: '*/axis-range'")
    mistakes = mistakes_of(lambda: waiving(file, text, wrong.Right, case="*/axis-range*"))
    assert [mistake.line for mistake in mistakes] == [1, 2]


def test_a_waiver_of_cases_that_are_not_selected_is_not_unused(file: Path) -> None:
    certificate = waiving(file, waiver("case: 'slice-8/*'"), wrong.Right)
    assert certificate.conformant
    assert not certificate.counts["waived"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            waiver("case: dml-split/no-such-case"),
            "1:10: unused waiver: no case of the suite",
        ),
        (waiver("rule: dml-split/axis-rang"), "did you mean 'dml-split/axis-range'?"),
        (waiver("case: '*', kind: valeu"), "1:21: unknown kind 'valeu'; did you mean"),
        (waiver("case: '*'", REST.replace("9999", "2020")), "expired on 2020-12-31 (o, l); fix"),
        (waiver("case: '*'", REST.replace("12-31", "13-01")), "expected a date as YYYY-MM-DD"),
        (waiver("case: '*'", REST.replace("9999-12-31", "99991231")), "expected text"),
        (waiver("case: '*'", REST.replace("9999-12-31", "2030-W01-1")), "expected a date as"),
        (
            waiver("kind: value"),
            "found a mapping with 'kind', 'reason', 'owner', 'link' and 'expires'; "
            "expected 'case', 'cases' or 'rule'",
        ),
        (waiver("casse: '*'"), "1:4: unknown key 'casse'; did you mean 'case'?"),
        (waiver("case: '*'", REST.replace("reason: r, ", "")), "missing key 'reason'"),
        (waiver("case: '*'", REST.replace("owner: o", "owner: ")), "key 'owner' has no value"),
        (waiver("case: ''"), "found \"\" as 'case'; expected text that is not empty"),
        (waiver("case: '*', case: '*'"), "1:15: duplicate key 'case'"),
        ("case: '*'\n", "1:1: found {"),
        ("- {case: '*'\n", "not YAML"),
        ("", "1:1: found nothing; expected a list"),
    ],
)
def test_mistakes_in_waivers_are_reported_with_their_place(
    file: Path, text: str, message: str
) -> None:
    (mistake,) = mistakes_of(read_text, file, text)
    assert str(mistake).startswith(f"{file}:")
    assert message in str(mistake)


def test_the_command_line_exits_0_where_all_failures_are_waived(file: Path) -> None:
    file.write_text(ALL)
    wrong_one = ("--backend", f"{WRONG}:ThroughFloat16", "--case", "dml-split/drawn-f*-1-*")
    opcert("certify", *wrong_one, exits=1)
    result = opcert("certify", *wrong_one, "--waivers", file, exits=0)
    assert " waived: right 1 on core suite" in result.stdout.splitlines()[-1]


def test_a_draft_waives_each_cause_once_it_is_filled_in(file: Path, tmp_path: Path) -> None:
    arguments = ("certify", "--backend", f"{WRONG}:AcceptsEverything", "--operator", SPLIT)
    selected = (*arguments, "--case", "*0")
    opcert(*selected, "--out", tmp_path / "out", exits=1)
    drafting = ("waivers", "--from", tmp_path / "out", "--out", file)
    opcert(*drafting, exits=0)
    # What a draft leaves open has to be filled in.
    opcert(*selected, "--waivers", file, exits=2)
    text = file.read_text()
    assert "kind: accepted" in text
    file.write_text(text.replace("expires: ''", "expires: 9999-12-31").replace("''", "somebody"))
    opcert(*selected, "--waivers", file, exits=0)
    (text,) = opcert(*drafting).stderr.splitlines()
    assert text == f"opcert: error: {file}: exists; remove it or name another file with --out"


def test_there_is_nothing_to_waive_without_failures(file: Path, tmp_path: Path) -> None:
    opcert("certify", "--case", "dml-split/example-1", "--out", tmp_path / "out", exits=0)
    opcert("waivers", "--from", tmp_path / "out", "--out", file, exits=1)
    assert not file.exists()


def test_a_waiver_may_list_the_ids_of_cases(file: Path) -> None:
    one, other, *_ = few_cases().select(SPLIT, "*")
    waivers = read_text(file, waiver(f"cases: [{one}]"))
    assert waivers.content[0].matches(one, ())
    assert not waivers.content[0].matches(other, ())


def test_each_id_that_the_suite_lacks_is_a_mistake(file: Path) -> None:
    (one, *_) = few_cases().select(SPLIT, "*")
    mistakes = mistakes_of(read_text, file, waiver(f"cases: [gone, {one}, old]"))
    texts = [f"unused waiver: the suite has no case '{id_}'; remove it" for id_ in ("gone", "old")]
    assert [mistake.text for mistake in mistakes] == texts


def test_an_unused_waiver_of_one_case_says_so(file: Path) -> None:
    (case, *_) = few_cases().select(SPLIT, "*")
    with pytest.raises(SpecError, match="the one matching case does not fail this way; remove it"):
        waiving(file, waiver(f"case: '{case}'"), wrong.Right)
