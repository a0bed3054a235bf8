"""The command line: what each command is called, takes, and calls."""

import sys
from functools import partial
from pathlib import Path
from traceback import print_exc
from typing import Annotated

import typer

from opcert.generator.commands.certify import certify
from opcert.generator.commands.driver import driver_check
from opcert.generator.commands.options import (
    CONFORMANT,
    FOUND,
    NOT_CONFORMANT,
    NOTHING_FOUND,
    OWN_FAULT,
    BackendOption,
    BackendOptions,
    FeatureLevelOption,
    InProcessOption,
    OnceCommand,
    OperatorOption,
    Profile,
    SpecsOption,
    SuiteOption,
    TimeoutOption,
    finite,
    reports_errors,
    say,
    say_lines,
)
from opcert.generator.commands.output import patient_output
from opcert.generator.commands.pages import docs, explain, report
from opcert.generator.commands.verify import verify
from opcert.generator.errors import OpcertError

app = typer.Typer(
    name="opcert",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Certify implementations of tensor operators against written specifications.",
)
command = partial(app.command, cls=OnceCommand)


command("driver-check")(driver_check)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"opcert {version('opcert')}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Certify implementations of tensor operators against written specifications."""


command()(certify)
command()(verify)


@command("claim")
@reports_errors
def draft(
    out: Annotated[Path, typer.Option(help="File of the claim, which must not exist.")],
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
    feature_level: FeatureLevelOption = None,
) -> None:
    """Draft a claim from a run. Exit 0: written; 1: nothing to claim; 2: a wrong call."""
    from opcert.generator.backends import options_of
    from opcert.generator.certificate.claim_draft import claim_path, draft_claim, write_claim
    from opcert.generator.report.terminal import console, progress

    options = options_of(backend_option)
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


@command()
@reports_errors
def explore(
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
    minutes: Annotated[
        float, typer.Option(min=0.01, callback=finite, help="For all operators together.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
    in_process: InProcessOption = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Look for wrong calls beyond the suite. Exit 0: none found; 1: found; 2: a wrong call."""
    from opcert.generator.backends import options_of, program_for
    from opcert.generator.exploration.explore import explore as run
    from opcert.generator.exploration.explore import without_traces
    from opcert.generator.exploration.snippets import told

    options = options_of(backend_option)
    found = False
    with without_traces():
        for each in run(
            backend,
            options=options,
            specs=specs,
            operator=operator,
            minutes=minutes,
            seed=seed,
            isolated=False if in_process else None,
            timeout=timeout,
        ):
            say_lines(told(each, partial(program_for, backend, options)))
            found = found or each.finding is not None
    raise typer.Exit(FOUND if found else NOTHING_FOUND)


@command()
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
    from opcert.generator.suite.generation import generate as make

    def done(name: str) -> None:
        say(name, err=True)

    found = make(
        out,
        specs,
        profile=profile.value,
        operator=operator,
        seed=seed,
        jobs=jobs,
        check=check,
        done=done,
    )
    if found:
        for line in found:
            say(line)
        say(f"{out} is not what the specs give; run `opcert generate --out {out}`", err=True)
        raise typer.Exit(NOT_CONFORMANT)
    say(f"{out} is what the specs give" if check else f"wrote {out}")


@command()
@reports_errors
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Spec files; by default those of opcert.")
    ] = None,
    specs: SpecsOption = None,
) -> None:
    """Check specs: every mistake with its place, then how many cases stand behind each rule."""
    from opcert.generator.report.terminal import console, show_counts
    from opcert.generator.specification.references import spec_paths
    from opcert.generator.suite.spec_check import check_specs

    counts = check_specs(files or spec_paths(specs))
    show_counts(counts, console())


@command()
@reports_errors
def coverage(
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
) -> None:
    """Count what a suite covers, in its own data. Exit 0: all of it; 1: something is missing."""
    from opcert.generator.report.terminal import console, show_coverage
    from opcert.generator.specification.files import specs_in
    from opcert.generator.suite.coverage import coverage_of
    from opcert.generator.suite.suite import Suite

    described = {each.spec.operator: each.spec for each in specs_in(specs, operator)}
    found = list(coverage_of(Suite(suite, specs), described))
    for each in found:
        show_coverage(each, console())
    if not found:
        raise OpcertError("the suite has no operator of these specs; nothing was counted")
    raise typer.Exit(CONFORMANT if all(each.share == 1 for each in found) else NOT_CONFORMANT)


@command()
@reports_errors
def backends() -> None:
    """List the backends that have a name, and what each says of each operator."""
    from opcert.generator.report.terminal import console, show_backends
    from opcert.generator.run.backend_list import listed, operators

    show_backends(listed(), operators(), console())


@command()
@reports_errors
def schema(
    certificate: Annotated[
        bool, typer.Option("--certificate", help="That of certificate.json instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of a spec, for editors, or of a certificate."""
    import json

    if certificate:
        from opcert.generator.certificate.file import json_schema
    else:
        from opcert.generator.specification.model import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))


command()(docs)
command()(report)
command()(explain)


def main() -> None:
    """Run the command line; a fault of opcert itself is told by a traceback and exit code 70."""
    with patient_output():
        try:
            app(windows_expand_args=False)
        except Exception:
            print_exc()
            sys.exit(OWN_FAULT)


if __name__ == "__main__":
    main()
