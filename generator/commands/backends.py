"""The commands for backends: `opcert backends`, `opcert claim` and `opcert driver-check`."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    BackendOption,
    BackendOptions,
    ExitCode,
    QuietOption,
    SuiteOption,
    VerboseOption,
    announcer,
    echo_line,
    echo_lines,
    takes_settings,
    worker_count,
)
from opcert.run.settings import RunSettings


def backends() -> None:
    """List the available backends, and what they support."""
    from opcert.commands.tables import print_backends
    from opcert.report.terminal import console
    from opcert.run.backend_list import available_backends
    from opcert.specification.references import shipped_operators

    print_backends(available_backends(), shipped_operators(), console())


@takes_settings("operator", "specs", "feature_level", "isolated", "timeout", "memory")
def claim(
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File to write the claim to; it must not exist."
        ),
    ],
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    settings: RunSettings,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run a backend, and draft a claim from the verdicts.

    Exit codes: 0 written; 1 nothing to claim; 2 invalid input.
    """
    from opcert.backends.lookup import parse_backend_options
    from opcert.certificate.claim_draft import claim_path, draft_claim, write_claim
    from opcert.commands.output import case_progress
    from opcert.commands.selection import check_selection
    from opcert.suite.opening import open_suite

    options = parse_backend_options(backend_option)
    target = claim_path(out, suite)
    opened = open_suite(
        suite, settings.specs, settings.operator, jobs=worker_count(), announce=announcer(quiet)
    )
    check_selection(opened, settings.operator)
    with case_progress(quiet, verbose) as on_verdict:
        draft = draft_claim(
            backend,
            opened,
            options=options,
            progress=on_verdict,
            **settings.changes(),
        )
    if not draft.operators:
        echo_line("nothing was written: the backend declined every valid call, or none was run")
        raise typer.Exit(ExitCode.FAILURE)
    write_claim(draft, target)
    echo_line(f"wrote {target}")
    for remark in draft.remarks:
        echo_line(remark)


@takes_settings("timeout", "memory")
def driver_check(
    *,
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="Command that starts the driver.")
    ],
    backend_option: BackendOptions = None,
    settings: RunSettings,
) -> None:
    """Check that a driver follows the protocol.

    The results of its calls are not checked.

    Exit codes: 0 all steps passed; 1 a step failed; 2 invalid input.
    """
    from opcert.backends.lookup import DRIVER_PREFIX, parse_backend_options
    from opcert.isolation.driver_check import check_driver
    from opcert.suite.suite import Suite

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
