"""The command `explain`."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.backends.contract import close_backend
from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.commands import options
from opcert.commands.certificates import certificate_file
from opcert.commands.options import announcer, takes_settings
from opcert.errors import OpcertError
from opcert.isolation.supervised import start_backend
from opcert.programs.case_programs import case_program
from opcert.report.explain import describe_case, explain_case, find_case
from opcert.run.outcome import native_code
from opcert.run.session import step_of
from opcert.run.settings import RunSettings
from opcert.suite.generation import open_suite_of_case


@takes_settings("specs")
def explain(
    *,
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="Id of a case, or a glob that matches one id.")
    ],
    suite: options.SuiteOption = None,
    settings: RunSettings,
    backend: options.OptionalBackendOption = None,
    backend_option: options.BackendOptions = None,
    program: Annotated[
        bool, typer.Option("--program", help="Print the program of the call, and nothing else.")
    ] = False,
    native: Annotated[
        bool,
        typer.Option(
            "--native", help="Make the call in the API of the backend's runtime, without opcert."
        ),
    ] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Show the call of a case, its expected result, and a program.

    The program makes the call and checks the result. With --backend it calls this backend.
    """
    if native and backend is None:
        raise OpcertError("--native needs --backend, the backend whose runtime makes the call")
    if backend_option and backend is None:
        raise OpcertError("--backend-option needs --backend, the backend that takes the option")
    arguments = parse_backend_options(backend_option)
    opened = open_suite_of_case(case, suite, settings.specs, announce=announcer(quiet))
    if not opened.select("*", case) and (path := Path(case)).exists():
        # A certificate or its folder in place of a case.
        raise OpcertError(
            f"{path}: is a {'folder' if path.is_dir() else 'file'}; expected the id of a case, "
            f"such as those in the report of {certificate_file(path)}"
        )
    operator, indexed_case = find_case(opened, case)
    own_code = ""
    if native and backend is not None:
        step = step_of(operator, indexed_case)
        started = start_backend(backend, arguments)
        try:
            own_code = native_code(started, step.operator, step.laid_out, step.attributes)
        finally:
            close_backend(started)
        if not own_code:
            raise OpcertError(
                f"backend '{backend}' does not write the call of {indexed_case.id} in the API of a "
                "runtime; leave out --native"
            )
    setup = None if backend is None else setup_code(backend, arguments)
    code = case_program(operator, indexed_case, setup, own_code)
    if program:
        typer.echo(code, nl=False)
    else:
        options.echo_lines(explain_case(describe_case(operator, indexed_case), code))
