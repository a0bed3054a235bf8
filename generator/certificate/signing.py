"""Ed25519: a key in a PEM file -> what signs bytes, or what a signature of them is held against."""

import base64
import os
import stat
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

# Holds the passphrase of an encrypted key.
PASSPHRASE = "OPCERT_KEY_PASSPHRASE"  # noqa: S105 -- its name
# No PEM file of a key is near it.
_LARGEST = 1 << 16

# Returns the text of the signature of bytes: base64, in one line.
Sign = Callable[[bytes], bytes]


def load_signer(path: Path) -> Sign:
    """Return what signs with the private key in a PEM file.

    The passphrase of an encrypted one is taken out of the environment, where a backend would
    find it.

    Raises:
        OpcertError: it cannot be read, or holds no such key.
    """
    passphrase = os.environ.pop(PASSPHRASE, None)
    data = _read(path)
    wanted = "expected the PEM file of an Ed25519 private key"
    if b"PUBLIC KEY-----" in data:
        raise OpcertError(f"{path}: a public key; {wanted}")
    # What is said of a key that cannot be read may hold a part of it, and is not passed on.
    try:
        key: object = load_pem_private_key(data, None)
    except TypeError:
        key = _decrypted(path, data, passphrase)
    except (ValueError, UnsupportedAlgorithm):
        raise OpcertError(f"{path}: no key; {wanted}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise OpcertError(f"{path}: a key of another kind; {wanted}")
    return lambda signed: base64.b64encode(key.sign(signed)) + b"\n"


def _decrypted(path: Path, data: bytes, passphrase: str | None) -> object:
    if passphrase is None:
        raise OpcertError(f"{path}: encrypted; expected its passphrase in {PASSPHRASE}")
    try:
        return load_pem_private_key(data, passphrase.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        text = f"{path}: cannot be decrypted; expected its passphrase in {PASSPHRASE}"
        raise OpcertError(text) from None


def is_exposed(path: Path) -> bool:
    """Whether others than its owner can read the file of a key."""
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file.

    Raises:
        OpcertError: it cannot be read, or holds no such key.
    """
    data = _read(path)
    wanted = "expected the PEM file of an Ed25519 public key"
    if b"PRIVATE KEY-----" in data:
        raise OpcertError(f"{path}: a private key, which is for its owner alone; {wanted}")
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        raise OpcertError(f"{path}: no key; {wanted}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise OpcertError(f"{path}: a key of another kind; {wanted}")
    return key


def signature_error(text: bytes, signed: bytes, key: Ed25519PublicKey) -> str | None:
    """Return what is wrong with the `text` of a signature of bytes, or None where nothing is."""
    try:
        signature = base64.b64decode(text, validate=False)
        # Nothing else may stand for it: the text is its one form.
        if base64.b64encode(signature) + b"\n" != text:
            raise ValueError
    except ValueError:
        return "found no signature; expected base64 in one line"
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        return "is not of this certificate and this key"
    return None


def _read(path: Path) -> bytes:
    try:
        return read_limited(path, _LARGEST, pipes=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{path}: {reason}; expected the PEM file of a key") from None
