"""The command line for those who write a driver."""

from typing import Annotated

import typer

from opcert.commands.options import (
    CONFORMANT,
    NOT_CONFORMANT,
    BackendOptions,
    finite,
    reports_errors,
    say,
    say_lines,
)


@reports_errors
def driver_check(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="What starts the driver.")],
    backend_option: BackendOptions = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            callback=finite,
            help="For its start, and for each call.",
        ),
    ] = 60.0,
) -> None:
    """Check how a driver speaks. Exit 0: all is right; 1: something is wrong; 2: a wrong call."""
    from opcert.backends import DRIVER_PREFIX, parse_backend_options
    from opcert.isolation import check_driver
    from opcert.suite import Suite

    options = parse_backend_options(backend_option)
    wrong = steps = 0
    for step in check_driver(command.removeprefix(DRIVER_PREFIX), options, timeout, Suite()):
        say_lines(str(step))
        steps, wrong = steps + 1, wrong + (not step.passed)
    say(f"{wrong} of {steps} steps are wrong" if wrong else f"all {steps} steps are right")
    raise typer.Exit(NOT_CONFORMANT if wrong else CONFORMANT)
