"""Show the call of a case, its expected result, and a program.

The program makes the call and checks the result. With --backend it calls this backend.
"""

from pathlib import Path
from typing import Annotated

import typer

from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.commands.options import (
    BackendOptions,
    OptionalBackendOption,
    QuietOption,
    SuiteOption,
    announcer,
    echo_lines,
    takes_settings,
)
from opcert.commands.selection import certificate_file
from opcert.errors import OpcertError
from opcert.pages.case_descriptions import describe_case
from opcert.pages.explain import explain_case, find_case
from opcert.programs.case_programs import case_program
from opcert.run.settings import RunSettings
from opcert.suite.opening import open_suite_of_case


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
