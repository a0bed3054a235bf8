"""opcert certify: a run, or one for each configuration; its certificate, answer and exit code."""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opcert.commands.options import (
    AT_FAULT,
    CONFORMANT,
    INTERRUPTED,
    NOT_CONFORMANT,
    BackendOption,
    BackendOptions,
    FeatureLevelOption,
    InProcessOption,
    OperatorOption,
    SpecsOption,
    SuiteOption,
    TimeoutOption,
    print_error,
    reports_errors,
    say,
    warn_of_unknown_operators,
)
from opcert.errors import OpcertError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from opcert.certificate import Certificate, Sign
    from opcert.isolation import Configuration
    from opcert.suite import Suite

_SAID = {
    CONFORMANT: "conformant",
    NOT_CONFORMANT: "not conformant",
    AT_FAULT: "at fault",
    INTERRUPTED: "interrupted",
}


@reports_errors
def certify(
    backend: BackendOption = "reference",
    backend_option: BackendOptions = None,
    suite: SuiteOption = None,
    operator: OperatorOption = "*",
    case: Annotated[str, typer.Option(metavar="GLOB", help="Only these cases.")] = "*",
    specs: SpecsOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the certificate; it holds nothing else.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the certificate in --out.")
    ] = False,
    feature_level: FeatureLevelOption = None,
    claim: Annotated[
        Path | None, typer.Option(help="File that says what is supported; nothing else counts.")
    ] = None,
    waivers: Annotated[
        Path | None, typer.Option(help="File of known failures, which do not block.")
    ] = None,
    in_process: InProcessOption = False,
    timeout: TimeoutOption = 60.0,
    memory: Annotated[
        int, typer.Option(min=0, metavar="MIB", help="Of the backend's process at most; 0: any.")
    ] = 0,
    stop_at_failure: Annotated[
        bool, typer.Option("-x", "--stop-at-failure", help="Stop at the first failure.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the certificate, instead of the answer.")
    ] = False,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="PEM file of an Ed25519 private key to sign with."),
    ] = None,
) -> None:
    """Certify a backend. Exit 0: conformant; 1: not, or nothing verified; 2: a wrong call."""
    from opcert.backends import parse_backend_options
    from opcert.certificate import CLAIM_FILE, WAIVERS_FILE, open_suite
    from opcert.certificate import certify as run
    from opcert.isolation import configurations
    from opcert.yaml_files import YamlSource

    if sign is not None and out is None:
        raise OpcertError("--sign needs --out, the folder of the certificate to sign")
    # A wrong key costs no run, and no backend sees the passphrase.
    signs = None if sign is None else _signer(sign)
    if resume and out is None:
        raise OpcertError("--resume needs --out, the folder of the certificate to go on from")
    paths = {CLAIM_FILE: claim, WAIVERS_FILE: waivers}
    given = {name: YamlSource(path) for name, path in paths.items() if path is not None}
    isolated = False if in_process else None
    found = configurations(backend, parse_backend_options(backend_option), isolated)
    if as_json and len(found) > 1:
        raise OpcertError("--json prints one certificate; choose one configuration, or use --out")
    opened = open_suite(suite, specs, operator)
    _say_near(opened, operator, case)
    begin = partial(
        run,
        backend,
        opened,
        isolated,
        specs=specs,
        operator=operator,
        case=case,
        feature_level=feature_level,
        claim=given.get(CLAIM_FILE),
        waivers=given.get(WAIVERS_FILE),
        stop_at_failure=stop_at_failure,
        timeout=timeout,
        memory=memory << 20,
    )
    # Looked up before the backend runs, which may change the current folder.
    place = None if out is None else out.absolute()
    request = _Request(
        begin=begin,
        suite=opened,
        suite_folder=suite,
        specs=specs,
        out=place,
        copies={name: source.content for name, source in given.items()},
        sign=signs,
        resumed=_resumed(place, found) if resume else (),
        as_json=as_json,
    )
    raise typer.Exit(request.certified(found[0]) if len(found) == 1 else request.each(found))


def _say_near(suite: "Suite", operator: str, case: str) -> None:
    """Say which case may have been meant, where none is chosen."""
    ids = suite.select(operator, "*")
    if ids and not suite.select(operator, case):
        near = did_you_mean(case, get_close_matches(case, ids, n=1)) or f"; one is '{ids[0]}'"
        say(f"opcert: no case matches '{case}'{near}", err=True)


def _signer(path: Path) -> "Sign":
    """Return what signs with the key at `path`; say so where others can read it."""
    from opcert.certificate import is_exposed, load_signer

    found = load_signer(path)
    if is_exposed(path):
        say(f"opcert: {path} can be read by others than its owner; chmod 600", err=True)
    return found


def _resumed(out: Path | None, found: "Sequence[Configuration]") -> "Sequence[Configuration]":
    """Return the configurations that have a certificate to go on from; the others begin.

    Raises:
        OpcertError: there is none.
    """
    from opcert.certificate import CERTIFICATE_FILE

    if out is None:
        return ()
    resumed = [each for each in found if (out / each.name / CERTIFICATE_FILE).exists()]
    if not resumed:
        place = out / found[0].name / CERTIFICATE_FILE
        raise OpcertError(f"{place}: there is none; expected the certificate to go on from")
    return resumed


@dataclass(frozen=True)
class _Request:
    """What is asked for; `begin` is the run of a configuration, whose folder is in `out`."""

    begin: "Callable[..., Certificate]"
    suite: "Suite"
    suite_folder: Path | None
    specs: Path | None
    out: Path | None
    copies: "Mapping[str, bytes]"
    sign: "Sign | None"
    resumed: "Sequence[Configuration]"
    as_json: bool

    def each(self, found: "Sequence[Configuration]") -> int:
        """Certify one configuration after the other, and return the worst exit code."""
        codes: dict[str, int] = {}
        for each in found:
            say(f"{each.name}:")
            try:
                codes[each.name] = self.certified(each)
            except (OpcertError, OSError) as error:
                print_error(error)
                codes[each.name] = AT_FAULT
            except KeyboardInterrupt:
                codes[each.name] = INTERRUPTED
            if codes[each.name] == INTERRUPTED:
                break
        said = (f"{each.name} {_SAID.get(codes.get(each.name, -1), 'not begun')}" for each in found)
        say(f"{len(found)} configurations: {'; '.join(said)}")
        return max(codes.values())

    def certified(self, configuration: "Configuration") -> int:
        """Certify one configuration, write its certificate, print it, and return its exit code."""
        from opcert.certificate import (
            CERTIFICATE_FILE,
            CertificationInterrupted,
            UnusedWaiverError,
            read_certificate,
            submission_path,
        )
        from opcert.report import console, print_certificate, progress

        folder = None if self.out is None else self.out / configuration.name
        former, target, interrupted = None, None, False
        if folder is not None:
            former = (
                read_certificate(folder / CERTIFICATE_FILE)
                if configuration in self.resumed
                else None
            )
            target = submission_path(folder, self.suite_folder)
        if former is not None:
            left = former.counts["not-run"]
            say(f"{left or 'no'} of {len(former.verdicts)} cases left to run", err=True)
        try:
            with progress(console(stderr=True)) as on_verdict:
                certificate = self.begin(
                    options=configuration.options, resume=former, progress=on_verdict
                )
        except CertificationInterrupted as reached:
            certificate, interrupted = reached.certificate, True
        except UnusedWaiverError as error:
            # The run is not lost, though its waivers have to be mended.
            if target is not None:
                self.written(error.certificate, target)
            raise
        warn_of_unknown_operators(certificate, self.suite)
        if target is not None:
            certificate = self.written(certificate, target)
        if self.as_json:
            typer.echo(certificate.to_json(), nl=False)
        else:
            print_certificate(certificate, console())
        if interrupted:
            say("opcert: interrupted; the cases that were not reached are not-run", err=True)
            return INTERRUPTED
        return CONFORMANT if certificate.conformant else NOT_CONFORMANT

    def written(self, certificate: "Certificate", target: Path) -> "Certificate":
        """Write a certificate and the files beside it, and return it as it is written.

        That of a run that was interrupted has no report.
        """
        from opcert.certificate import write_submission
        from opcert.report import report_files

        done = not certificate.counts["not-run"]
        told = report_files(certificate, self.suite, self.specs) if done else {}
        stated = write_submission(certificate, target, {**self.copies, **told}, self.sign)
        say(f"wrote {target}{' and its signature' if self.sign else ''}", err=True)
        return stated
