"""The files of a report: an HTML page and JUnit XML."""

from collections.abc import Sequence
from pathlib import Path

from opcert.certificate.certificate import Certificate
from opcert.errors import OpcertError
from opcert.output_files import FileContents
from opcert.pages.rendering import render_template
from opcert.report.junit import junit_xml
from opcert.report.page import ReportPage
from opcert.report.side_by_side import SideBySide
from opcert.report.tallies import STATUS_MARKS
from opcert.suite.suite import Suite
from opcert.suite.writing import check_marked_folder, replace_marked_folder

REPORT_FILE, JUNIT_FILE, SIDE_BY_SIDE_FILE = "report.html", "junit.xml", "side-by-side.html"
# Every file of a report has one of these marks near its beginning.
_FILE_MARKS = ('content="opcert report"', '<testsuites name="opcert ')


def report_files(certificate: Certificate, suite: Suite) -> FileContents:
    """Return the files of a certificate's report by name; `suite` is the certificate's suite.

    Raises:
        OpcertError: the certificate is of another suite, or has a case that the suite lacks.
    """
    if certificate.suite.digest != suite.digest:
        raise OpcertError(
            f"the certificate is of suite {certificate.suite.digest[:12]}, but {suite.folder} is "
            f"suite {suite.digest[:12]}; name the folder of the certificate's suite by --suite"
        )
    for verdict in certificate.verdicts:
        case = suite.cases.get(verdict.case)
        if case is None or case.operator != verdict.operator:
            raise OpcertError(
                f"the certificate has a verdict of {verdict.case} of {verdict.operator}, a case "
                "that its suite does not have: the certificate was changed; use the original"
            )
    judged = {(verdict.case, verdict.operator) for verdict in certificate.verdicts}
    for cause in certificate.causes:
        if (cause.representative, cause.operator) not in judged:
            raise OpcertError(
                f"the certificate has a cause with {cause.representative} of {cause.operator}, "
                "of which it has no verdict: the certificate was changed; use the original"
            )
    return render_report(certificate, suite)


def render_report(certificate: Certificate, suite: Suite) -> FileContents:
    """Return the HTML report and the JUnit XML.

    Raises:
        KeyError: the suite lacks a case of the certificate.
    """
    html = render_template(
        "report.html.jinja", page=ReportPage(certificate, suite), marks=STATUS_MARKS
    )
    return {REPORT_FILE: html, JUNIT_FILE: junit_xml(certificate)}


def check_report_folder(folder: Path) -> None:
    """Check that a report can be written to `folder`, before it is made.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    check_marked_folder(folder, _FILE_MARKS, "a report")


def write_report(folder: Path, files: FileContents) -> None:
    """Write the files of a report to `folder`, and replace an earlier report.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    replace_marked_folder(folder, files, _FILE_MARKS, "a report")


def render_side_by_side(certificates: Sequence[Certificate]) -> FileContents:
    """Return the page that compares certificates."""
    html = render_template(
        "side_by_side.html.jinja", page=SideBySide(certificates), marks=STATUS_MARKS
    )
    return {SIDE_BY_SIDE_FILE: html}
