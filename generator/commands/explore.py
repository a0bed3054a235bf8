"""The command `explore`: what it imports, Hypothesis among it, no other command needs."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.certificate.file import read_certificate
from opcert.commands import options
from opcert.commands.certificates import certificate_file
from opcert.commands.options import ExitCode, echo_line, echo_lines, takes_settings
from opcert.exploration.explore import explore as run
from opcert.settings import RunSettings


@takes_settings("operator", "specs", "isolated", "timeout", "memory")
def explore(
    *,
    backend: options.BackendOption = "reference",
    backend_option: options.BackendOptions = None,
    settings: RunSettings,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            metavar="MINUTES",
            parser=options.number("--minutes", "a number of minutes, at least 0.01", 0.01),
            help="Time limit for all operators together.",
        ),
    ] = 1.0,
    seed: options.SeedOption = 0,
    known: Annotated[
        Path | None,
        typer.Option(
            "--known",
            metavar="CERTIFICATE",
            help="Pass over failures that a cause in this certificate explains. Waivers do not "
            "serve: they name cases.",
        ),
    ] = None,
) -> None:
    """Search for failing calls beyond the suite.

    Exit codes: 0 no failing call found; 1 failing calls found; 2 invalid input.
    """
    arguments = parse_backend_options(backend_option)
    causes = () if known is None else read_certificate(certificate_file(known)).causes
    failures = 0
    for result in run(
        backend, settings, options=arguments, minutes=minutes, seed=seed, known=causes
    ):
        echo_lines(result.text(partial(setup_code, backend, arguments)))
        failures += result.counterexample is not None
    echo_line(f"{failures} distinct new bug{'s' * (failures != 1)} found")
    raise typer.Exit(ExitCode.FAILURE if failures else ExitCode.SUCCESS)
