"""The command `explore`: what it imports, Hypothesis among it, no other command needs."""

from functools import partial
from typing import Annotated

import typer

from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.commands import options
from opcert.commands.options import ExitCode, echo_lines, takes_settings
from opcert.exploration.counterexample import result_text
from opcert.exploration.explore import explore as run
from opcert.run.settings import RunSettings


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
) -> None:
    """Search for failing calls beyond the suite.

    Exit codes: 0 no failing call found; 1 failing calls found; 2 invalid input.
    """
    arguments = parse_backend_options(backend_option)
    failures = 0
    for result in run(
        backend,
        options=arguments,
        specs=settings.specs,
        operator=settings.operator or "*",
        minutes=minutes,
        seed=seed,
        isolated=settings.isolated,
        timeout=settings.timeout,
        memory=settings.memory_bytes,
    ):
        echo_lines(result_text(result, partial(setup_code, backend, arguments)))
        failures += result.counterexample is not None
    raise typer.Exit(ExitCode.FAILURE if failures else ExitCode.SUCCESS)
