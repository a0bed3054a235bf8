"""The commands for documentation and reports: `opcert docs`, `explain` and `report`."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    BackendOptions,
    OperatorOption,
    SpecsOption,
    SuiteOption,
    announce,
    echo_line,
    echo_lines,
    reports_errors,
    worker_count,
)
from opcert.errors import OpcertError


@reports_errors
def docs(
    out: Annotated[Path, typer.Option(help="Folder for the site, without other files.")],
    specs: SpecsOption = None,
    operator: OperatorOption = None,
    suite: SuiteOption = None,
    strength: Annotated[
        bool,
        typer.Option(
            "--strength", help="Include the strength: which generic faults the suite finds."
        ),
    ] = False,
) -> None:
    """Write a site of HTML pages: the guides, and the rules and cases of each operator."""
    from opcert.certificate import refuse_path_in_suite
    from opcert.pages import render_site, write_site
    from opcert.panel import measure_strength
    from opcert.specification import read_specs_in
    from opcert.suite import open_suite

    refuse_path_in_suite(out.resolve(), suite)
    spec_files = read_specs_in(specs, operator or "*")
    opened = open_suite(suite, specs, operator, jobs=worker_count(), announce=announce)
    strengths = {
        file.spec.operator: measure_strength(file, opened.operators[file.spec.operator])
        for file in spec_files
        if strength and file.spec.operator in opened.operators
    }
    write_site(out, render_site(spec_files, opened, strengths))
    echo_line(f"wrote {out / 'index.html'} and the other pages of the site")


@reports_errors
def explain(
    case: Annotated[str, typer.Argument(help="Id of a case, or a glob that matches a single id.")],
    suite: SuiteOption = None,
    specs: SpecsOption = None,
    backend: Annotated[
        str | None, typer.Option(help="Backend for the program, as for certify.")
    ] = None,
    backend_option: BackendOptions = None,
) -> None:
    """Show one case: its call, purpose and expected result, and a program that makes the call."""
    from opcert.backends import parse_backend_options, setup_code
    from opcert.pages import describe_case, explain_case, find_case
    from opcert.programs import case_program
    from opcert.suite import open_suite_of_case

    if backend_option and backend is None:
        raise OpcertError("--backend-option needs --backend, the backend that takes the option")
    options = parse_backend_options(backend_option)
    opened = open_suite_of_case(case, suite, specs, announce=announce)
    operator, indexed_case = find_case(opened, case)
    setup = None if backend is None else setup_code(backend, options)
    program = case_program(operator, indexed_case, setup)
    echo_lines(explain_case(describe_case(operator, indexed_case), program))


@reports_errors
def report(
    certificates: Annotated[
        list[Path],
        typer.Argument(
            help="Certificates or their folders; all others are compared with the first."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the HTML page, and for the JUnit XML of a single certificate."
        ),
    ] = None,
    suite: SuiteOption = None,
    specs: SpecsOption = None,
) -> None:
    """Show the summary of a certificate, or compare several certificates."""
    from opcert.certificate import CERTIFICATE_FILE, read_certificate, refuse_path_in_suite
    from opcert.report import (
        console,
        print_certificate,
        print_side_by_side,
        render_side_by_side,
        report_files,
        write_report,
    )
    from opcert.suite import open_certified_suite

    read = [
        read_certificate(path / CERTIFICATE_FILE if path.is_dir() else path)
        for path in certificates
    ]
    if len(read) == 1:
        print_certificate(read[0], console())
    else:
        print_side_by_side(read, console())
    if out is None:
        return
    refuse_path_in_suite(out.resolve(), suite)
    if len(read) == 1:
        entry = read[0].suite
        opened = open_certified_suite(entry, suite, specs, jobs=worker_count(), announce=announce)
        files = report_files(read[0], opened, specs)
    else:
        files = render_side_by_side(read)
    write_report(out, files)
    echo_line(f"wrote {', '.join(str(out / name) for name in files if '/' not in name)}")
