"""Certificate -> reports: on a terminal, as HTML, as JUnit XML, and side by side."""

from opcert.report.files import (
    JUNIT_FILE,
    REPORT_FILE,
    check_report_folder,
    operator_page_path,
    render_operator_pages,
    render_report,
    render_side_by_side,
    report_files,
    write_report,
)
from opcert.report.terminal import (
    conclusion_line,
    console,
    print_certificate,
    print_line,
    print_side_by_side,
    progress,
    table_cell,
)

__all__ = [
    "JUNIT_FILE",
    "REPORT_FILE",
    "check_report_folder",
    "conclusion_line",
    "console",
    "operator_page_path",
    "print_certificate",
    "print_line",
    "print_side_by_side",
    "progress",
    "render_operator_pages",
    "render_report",
    "render_side_by_side",
    "report_files",
    "table_cell",
    "write_report",
]
