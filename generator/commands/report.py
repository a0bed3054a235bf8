"""Show a certificate, or compare several."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.certificate.file import read_certificate, refuse_path_in_suite
from opcert.commands.options import (
    QuietOption,
    SuiteOption,
    announcer,
    echo_line,
    takes_settings,
    worker_count,
)
from opcert.commands.selection import certificate_file
from opcert.output_files import check_output_folder
from opcert.report.files import check_report_folder, render_side_by_side, report_files, write_report
from opcert.report.terminal import conclusion_line, console, print_certificate, print_side_by_side
from opcert.run.settings import RunSettings
from opcert.suite.opening import open_certified_suite


@takes_settings("specs")
def report(
    *,
    certificates: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Certificates or their folders; all others are compared with the first.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Folder for the HTML page, and for the JUnit XML of a single certificate.",
        ),
    ] = None,
    suite: SuiteOption = None,
    settings: RunSettings,
    quiet: QuietOption = False,
) -> None:
    read = [read_certificate(certificate_file(path)) for path in certificates]
    if out is not None:
        refuse_path_in_suite(check_output_folder(out), suite)
        check_report_folder(out)
    if quiet:
        for certificate in read:
            echo_line(conclusion_line(certificate))
    elif len(read) == 1:
        print_certificate(read[0], console())
    else:
        print_side_by_side(read, console())
    if out is None:
        return
    if len(read) == 1:
        entry = read[0].suite
        opened = open_certified_suite(
            entry, suite, settings.specs, jobs=worker_count(), announce=announcer(quiet)
        )
        files = report_files(read[0], opened)
    else:
        files = render_side_by_side(read)
    write_report(out, files)
    echo_line(f"wrote {', '.join(str(out / name) for name in files if '/' not in name)}")
