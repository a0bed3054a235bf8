"""A certificate and the files beside it -> the folder that is handed in, written whole."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
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
# What every certificate has, and hardly another file of its name.
_PARTS = {"schema", "suite", "backend", "platform", "files", "verdicts"}
# The most files that are looked at.
MAX_FILES = 10_000


def submission_path(out: Path, suite: Path | None) -> Path:
    """Return where in the folder `out`, which is made, a certificate goes.

    The folder is what is handed in, so that it holds nothing, or a former submission.

    Raises:
        OpcertError: `out` is in a suite's folder, cannot be made, or holds something else.
    """
    target = certificate_path(out, suite)
    folder = target.parent
    former = _former(folder)

    def is_ours(name: str) -> bool:
        return name == SIGNATURE_FILE or former.get(name) == _digest(folder / name)

    refuse_foreign_files(folder, files_below(folder), is_ours, "a submission")
    return target


def write_submission(
    certificate: Certificate,
    target: Path,
    files: Mapping[str, bytes],
    sign: Callable[[bytes], bytes] | None = None,
) -> Certificate:
    """Write `files` and a certificate that has their digests beside them, in place of a former one.

    Everything is written before anything is replaced. Returns the certificate.

    Raises:
        OpcertError: it cannot be written.
    """
    digests = {name: sha256(files[name]).hexdigest() for name in sorted(files)}
    stated = certificate.replaced(files=digests)
    text = stated.to_json().encode()
    parts = {**files, CERTIFICATE_FILE: text}
    if sign is not None:
        parts[SIGNATURE_FILE] = sign(text)
    folder = target.parent
    stale = [name for name in (*_former(folder), SIGNATURE_FILE) if name not in parts]
    fresh: dict[Path, Path] = {}
    try:
        for name, data in parts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh[path] = path.with_name(f".{path.name}.{os.getpid()}")
            fresh[path].write_bytes(data)
        for name in stale:
            _remove(folder, name)
        for path, each in fresh.items():
            each.replace(path)
    except OSError as error:
        raise OpcertError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        for each in fresh.values():
            with suppress(OSError):
                each.unlink(missing_ok=True)
    return stated


def _remove(folder: Path, name: str) -> None:
    """Remove a file, and the folders that it leaves empty."""
    path = folder / name
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()


def _former(folder: Path) -> dict[str, str]:
    """Return the certificate in a folder and the files that it names, with their digests.

    Nothing is where there is none, or something else of its name.
    """
    try:
        with open_untrusted(folder / CERTIFICATE_FILE) as file:
            written = file.read(MAX_CERTIFICATE_BYTES)
        found: Any = json.loads(written)
        if not found.keys() >= _PARTS:
            return {}
        files = found["files"].items()
        named = {name: str(each) for name, each in files if re.fullmatch(FILE_NAME, name)}
        return {**named, CERTIFICATE_FILE: sha256(written).hexdigest()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _digest(path: Path) -> str:
    try:
        with open_untrusted(path) as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def files_below(folder: Path) -> Iterator[str]:
    """Yield what lies below a folder: files, links, which are not followed, and closed folders.

    There are no more than `MOST`.
    """
    left = MAX_FILES
    closed: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=closed.append):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links)
        for name in sorted([*names, *links]):
            yield (Path(parent) / name).relative_to(folder).as_posix()
            left -= 1
            if not left:
                return
    yield from (Path(each.filename).relative_to(folder).as_posix() for each in closed)
