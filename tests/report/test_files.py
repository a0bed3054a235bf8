"""The files that tell of a certificate: which they are, where they may go, what is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opcert.errors import OpcertError
from opcert.report import JUNIT_FILE, REPORT_FILE, report_files, write_report
from opcert.report.files import SIDE_BY_SIDE_FILE
from opcert.suite import Suite
from opcert.verdicts import Verdict
from tests import shown, small_suite
from tests.made_certificate import DIGEST
from tests.small_suite import contents
from tests.suite_of_levels import write_specs

PAGES = b'<meta name="generator" content="opcert docs">'
REPORT = b'<meta name="generator" content="opcert report">'
FILES = {REPORT_FILE: REPORT, "operators/a.html": PAGES}


def test_they_are_a_page_junit_xml_and_a_page_for_each_operator_that_ran() -> None:
    found = report_files(shown.right(), shown.suite())
    assert set(found) == {REPORT_FILE, JUNIT_FILE, "operators/directml-DML_OPERATOR_SPLIT.html"}


def test_without_the_specs_of_the_suite_the_report_stands_alone(tmp_path: Path) -> None:
    write_specs(tmp_path)
    found = report_files(shown.right(), shown.suite(), tmp_path)
    assert set(found) == {REPORT_FILE, JUNIT_FILE}
    assert b"operators/" not in found[REPORT_FILE]


def test_another_suite_is_refused_with_both_digests() -> None:
    other = shown.right()
    other = other.replace(suite=other.suite.model_copy(update={"digest": DIGEST}))
    ours = shown.suite().digest[:12]
    wanted = f"of the suite {DIGEST[:12]}, .* is {ours}; name the folder of the former by --suite"
    with pytest.raises(OpcertError, match=wanted):
        report_files(other, shown.suite())


@pytest.mark.parametrize(
    "change",
    [
        lambda verdict: replace(verdict, case="dml-split/none-such"),
        lambda verdict: replace(verdict, operator="vendor/A-1"),
    ],
    ids=["case", "operator"],
)
def test_a_verdict_of_what_the_suite_does_not_have_is_refused(
    change: Callable[[Verdict], Verdict],
) -> None:
    first, *others = shown.right().verdicts
    changed = shown.right().replace(verdicts=(change(first), *others))
    with pytest.raises(OpcertError, match=r"which the suite that it names does not have"):
        report_files(changed, shown.suite())


def test_a_small_suite_has_its_own_report(tmp_path: Path) -> None:
    for name, data in small_suite.files().items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    with pytest.raises(OpcertError, match="of the suite"):
        report_files(shown.right(), Suite(tmp_path))


def test_a_report_replaces_a_former_one(tmp_path: Path) -> None:
    write_report(tmp_path / "out", {**FILES, SIDE_BY_SIDE_FILE: REPORT})
    write_report(tmp_path / "out", FILES)
    assert contents(tmp_path / "out") == FILES


@pytest.mark.parametrize(
    "name", ["certificate.json", REPORT_FILE, JUNIT_FILE, "operators/thesis.txt"]
)
def test_the_files_of_others_are_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("years of work")
    with pytest.raises(OpcertError, match=f"holds {re.escape(name)}, no part of a report"):
        write_report(tmp_path, FILES)
    assert contents(tmp_path) == {name: b"years of work"}
