"""The certificate: what follows from verdicts, and the file it becomes."""

import json
from pathlib import Path

import pytest

from opcert.generator import Certificate, certify
from opcert.generator.certificate import certificate_path, write_certificate
from opcert.generator.errors import OpcertError
from opcert.generator.suite import default_folder
from opcert.generator.verdict import Verdict


def certificate(*verdicts: tuple[str, str | None]) -> Certificate:
    """Return a certificate of one operator with the given statuses and kinds."""
    made = [
        Verdict(f"a/{i}", "vendor/A-1", status, kind, "outputs", ("a/rule",), "")
        for i, (status, kind) in enumerate(verdicts)
    ]
    selection = {"operator": "*", "case": "*", "feature_level": None}
    return Certificate({"name": "b"}, {"specs": {"vendor/A-1": ""}}, selection, {}, made)


@pytest.mark.parametrize(
    ("verdicts", "grade"),
    [
        ([("pass", None)], "bit-exact"),
        ([("pass", None), ("fail", "bits")], "value-exact"),
        ([("fail", "bits")], "value-exact"),
        ([("pass", None), ("implementation-defined", None)], "bit-exact"),
        ([("pass", None), ("unsupported", None), ("out-of-claim", None)], "bit-exact"),
        ([("pass", None), ("waived", "value")], "bit-exact"),
        ([("pass", None), ("fail", "value")], None),
        ([("pass", None), ("crash", None)], None),
        ([("pass", None), ("hang", None)], None),
        ([("pass", None), ("not-run", None)], None),
        ([("unsupported", None)], None),
        ([("implementation-defined", None)], None),
        ([], None),
    ],
)
def test_the_grade_follows_from_the_verdicts(
    verdicts: list[tuple[str, str | None]], grade: str | None
) -> None:
    found = certificate(*verdicts)
    assert found.grade == grade
    assert found.conformant == (grade is not None)
    assert bool(found.reasons) == (grade is None)


def test_the_counts_add_up_by_status_and_by_operator() -> None:
    found = certify("reference", operator="directml/*")
    assert sum(found.counts.values()) == len(found.verdicts)
    assert found.operators["directml/DML_OPERATOR_SPLIT"] == found.counts


def test_the_same_run_gives_the_same_certificate_but_for_the_date() -> None:
    first, second = (
        json.loads(certify("reference", operator="directml/*").to_json()) for _ in "ab"
    )
    for each in (first, second):
        del each["platform"]["date"]
    assert first == second


def test_a_certificate_is_replaced_whole(tmp_path: Path) -> None:
    target = certificate_path(tmp_path / "out", None)
    write_certificate(certificate(("pass", None)), target)
    write_certificate(certificate(("fail", "value")), target)
    assert json.loads(target.read_text())["conformant"] is False
    assert [each.name for each in target.parent.iterdir()] == ["certificate.json"]


def test_a_certificate_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "certificate.json").mkdir()
    with pytest.raises(OpcertError, match="cannot be written"):
        write_certificate(certificate(("pass", None)), tmp_path / "certificate.json")
    assert [each.name for each in tmp_path.iterdir()] == ["certificate.json"]


@pytest.mark.parametrize(
    "place", ["a file", "a link to the suite", "a loop", "a folder in the way"]
)
def test_an_odd_place_for_a_certificate_is_refused(tmp_path: Path, place: str) -> None:
    out = tmp_path / "out"
    if place == "a file":
        out.write_text("")
    elif place == "a link to the suite":
        out.symlink_to(default_folder())
    elif place == "a loop":
        out.symlink_to(out)
    else:
        (out / "certificate.json").mkdir(parents=True)
    with pytest.raises(OpcertError):
        certificate_path(out, None)
