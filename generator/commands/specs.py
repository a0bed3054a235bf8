"""The commands for specs and suites: `opcert check`, `generate`, `coverage` and `schema`."""

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
    SuiteOption,
    announcer,
    echo_line,
    open_cluster,
    read_profile,
    takes_settings,
    worker_count,
)
from opcert.errors import OpcertError
from opcert.run.settings import RunSettings


@takes_settings("specs")
def check(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Spec files; by default opcert's own."),
    ] = None,
    settings: RunSettings,
    strength: Annotated[
        bool,
        typer.Option(
            "--strength/--no-strength",
            help="Measure the strength on generic wrong backends, which takes most of the time.",
        ),
    ] = True,
) -> None:
    """Check specs, and measure the strength of their suite.

    Reports mistakes, warnings, the number of cases for each rule, and the generic wrong backends
    that the suite does not detect.
    """
    from opcert.commands.tables import print_rule_counts, print_strength
    from opcert.panel.strength import measure_strength
    from opcert.report.terminal import console
    from opcert.specification.references import find_spec_files
    from opcert.suite.spec_check import check_specs

    checked = check_specs(files or find_spec_files(settings.specs))
    for spec in checked:
        for warning in spec.warnings:
            echo_line(f"warning: {warning}", err=True)
    print_rule_counts([counts for spec in checked for counts in spec.counts], console())
    if strength:
        for spec in checked:
            print_strength(measure_strength(spec.spec_file, spec.operator), console())


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
    """Generate a suite from specs.

    By default it has the operators of the core suite, or all operators of --specs.
    """
    from opcert.suite.generation import generate as generate_suite

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


@takes_settings("operator", "specs")
def coverage(
    *,
    suite: SuiteOption = None,
    settings: RunSettings,
    quiet: QuietOption = False,
) -> None:
    """Measure the coverage of a suite.

    With --specs alone, generate a temporary core suite from these specs.

    Exit codes: 0 complete; 1 incomplete; 2 invalid input.
    """
    from opcert.commands.tables import print_coverage
    from opcert.report.terminal import console
    from opcert.specification.files import read_specs_in
    from opcert.suite.coverage import measure_coverage
    from opcert.suite.opening import open_suite

    spec_files = {
        spec_file.spec.operator: spec_file
        for spec_file in read_specs_in(settings.specs, settings.operator or "*")
    }
    opened = open_suite(
        suite, settings.specs, settings.operator, jobs=worker_count(), announce=announcer(quiet)
    )
    coverages = list(measure_coverage(opened, spec_files))
    for operator_coverage in coverages:
        print_coverage(operator_coverage, console())
    if not coverages:
        place = settings.specs or "the specs of opcert"
        raise OpcertError(
            f"no spec of {', '.join(opened.operators)} in {place}, so nothing was measured; name "
            "the folder of these specs by --specs"
        )
    if any(operator_coverage.share < 1 for operator_coverage in coverages):
        raise typer.Exit(ExitCode.FAILURE)


def schema(
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Print the schema of certificate.json instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of specs, or of certificates."""
    import json

    if certificate:
        from opcert.certificate.file import certificate_json_schema as json_schema
    else:
        from opcert.specification.model import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))
