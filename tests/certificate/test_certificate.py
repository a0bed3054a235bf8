"""The certificate: what follows from verdicts, and the file it becomes."""

import json

import pytest

from opcert import Certificate, certify
from opcert.run.comparison import FailureKind
from opcert.verdicts.verdict import Status, Verdict
from tests import made_certificate
from tests.few_cases import few_cases

Made = tuple[Status, FailureKind | None]


def certificate(*verdicts: Made) -> Certificate:
    """Return a certificate of one operator with the given statuses and kinds."""
    return made_certificate.certificate([made(i, *each) for i, each in enumerate(verdicts)])


def made(number: int, status: Status, kind: FailureKind | None) -> Verdict:
    if status == "waived":
        return made(number, "fail", kind).with_waiver("known")
    operator, rules = made_certificate.OPERATOR, ("a/rule",)
    return Verdict(f"a/{number}", operator, status, kind, "outputs", rules, "")


@pytest.mark.parametrize(
    ("verdicts", "grade"),
    [
        ([("pass", None)], "bit-exact"),
        ([("pass", None), ("fail", "bits")], "value-exact"),
        ([("fail", "bits")], "value-exact"),
        ([("pass", None), ("implementation-defined", None)], "bit-exact"),
        ([("pass", None), ("unsupported", None), ("out-of-claim", None)], "bit-exact"),
        ([("pass", None), ("waived", "value")], "bit-exact"),
        ([("pass", None), ("waived", "bits")], "value-exact"),
        ([("pass", None), ("fail", "value")], None),
        ([("pass", None), ("crash", None)], None),
        ([("pass", None), ("hang", None)], None),
        ([("pass", None), ("not-run", None)], None),
        ([("unsupported", None)], None),
        ([("implementation-defined", None)], None),
        ([], None),
    ],
)
def test_the_grade_follows_from_the_verdicts(verdicts: list[Made], grade: str | None) -> None:
    found = certificate(*verdicts)
    assert found.grade == grade
    assert found.conformant == (grade is not None)
    assert bool(found.reasons) == (grade is None)


def test_the_counts_add_up_by_status_and_by_operator() -> None:
    found = certify("reference", few_cases(), operator="directml/*SPLIT")
    assert sum(found.counts.values()) == len(found.verdicts)
    assert found.operators["directml/DML_OPERATOR_SPLIT"] == found.counts


def test_the_same_run_gives_the_same_certificate_but_for_the_date_and_the_durations() -> None:
    first, second = (
        json.loads(certify("reference", few_cases(), operator="directml/*SPLIT").to_json())
        for _ in "ab"
    )
    for each in (first, second):
        del each["platform"]["date"]
        assert all(verdict.pop("seconds") > 0 for verdict in each["verdicts"])
    assert first == second


def test_the_conclusion_states_how_many_cases_are_unsupported() -> None:
    made = certificate(("pass", None), ("unsupported", None), ("out-of-claim", None))
    assert made.conformant
    assert ", 1 case unsupported, 1 case outside the claim, bit-exact" in made.conclusion
