"""Generate a suite from specs.

By default it has the operators of the core suite, or all operators of --specs.
"""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    ClusterOption,
    ClusterResourcesOption,
    ExitCode,
    Profile,
    QuietOption,
    SeedOption,
    announcer,
    echo_line,
    open_cluster,
    read_profile,
    takes_settings,
)
from opcert.run.settings import RunSettings
from opcert.suite.generation import generate as generate_suite


@takes_settings("operator", "specs", "jobs")
def generate(
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for the suite; replaces an earlier one."
        ),
    ] = Path("generated"),
    profile: Annotated[
        Profile,
        typer.Option(
            "--profile",
            metavar="PROFILE",
            parser=read_profile,
            autocompletion=lambda: [*Profile],
            help="Size of the suite: core, full or stress.",
        ),
    ] = Profile.CORE,
    settings: RunSettings,
    seed: SeedOption = 0,
    cluster: ClusterOption = None,
    cluster_resources: ClusterResourcesOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; list how the folder differs, with exit code 1."
        ),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    with open_cluster(cluster, cluster_resources, settings.jobs) as connected:
        differences = generate_suite(
            out,
            settings.specs,
            profile=profile.value,
            operator=settings.operator,
            seed=seed,
            jobs=settings.jobs,
            cluster=connected,
            check=check,
            on_operator=announcer(quiet),
        )
    for difference in differences:
        echo_line(difference)
    if differences:
        text = f"{out} differs from the suite of the specs; run the same command without --check"
        echo_line(text, err=True)
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"{out} is the suite of the specs" if check else f"wrote {out}")
