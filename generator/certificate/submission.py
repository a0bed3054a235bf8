"""A submission: the folder with a certificate and the files that it names."""

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from opcert.certificate.certificate import FILE_NAME, Certificate
from opcert.certificate.file import CERTIFICATE_FILE, MAX_CERTIFICATE_BYTES, certificate_path
from opcert.output_files import STAGE, files_below, write_files
from opcert.suite.writing import refuse_foreign_files
from opcert.untrusted_files import open_untrusted

CLAIM_FILE, WAIVERS_FILE = "claim.yaml", "waivers.yaml"
SIGNATURE_FILE = f"{CERTIFICATE_FILE}.sig"
# Keys that distinguish a certificate from other files named certificate.json.
_CERTIFICATE_KEYS = {"schema", "suite", "backend", "platform", "files", "verdicts"}

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


def submission_path(out: Path, suite: Path | None) -> Path:
    """Return the path of a certificate in the folder `out`, which need not exist.

    The folder may hold an earlier submission, which will be replaced, but no other files.

    Raises:
        OpcertError: `out` is in a suite's folder, cannot be made, or holds other files.
    """
    target = certificate_path(out, suite)
    folder = target.parent
    own = _own_files(folder)
    refuse_foreign_files(folder, files_below(folder), own.__contains__, "a submission")
    return target


def _own_files(folder: Path) -> list[str]:
    """Return the names of the files in a folder that a run wrote, and nobody changed since."""
    # A run that was killed as it wrote has not put its certificate in place.
    written = [_files_of_submission(folder), _files_of_submission(folder / STAGE)]

    def is_own(name: str) -> bool:
        if name == SIGNATURE_FILE:
            return True
        if not any(name in files for files in written):
            return False
        try:
            with open_untrusted(folder / name) as file:
                digest = file_digest(name, file.read(MAX_CERTIFICATE_BYTES))
        except OSError:
            return False
        return any(files.get(name) == digest for files in written)

    return [name for name in files_below(folder) if is_own(name)]


def write_submission(
    certificate: Certificate,
    target: Path,
    files: Mapping[str, bytes],
    sign: Callable[[bytes], bytes] | None = None,
) -> Certificate:
    """Write `files`, and to `target` the certificate with their digests; return it.

    An earlier submission is replaced.

    Raises:
        OpcertError: a file cannot be written.
    """
    digests = {name: file_digest(name, files[name]) for name in sorted(files)}
    certificate = certificate.replace(files=digests)
    text = certificate.to_json().encode()
    signature = {} if sign is None else {SIGNATURE_FILE: sign(text)}
    # The certificate comes last: until then, an earlier one shows that the files are not its own.
    contents = {**files, **signature, CERTIFICATE_FILE: text}
    write_files(target.parent, contents.items(), _own_files(target.parent))
    return certificate


def write_signature(certificate: Path, text: bytes) -> Path:
    """Write the signature of a certificate next to it, and return its path.

    Raises:
        OpcertError: it cannot be written.
    """
    target = certificate.with_name(SIGNATURE_FILE)
    write_files(target.parent, [(SIGNATURE_FILE, text)])
    return target


def _files_of_submission(folder: Path) -> dict[str, str]:
    """Return the digests of a folder's certificate and of the files that it names, by name.

    The result is empty if the folder has no certificate.
    """
    try:
        with open_untrusted(folder / CERTIFICATE_FILE) as file:
            content = file.read(MAX_CERTIFICATE_BYTES)
        data: Any = json.loads(content)
        if not data.keys() >= _CERTIFICATE_KEYS:
            return {}
        files = data["files"].items()
        # A file outside the folder must not be removed.
        named = {name: str(digest) for name, digest in files if re.fullmatch(FILE_NAME, name)}
        return {**named, CERTIFICATE_FILE: sha256(content).hexdigest()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
