"""Certificate -> reports: on a terminal, as HTML, as JUnit XML, and side by side."""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from opcert.report.files import (
        JUNIT_FILE,
        SERIES_PAGE_FILE,
        check_report_folder,
        check_series_folder,
        operator_page_path,
        render_operator_pages,
        render_report,
        render_series,
        render_side_by_side,
        report_files,
        write_report,
    )
    from opcert.report.series_page import (
        REPORT_FILE,
        CertifiedCopy,
        SeriesPage,
        certified_copy,
        read_series_page,
    )
    from opcert.report.terminal import (
        conclusion_line,
        console,
        print_certificate,
        print_line,
        print_series,
        print_side_by_side,
        progress,
        table_cell,
    )

__all__ = [
    "JUNIT_FILE",
    "REPORT_FILE",
    "SERIES_PAGE_FILE",
    "CertifiedCopy",
    "SeriesPage",
    "certified_copy",
    "check_report_folder",
    "check_series_folder",
    "conclusion_line",
    "console",
    "operator_page_path",
    "print_certificate",
    "print_line",
    "print_series",
    "print_side_by_side",
    "progress",
    "read_series_page",
    "render_operator_pages",
    "render_report",
    "render_series",
    "render_side_by_side",
    "report_files",
    "table_cell",
    "write_report",
]

# What a terminal shows takes no templates.
__getattr__ = lazy_attributes(
    __name__,
    {
        "files": (
            "JUNIT_FILE",
            "SERIES_PAGE_FILE",
            "check_report_folder",
            "check_series_folder",
            "operator_page_path",
            "render_operator_pages",
            "render_report",
            "render_series",
            "render_side_by_side",
            "report_files",
            "write_report",
        ),
        "series_page": (
            "REPORT_FILE",
            "CertifiedCopy",
            "SeriesPage",
            "certified_copy",
            "read_series_page",
        ),
        "terminal": (
            "conclusion_line",
            "console",
            "print_certificate",
            "print_line",
            "print_series",
            "print_side_by_side",
            "progress",
            "table_cell",
        ),
    },
)
