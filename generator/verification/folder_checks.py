"""Checks the files next to a certificate: form, digests, signature, claim, waivers and report.

The folder is untrusted: links are not followed, and names that lead out of it are refused.
"""

import os
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from opcert.certificate.certificate import Certificate, ClaimEntry, WaiversEntry
from opcert.certificate.file import CERTIFICATE_FILE, MAX_CERTIFICATE_BYTES
from opcert.certificate.submission import CLAIM_FILE, SIGNATURE_FILE, WAIVERS_FILE, file_digest
from opcert.errors import OpcertError, SpecError
from opcert.output_files import files_below
from opcert.report.files import JUNIT_FILE, REPORT_FILE, render_report
from opcert.scope.claims import ClaimContent
from opcert.scope.waivers import Waiver
from opcert.suite.suite import Suite
from opcert.suite.writing import MAX_FILES
from opcert.untrusted_files import open_untrusted
from opcert.verification.verification import Finding
from opcert.yaml_files.source import YamlSource
from opcert.yaml_files.validation import validated_content

# The maximum number of bytes that are read of a signature.
MAX_SIGNATURE_BYTES = 1 << 10


def find_certificate(path: Path) -> Path:
    """Return the file of a certificate: `path`, or the certificate in the folder `path`.

    Raises:
        OpcertError: the folder has no certificate.
    """
    if not path.is_dir():
        return path
    try:
        open_untrusted(path / CERTIFICATE_FILE).close()
    except OSError as error:
        expected = "expected a certificate that `opcert certify --out` wrote"
        raise OpcertError(f"{path / CERTIFICATE_FILE}: {error.strerror}; {expected}") from None
    return path / CERTIFICATE_FILE


def read_signature(certificate: Path) -> bytes | None:
    """Return the text of the signature next to a certificate, or None if it is not signed.

    Raises:
        OpcertError: it cannot be read.
    """
    path = certificate.with_name(f"{certificate.name}.sig")
    try:
        with open_untrusted(path) as file:
            return file.read(MAX_SIGNATURE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OpcertError(f"{path}: {error.strerror}; expected a signature") from None


def form_findings(name: str, content: bytes, certificate: Certificate) -> Iterator[Finding]:
    """Yield the first line of a certificate's file that opcert would format differently."""
    expected = certificate.to_json().encode()
    if content != expected:
        lines = zip_longest(content.splitlines(True), expected.splitlines(True))
        number = next(i for i, (actual, own) in enumerate(lines, 1) if actual != own)
        text = f"line {number} is not formatted as opcert writes it"
        yield Finding(name, f"{text}; expected the original file")


def folder_findings(folder: Path, certificate: Certificate) -> Iterator[Finding]:
    """Yield the differences between the files in `folder` and those that a certificate names."""
    names = [*islice(files_below(folder, ignored=()), MAX_FILES)]
    if len(names) == MAX_FILES:
        text = f"found {MAX_FILES} files or more; only the first ones were checked"
        yield Finding(str(folder), text)
    for name in names:
        if name not in {CERTIFICATE_FILE, SIGNATURE_FILE, *certificate.files}:
            yield Finding(name, "the certificate does not name this file; expected no other files")
    for name, expected in certificate.files.items():
        place = f"files.{name}"
        try:
            digest = _digest(folder, name)
        except OSError as error:
            text = f"found {error.strerror}; expected a file with the digest {expected}"
            yield Finding(place, text)
            continue
        if digest != expected:
            yield Finding(place, f"found a file with the digest {digest}; expected {expected}")
    yield from _scope_file_findings(folder, certificate)


def _scope_file_findings(folder: Path, certificate: Certificate) -> Iterator[Finding]:
    """Yield the differences between claim, waivers and their files next to the certificate."""
    entries: Mapping[str, tuple[str, ClaimEntry | WaiversEntry | None, Any, type[BaseModel]]] = {
        CLAIM_FILE: ("claim", certificate.claim, ClaimContent, ClaimContent),
        WAIVERS_FILE: ("waivers", certificate.waivers, tuple[Waiver, ...], Waiver),
    }
    for name, (part, entry, form, model) in entries.items():
        named = certificate.files.get(name)
        if entry is None:
            if named is not None:
                yield Finding(f"files.{name}", f"found a file, but the certificate has no {part}")
        elif named != entry.sha256:
            text = f"found {named or 'none'}; expected {entry.sha256}, the digest in {part}.sha256"
            yield Finding(f"files.{name}", text)
        elif _yaml_content(folder / name, TypeAdapter(form), model) != entry.content:
            yield Finding(f"{part}.content", f"differs from the content of {name}")


def _digest(folder: Path, name: str) -> str:
    path = folder / name
    if any((folder / parent).is_symlink() for parent in Path(name).parents):
        raise OSError(0, "a link in the path, which is not followed")
    with open_untrusted(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_CERTIFICATE_BYTES:
            raise OSError(0, f"more than {MAX_CERTIFICATE_BYTES >> 20} MiB")
        return file_digest(name, file.read(MAX_CERTIFICATE_BYTES))


def _yaml_content(path: Path, form: TypeAdapter[Any], model: type[BaseModel]) -> Any:
    """Return the content of a claim or of waivers, or None if it cannot be read."""
    try:
        open_untrusted(path).close()
        return validated_content(YamlSource(path), form, model)
    except (OSError, SpecError):
        return None


def has_this_version(certificate: Certificate) -> bool:
    """Whether this version of opcert wrote a certificate; other versions write other reports."""
    return certificate.platform.opcert == version("opcert")


def file_name_findings(certificate: Certificate) -> Iterator[Finding]:
    """Yield the names that a certificate must not have, and the names that it lacks.

    An unfinished run has no report.
    """
    finished = certificate.is_finished
    reports = {REPORT_FILE, JUNIT_FILE} if finished else set()
    for name in sorted(certificate.files.keys() - reports - {CLAIM_FILE, WAIVERS_FILE}):
        run = "such a run" if finished else "an unfinished run"
        yield Finding(f"files.{name}", f"opcert writes no such file for {run}")
    for name in sorted(reports - certificate.files.keys()):
        yield Finding(f"files.{name}", "missing file; expected one for a finished run")


def _has_other_times(path: Path, expected: bytes) -> bool:
    """Whether a file, whose digest leaves its times out, differs from what is expected."""
    try:
        with open_untrusted(path) as file:
            return file.read(len(expected) + 1) != expected
    except OSError:
        # A finding about the file says so.
        return False


def report_findings(folder: Path, certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield the differences between the report and a newly rendered one.

    The certificate must have no findings, and `suite` must be its suite.
    """
    if not certificate.is_finished:
        return
    expected = render_report(certificate, suite)
    for name, found in certificate.files.items():
        if name not in expected:
            continue
        if found != (digest := file_digest(name, expected[name])):
            text = f"found {found}; opcert renders this certificate with digest {digest}"
            yield Finding(f"files.{name}", text)
        elif _has_other_times(folder / name, expected[name]):
            yield Finding(name, "found other times than those of the certificate")
