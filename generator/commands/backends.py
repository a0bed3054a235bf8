"""The commands for backends: `opcert backends`, `opcert claim` and `opcert driver-check`."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    BackendOption,
    BackendOptions,
    ExitCode,
    FeatureLevelOption,
    OperatorOption,
    SpecsOption,
    SuiteOption,
    announce,
    echo_line,
    echo_lines,
    finite,
    reports_errors,
    worker_count,
)


@reports_errors
def backends() -> None:
    """List the available backends and their support of each operator."""
    from opcert.commands.tables import print_backends
    from opcert.report import console
    from opcert.run import available_backends
    from opcert.specification import shipped_operators

    print_backends(available_backends(), shipped_operators(), console())


@reports_errors
def claim(
    out: Annotated[Path, typer.Option(help="File to write the claim to; it must not exist.")],
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    operator: OperatorOption = None,
    specs: SpecsOption = None,
    feature_level: FeatureLevelOption = None,
) -> None:
    """Run a backend, and draft a claim from the verdicts.

    Exit codes: 0 written; 1 nothing to claim; 2 invalid input.
    """
    from opcert.backends import parse_backend_options
    from opcert.certificate import claim_path, draft_claim, write_claim
    from opcert.report import console, progress
    from opcert.suite import open_suite

    options = parse_backend_options(backend_option)
    target = claim_path(out, suite)
    opened = open_suite(suite, specs, operator, jobs=worker_count(), announce=announce)
    with progress(console(stderr=True)) as on_verdict:
        draft = draft_claim(
            backend,
            opened,
            options=options,
            specs=specs,
            operator=operator,
            feature_level=feature_level,
            progress=on_verdict,
        )
    if not draft.operators:
        echo_line("nothing was written: the backend declined every valid call, or none was run")
        raise typer.Exit(ExitCode.FAILURE)
    write_claim(draft, target)
    echo_line(f"wrote {target}")
    for remark in draft.remarks:
        echo_line(remark)


@reports_errors
def driver_check(
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="Command that starts the driver.")
    ],
    backend_option: BackendOptions = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            callback=finite,
            help="Time limit for the start, and for each call.",
        ),
    ] = 60.0,
) -> None:
    """Check that a driver follows the protocol; its results are not checked.

    Exit codes: 0 all steps passed; 1 a step failed; 2 invalid input.
    """
    from opcert.backends import DRIVER_PREFIX, parse_backend_options
    from opcert.isolation import check_driver
    from opcert.suite import Suite

    options = parse_backend_options(backend_option)
    steps = []
    for step in check_driver(command.removeprefix(DRIVER_PREFIX), options, timeout, Suite()):
        echo_lines(str(step))
        steps.append(step)
    wrong = sum(not step.passed for step in steps)
    if wrong:
        echo_line(f"{wrong} of {len(steps)} steps are wrong")
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"all {len(steps)} steps are right")
