"""opcert backends, opcert claim: what backends there are, and what one may claim."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    NOT_CONFORMANT,
    BackendOption,
    BackendOptions,
    FeatureLevelOption,
    OperatorOption,
    SpecsOption,
    SuiteOption,
    reports_errors,
    say,
)


@reports_errors
def backends() -> None:
    """List the backends that have a name, and what each says of each operator."""
    from opcert.commands.tables import print_backends
    from opcert.report import console
    from opcert.run import available_backends, core_operators

    print_backends(available_backends(), core_operators(), console())


@reports_errors
def claim(
    out: Annotated[Path, typer.Option(help="File of the claim, which must not exist.")],
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
    feature_level: FeatureLevelOption = None,
) -> None:
    """Draft a claim from a run. Exit 0: written; 1: nothing to claim; 2: a wrong call."""
    from opcert.backends import parse_backend_options
    from opcert.certificate import claim_path, draft_claim, write_claim
    from opcert.report import console, progress

    options = parse_backend_options(backend_option)
    target = claim_path(out, suite)
    with progress(console(stderr=True)) as on_verdict:
        drafted = draft_claim(
            backend,
            suite,
            options=options,
            specs=specs,
            operator=operator,
            feature_level=feature_level,
            progress=on_verdict,
        )
    if not drafted.operators:
        say("nothing was written: every valid call was declined, or none was run")
        raise typer.Exit(NOT_CONFORMANT)
    write_claim(drafted, target)
    say(f"wrote {target}")
    for remark in drafted.remarks:
        say(remark)
