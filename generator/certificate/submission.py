"""A submission: the folder with a certificate and the files that it names."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from opcert.certificate.certificate import FILE_NAME, Certificate
from opcert.certificate.file import CERTIFICATE_FILE, MAX_CERTIFICATE_BYTES, certificate_path
from opcert.errors import OpcertError
from opcert.suite import refuse_foreign_files
from opcert.untrusted_files import open_untrusted

CLAIM_FILE, WAIVERS_FILE = "claim.yaml", "waivers.yaml"
SIGNATURE_FILE = f"{CERTIFICATE_FILE}.sig"
# Keys that distinguish a certificate from other files named certificate.json.
_CERTIFICATE_KEYS = {"schema", "suite", "backend", "platform", "files", "verdicts"}
# The maximum number of files that are read in a folder.
MAX_FILES = 10_000


def submission_path(out: Path, suite: Path | None) -> Path:
    """Return the path of a certificate in the folder `out`, which need not exist.

    The folder may hold an earlier submission, which will be replaced, but no other files.

    Raises:
        OpcertError: `out` is in a suite's folder, cannot be made, or holds other files.
    """
    target = certificate_path(out, suite)
    folder = target.parent
    earlier = _files_of_submission(folder)

    def is_replaceable(name: str) -> bool:
        if name == SIGNATURE_FILE:
            return True
        try:
            with open_untrusted(folder / name) as file:
                return earlier.get(name) == file_digest(file, "sha256").hexdigest()
        except OSError:
            return False

    refuse_foreign_files(folder, files_below(folder), is_replaceable, "a submission")
    return target


def write_submission(
    certificate: Certificate,
    target: Path,
    files: Mapping[str, bytes],
    sign: Callable[[bytes], bytes] | None = None,
) -> Certificate:
    """Write `files`, and to `target` the certificate with their digests; return it.

    An earlier submission is replaced, once all new files are written.

    Raises:
        OpcertError: a file cannot be written.
    """
    digests = {name: sha256(files[name]).hexdigest() for name in sorted(files)}
    certificate = certificate.replace(files=digests)
    text = certificate.to_json().encode()
    contents = {**files, CERTIFICATE_FILE: text}
    if sign is not None:
        contents[SIGNATURE_FILE] = sign(text)
    folder = target.parent
    earlier = (*_files_of_submission(folder), SIGNATURE_FILE)
    _write_files(target, contents, [name for name in earlier if name not in contents])
    return certificate


def write_signature(certificate: Path, text: bytes) -> Path:
    """Write the signature of a certificate next to it, and return its path.

    Raises:
        OpcertError: it cannot be written.
    """
    target = certificate.with_name(SIGNATURE_FILE)
    _write_files(target, {SIGNATURE_FILE: text})
    return target


def _write_files(target: Path, contents: Mapping[str, bytes], obsolete: Sequence[str] = ()) -> None:
    """Write files to the folder of `target`; once all are written, remove the obsolete ones.

    Raises:
        OpcertError: a file cannot be written; the message names `target`.
    """
    folder = target.parent
    temporary: dict[Path, Path] = {}
    try:
        for name, data in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary[path] = path.with_name(f".{path.name}.{os.getpid()}")
            temporary[path].write_bytes(data)
        for name in obsolete:
            _remove(folder, name)
        for path, written in temporary.items():
            written.replace(path)
    except OSError as error:
        raise OpcertError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        for written in temporary.values():
            with suppress(OSError):
                written.unlink(missing_ok=True)


def _remove(folder: Path, name: str) -> None:
    """Remove a file, and the folders that it leaves empty."""
    path = folder / name
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()


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


def files_below(folder: Path) -> Iterator[str]:
    """Yield up to `MAX_FILES` files below a folder.

    Links count as files and are not followed; unreadable folders count as files too.
    """
    if not folder.exists():
        return
    remaining = MAX_FILES
    unreadable: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=unreadable.append):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links)
        for name in sorted([*names, *links]):
            yield (Path(parent) / name).relative_to(folder).as_posix()
            remaining -= 1
            if not remaining:
                return
    yield from (Path(error.filename).relative_to(folder).as_posix() for error in unreadable)
