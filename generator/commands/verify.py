"""Check that a certificate belongs to its suite, and that its parts agree.

What the cases came to is not judged again, except by --rerun. A certificate of a backend that
is not conformant can be sound.

Exit codes: 0 sound; 1 findings; 2 invalid input, or not a certificate.
"""

from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow
from typing import Annotated

import typer

from opcert import __version__
from opcert.backends.lookup import parse_backend_options
from opcert.certificate.certificate import Certificate
from opcert.certificate.file import parse_certificate, read_certificate_bytes
from opcert.certificate.signing import load_public_key, signature_error
from opcert.commands.options import (
    BackendOptions,
    ExitCode,
    OptionalBackendOption,
    QuietOption,
    RerunOption,
    SuiteOption,
    announcer,
    echo_line,
    takes_settings,
    whole_number,
    worker_count,
)
from opcert.commands.selection import certificate_file, warn_of_unknown_operators
from opcert.errors import OpcertError
from opcert.report.terminal import conclusion_line
from opcert.run.settings import RunSettings
from opcert.suite.opening import open_certified_suite
from opcert.suite.suite import Suite
from opcert.verification.folder_checks import (
    file_name_findings,
    find_certificate,
    folder_findings,
    form_findings,
    has_this_version,
    read_signature,
    report_findings,
)
from opcert.verification.rerun import rerun_findings, sample_verdicts
from opcert.verification.verification import Finding, verify_certificate

# How many findings are printed; a certificate may have any number of them.
_MAX_FINDINGS = 1000


@takes_settings("specs")
def verify(
    *,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A certificate.json or its folder.",
        ),
    ],
    suite: SuiteOption = None,
    settings: RunSettings,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="KEY", help="PEM file of the public key for the signature."),
    ] = None,
    rerun: RerunOption = 0,
    backend: OptionalBackendOption = None,
    backend_option: BackendOptions = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="NUMBER",
            parser=whole_number("--seed", "a whole number"),
            help="Seed of the sample of --rerun; random by default.",
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    if bool(rerun) != (backend is not None):
        raise OpcertError("--rerun and --backend need each other: a number of cases and a backend")
    certificate_file(path)
    file = find_certificate(path)
    # Read once, so that all checks apply to the signed bytes.
    content = read_certificate_bytes(file)
    certificate = parse_certificate(content, file)
    findings, unchecked = _check_signature(file, content, key)
    findings += form_findings(file.name, content, certificate)
    if path.is_dir():
        findings += folder_findings(path, certificate)
    elif certificate.files:
        unchecked.append("the files next to it (name the folder)")
    opened = open_certified_suite(
        certificate.suite, suite, settings.specs, jobs=worker_count(), announce=announcer(quiet)
    )
    own_findings = verify_certificate(certificate, opened)
    findings += own_findings
    if path.is_dir() and not has_this_version(certificate):
        unchecked.append("the report (another version of opcert made it)")
    elif path.is_dir():
        findings += file_name_findings(certificate)
        if own_findings:
            unchecked.append("the report (the certificate has findings)")
        else:
            findings += report_findings(path, certificate, opened)
    if backend is not None:
        options = backend_option or []
        findings += _rerun_sample(
            certificate, opened, rerun, seed, backend, options, settings.specs
        )
    warn_of_unknown_operators(certificate, opened)
    remarks = "" if has_this_version(certificate) else _version_remark(certificate)
    if unchecked:
        remarks += f"; not checked: {', '.join(unchecked)}"
    _finish(findings, conclusion_line(certificate), remarks)


def _finish(findings: Sequence[Finding], conclusion: str, remarks: str) -> None:
    """Print the findings, or the conclusion, and exit with 1 if there are findings."""
    for finding in findings[:_MAX_FINDINGS]:
        echo_line(str(finding))
    if findings:
        if more := len(findings[_MAX_FINDINGS:]):
            echo_line(f"... and {more} more findings")
        echo_line(f"not sound: {len(findings)} finding{'s' * (len(findings) > 1)}{remarks}")
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"sound: {conclusion}{remarks}")


def _version_remark(certificate: Certificate) -> str:
    """Return a remark on the versions of opcert that made and checked a certificate."""
    made_by = certificate.platform.opcert
    return f"; made by opcert {made_by}, checked with the rules of {__version__}"


def _check_signature(
    file: Path, content: bytes, key: Path | None
) -> tuple[list[Finding], list[str]]:
    """Return the findings about the signature, and its unchecked aspects."""
    signature = read_signature(file)
    if key is None:
        signed = signature is not None
        return [], ["the signature (no --key)" if signed else "who made it (no signature)"]

    public_key = load_public_key(key)
    place = f"{file.name}.sig"
    if signature is None:
        return [Finding(place, f"found none; expected a signature for {key}")], []
    error = signature_error(signature, content, public_key)
    return [Finding(place, error)] if error else [], []


def _rerun_sample(
    certificate: Certificate,
    suite: Suite,
    count: int,
    seed: int | None,
    backend: str,
    options: list[str],
    specs: Path | None,
) -> list[Finding]:
    """Run a sample of the cases again; print the options that select the same sample."""
    seed = randbelow(1 << 32) if seed is None else seed
    sample = sample_verdicts(certificate, suite, count, seed)
    echo_line(f"running {len(sample)} cases again: --rerun {count} --seed {seed}", err=True)
    arguments = parse_backend_options(options)
    return list(rerun_findings(certificate, suite, sample, backend, arguments, specs))
