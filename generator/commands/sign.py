"""Sign a certificate.

The signature is written next to it, and replaces an earlier one. Sign in an environment in
which no backend runs: a backend may read whatever its user can read.

Exit codes: 0 signed; 2 invalid input, or not a certificate.
"""

from pathlib import Path
from typing import Annotated

import typer

from opcert.certificate import signing
from opcert.certificate.file import parse_certificate, read_certificate_bytes
from opcert.certificate.signing import Sign
from opcert.certificate.submission import write_signature
from opcert.commands.options import QuietOption, announcer, warn
from opcert.commands.selection import certificate_file


def sign(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A certificate.json, or its folder.")
    ],
    key: Annotated[
        Path,
        typer.Option("--key", metavar="KEY", help="PEM file of the Ed25519 private key."),
    ],
    quiet: QuietOption = False,
) -> None:
    file = certificate_file(path)
    signer = load_signer(key)
    content = read_certificate_bytes(file)
    parse_certificate(content, file)
    announcer(quiet)(f"wrote {write_signature(file, signer(content))}")


def load_signer(path: Path) -> Sign:
    """Return a function that signs with a key; warn if other users can read the key."""
    signer = signing.load_signer(path)
    if signing.is_exposed(path):
        warn(f"other users can read {path}; restrict it with chmod 600")
    return signer
