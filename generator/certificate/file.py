"""A certificate as a file: read, signed, and handed in with the files that it names."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import from_json

from opcert import system
from opcert.certificate.certificate import FILE_NAME, SCHEMA, VERDICTS, Certificate
from opcert.errors import OpcertError, printable_line
from opcert.suite.writing import refuse_foreign_files, refuse_path_in_suite
from opcert.yaml_files import describe_first_error

CERTIFICATE_FILE = "certificate.json"
# Ten times the size of the largest suite's certificate.
MAX_CERTIFICATE_BYTES = 1 << 28
# Keys that are recomputed from the others.
_COMPUTED = {"schema", *Certificate.model_computed_fields}
EXPECTED = "expected a certificate that `opcert certify --out` wrote"
_CHANGED = "the file was changed or truncated; expected it as opcert wrote it"


def read_certificate(path: str | Path) -> Certificate:
    """Return the certificate in the file at `path`.

    Raises:
        OpcertError: the file cannot be read, or holds no valid certificate of this schema.
    """
    return parse_certificate(read_certificate_bytes(Path(path)), Path(path))


def parse_certificate(content: bytes, path: Path) -> Certificate:
    """Return the certificate in the `content` of the file at `path`.

    Raises:
        OpcertError: it is not a certificate, has another schema, is malformed, or contradicts
            itself.
    """
    try:
        data = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise OpcertError(f"{path}: not JSON: {error}; {_CHANGED}") from None
    if not isinstance(data, dict) or "schema" not in data:
        raise OpcertError(f"{path}: is not a certificate; {EXPECTED}")
    if data["schema"] != SCHEMA or isinstance(data["schema"], bool):
        raise OpcertError(
            f"{path}: found schema {json.dumps(data['schema'])[:60]}; expected schema {SCHEMA}; "
            "use the version of opcert that wrote it"
        )
    # Computed keys are recomputed and must equal those in the file.
    fields = {name: data[name] for name in data if name not in _COMPUTED}
    try:
        certificate = Certificate.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise OpcertError(f"{path}: {describe_first_error(error)}; {_CHANGED}") from None
    for place, found, computed in json_differences(data, certificate.to_dict()):
        text = f"found {found}, but {computed} follows from the rest"
        raise OpcertError(f"{path}: {place}: {text}; {_CHANGED}")
    return certificate


def read_certificate_bytes(path: Path) -> bytes:
    """Return the content of the file at `path`.

    Raises:
        OpcertError: the file cannot be read, or is larger than any certificate.
    """
    return _read(path, MAX_CERTIFICATE_BYTES, EXPECTED)


def _read(path: Path, limit: int, expected: str, *, pipes: bool = False) -> bytes:
    try:
        return system.read_limited(path, limit, pipes=pipes)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{path}: {reason}; {expected}") from None


def json_differences(first: Any, second: Any, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the places at which two JSON values differ, within `place`, with both parts as text."""
    prefix = f"{place}." if place else ""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in {**first, **second}:
            pair = first.get(key, ...), second.get(key, ...)
            yield from json_differences(*pair, f"{prefix}{key}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, pair in enumerate(zip(first, second, strict=True)):
            yield from json_differences(*pair, f"{prefix}{number}")
    # `True == 1` in Python.
    elif first != second or isinstance(first, bool) != isinstance(second, bool):
        first_text, second_text = (
            "nothing" if part is ... else json.dumps(part)[:60] for part in (first, second)
        )
        yield place, first_text, second_text


def certificate_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of certificate.json."""
    schema = Certificate.model_json_schema(mode="serialization")
    schema["properties"] = {"schema": {"const": SCHEMA}, **schema["properties"]}
    schema["required"] = ["schema", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


# PEM files of keys are far smaller.
_MAX_KEY_BYTES = 1 << 16
# What the file of the other key of a pair has, and what that is.
_OTHER_KEYS = {
    "private": (b"PUBLIC KEY-----", "is a public key"),
    "public": (b"PRIVATE KEY-----", "is a private key, which only its owner should have"),
}


def load_key(path: Path, kind: Literal["private", "public"]) -> Any:
    """Return the Ed25519 key in a PEM file.

    Only signatures need the package cryptography, which is an extra, and they import it.

    Raises:
        OpcertError: the file cannot be read, or holds no such key.
    """
    if find_spec("cryptography") is None:
        raise OpcertError("signatures need the package cryptography; pip install 'opcert[sign]'")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    expected = f"expected the PEM file of an Ed25519 {kind} key"
    data = _read(path, _MAX_KEY_BYTES, expected, pipes=True)
    mark, other = _OTHER_KEYS[kind]
    if mark in data:
        raise OpcertError(f"{path}: {other}; {expected}")
    key: object
    # The library's errors may quote a part of the key, so they are replaced.
    try:
        if kind == "public":
            key = serialization.load_pem_public_key(data)
        else:
            key = serialization.load_pem_private_key(data, None)
    except TypeError:
        text = f"{path}: is encrypted; decrypt it into a pipe: <(openssl pkey -in {path})"
        raise OpcertError(text) from None
    except (ValueError, UnsupportedAlgorithm):
        raise OpcertError(f"{path}: is not a key; {expected}") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey | ed25519.Ed25519PublicKey):
        raise OpcertError(f"{path}: is a key of another algorithm; {expected}")
    return key


def signature_error(text: bytes, data: bytes, key: Any) -> str | None:
    """Return the error in the `text` of a signature of `data`, or None if it fits the key."""
    from cryptography.exceptions import InvalidSignature

    try:
        signature = base64.b64decode(text, validate=False)
        # Base64 can encode the same bytes differently; only the canonical text is accepted.
        if base64.b64encode(signature) + b"\n" != text:
            raise ValueError
    except ValueError:
        return "is not a signature; expected base64 in one line"
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return "does not match this certificate and this key"
    return None


@dataclass(frozen=True)
class Finding:
    """A mistake in a certificate or its folder, and its place."""

    place: str
    text: str

    def __str__(self) -> str:
        return printable_line(f"{self.place}: {self.text}")


CLAIM_FILE, WAIVERS_FILE = "claim.yaml", "waivers.yaml"
SIGNATURE_FILE = f"{CERTIFICATE_FILE}.sig"
# Keys that distinguish a certificate from other files named certificate.json.
_CERTIFICATE_KEYS = {"schema", "suite", "backend", "platform", "files"}

# The times in a report and in JUnit XML; the patterns have no room for markup.
_TIMES = re.compile(
    rb"(?<=<span data-time>)[\w .,:+-]+(?=</span>)"
    rb'|(?<= time=")[0-9.]+(?=")|(?<="times":\[)[0-9.,e+-]+(?=\])'
)


def file_digest(name: str, content: bytes) -> str:
    """Return the SHA-256 of a file next to a certificate; of a report without its times.

    So the same run gives the same digests.
    """
    is_report = name.endswith((".html", ".xml"))
    return sha256(_TIMES.sub(b"", content) if is_report else content).hexdigest()


def certificate_file(path: Path) -> Path:
    """Return the file of a certificate: `path`, or the certificate in the folder `path`.

    Raises:
        OpcertError: the folder has several configurations, each with a certificate of its own.
    """
    if not path.is_dir():
        return path
    file = path / CERTIFICATE_FILE
    if file.exists():
        return file
    others = path.glob(f"*/{CERTIFICATE_FILE}")
    if names := sorted(other.parent.name for other in others if other.is_file()):
        listed = names if len(names) <= 20 else [*names[:19], "...", names[-1]]
        raise OpcertError(
            f"{path}: found certificates of {len(names)} configurations; expected one "
            f"certificate: name {path / names[0]} or another of {', '.join(listed)}"
        )
    return file


def submission_path(out: Path, suite: Path | None) -> Path:
    """Return the path of a certificate in the folder `out`, which need not exist.

    The folder may hold an earlier submission, which will be replaced, but no other files.

    Raises:
        OpcertError: `out` is in a suite's folder, cannot be made, or holds other files.
    """
    folder = system.check_output_folder(out)
    target = folder / CERTIFICATE_FILE
    refuse_path_in_suite(target, suite)
    if target.is_dir():
        raise OpcertError(f"{target}: is a folder; expected a file or nothing")
    own = _own_files(folder)
    refuse_foreign_files(folder, system.files_below(folder), own.__contains__, "results")
    return target


def _own_files(folder: Path) -> list[str]:
    """Return the names of the files in a folder that a run wrote, and nobody changed since."""
    # A run that was killed as it wrote has not put its certificate in place.
    written = [_files_of_submission(folder), _files_of_submission(folder / system.STAGE)]

    def is_own(name: str) -> bool:
        if name == SIGNATURE_FILE:
            return True
        digests = [files[name] for files in written if name in files]
        if not digests:
            return False
        with suppress(OSError), system.open_untrusted(folder / name) as file:
            return file_digest(name, file.read(MAX_CERTIFICATE_BYTES)) in digests
        return False

    return [name for name in system.files_below(folder) if is_own(name)]


def write_submission(
    certificate: Certificate, target: Path, files: Mapping[str, bytes]
) -> Certificate:
    """Write `files`, and to `target` the certificate with their digests; return it.

    An earlier submission is replaced.

    Raises:
        OpcertError: a file cannot be written.
    """
    digests = {name: file_digest(name, files[name]) for name in sorted(files)}
    certificate = certificate.replace(files=digests)
    # The certificate comes last: until then, an earlier one shows that the files are not its own.
    contents: dict[str, bytes | Iterable[bytes]] = {**files}
    contents[CERTIFICATE_FILE] = map(str.encode, certificate.json_parts())
    system.write_files(target.parent, contents.items(), _own_files(target.parent))
    return certificate


def write_signature(certificate: Path, content: bytes, key: Any) -> Path:
    """Sign the content of a certificate with a private key, as base64 in one line next to it.

    Return the path of the signature.

    Raises:
        OpcertError: it cannot be written.
    """
    target = certificate.with_name(f"{certificate.name}.sig")
    text = base64.b64encode(key.sign(content)) + b"\n"
    system.write_files(target.parent, [(target.name, text)])
    return target


def _files_of_submission(folder: Path) -> dict[str, str]:
    """Return the digests of a folder's certificate and of the files that it names, by name.

    The result is empty if the folder has no certificate.
    """
    try:
        with system.open_untrusted(folder / CERTIFICATE_FILE) as file:
            content = file.read(MAX_CERTIFICATE_BYTES)
        # Parsed, the verdicts of a large suite fill hundreds of megabytes.
        data: Any = json.loads(content[: content.index(VERDICTS.encode())] + b"}")
        if not data.keys() >= _CERTIFICATE_KEYS:
            return {}
        files = data["files"].items()
        # A file outside the folder must not be removed.
        named = {name: str(digest) for name, digest in files if re.fullmatch(FILE_NAME, name)}
        return {**named, CERTIFICATE_FILE: sha256(content).hexdigest()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
