"""The command `opcert certify`: one run, or one for each configuration of a backend."""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opcert.commands.options import (
    BackendOption,
    BackendOptions,
    ExitCode,
    FeatureLevelOption,
    InProcessOption,
    OperatorOption,
    SpecsOption,
    SuiteOption,
    TimeoutOption,
    announce,
    echo_line,
    print_error,
    reports_errors,
    warn_of_unknown_operators,
    worker_count,
)
from opcert.errors import OpcertError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from opcert.certificate import Certificate
    from opcert.certificate.signing import Sign
    from opcert.isolation import Configuration
    from opcert.suite import Suite

_RESULTS = {
    ExitCode.SUCCESS: "conformant",
    ExitCode.FAILURE: "not conformant",
    ExitCode.INVALID_INPUT: "invalid input",
    ExitCode.INTERRUPTED: "interrupted",
}


@reports_errors
def certify(
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    operator: OperatorOption = None,
    case: Annotated[str, typer.Option(metavar="GLOB", help="Only cases whose id matches.")] = "*",
    specs: SpecsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the certificate and its report, without other files."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run of the certificate in --out.")
    ] = False,
    feature_level: FeatureLevelOption = None,
    claim: Annotated[
        Path | None,
        typer.Option(help="File of a claim. Only the claimed calls count."),
    ] = None,
    waivers: Annotated[
        Path | None,
        typer.Option(help="File of waivers: known failures, which do not block conformance."),
    ] = None,
    in_process: InProcessOption = False,
    timeout: TimeoutOption = 60.0,
    memory: Annotated[
        int,
        typer.Option(
            min=0, metavar="MIB", help="Memory limit for the backend's process; 0 is no limit."
        ),
    ] = 0,
    stop_at_failure: Annotated[
        bool,
        typer.Option("-x", "--stop-at-failure", help="Stop at the first failure without a waiver."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the certificate instead of a summary.")
    ] = False,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="PEM file of the Ed25519 private key that signs."),
    ] = None,
) -> None:
    """Certify a backend.

    Exit codes: 0 conformant; 1 not conformant, or nothing was verified; 2 invalid input.
    """
    from opcert.backends import parse_backend_options
    from opcert.certificate import CLAIM_FILE, WAIVERS_FILE
    from opcert.certificate import certify as certify_suite
    from opcert.isolation import configurations
    from opcert.suite import open_suite
    from opcert.yaml_files import YamlSource

    if sign is not None and out is None:
        raise OpcertError("--sign needs --out, the folder of the certificate to sign")
    # Before the run, so that a wrong key wastes no run and no backend sees the passphrase.
    signer = None if sign is None else _load_signer(sign)
    if resume and out is None:
        raise OpcertError("--resume needs --out, the folder of the certificate to continue")
    paths = {CLAIM_FILE: claim, WAIVERS_FILE: waivers}
    sources = {name: YamlSource(path) for name, path in paths.items() if path is not None}
    isolated = False if in_process else None
    selected = configurations(backend, parse_backend_options(backend_option), isolated)
    if as_json and len(selected) > 1:
        raise OpcertError("--json prints one certificate; choose one configuration, or use --out")
    opened = open_suite(suite, specs, operator, jobs=worker_count(), announce=announce)
    selected_operators = "*" if operator is None else operator
    ids = opened.select(selected_operators, "*")
    if ids and not opened.select(selected_operators, case):
        near = did_you_mean(case, get_close_matches(case, ids, n=1)) or f"; one is '{ids[0]}'"
        echo_line(f"opcert: no case matches '{case}'{near}", err=True)
    # Resolved before the backend runs, which may change the current folder.
    folder = None if out is None else out.absolute()
    request = _Request(
        certify=partial(
            certify_suite,
            backend,
            opened,
            isolated,
            specs=specs,
            operator=operator,
            case=case,
            feature_level=feature_level,
            claim=sources.get(CLAIM_FILE),
            waivers=sources.get(WAIVERS_FILE),
            stop_at_failure=stop_at_failure,
            timeout=timeout,
            memory=memory << 20,
        ),
        suite=opened,
        suite_folder=suite,
        specs=specs,
        out=folder,
        copies={name: source.content for name, source in sources.items()},
        signer=signer,
        resumed=_resumable(folder, selected) if resume and folder is not None else (),
        as_json=as_json,
    )
    raise typer.Exit(request.run(selected[0]) if len(selected) == 1 else request.run_all(selected))


def _load_signer(path: Path) -> "Sign":
    """Return a function that signs with a key; warn if other users can read the key."""
    from opcert.certificate.signing import is_exposed, load_signer

    signer = load_signer(path)
    if is_exposed(path):
        echo_line(f"opcert: other users can read {path}; restrict it with chmod 600", err=True)
    return signer


def _resumable(out: Path, selected: "Sequence[Configuration]") -> "Sequence[Configuration]":
    """Return the configurations that have a certificate to resume; the others start anew.

    Raises:
        OpcertError: no configuration has a certificate.
    """
    from opcert.certificate import CERTIFICATE_FILE

    resumable = [
        configuration
        for configuration in selected
        if (out / configuration.name / CERTIFICATE_FILE).exists()
    ]
    if not resumable:
        path = out / selected[0].name / CERTIFICATE_FILE
        raise OpcertError(f"{path}: No such file; expected the certificate to continue")
    return resumable


@dataclass(frozen=True)
class _Request:
    """The arguments of the command line, prepared.

    `certify` runs a configuration. Each configuration has its own folder in `out` for the
    certificate and for `copies` of claim and waivers.
    """

    certify: "Callable[..., Certificate]"
    suite: "Suite"
    suite_folder: Path | None
    specs: Path | None
    out: Path | None
    copies: "Mapping[str, bytes]"
    signer: "Sign | None"
    resumed: "Sequence[Configuration]"
    as_json: bool

    def run_all(self, selected: "Sequence[Configuration]") -> ExitCode:
        """Certify each configuration, and return the highest exit code."""
        codes: dict[str, ExitCode] = {}
        for configuration in selected:
            name = configuration.name
            echo_line(f"{name}:")
            try:
                codes[name] = self.run(configuration)
            except (OpcertError, OSError) as error:
                print_error(error)
                codes[name] = ExitCode.INVALID_INPUT
            except KeyboardInterrupt:
                codes[name] = ExitCode.INTERRUPTED
            if codes[name] == ExitCode.INTERRUPTED:
                break
        names = [configuration.name for configuration in selected]
        results = [
            f"{name} {_RESULTS[codes[name]] if name in codes else 'not started'}" for name in names
        ]
        echo_line(f"{len(selected)} configurations: {'; '.join(results)}")
        return max(codes.values())

    def run(self, configuration: "Configuration") -> ExitCode:
        """Certify one configuration, write and print its certificate, and return the exit code."""
        from opcert.certificate import (
            CERTIFICATE_FILE,
            CertificationInterrupted,
            UnusedWaiverError,
            read_certificate,
            submission_path,
        )
        from opcert.report import console, print_certificate, progress

        former, target, interrupted = None, None, False
        if self.out is not None:
            folder = self.out / configuration.name
            if configuration in self.resumed:
                former = read_certificate(folder / CERTIFICATE_FILE)
                count = former.counts["not-run"] or "no"
                echo_line(f"{count} of {len(former.verdicts)} cases left to run", err=True)
            target = submission_path(folder, self.suite_folder)
        try:
            with progress(console(stderr=True)) as on_verdict:
                certificate = self.certify(
                    options=configuration.options, resume=former, progress=on_verdict
                )
        except CertificationInterrupted as error:
            certificate, interrupted = error.certificate, True
        except UnusedWaiverError as error:
            # The waivers are wrong, but the certificate is kept.
            if target is not None:
                self._write(error.certificate, target)
            raise
        warn_of_unknown_operators(certificate, self.suite)
        if target is not None:
            certificate = self._write(certificate, target)
        if self.as_json:
            typer.echo(certificate.to_json(), nl=False)
        else:
            print_certificate(certificate, console())
        if interrupted:
            echo_line("opcert: interrupted; the remaining cases are not-run", err=True)
            return ExitCode.INTERRUPTED
        return ExitCode.SUCCESS if certificate.conformant else ExitCode.FAILURE

    def _write(self, certificate: "Certificate", target: Path) -> "Certificate":
        """Write a certificate and the files next to it; return the written certificate.

        Only a finished run has a report.
        """
        from opcert.certificate import write_submission
        from opcert.report import report_files

        finished = not certificate.counts["not-run"]
        reports = report_files(certificate, self.suite, self.specs) if finished else {}
        written = write_submission(certificate, target, {**self.copies, **reports}, self.signer)
        echo_line(f"wrote {target}{' and its signature' if self.signer else ''}", err=True)
        return written
