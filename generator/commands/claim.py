"""Run a backend, and draft a claim from the verdicts.

Exit codes: 0 written; 1 nothing to claim; 2 invalid input.
"""

from pathlib import Path
from typing import Annotated

import typer

from opcert.backends.lookup import parse_backend_options
from opcert.certificate.claim_draft import claim_path, draft_claim, write_claim
from opcert.commands.options import (
    BackendOption,
    BackendOptions,
    ExitCode,
    QuietOption,
    SuiteOption,
    VerboseOption,
    announcer,
    echo_line,
    takes_settings,
    worker_count,
)
from opcert.commands.output import case_progress
from opcert.commands.selection import check_selection
from opcert.run.settings import RunSettings
from opcert.suite.opening import open_suite


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
