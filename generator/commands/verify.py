"""opcert verify: a certificate or its folder, as a third party checks it; flaws and exit code."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opcert.commands.options import (
    BackendOptions,
    SpecsOption,
    SuiteOption,
    reports_errors,
    say,
    warn_of_unknown_operators,
)
from opcert.errors import OpcertError

if TYPE_CHECKING:
    from opcert.certificate import Certificate
    from opcert.suite import Suite
    from opcert.verification import Finding

SOUND, FLAWED = 0, 1


@reports_errors
def verify(
    path: Annotated[Path, typer.Argument(help="certificate.json, or the folder that it is in.")],
    suite: SuiteOption = None,
    specs: SpecsOption = None,
    key: Annotated[
        Path | None, typer.Option(help="PEM file of the public key that it was signed with.")
    ] = None,
    rerun: Annotated[
        int, typer.Option(min=0, metavar="N", help="Run so many of its cases again.")
    ] = 0,
    backend: Annotated[
        str | None, typer.Option(help="What they are run on, as for certify.")
    ] = None,
    backend_option: BackendOptions = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the choice of cases to run again; else one at random.")
    ] = None,
) -> None:
    """Check a certificate, conformant or not. Exit 0: sound; 1: flaws; 2: it cannot be read."""
    from opcert.certificate import parse_certificate, read_certificate_bytes
    from opcert.report import conclusion_line
    from opcert.verification import certificate_in, folder_flaws, form_flaws, verify_certificate

    if bool(rerun) != (backend is not None):
        raise OpcertError("--rerun N and --backend go together: what is run again, and on what")
    target = certificate_in(path)
    # Read once, so that what is checked is what the signature is of.
    written = read_certificate_bytes(target)
    certificate = parse_certificate(written, target)
    flaws, unchecked = _signature_flaws(target, written, key)
    flaws += form_flaws(target.name, written, certificate)
    if path.is_dir():
        flaws += folder_flaws(path, certificate)
    elif certificate.files:
        unchecked.append("the files beside it (name the folder)")
    opened = _opened(certificate, suite, specs)
    found = verify_certificate(certificate, opened)
    flaws += found
    if path.is_dir():
        unmade, left_out = _report_flaws(certificate, opened, specs, sound=not found)
        flaws, unchecked = flaws + unmade, unchecked + left_out
    if backend is not None:
        flaws += _again(certificate, opened, rerun, seed, backend, backend_option or [], specs)
    warn_of_unknown_operators(certificate, opened)
    for flaw in flaws:
        say(str(flaw))
    left = f"; not checked: {', '.join(unchecked)}" if unchecked else ""
    left = _made_by(certificate) + left
    if flaws:
        say(f"not sound: {len(flaws)} flaw{'s' * (len(flaws) > 1)}{left}")
        raise typer.Exit(FLAWED)
    say(f"sound: {conclusion_line(certificate)}{left}")


def _made_by(certificate: "Certificate") -> str:
    """Say that another opcert made a certificate, where it did."""
    from importlib.metadata import version

    from opcert.verification import is_ours

    if is_ours(certificate):
        return ""
    made = certificate.platform.opcert
    return f"; made by opcert {made}, checked with the rules of {version('opcert')}"


def _report_flaws(
    certificate: "Certificate", suite: "Suite", specs: Path | None, *, sound: bool
) -> "tuple[list[Finding], list[str]]":
    """Return what is wrong with the files beside a certificate, and which cannot be compared."""
    from opcert.verification import is_ours, name_flaws, report_flaws

    if not is_ours(certificate):
        return [], ["the report (another opcert made it)"]
    wrong = list(name_flaws(certificate))
    if not sound:
        return wrong, ["the report (the certificate has flaws)"]
    differing, unmade = report_flaws(certificate, suite, specs)
    return wrong + differing, [f"{name} (name its --specs)" for name in unmade]


def _signature_flaws(
    target: Path, written: bytes, key: Path | None
) -> "tuple[list[Finding], list[str]]":
    """Return what is wrong with the signature, and what is not checked of it."""
    from opcert.verification import Finding, signature_beside

    text = signature_beside(target)
    if key is None:
        return [], ["who made it (no signature)" if text is None else "the signature (no --key)"]
    from opcert.certificate import load_public_key, signature_error

    known = load_public_key(key)
    if text is None:
        return [Finding(f"{target.name}.sig", f"found none; expected one that {key} holds for")], []
    wrong = signature_error(text, written, known)
    return [Finding(f"{target.name}.sig", wrong)] if wrong else [], []


def _opened(certificate: "Certificate", suite: Path | None, specs: Path | None) -> "Suite":
    """Return the suite in a folder, one made of `specs` as the certificate's was, or opcert's."""
    from opcert.suite import Suite
    from opcert.verification import regenerate_suite

    if specs is not None and suite is None:
        return regenerate_suite(certificate.suite, specs)
    return Suite(suite, specs)


def _again(
    certificate: "Certificate",
    suite: "Suite",
    count: int,
    seed: int | None,
    backend: str,
    options: list[str],
    specs: Path | None,
) -> "list[Finding]":
    """Run a sample of the cases again, and say which it is."""
    from secrets import randbelow

    from opcert.backends import parse_backend_options
    from opcert.verification import rerun_flaws, sample

    seed = randbelow(1 << 32) if seed is None else seed
    sampled = sample(certificate, suite, count, seed)
    say(f"running {len(sampled)} cases again: --rerun {count} --seed {seed}", err=True)
    given = parse_backend_options(options)
    return list(rerun_flaws(certificate, suite, sampled, backend, given, specs))
