"""The files of a report: their names, the folders they may replace, and what is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opcert.errors import OpcertError
from opcert.report.files import (
    JUNIT_FILE,
    REPORT,
    REPORT_FILE,
    SIDE_BY_SIDE_FILE,
    report_files,
)
from opcert.suite.writing import replace_marked_folder
from opcert.verdicts.verdict import Verdict
from tests import samples
from tests.made_certificate import DIGEST
from tests.small_suite import contents

PAGE = b'<meta name="generator" content="opcert report">'
FILES = {REPORT_FILE: PAGE}


def test_a_report_has_a_page_and_junit_xml_with_the_same_bytes_each_time() -> None:
    files = report_files(samples.right(), samples.suite())
    assert set(files) == {REPORT_FILE, JUNIT_FILE}
    assert report_files(samples.right(), samples.suite()) == files
    assert files[JUNIT_FILE].startswith(b"<?xml")


def test_another_suite_is_refused_with_both_digests() -> None:
    other = samples.right()
    other = other.replace(suite=other.suite.model_copy(update={"digest": DIGEST}))
    ours = samples.suite().digest[:12]
    message = f"of suite {DIGEST[:12]}, but .* is suite {ours}; name the folder of the certificate"
    with pytest.raises(OpcertError, match=message):
        report_files(other, samples.suite())


@pytest.mark.parametrize(
    "change",
    [
        lambda verdict: replace(verdict, case="dml-split/none-such"),
        lambda verdict: replace(verdict, operator="vendor/A-1"),
    ],
    ids=["case", "operator"],
)
def test_a_verdict_of_a_case_that_the_suite_lacks_is_refused(
    change: Callable[[Verdict], Verdict],
) -> None:
    first, *others = samples.right().verdicts
    changed = samples.right().replace(verdicts=(change(first), *others))
    with pytest.raises(OpcertError, match=r"a case that its suite does not have"):
        report_files(changed, samples.suite())


def test_a_report_replaces_a_former_one(tmp_path: Path) -> None:
    replace_marked_folder(tmp_path / "out", {**FILES, SIDE_BY_SIDE_FILE: PAGE}, *REPORT)
    replace_marked_folder(tmp_path / "out", FILES, *REPORT)
    assert contents(tmp_path / "out") == FILES


@pytest.mark.parametrize("name", ["certificate.json", REPORT_FILE, JUNIT_FILE, "folder/thesis.txt"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("years of work")
    with pytest.raises(OpcertError, match=f"contains {re.escape(name)}, not part of a report"):
        replace_marked_folder(tmp_path, FILES, *REPORT)
    assert contents(tmp_path) == {name: b"years of work"}
