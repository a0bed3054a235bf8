"""A folder that a stranger handed in x its certificate -> flaws; nothing leads out of it."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from opcert.certificate import (
    CERTIFICATE_FILE,
    CLAIM_FILE,
    MAX_CERTIFICATE_BYTES,
    MAX_FILES,
    SIGNATURE_FILE,
    WAIVERS_FILE,
    Certificate,
    ClaimEntry,
    WaiversEntry,
    files_below,
)
from opcert.errors import OpcertError, SpecError
from opcert.scope import ClaimContent
from opcert.untrusted_files import open_untrusted
from opcert.verdicts import Waiver
from opcert.verification.findings import Finding
from opcert.yaml_files import YamlSource, validated_content

# The most bytes that are read of a signature.
LARGEST_SIGNATURE = 1 << 10


def certificate_in(path: Path) -> Path:
    """Return the file of the certificate that `path` is, or that is in the folder `path`.

    Raises:
        OpcertError: the folder has none of its own.
    """
    if not path.is_dir():
        return path
    try:
        open_untrusted(path / CERTIFICATE_FILE).close()
    except OSError as error:
        wanted = "expected a certificate that `opcert certify --out` wrote"
        raise OpcertError(f"{path / CERTIFICATE_FILE}: {error.strerror}; {wanted}") from None
    return path / CERTIFICATE_FILE


def signature_beside(path: Path) -> bytes | None:
    """Return the text of the signature of the certificate at `path`, or None where there is none.

    Raises:
        OpcertError: it cannot be read.
    """
    beside = path.with_name(f"{path.name}.sig")
    try:
        with open_untrusted(beside) as file:
            return file.read(LARGEST_SIGNATURE)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OpcertError(f"{beside}: {error.strerror}; expected a signature") from None


def form_flaws(name: str, written: bytes, certificate: Certificate) -> Iterator[Finding]:
    """Yield where the bytes of a certificate are not just those that say what it says."""
    wanted = certificate.to_json().encode()
    if written != wanted:
        pairs = zip_longest(written.splitlines(True), wanted.splitlines(True))
        line = next(number for number, (one, other) in enumerate(pairs, 1) if one != other)
        text = f"line {line} is not as opcert writes it; expected the same content in its one form"
        yield Finding(name, text)


def folder_flaws(folder: Path, certificate: Certificate) -> Iterator[Finding]:
    """Yield how the files in `folder` are not those that a certificate names."""
    found = list(files_below(folder))
    if len(found) == MAX_FILES:
        yield Finding(str(folder), f"holds {MAX_FILES} files or more; no others were looked at")
    for name in found:
        if name not in {CERTIFICATE_FILE, SIGNATURE_FILE, *certificate.files}:
            yield Finding(name, "is not among the files of the certificate; expected nothing else")
    for name, wanted in certificate.files.items():
        place = f"files.{name}"
        try:
            digest = _digest(folder, name)
        except OSError as error:
            yield Finding(
                place, f"found {error.strerror}; expected a file with the digest {wanted}"
            )
            continue
        if digest != wanted:
            yield Finding(place, f"found a file with the digest {digest}; expected {wanted}")
    yield from _given(folder, certificate)


def _digest(folder: Path, name: str) -> str:
    path = folder / name
    if any((folder / parent).is_symlink() for parent in Path(name).parents):
        raise OSError(0, "a link on the way, which is not followed")
    with open_untrusted(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_CERTIFICATE_BYTES:
            raise OSError(0, f"more than {MAX_CERTIFICATE_BYTES >> 20} MiB")
        return hashlib.file_digest(file, "sha256").hexdigest()


def _given(folder: Path, certificate: Certificate) -> Iterator[Finding]:
    """Yield how claim and waivers are not those in the files beside the certificate."""
    entries: Mapping[str, tuple[str, ClaimEntry | WaiversEntry | None, Any, type[BaseModel]]] = {
        CLAIM_FILE: ("claim", certificate.claim, ClaimContent, ClaimContent),
        WAIVERS_FILE: ("waivers", certificate.waivers, tuple[Waiver, ...], Waiver),
    }
    for name, (part, entry, form, model) in entries.items():
        digest = certificate.files.get(name)
        if entry is None:
            if digest is not None:
                yield Finding(f"files.{name}", f"found one, while the certificate has no {part}")
        elif digest != entry.sha256:
            text = f"found {digest or 'none'}; expected {entry.sha256}, as {part}.sha256 says"
            yield Finding(f"files.{name}", text)
        elif _content(folder / name, TypeAdapter(form), model) != entry.content:
            yield Finding(f"{part}.content", f"is not what {name} says")


def _content(path: Path, form: TypeAdapter[Any], model: type[BaseModel]) -> Any:
    """Return what a claim or waivers say, or None where that cannot be read."""
    try:
        open_untrusted(path).close()
        return validated_content(YamlSource(path), form, model)
    except (OSError, SpecError):
        return None
