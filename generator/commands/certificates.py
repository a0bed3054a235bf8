"""The commands about certificates: `report`, `verify`, `sign`, `waivers` and `explain`."""

from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow
from typing import Annotated

import typer
import yaml

from opcert import __version__, verification
from opcert.backends.contract import close_backend
from opcert.backends.lookup import parse_backend_options, setup_code
from opcert.certificate import file as stored
from opcert.certificate.certificate import Certificate
from opcert.certificate.rerun import rerun_differences, sample_verdicts, settings_of
from opcert.certificate.setup import Setup
from opcert.commands import options
from opcert.commands.options import JOBS, ExitCode, announce, echo_line, takes_settings, warn
from opcert.errors import OpcertError, printable_line
from opcert.isolation.supervised import options_for, start_backend
from opcert.report import files as reports
from opcert.report.explain import case_program, describe_case, explain_case, find_case
from opcert.report.side_by_side import SideBySide
from opcert.run.outcome import native_code
from opcert.run.session import step_of
from opcert.settings import RunSettings
from opcert.suite import writing
from opcert.suite.generation import open_certified_suite, open_suite_of_case
from opcert.suite.suite import Suite
from opcert.suite.support import unknown_operators
from opcert.system import check_output_folder, write_files
from opcert.verdicts.cause_text import bugs_of


def suite_of(certificate: Certificate, suite: Path | None, specs: Path | None) -> Suite:
    """Return the suite of a certificate, with the arithmetics that it claims.

    Raises:
        OpcertError: the suite or a spec is at fault.
    """
    entry = certificate.suite
    opened = open_certified_suite(entry, suite, specs, jobs=JOBS, announce=announce)
    opened.claim(certificate.claimed)
    return opened


def warn_of_unknown_operators(certificate: Certificate, suite: Suite) -> None:
    """Warn of declared operators that neither `suite` nor the shipped specs have."""
    names = unknown_operators(certificate.backend.support or {}, suite)
    if names:
        text = "the backend declares operators that neither this suite nor the shipped specs have"
        warn(f"{text}: {', '.join(names)}")


def _read_fail_on(text: str) -> str:
    if text != "new":
        raise OpcertError(f"--fail-on: found '{text}'; expected new")
    return text


# What opcert writes next to certificates.
_NO_CERTIFICATES = {
    *(reports.REPORT_FILE, reports.JUNIT_FILE, reports.SIDE_BY_SIDE_FILE),
    *(stored.SIGNATURE_FILE, stored.CLAIM_FILE, stored.WAIVERS_FILE),
}


@takes_settings("specs")
def report(
    *,
    certificates: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Certificates or their folders; all others are compared with the first.",
        ),
    ],
    out: Annotated[
        Path | None,
        options.out(
            "FOLDER", "Folder for the HTML page, and for the JUnit XML of a single certificate."
        ),
    ] = None,
    suite: options.SuiteOption = None,
    settings: RunSettings,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="new",
            parser=_read_fail_on,
            help="Exit with 1 if a later certificate has a new cause, or a case that fails more "
            "severely than in the first one.",
        ),
    ] = None,
    quiet: options.QuietOption = False,
) -> None:
    """Show a certificate, or compare several.

    Exit codes: 0 printed; 1 something is new, with --fail-on; 2 invalid input.

    Examples:
        opcert report results
        opcert report results -o html
        opcert report results/* -o compared
        opcert report former results --fail-on new
    """
    # A pattern such as `results/*` matches them, too.
    certificates = [p for p in certificates if p.name not in _NO_CERTIFICATES] or certificates
    if fail_on is not None and len(certificates) == 1:
        raise OpcertError("--fail-on compares certificates: found one; name a former one before it")
    has_cases = out is not None and len(certificates) == 1
    if not has_cases and (suite is not None or settings.specs is not None):
        raise OpcertError(
            "--suite and --specs give a written report its cases; expected one certificate and "
            "--out, or neither of them"
        )
    read = [stored.read_certificate(stored.certificate_file(path)) for path in certificates]
    if out is not None:
        writing.refuse_path_in_suite(check_output_folder(out), suite)
        writing.check_marked_folder(out, *reports.REPORT)
    if quiet:
        for certificate in read:
            echo_line(reports.conclusion_line(certificate))
    elif len(read) == 1:
        reports.print_certificate(read[0], reports.console())
    else:
        reports.print_side_by_side(read, reports.console())
    if out is not None:
        if len(read) == 1:
            opened = suite_of(read[0], suite, settings.specs)
            files = reports.report_files(read[0], opened)
        else:
            files = reports.render_side_by_side(read)
        writing.replace_marked_folder(out, files, *reports.REPORT)
        echo_line(f"wrote {', '.join(str(out / name) for name in files if '/' not in name)}")
    if fail_on and any(c.new_causes or c.regressed for c in SideBySide(read).changes):
        raise typer.Exit(ExitCode.FAILURE)


# How many findings are printed; a certificate may have any number of them.
_MAX_FINDINGS = 1000


@takes_settings("specs")
def verify(
    *,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A certificate.json or its folder.")],
    suite: options.SuiteOption = None,
    settings: RunSettings,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="KEY", help="PEM file of the public key for the signature."),
    ] = None,
    rerun: Annotated[
        int,
        options.whole_number(
            "--rerun", "Run a sample of so many cases again on --backend.", "a number of cases", 0
        ),
    ] = 0,
    backend: options.OptionalBackendOption = None,
    backend_option: options.BackendOptions = None,
    seed: Annotated[
        int | None,
        options.whole_number("--seed", "Seed of the sample of --rerun; random by default."),
    ] = None,
) -> None:
    """Check that a certificate belongs to its suite, and that its parts agree.

    Each case is judged again from what was observed; only --rerun makes calls. A certificate of a
    backend that is not conformant can be sound.

    Exit codes: 0 sound; 1 findings; 2 invalid input, or not a certificate.

    Examples:
        opcert verify results
        opcert verify results --key vendor.pub.pem
        opcert verify results --rerun 50 -b my_backend.py:Backend
    """
    if (rerun or backend or backend_option or seed is not None) and not (rerun and backend):
        raise OpcertError(
            "--rerun and --backend need each other: a number of cases and a backend; --seed and "
            "--backend-option need both"
        )
    file = stored.certificate_file(path)
    if path.is_dir() and file.is_symlink():
        raise OpcertError(f"{file}: a link, which is not followed; {stored.EXPECTED}")
    # Read once, so that all checks apply to the signed bytes.
    content = stored.read_certificate_bytes(file)
    certificate = stored.parse_certificate(content, file)
    findings, unchecked = _check_signature(file, content, key)
    findings += verification.form_findings(file.name, content, certificate)
    if path.is_dir():
        findings += verification.folder_findings(path, certificate)
    elif certificate.files:
        unchecked.append("the files next to it (name the folder)")
    opened = suite_of(certificate, suite, settings.specs)
    made_by = certificate.platform.opcert
    own_findings = verification.verify_certificate(certificate, opened)
    findings += own_findings
    if path.is_dir() and made_by != __version__:
        unchecked.append("the report (another version of opcert made it)")
    elif path.is_dir() and own_findings:
        unchecked.append("the report (the certificate has findings)")
    elif path.is_dir():
        findings += verification.report_findings(path, certificate, opened)
    if backend is not None:
        seed = randbelow(1 << 32) if seed is None else seed
        sample = sample_verdicts(certificate, opened, rerun, seed)
        echo_line(f"running {len(sample)} cases again: --rerun {rerun} --seed {seed}", err=True)
        of_run = settings_of(certificate, settings)
        setup = Setup(backend, parse_backend_options(backend_option), of_run, None)
        findings += rerun_differences(certificate, opened, sample, setup)
    warn_of_unknown_operators(certificate, opened)
    remarks = f"; made by opcert {made_by}, checked with the rules of {__version__}"
    remarks = "" if made_by == __version__ else remarks
    if unchecked:
        remarks += f"; not checked: {', '.join(unchecked)}"
    _finish(findings, reports.conclusion_line(certificate), remarks)


def _finish(findings: Sequence[stored.Finding], conclusion: str, remarks: str) -> None:
    """Print the findings, or the conclusion, and exit with 1 if there are findings."""
    for finding in findings[:_MAX_FINDINGS]:
        echo_line(str(finding))
    if findings:
        if more := len(findings[_MAX_FINDINGS:]):
            echo_line(f"... and {more} more findings")
        echo_line(f"not sound: {len(findings)} finding{'s' * (len(findings) > 1)}{remarks}")
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"sound: {conclusion}{remarks}")


def _check_signature(
    file: Path, content: bytes, key: Path | None
) -> tuple[list[stored.Finding], list[str]]:
    """Return the findings about the signature, and its unchecked aspects."""
    signature = verification.read_signature(file)
    if key is None:
        signed = signature is not None
        return [], ["the signature (no --key)" if signed else "who made it (no signature)"]

    public_key = stored.load_key(key, "public")
    place = f"{file.name}.sig"
    if signature is None:
        return [stored.Finding(place, f"found none; expected a signature for {key}")], []
    error = stored.signature_error(signature, content, public_key)
    return [stored.Finding(place, error)] if error else [], []


def sign(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A certificate.json, or its folder.")
    ],
    key: Annotated[
        Path, typer.Option("--key", metavar="KEY", help="PEM file of the Ed25519 private key.")
    ],
) -> None:
    """Sign a certificate.

    The signature is written next to it, and replaces an earlier one. Sign in an environment in
    which no backend runs: a backend may read whatever its user can read.

    Exit codes: 0 signed; 2 invalid input, or not a certificate.

    Examples:
        opcert sign results --key vendor.key.pem
    """
    file = stored.certificate_file(path)
    private_key = stored.load_key(key, "private")
    # Read by the group or by all.
    if key.stat().st_mode & 0o044:
        warn(f"other users can read {key}; restrict it with chmod 600")
    content = stored.read_certificate_bytes(file)
    stored.parse_certificate(content, file)
    announce(f"wrote {stored.write_signature(file, content, private_key)}")


def waivers(
    *,
    certificate: options.CertificateOption,
    out: Annotated[Path, options.out("FILE", "File to write the waivers to; it must not exist.")],
) -> None:
    """Draft a waiver for each bug that a certificate has, and each kind of failure.

    Its owner, its link and its last day are empty. Fill them in: `certify` needs them.

    Exit codes: 0 written; 1 nothing to waive; 2 invalid input.

    Examples:
        opcert waivers --from results -o waivers.yaml
    """
    read = stored.read_certificate(stored.certificate_file(certificate))
    target = writing.path_of_new_file(out, None)
    if not read.causes:
        echo_line("nothing was written: the certificate has no bugs")
        raise typer.Exit(ExitCode.FAILURE)
    drafts = []
    for bug in bugs_of(read.causes):
        # Another failure of the same cases, such as a crash, is not waived.
        cases: dict[str | None, list[str]] = {}
        for case in (*bug.cases, *bug.attributed):
            cases.setdefault(read.by_case[case].failure, []).append(case)
        for kind, of_kind in cases.items():
            missing = {"owner": "", "link": "", "expires": ""}
            drafts.append({"reason": bug.statement, "kind": kind, **missing, "cases": of_kind})
    head = printable_line(f"# Failures of {read.backend.name} {read.backend.version}")
    text = f"{head}: fill in what is empty\n" + yaml.safe_dump(
        drafts, sort_keys=False, allow_unicode=True, width=100
    )
    write_files(target.parent, [(target.name, text.encode())])
    announce(f"wrote {target}: {len(drafts)} waivers without owner, link and last day")


@takes_settings("specs")
def explain(
    *,
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="Id of a case, or a glob that matches one id.")
    ],
    suite: options.SuiteOption = None,
    settings: RunSettings,
    backend: options.OptionalBackendOption = None,
    backend_option: options.BackendOptions = None,
    program: Annotated[
        bool, typer.Option("--program", help="Print the program of the call, and nothing else.")
    ] = False,
    native: Annotated[
        bool,
        typer.Option(
            "--native", help="Make the call in the API of the backend's runtime, without opcert."
        ),
    ] = False,
) -> None:
    """Show the call of a case, its expected result, and a program.

    The program makes the call and checks the result. With --backend it calls this backend.

    Examples:
        opcert explain CASE
        opcert explain CASE --program -b my_backend.py:Backend > call.py
        opcert explain CASE --program -b onnxruntime --native > call.py
    """
    if native and backend is None:
        raise OpcertError("--native needs --backend, the backend whose runtime makes the call")
    if backend_option and backend is None:
        raise OpcertError("--backend-option needs --backend, the backend that takes the option")
    arguments = options_for(backend or "", parse_backend_options(backend_option), settings)
    opened = open_suite_of_case(case, suite, settings.specs, announce=announce)
    if not opened.select("*", case) and (path := Path(case)).exists():
        # A certificate or its folder in place of a case.
        raise OpcertError(
            f"{path}: is a {'folder' if path.is_dir() else 'file'}; expected the id of a case, "
            f"such as those in the report of {stored.certificate_file(path)}"
        )
    operator, indexed_case = find_case(opened, case)
    own_code = ""
    if native and backend is not None:
        step = step_of(operator, indexed_case)
        started = start_backend(backend, arguments)
        try:
            own_code = native_code(started, step.operator, step.laid_out, step.attributes)
        finally:
            close_backend(started)
        if not own_code:
            raise OpcertError(
                f"backend '{backend}' does not write the call of {indexed_case.id} in the API of a "
                "runtime; leave out --native"
            )
    setup = None if backend is None else setup_code(backend, arguments)
    try:
        code = case_program(operator, indexed_case, setup, own_code)
    except OpcertError as error:
        if program:
            raise
        code = f"# {error}\n"
    if program:
        typer.echo(code, nl=False)
    else:
        options.echo_lines(explain_case(describe_case(operator, indexed_case), code))
