"""Counts of verdicts, the most severe status among them, and the conclusion."""

from dataclasses import replace
from itertools import pairwise

import pytest

from opcert.report.side_by_side import STATUS_MARKS, Tally, count_statuses, describe_rejections
from opcert.verdicts.verdict import STATUSES, Status, Verdict
from tests.made_certificate import OPERATOR, certificate

PASS = Verdict("a/1", OPERATOR, "pass", None, "outputs", (), "")
BITS = replace(PASS, case="a/2", status="fail", kind="bits")
WAIVED = replace(PASS, case="a/3", status="fail").with_waiver("known")


def test_every_status_has_a_mark_of_its_own() -> None:
    assert set(STATUS_MARKS) == set(STATUSES)
    assert len(set(STATUS_MARKS.values())) == len(STATUSES)


def test_verdicts_are_counted_by_status() -> None:
    tally = count_statuses([PASS, PASS, BITS, WAIVED])
    assert tally.cases == 4
    assert tally.summary == "2 pass, 1 fail, 1 waived"
    assert (tally.status, tally.count) == ("fail", 1)
    assert tally.others == {"pass": 2, "waived": 1}


def test_no_verdicts_are_not_run() -> None:
    tally = count_statuses([])
    assert (tally.cases, tally.status, tally.summary) == (0, "not-run", "")


def test_statuses_are_ordered_by_severity() -> None:
    order: list[Status] = ["crash", "hang", "fail", "not-run", "waived", "pass", "unsupported"]
    order += ["implementation-defined", "out-of-claim"]
    assert {*order} == {*STATUSES}
    for severe, mild in pairwise([*order, order[-1]]):
        assert Tally({mild: 9, severe: 1}).status == severe


@pytest.mark.parametrize(
    ("verdicts", "conclusion"),
    [
        ([PASS], "Conformant, bit-exact"),
        ([PASS, BITS], "Conformant, value-exact"),
        ([PASS, WAIVED], "Conformant, bit-exact, 1 failure waived"),
        ([PASS, WAIVED, replace(WAIVED, case="a/4")], "Conformant, bit-exact, 2 failures waived"),
        ([replace(BITS, kind="value")], "Not conformant"),
        ([WAIVED], "Not conformant, 1 failure waived"),
        ([], "Not conformant"),
    ],
)
def test_the_conclusion(verdicts: list[Verdict], conclusion: str) -> None:
    assert certificate(verdicts, cases=len(verdicts)).conclusion == conclusion


def test_the_conclusion_of_a_partial_run_names_the_part() -> None:
    of_two = replace(PASS, case="b/1", operator="vendor/B-1")
    whole = certificate([PASS, of_two], operators=(OPERATOR, "vendor/B-1"), cases=2)
    assert whole.conclusion == "Conformant, bit-exact"
    one = certificate([PASS], operators=(OPERATOR, "vendor/B-1"), cases=4481)
    assert one.conclusion == "Conformant for 1 of 2 operators, 1 of 4,481 cases selected, bit-exact"


def test_the_rejections_of_the_runtime_itself_are_counted() -> None:
    rejected = replace(PASS, observed="rejected", detail="rejected: no", rejected_by="runtime")
    adapter = [replace(rejected, case=f"r/{i}", rejected_by="adapter") for i in range(3)]
    assert (
        describe_rejections(certificate([rejected, *adapter]))
        == "1 of 4 rejections by the runtime itself"
    )
