"""Ed25519 signatures (RFC 8032) with keys in PEM files."""

import base64
import ctypes
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from opcert.errors import OpcertError
from opcert.untrusted_files import read_limited

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.serialization import (
        load_pem_private_key,
        load_pem_public_key,
    )
except ModuleNotFoundError:
    text = "signatures need the package cryptography; pip install 'opcert[sign]'"
    raise OpcertError(text) from None

# The environment variable with the passphrase of an encrypted key.
PASSPHRASE_VARIABLE = "OPCERT_KEY_PASSPHRASE"  # noqa: S105 -- its name
# Of Linux's prctl.
_PR_SET_DUMPABLE = 4
# PEM files of keys are far smaller.
_MAX_KEY_BYTES = 1 << 16

# Returns the signature of bytes as base64 in one line.
Sign = Callable[[bytes], bytes]


def load_signer(path: Path) -> Sign:
    """Return a function that signs with the private key in a PEM file.

    The passphrase of an encrypted key is removed from the environment; on Linux, other processes
    of the user cannot read the memory of this one any more. So no backend sees it, unless it runs
    as root.

    Raises:
        OpcertError: the file cannot be read, or holds no such key.
    """
    passphrase = os.environ.pop(PASSPHRASE_VARIABLE, None)
    if passphrase is not None and sys.platform == "linux":
        # The system still shows the first environment of this process to others of its user.
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0)
    data = _read_key(path)
    expected = "expected the PEM file of an Ed25519 private key"
    if b"PUBLIC KEY-----" in data:
        raise OpcertError(f"{path}: is a public key; {expected}")
    # The library's errors may quote a part of the key, so they are replaced.
    try:
        key: object = load_pem_private_key(data, None)
    except TypeError:
        key = _decrypt(path, data, passphrase)
    except (ValueError, UnsupportedAlgorithm):
        raise OpcertError(f"{path}: is not a key; {expected}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise OpcertError(f"{path}: is a key of another algorithm; {expected}")
    return lambda data: base64.b64encode(key.sign(data)) + b"\n"


def _decrypt(path: Path, data: bytes, passphrase: str | None) -> object:
    if passphrase is None:
        raise OpcertError(f"{path}: is encrypted; expected its passphrase in {PASSPHRASE_VARIABLE}")
    try:
        return load_pem_private_key(data, passphrase.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        text = f"{path}: cannot be decrypted; expected its passphrase in {PASSPHRASE_VARIABLE}"
        raise OpcertError(text) from None


def is_exposed(path: Path) -> bool:
    """Whether other users can read the file of a key."""
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file.

    Raises:
        OpcertError: the file cannot be read, or holds no such key.
    """
    data = _read_key(path)
    expected = "expected the PEM file of an Ed25519 public key"
    if b"PRIVATE KEY-----" in data:
        raise OpcertError(f"{path}: is a private key, which only its owner should have; {expected}")
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        raise OpcertError(f"{path}: is not a key; {expected}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise OpcertError(f"{path}: is a key of another algorithm; {expected}")
    return key


def signature_error(text: bytes, data: bytes, key: Ed25519PublicKey) -> str | None:
    """Return the error in the `text` of a signature of `data`, or None if it is valid."""
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


def _read_key(path: Path) -> bytes:
    try:
        return read_limited(path, _MAX_KEY_BYTES, pipes=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{path}: {reason}; expected the PEM file of a key") from None
