"""Search for failing calls beyond the suite.

Exit codes: 0 no failing call found; 1 failing calls found; 2 invalid input.
"""

from functools import partial

import typer

from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.commands.options import (
    BackendOption,
    BackendOptions,
    ExitCode,
    MinutesOption,
    SeedOption,
    echo_lines,
    takes_settings,
)
from opcert.exploration.explore import explore as run
from opcert.exploration.snippets import result_text
from opcert.run.settings import RunSettings


@takes_settings("operator", "specs", "isolated", "timeout", "memory")
def explore(
    *,
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    settings: RunSettings,
    minutes: MinutesOption = 1.0,
    seed: SeedOption = 0,
) -> None:
    options = parse_backend_options(backend_option)
    failures = 0
    for result in run(
        backend,
        options=options,
        specs=settings.specs,
        operator=settings.operator or "*",
        minutes=minutes,
        seed=seed,
        isolated=settings.isolated,
        timeout=settings.timeout,
        memory=settings.memory_bytes,
    ):
        echo_lines(result_text(result, partial(setup_code, backend, options)))
        failures += result.counterexample is not None
    raise typer.Exit(ExitCode.FAILURE if failures else ExitCode.SUCCESS)
