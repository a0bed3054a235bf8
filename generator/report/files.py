"""Certificate + suite -> the files that tell of it: a page, JUnit XML, the operators' pages."""

from collections.abc import Collection, Sequence
from pathlib import Path

from opcert.certificate import Certificate
from opcert.errors import OpcertError
from opcert.pages import page_name, render_pages, render_template
from opcert.report.junit import junit_xml
from opcert.report.page import ReportPage
from opcert.report.side_by_side import SideBySide
from opcert.report.tallies import STATUS_MARKS
from opcert.specification import read_specs_in
from opcert.suite import FileContents, Suite, replace_marked_folder

REPORT_FILE, JUNIT_FILE, OPERATORS = "report.html", "junit.xml", "operators"
SIDE_BY_SIDE_FILE = "side-by-side.html"
# What the files say near their beginning, so that they can be told from those of others.
_MARKS = ('content="opcert report"', 'content="opcert docs"', '<testsuites name="opcert ')


def report_files(certificate: Certificate, suite: Suite, specs: Path | None = None) -> FileContents:
    """Return the files by name; `suite` is the one of the certificate.

    An operator has a page where `specs`, by default those of opcert, are those of the suite.

    Raises:
        OpcertError: the certificate is of another suite, or has a case that is not in it.
    """
    if certificate.suite.digest != suite.digest:
        raise OpcertError(
            f"the certificate is of the suite {certificate.suite.digest[:12]}, {suite.folder} is "
            f"{suite.digest[:12]}; name the folder of the former by --suite"
        )
    known = {(operator.index.operator, case.id) for operator, case in suite}
    stranger = next((v for v in certificate.verdicts if (v.operator, v.case) not in known), None)
    if stranger is not None:
        raise OpcertError(
            f"the certificate has a verdict of {stranger.case} of {stranger.operator}, which the "
            "suite that it names does not have: it was changed; expected it as opcert wrote it"
        )
    pages = render_operator_pages(certificate, suite, specs)
    return {**render_report(certificate, suite, pages), **pages}


def render_report(certificate: Certificate, suite: Suite, pages: Collection[str]) -> FileContents:
    """Return the report, with links to those `pages` of operators that there are, and JUnit XML."""
    shown = ReportPage(certificate, suite)
    page = render_template("report.html.jinja", page=shown, marks=STATUS_MARKS, pages=pages)
    return {REPORT_FILE: page, JUNIT_FILE: junit_xml(certificate)}


def operator_page_path(operator: str) -> str:
    """Return the name of an operator's page beside the report."""
    return f"{OPERATORS}/{page_name(operator)}"


def render_operator_pages(
    certificate: Certificate, suite: Suite, specs: Path | None = None
) -> FileContents:
    """Return the pages of the operators that there are verdicts of, and specs of the suite."""
    entries = suite.manifest.operators
    found = [
        each
        for each in read_specs_in(specs)
        if each.spec.operator in certificate.operators
        and entries[each.spec.operator].spec_sha256 == each.digest
    ]
    pages = render_pages(found, suite)
    names = [each.spec.operator for each in found]
    return {operator_page_path(name): pages[page_name(name)] for name in names}


def write_report(folder: Path, files: FileContents) -> None:
    """Put a folder of just these files at `folder`, in the place of a former one.

    Raises:
        OpcertError: the folder holds something else, or cannot be written; nothing has changed.
    """
    replace_marked_folder(folder, files, _MARKS, "a report")


def render_side_by_side(certificates: Sequence[Certificate]) -> FileContents:
    """Return the page of several certificates."""
    page = SideBySide(certificates)
    return {
        SIDE_BY_SIDE_FILE: render_template("side_by_side.html.jinja", page=page, marks=STATUS_MARKS)
    }
