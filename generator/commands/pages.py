"""opcert docs, explain, report: the requirements, a case, and the results, for people to read."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    BackendOptions,
    OperatorOption,
    SpecsOption,
    SuiteOption,
    reports_errors,
    say,
    say_lines,
)
from opcert.errors import OpcertError


@reports_errors
def docs(
    out: Annotated[Path, typer.Option(help="Folder of the site; it may hold nothing else.")],
    specs: SpecsOption = None,
    operator: OperatorOption = "*",
    suite: SuiteOption = None,
    strength: Annotated[
        bool, typer.Option("--strength", help="Say which generic faults the suite finds.")
    ] = False,
) -> None:
    """Write a site of HTML pages: the guides, and the rules and cases of each operator."""
    from opcert.certificate import refuse_path_in_suite
    from opcert.pages import render_site, write_site
    from opcert.panel import measure_strength
    from opcert.specification import read_specs_in
    from opcert.suite import Suite

    refuse_path_in_suite(out.resolve(), suite)
    opened, spec_files = Suite(suite, specs), read_specs_in(specs, operator)
    strengths = {
        each.spec.operator: measure_strength(each, opened.operators[each.spec.operator])
        for each in spec_files
        if strength and each.spec.operator in opened.operators
    }
    write_site(out, render_site(spec_files, opened, strengths))
    say(f"wrote {out / 'index.html'} and the other pages of the site")


@reports_errors
def explain(
    case: Annotated[str, typer.Argument(help="The id of a case, or a glob that one id matches.")],
    suite: SuiteOption = None,
    specs: SpecsOption = None,
    backend: Annotated[
        str | None, typer.Option(help="Have the program call this backend; as for certify.")
    ] = None,
    backend_option: BackendOptions = None,
) -> None:
    """Show one case: the call, its purpose, the expected result, and a program that makes it."""
    from opcert.backends import parse_backend_options, setup_code
    from opcert.pages import describe_case, explain_case, find_case
    from opcert.programs import case_program
    from opcert.suite import Suite

    if backend_option and backend is None:
        raise OpcertError("--backend-option without --backend; name the backend that it is for")
    options = parse_backend_options(backend_option)
    opened = Suite(suite, specs)
    operator, indexed = find_case(opened, case)
    setup = None if backend is None else setup_code(backend, options)
    program = case_program(operator, indexed, setup)
    say_lines(explain_case(describe_case(operator, indexed), program))


@reports_errors
def report(
    certificates: Annotated[
        list[Path], typer.Argument(help="Certificates, or the folders of them; the first leads.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write HTML to, and JUnit XML of a single one.")
    ] = None,
    suite: SuiteOption = None,
    specs: SpecsOption = None,
) -> None:
    """Show a certificate again, or several side by side with what regressed or was fixed."""
    from opcert.certificate import CERTIFICATE_FILE, read_certificate, refuse_path_in_suite
    from opcert.report import (
        console,
        print_certificate,
        print_side_by_side,
        render_side_by_side,
        report_files,
        write_report,
    )
    from opcert.suite import Suite

    read = [
        read_certificate(each / CERTIFICATE_FILE if each.is_dir() else each)
        for each in certificates
    ]
    if len(read) == 1:
        print_certificate(read[0], console())
    else:
        print_side_by_side(read, console())
    if out is not None:
        refuse_path_in_suite(out.resolve(), suite)
        files = (
            render_side_by_side(read)
            if read[1:]
            else report_files(read[0], Suite(suite, specs), specs)
        )
        write_report(out, files)
        say(f"wrote {', '.join(str(out / name) for name in files if '/' not in name)}")
