"""The commands that search for failures: `certify` and `explore`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.certificate import file as stored
from opcert.certificate.certificate import Certificate
from opcert.certificate.certify_suite import CertificationInterrupted, UnusedWaiverError
from opcert.certificate.certify_suite import certify as certify_suite
from opcert.commands import options
from opcert.commands.certificates import warn_of_unknown_operators
from opcert.commands.options import ExitCode, echo_line, echo_lines, takes_settings, warn
from opcert.errors import OpcertError, did_you_mean, listed
from opcert.isolation.supervised import Configuration, configurations
from opcert.report import files as reports
from opcert.settings import OPTIONS, RunSettings
from opcert.suite.suite import Suite
from opcert.system import check_output_folder, write_files
from opcert.yaml_files import read_source

_RESULTS = {
    None: "not started",
    ExitCode.SUCCESS: "conformant",
    ExitCode.FAILURE: "not conformant",
    ExitCode.INVALID_INPUT: "invalid input",
    ExitCode.INTERRUPTED: "interrupted",
}


@takes_settings(*OPTIONS)
def certify(
    *,
    backend: options.BackendOption = "reference",
    backend_option: options.BackendOptions = None,
    suite: options.SuiteOption = None,
    out: Annotated[
        Path | None,
        options.out("FOLDER", "Folder for the certificate and its report, without other files."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run of the certificate in --out.")
    ] = False,
    settings: RunSettings,
    cluster: options.ClusterOption = None,
    cluster_resources: options.ClusterResourcesOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Certify a backend.

    Exit codes: 0 conformant; 1 not conformant, or nothing was verified; 2 invalid input.

    Examples:
        opcert certify -b my_backend.py:Backend -o results
        opcert certify -b openvino --backend-option device=GPU --operator 'openvino/*'
        opcert certify -b 'driver:./my_driver --fast' --timeout 5
    """
    if resume and out is None:
        raise OpcertError("--resume needs --out, the folder of the certificate to continue")
    # Read once: the folder gets copies of what the run has read.
    paths = {stored.CLAIM_FILE: settings.claim, stored.WAIVERS_FILE: settings.waivers}
    sources = {name: read_source(path) for name, path in paths.items() if path is not None}
    claim, waivers = map(sources.get, paths)
    settings = replace(settings, claim=claim, waivers=waivers)
    selected = configurations(backend, parse_backend_options(backend_option), settings.isolated)
    # Resolved before the backend runs, which may change the current folder.
    folder = None if out is None else out.absolute()
    former: Mapping[str, Certificate] = {}
    # Before a suite is generated, which may take long.
    if folder is not None:
        for place in (folder, *(folder / configuration.name for configuration in selected)):
            check_output_folder(place)
        former = _former_certificates(folder, selected) if resume else {}
        for configuration in selected:
            stored.submission_path(folder / configuration.name, suite)
    announce = (lambda _: None) if quiet else options.announce
    opened = options.open_selected(suite, settings, announce)
    _check_selection(opened, settings.operator or "*", settings.case)
    with options.open_cluster(cluster, cluster_resources) as connected:
        run = partial(certify_suite, backend, opened, cluster=connected, **settings.changes())
        copies = {name: source.content for name, source in sources.items()}
        request = _Request(run, opened, copies, folder, former, quiet, announce)
        code = request.run(selected[0])[0] if len(selected) == 1 else request.run_all(selected)
    raise typer.Exit(code)


def _check_selection(suite: Suite, operator: str, case: str) -> None:
    """Check that some case of a suite matches both globs.

    Raises:
        OpcertError: none does.
    """
    if not suite.select(operator, case):
        ids = suite.select(operator, "*")
        near = did_you_mean(case, get_close_matches(case, ids, n=1))
        one = near or "".join(f"; one is '{id_}'" for id_ in ids[:1])
        raise OpcertError(f"no case matches '{case}'{one}")


def _former_certificates(out: Path, selected: Sequence[Configuration]) -> Mapping[str, Certificate]:
    """Return the certificates to resume by configuration; other configurations start anew.

    Raises:
        OpcertError: no configuration has a certificate, or one cannot be read.
    """
    files = {config.name: out / config.name / stored.CERTIFICATE_FILE for config in selected}
    existing = {name: file for name, file in files.items() if file.exists()}
    if not existing:
        first = selected[0].name
        # Other configurations may have certificates here: they are listed then.
        stored.certificate_file(out / first)
        existing = {first: files[first]}
    return {name: stored.read_certificate(file) for name, file in existing.items()}


@dataclass(frozen=True)
class _Request:
    """The arguments of the command line, prepared.

    `certify` runs a configuration. `former` are the certificates to resume. Each configuration has
    a folder in `folder`, with the `copies` of claim and waivers; `folder` gets a report over all,
    if there are several.
    """

    certify: Callable[..., Certificate]
    suite: Suite
    copies: Mapping[str, bytes]
    folder: Path | None
    former: Mapping[str, Certificate]
    quiet: bool
    announce: Callable[[str], None]

    def run_all(self, selected: Sequence[Configuration]) -> ExitCode:
        """Certify each configuration, and return the highest exit code."""
        codes: dict[str, ExitCode] = {}
        certificates: list[Certificate] = []
        for configuration in selected:
            name = configuration.name
            echo_line(f"{name}:")
            try:
                codes[name], certificate = self.run(configuration)
                certificates += [certificate] if certificate.is_finished else []
            except (OpcertError, OSError) as error:
                options.print_error(error)
                codes[name] = ExitCode.INVALID_INPUT
            except KeyboardInterrupt:
                echo_line(options.interruption_text(), err=True)
                codes[name] = ExitCode.INTERRUPTED
            if codes[name] == ExitCode.INTERRUPTED:
                break
        results = [f"{one.name} {_RESULTS[codes.get(one.name)]}" for one in selected]
        echo_line(f"{len(selected)} configurations: {'; '.join(results)}")
        if self.folder is not None and len(certificates) > 1:
            write_files(self.folder, reports.render_side_by_side(certificates).items())
            self.announce(f"wrote {self.folder / reports.SIDE_BY_SIDE_FILE}, a report over all")
        return max(codes.values())

    def run(self, configuration: Configuration) -> tuple[ExitCode, Certificate]:
        """Certify one configuration, write and print its certificate; return the exit code, too."""
        interrupted = ""
        target = self.folder and self.folder / configuration.name / stored.CERTIFICATE_FILE
        former = self.former.get(configuration.name)
        if former is not None:
            reached = len(former.verdicts) - former.counts["not-run"]
            self.announce(f"{reached} cases have run already")
        try:
            console = reports.console(stderr=True)
            console.quiet = self.quiet
            with reports.progress(console) as on_verdict:
                certificate = self.certify(
                    options=configuration.options,
                    resume=former,
                    progress=on_verdict,
                    save=None if target is None else partial(self._save, target),
                )
        except CertificationInterrupted as error:
            certificate, interrupted = error.certificate, error.reason
        except UnusedWaiverError as error:
            # The waivers are wrong, but the certificate is kept, and its conclusion is printed.
            if target is not None:
                self._write(error.certificate, target)
            echo_line(reports.conclusion_line(error.certificate))
            raise
        warn_of_unknown_operators(certificate, self.suite)
        _warn_of_doubts(certificate, self.suite)
        try:
            if target is not None:
                certificate = self._write(certificate, target)
        finally:
            # What cannot be written is printed nevertheless.
            if self.quiet:
                echo_line(reports.conclusion_line(certificate))
            else:
                reports.print_certificate(certificate, reports.console())
        if interrupted:
            warn(f"{interrupted}; the remaining cases are not-run")
            return ExitCode.INTERRUPTED, certificate
        return ExitCode.SUCCESS if certificate.conformant else ExitCode.FAILURE, certificate

    def _save(self, target: Path, certificate: Certificate) -> None:
        """Write the certificate of an unfinished run, from which `--resume` goes on."""
        # If this fails, the run goes on: its end writes the certificate again.
        with suppress(OpcertError):
            stored.write_submission(certificate, target, self.copies)

    def _write(self, certificate: Certificate, target: Path) -> Certificate:
        """Write a certificate and the files next to it; return the written certificate.

        Only a finished run has a report.
        """
        finished = certificate.is_finished
        report = reports.report_files(certificate, self.suite) if finished else {}
        written = stored.write_submission(certificate, target, {**self.copies, **report})
        self.announce(f"wrote {target}")
        return written


def _warn_of_doubts(certificate: Certificate, suite: Suite) -> None:
    """Warn of changed files, of causes without a spec, and of cases that were given up."""
    for name in certificate.run.changed:
        warn(
            f"{name} changed during the run, so the verdicts may be of different versions; "
            "certify again"
        )
    operators = {cause.operator for cause in certificate.causes}
    if operators and (without := sorted(operators - suite.spec_files.keys())):
        warn(
            f"the suite comes from other specs of {listed(without)} than opcert has, so causes "
            "say little about arguments; generate it again, or use --specs"
        )
    given_up = Counter(
        v.operator for v in certificate.verdicts if v.status == "not-run" and not v.is_left_to_run
    )
    for operator, count in given_up.items():
        warn(
            f"{count} cases of {operator} were not run, after too many crashes and hangs; "
            "raise --max-crashes to run them"
        )


@takes_settings("operator", "specs", "isolated", "timeout", "memory")
def explore(
    *,
    backend: options.BackendOption = "reference",
    backend_option: options.BackendOptions = None,
    settings: RunSettings,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            metavar="MINUTES",
            parser=options.number("--minutes", "a number of minutes", 0.01),
            help="Time limit for all operators together.",
        ),
    ] = 1.0,
    seed: options.SeedOption = 0,
    known: Annotated[
        Path | None,
        typer.Option(
            "--known",
            metavar="CERTIFICATE",
            help="Pass over failures that a cause in this certificate explains. Waivers do not "
            "serve: they name cases.",
        ),
    ] = None,
) -> None:
    """Search for failing calls beyond the suite.

    Exit codes: 0 no failing call found; 1 failing calls found; 2 invalid input.

    Examples:
        opcert explore -b my_backend.py:Backend --minutes 5
        opcert explore -b torch --operator 'directml/*' --seed 7
    """
    # Hypothesis takes long to import, and no other command needs it.
    from opcert.exploration.explore import explore as search  # noqa: PLC0415

    arguments = parse_backend_options(backend_option)
    causes = () if known is None else stored.read_certificate(stored.certificate_file(known)).causes
    failures = 0
    for result in search(
        backend, settings, options=arguments, minutes=minutes, seed=seed, known=causes
    ):
        echo_lines(result.text(partial(setup_code, backend, arguments)))
        failures += result.counterexample is not None
    echo_line(f"{failures} distinct new bug{'s' * (failures != 1)} found")
    raise typer.Exit(ExitCode.FAILURE if failures else ExitCode.SUCCESS)
