"""The command line: backends | certify | check | claim | coverage | explore | generate | schema."""

from pathlib import Path
from typing import Annotated

import typer

from opcert.generator.cli_options import (
    CONFORMANT,
    FOUND,
    INTERRUPTED,
    NOT_CONFORMANT,
    NOTHING_FOUND,
    BackendOption,
    BackendOptions,
    FeatureLevelOption,
    OperatorOption,
    Profile,
    SpecsOption,
    SuiteOption,
    reports_errors,
)
from opcert.generator.errors import OpcertError

app = typer.Typer(
    name="opcert",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Certify implementations of tensor operators against written specifications.",
)


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


@app.command()
@reports_errors
def certify(
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    case: Annotated[str, typer.Option(metavar="GLOB", help="Only these cases.")] = "*",
    specs: SpecsOption = None,
    out: Annotated[Path | None, typer.Option(help="Folder for certificate.json.")] = None,
    feature_level: FeatureLevelOption = None,
    claim: Annotated[
        Path | None, typer.Option(help="File that says what is supported; nothing else counts.")
    ] = None,
    waivers: Annotated[
        Path | None, typer.Option(help="File of known failures, which do not block.")
    ] = None,
    in_process: Annotated[
        bool,
        typer.Option(
            "--in-process",
            help="Run in this process, instead of one of its own; a crash then ends the run.",
        ),
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(min=0.001, metavar="SECONDS", help="For one call, or it hangs."),
    ] = 60.0,
    memory: Annotated[
        int, typer.Option(min=0, metavar="MIB", help="Of the backend's process at most; 0: any.")
    ] = 0,
    stop_at_failure: Annotated[
        bool, typer.Option("-x", "--stop-at-failure", help="Stop at the first failure.")
    ] = False,
) -> None:
    """Certify a backend. Exit 0: conformant; 1: not, or nothing verified; 2: a wrong call."""
    from opcert.generator.backends import key_value
    from opcert.generator.certificate_file import certificate_path, write_certificate
    from opcert.generator.certify_suite import Interrupted
    from opcert.generator.certify_suite import certify as run
    from opcert.generator.report import console, progress, show

    options = dict(map(key_value, backend_option or []))
    # Looked up before the backend runs, which may change the current folder.
    target = None if out is None else certificate_path(out, suite)
    interrupted = False
    try:
        with progress(console(stderr=True)) as on_verdict:
            certificate = run(
                backend,
                suite,
                isolated=False if in_process else None,
                options=options,
                specs=specs,
                operator=operator,
                case=case,
                feature_level=feature_level,
                claim=claim,
                waivers=waivers,
                stop_at_failure=stop_at_failure,
                timeout=timeout,
                memory=memory << 20,
                progress=on_verdict,
            )
    except Interrupted as reached:
        certificate, interrupted = reached.certificate, True
    if target is not None:
        write_certificate(certificate, target)
        typer.echo(f"wrote {target}", err=True)
    show(certificate, console())
    if interrupted:
        typer.echo("opcert: interrupted; the cases that were not reached are not-run", err=True)
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(CONFORMANT if certificate.conformant else NOT_CONFORMANT)


@app.command("claim")
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
    from opcert.generator.backends import key_value
    from opcert.generator.claim_draft import claim_path, draft_claim, write_claim
    from opcert.generator.report import console, progress

    options = dict(map(key_value, backend_option or []))
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
        typer.echo("nothing was written: every valid call was declined, or none was run")
        raise typer.Exit(NOT_CONFORMANT)
    write_claim(drafted, target)
    typer.echo(f"wrote {target}")
    for remark in drafted.remarks:
        typer.echo(remark)


@app.command()
@reports_errors
def explore(
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="For all operators together.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
) -> None:
    """Look for wrong calls beyond the suite. Exit 0: none found; 1: found; 2: a wrong call."""
    from opcert.generator.backends import key_value, program_for
    from opcert.generator.explore import explore as run
    from opcert.generator.explore import without_traces
    from opcert.generator.snippets import told

    options = dict(map(key_value, backend_option or []))
    found = False
    with without_traces():
        for each in run(
            backend, options=options, specs=specs, operator=operator, minutes=minutes, seed=seed
        ):
            typer.echo(told(each, program_for(backend, options)))
            found = found or each.finding is not None
    raise typer.Exit(FOUND if found else NOTHING_FOUND)


@app.command()
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
    from opcert.generator.generation import generate as make

    def done(name: str) -> None:
        typer.echo(name, err=True)

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
        typer.echo("\n".join(found))
        typer.echo(f"{out} is not what the specs give; run `opcert generate --out {out}`", err=True)
        raise typer.Exit(NOT_CONFORMANT)
    typer.echo(f"{out} is what the specs give" if check else f"wrote {out}")


@app.command()
@reports_errors
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Spec files; by default those of opcert.")
    ] = None,
    specs: SpecsOption = None,
) -> None:
    """Check specs: every mistake with its place, then how many cases stand behind each rule."""
    from opcert.generator.report import console, show_counts
    from opcert.generator.spec_check import check_specs
    from opcert.generator.spec_files import spec_paths

    counts = check_specs(files or spec_paths(specs))
    show_counts(counts, console())


@app.command()
@reports_errors
def coverage(
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    specs: SpecsOption = None,
) -> None:
    """Count what a suite covers, in its own data. Exit 0: all of it; 1: something is missing."""
    from opcert.generator.coverage import coverage_of
    from opcert.generator.report import console, show_coverage
    from opcert.generator.spec_files import specs_in
    from opcert.generator.suite import Suite

    described = {each.spec.operator: each.spec for each in specs_in(specs, operator)}
    found = list(coverage_of(Suite(suite, specs), described))
    for each in found:
        show_coverage(each, console())
    if not found:
        raise OpcertError("the suite has no operator of these specs; nothing was counted")
    raise typer.Exit(CONFORMANT if all(each.share == 1 for each in found) else NOT_CONFORMANT)


@app.command()
@reports_errors
def backends() -> None:
    """List the backends that have a name, and what each says of each operator."""
    from opcert.generator.backend_list import listed, operators
    from opcert.generator.report import console, show_backends

    show_backends(listed(), operators(), console())


@app.command()
@reports_errors
def schema(
    certificate: Annotated[
        bool, typer.Option("--certificate", help="That of certificate.json instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of a spec, for editors, or of a certificate."""
    import json

    if certificate:
        from opcert.generator.certificate_file import json_schema
    else:
        from opcert.generator.spec import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))


def main() -> None:
    """Run the command line."""
    app(windows_expand_args=False)


if __name__ == "__main__":
    main()
