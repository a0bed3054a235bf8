"""opcert check, generate, coverage, schema: for those who write specs, or make suites of them."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    CONFORMANT,
    NOT_CONFORMANT,
    OperatorOption,
    Profile,
    SpecsOption,
    SuiteOption,
    reports_errors,
    say,
)
from opcert.errors import OpcertError


@reports_errors
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Spec files; by default those of opcert.")
    ] = None,
    specs: SpecsOption = None,
    strength: Annotated[
        bool, typer.Option(help="Run the panel of generic wrong backends, which takes longest.")
    ] = True,
) -> None:
    """Check specs: mistakes, warnings, cases behind each rule, generic faults that they find."""
    from opcert.commands.tables import print_rule_counts, print_strength
    from opcert.panel import measure_strength
    from opcert.report import console
    from opcert.specification import find_spec_files
    from opcert.suite import check_specs

    checked = check_specs(files or find_spec_files(specs))
    for each in checked:
        for warning in each.warnings:
            say(f"warning: {warning}", err=True)
    print_rule_counts([counts for each in checked for counts in each.counts], console())
    for each in checked if strength else ():
        print_strength(measure_strength(each.spec_file, each.operator), console())


@reports_errors
def generate(
    out: Annotated[Path, typer.Option(help="Folder of the suite.")] = Path("generated"),
    profile: Annotated[Profile, typer.Option(help="How many cases.")] = Profile.CORE,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say how the folder differs (exit 1).")
    ] = False,
) -> None:
    """Write the suite that the specs give, in the place of a former one."""
    from opcert.suite import generate as make

    def on_operator(name: str) -> None:
        say(name, err=True)

    found = make(
        out,
        specs,
        profile=profile.value,
        operator=operator,
        seed=seed,
        jobs=jobs,
        check=check,
        on_operator=on_operator,
    )
    if found:
        for line in found:
            say(line)
        say(f"{out} is not what the specs give; run `opcert generate --out {out}`", err=True)
        raise typer.Exit(NOT_CONFORMANT)
    say(f"{out} is what the specs give" if check else f"wrote {out}")


@reports_errors
def coverage(
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
) -> None:
    """Count what a suite covers, in its own data. Exit 0: all of it; 1: something is missing.

    With --specs alone, the core suite of these specs is generated and measured, and not kept.
    """
    from tempfile import TemporaryDirectory

    from opcert.commands.tables import print_coverage
    from opcert.report import console
    from opcert.specification import read_specs_in
    from opcert.suite import Suite, measure_coverage
    from opcert.suite import generate as generate_suite

    spec_files = {
        spec_file.spec.operator: spec_file for spec_file in read_specs_in(specs, operator)
    }
    with TemporaryDirectory() as folder:
        if suite is None and specs is not None:
            suite = Path(folder) / "suite"
            say(f"generating the core suite of {specs}", err=True)
            generate_suite(suite, specs, operator=operator)
        opened = Suite(suite, specs)
        results = list(measure_coverage(opened, spec_files))
    for result in results:
        print_coverage(result, console())
    if not results:
        raise OpcertError(
            f"no spec of {', '.join(opened.operators)} in {specs or 'the specs of opcert'}, so "
            "nothing was measured; name the folder of these specs by --specs"
        )
    is_complete = all(result.share == 1 for result in results)
    raise typer.Exit(CONFORMANT if is_complete else NOT_CONFORMANT)


@reports_errors
def schema(
    certificate: Annotated[
        bool, typer.Option("--certificate", help="That of certificate.json instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of a spec, for editors, or of a certificate."""
    import json

    if certificate:
        from opcert.certificate import json_schema
    else:
        from opcert.specification import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))
