"""The commands for documentation and reports: `opcert docs`, `explain` and `report`."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    BackendOptions,
    OptionalBackendOption,
    QuietOption,
    SuiteOption,
    announcer,
    echo_line,
    echo_lines,
    takes_settings,
    worker_count,
)
from opcert.commands.selection import certificate_file
from opcert.errors import OpcertError
from opcert.run.settings import RunSettings


@takes_settings("specs", "operator")
def docs(
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for the site, without other files."
        ),
    ],
    settings: RunSettings,
    suite: SuiteOption = None,
    strength: Annotated[
        bool,
        typer.Option(
            "--strength", help="Include the strength: which generic faults the suite finds."
        ),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Write a site: the guides, and pages of each operator."""
    from opcert.certificate.file import refuse_path_in_suite
    from opcert.output_files import check_output_folder
    from opcert.pages.site import check_site_folder, render_site, write_site
    from opcert.panel.strength import measure_strength
    from opcert.specification.files import read_specs_in
    from opcert.suite.opening import open_suite

    refuse_path_in_suite(check_output_folder(out), suite)
    check_site_folder(out)
    spec_files = read_specs_in(settings.specs, settings.operator or "*")
    opened = open_suite(
        suite, settings.specs, settings.operator, jobs=worker_count(), announce=announcer(quiet)
    )
    strengths = {
        file.spec.operator: measure_strength(file, opened.operators[file.spec.operator])
        for file in spec_files
        if strength and file.spec.operator in opened.operators
    }
    write_site(out, render_site(spec_files, opened, strengths))
    echo_line(f"wrote {out / 'index.html'} and the other pages of the site")


@takes_settings("specs")
def explain(
    *,
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="Id of a case, or a glob that matches one id.")
    ],
    suite: SuiteOption = None,
    settings: RunSettings,
    backend: OptionalBackendOption = None,
    backend_option: BackendOptions = None,
    program: Annotated[
        bool, typer.Option("--program", help="Print the program of the call, and nothing else.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Show the call of a case, its expected result, and a program.

    The program makes the call and checks the result. With --backend it calls this backend.
    """
    from opcert.backends.lookup import parse_backend_options, setup_code
    from opcert.pages.case_descriptions import describe_case
    from opcert.pages.explain import explain_case, find_case
    from opcert.programs.case_programs import case_program
    from opcert.suite.opening import open_suite_of_case

    if backend_option and backend is None:
        raise OpcertError("--backend-option needs --backend, the backend that takes the option")
    options = parse_backend_options(backend_option)
    opened = open_suite_of_case(case, suite, settings.specs, announce=announcer(quiet))
    if not opened.select("*", case):
        _refuse_path(Path(case))
    operator, indexed_case = find_case(opened, case)
    setup = None if backend is None else setup_code(backend, options)
    code = case_program(operator, indexed_case, setup)
    if program:
        typer.echo(code, nl=False)
    else:
        echo_lines(explain_case(describe_case(operator, indexed_case), code))


def _refuse_path(path: Path) -> None:
    """Refuse a certificate or its folder in place of a case.

    Raises:
        OpcertError: `path` exists.
    """
    if path.exists():
        file = certificate_file(path)
        raise OpcertError(
            f"{path}: is a {'folder' if path.is_dir() else 'file'}; expected the id of a case, "
            f"such as those in the report of {file}"
        )


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
    """Show a certificate, or compare several."""
    from opcert.certificate.file import read_certificate, refuse_path_in_suite
    from opcert.output_files import check_output_folder
    from opcert.report.files import (
        check_report_folder,
        render_side_by_side,
        report_files,
        write_report,
    )
    from opcert.report.terminal import (
        conclusion_line,
        console,
        print_certificate,
        print_side_by_side,
    )
    from opcert.suite.opening import open_certified_suite

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
        files = report_files(read[0], opened, settings.specs)
    else:
        files = render_side_by_side(read)
    write_report(out, files)
    echo_line(f"wrote {', '.join(str(out / name) for name in files if '/' not in name)}")
