"""opcert explore: wrong calls beyond the suite, each with what shows it."""

from functools import partial
from typing import Annotated

import typer

from opcert.commands.options import (
    FOUND,
    NOTHING_FOUND,
    BackendOption,
    BackendOptions,
    InProcessOption,
    OperatorOption,
    SpecsOption,
    TimeoutOption,
    finite,
    reports_errors,
    say_lines,
)


@reports_errors
def explore(
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
    minutes: Annotated[
        float, typer.Option(min=0.01, callback=finite, help="For all operators together.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
    in_process: InProcessOption = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Look for wrong calls beyond the suite. Exit 0: none found; 1: found; 2: a wrong call."""
    from opcert.backends import parse_backend_options, setup_code
    from opcert.exploration import explore as run
    from opcert.exploration import result_text

    options = parse_backend_options(backend_option)
    found = False
    for each in run(
        backend,
        options=options,
        specs=specs,
        operator=operator,
        minutes=minutes,
        seed=seed,
        isolated=False if in_process else None,
        timeout=timeout,
    ):
        say_lines(result_text(each, partial(setup_code, backend, options)))
        found = found or each.counterexample is not None
    raise typer.Exit(FOUND if found else NOTHING_FOUND)
