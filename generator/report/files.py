"""The files of a report: an HTML page, JUnit XML, and pages of operators."""

from collections.abc import Collection, Sequence
from pathlib import Path

from opcert.certificate.certificate import Certificate
from opcert.errors import OpcertError
from opcert.output_files import FileContents
from opcert.pages.addresses import page_name
from opcert.pages.rendering import render_pages, render_template
from opcert.report.junit import junit_xml
from opcert.report.page import ReportPage
from opcert.report.side_by_side import SideBySide
from opcert.report.tallies import STATUS_MARKS
from opcert.specification.files import read_specs_in
from opcert.suite.suite import Suite
from opcert.suite.writing import check_marked_folder, replace_marked_folder

REPORT_FILE, JUNIT_FILE, SIDE_BY_SIDE_FILE = "report.html", "junit.xml", "side-by-side.html"
_OPERATORS_FOLDER = "operators"
# Every file of a report has one of these marks near its beginning.
_FILE_MARKS = ('content="opcert report"', 'content="opcert docs"', '<testsuites name="opcert ')


def report_files(certificate: Certificate, suite: Suite, specs: Path | None = None) -> FileContents:
    """Return the files of a certificate's report by path; `suite` is the certificate's suite.

    An operator has a page if the folder `specs`, by default opcert's own, has the spec from which
    the suite was generated.

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
    pages = render_operator_pages(certificate, suite, specs)
    return {**render_report(certificate, suite, pages), **pages}


def render_report(certificate: Certificate, suite: Suite, pages: Collection[str]) -> FileContents:
    """Return the HTML report and the JUnit XML; `pages` are the paths of operator pages to link.

    Raises:
        KeyError: the suite lacks a case of the certificate.
    """
    html = render_template(
        "report.html.jinja", page=ReportPage(certificate, suite), marks=STATUS_MARKS, pages=pages
    )
    return {REPORT_FILE: html, JUNIT_FILE: junit_xml(certificate)}


def operator_page_path(operator: str) -> str:
    """Return the path of an operator's page within a report."""
    return f"{_OPERATORS_FOLDER}/{page_name(operator)}"


def render_operator_pages(
    certificate: Certificate, suite: Suite, specs: Path | None = None
) -> FileContents:
    """Return the pages of the operators whose specs are those of the suite."""
    entries = suite.manifest.operators
    spec_files = [
        spec_file
        for spec_file in read_specs_in(specs)
        if spec_file.spec.operator in certificate.operators
        and entries[spec_file.spec.operator].spec_sha256 == spec_file.digest
    ]
    pages = render_pages(spec_files, suite)
    operators = [spec_file.spec.operator for spec_file in spec_files]
    return {operator_page_path(operator): pages[page_name(operator)] for operator in operators}


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
