"""Check that a driver follows the protocol.

The results of its calls are not checked.

Exit codes: 0 all steps passed; 1 a step failed; 2 invalid input.
"""

from typing import Annotated

import typer

from opcert.backends.lookup import DRIVER_PREFIX, parse_backend_options
from opcert.commands.options import (
    BackendOptions,
    ExitCode,
    echo_line,
    echo_lines,
    takes_settings,
)
from opcert.isolation.driver_check import check_driver
from opcert.run.settings import RunSettings
from opcert.suite.suite import Suite


@takes_settings("timeout", "memory")
def driver_check(
    *,
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="Command that starts the driver.")
    ],
    backend_option: BackendOptions = None,
    settings: RunSettings,
) -> None:
    options = parse_backend_options(backend_option)
    steps = []
    driver = command.removeprefix(DRIVER_PREFIX)
    for step in check_driver(driver, options, settings.timeout, Suite(), settings.memory_bytes):
        echo_lines(str(step))
        steps.append(step)
    wrong = sum(not step.passed for step in steps)
    if wrong:
        echo_line(f"{wrong} of {len(steps)} steps are wrong")
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"all {len(steps)} steps are right")
