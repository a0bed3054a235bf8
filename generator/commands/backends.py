"""The commands about backends: `backends`, `claim`, `explore` and `driver-check`."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from opcert.backends.lookup import DRIVER_PREFIX, parse_backend_options, setup_code
from opcert.certificate.claim_draft import claim_path, draft_claim, write_claim
from opcert.commands.options import (
    BackendOption,
    BackendOptions,
    ExitCode,
    MinutesOption,
    QuietOption,
    SeedOption,
    SuiteOption,
    VerboseOption,
    announcer,
    echo_line,
    echo_lines,
    takes_settings,
    worker_count,
)
from opcert.commands.output import case_progress
from opcert.commands.selection import check_selection
from opcert.exploration.explore import explore as run
from opcert.exploration.snippets import result_text
from opcert.isolation.driver_check import check_driver
from opcert.report.terminal import console, print_line, table_cell
from opcert.run.backend_list import AvailableBackend, available_backends
from opcert.run.settings import RunSettings
from opcert.specification.references import shipped_operators
from opcert.suite.opening import open_suite
from opcert.suite.suite import Suite


def backends() -> None:
    """List the available backends, and what they support."""
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


@takes_settings("operator", "specs", "isolated", "timeout", "memory")
def explore(
    *,
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    settings: RunSettings,
    minutes: MinutesOption = 1.0,
    seed: SeedOption = 0,
) -> None:
    """Search for failing calls beyond the suite.

    Exit codes: 0 no failing call found; 1 failing calls found; 2 invalid input.
    """
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


def print_backends(
    backends: Iterable[AvailableBackend], operators: Sequence[str], console: Console
) -> None:
    """Print each backend with its packages, and its support of each operator."""
    listed = list(backends)
    table = Table("backend", "packages", box=box.SIMPLE_HEAD)
    for backend in listed:
        packages = backend.packages if backend.installed else f"not installed: {backend.packages}"
        table.add_row(table_cell(backend.name), table_cell(packages))
    console.print(table)
    # Lines between the columns would take up space for names.
    support = Table("operator", *(table_cell(b.name) for b in listed), box=box.SIMPLE_HEAD)
    for operator in operators:
        how = (backend.how.get(operator, "undeclared") for backend in listed)
        support.add_row(table_cell(operator), *map(table_cell, how))
    console.print(support)
    text = "undeclared: the backend declares no support, so every call counts as supported"
    print_line(console, text)
