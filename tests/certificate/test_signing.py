"""Signatures: every change of a signed certificate is found, and no key is ever printed."""

import base64
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from opcert.certificate.file import load_key, signature_error
from tests.command_line import opcert, python

CASES = ("--operator", "directml/DML_OPERATOR_SPLIT", "--case", "dml-split/axis-range*")
PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
PLAIN = serialization.NoEncryption()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of keys, right and wrong ones."""
    folder = tmp_path_factory.mktemp("keys")
    made: dict[str, Ed25519PrivateKey | EllipticCurvePrivateKey] = {
        "key": Ed25519PrivateKey.generate(),
        "other": Ed25519PrivateKey.generate(),
        "curve": generate_private_key(SECP256R1()),
    }
    for name, key in made.items():
        public = key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        (folder / f"{name}.pem").write_bytes(key.private_bytes(PEM, PKCS8, PLAIN))
        (folder / f"{name}.pub.pem").write_bytes(public)
    encrypted = serialization.BestAvailableEncryption(b"open sesame")
    (folder / "locked.pem").write_bytes(made["other"].private_bytes(PEM, PKCS8, encrypted))
    (folder / "text.pem").write_text("no key")
    broken = (folder / "key.pem").read_text().splitlines()
    broken[1] = broken[1][:20]
    (folder / "broken.pem").write_text("\n".join(broken))
    for each in folder.iterdir():
        each.chmod(0o600)
    return folder


@pytest.fixture(scope="module")
def original(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signed") / "out"
    opcert("certify", *CASES, "--out", folder, exits=0)
    result = opcert("sign", folder, "--key", keys / "key.pem")
    assert (result.exit_code, result.output) == (0, f"wrote {folder / 'certificate.json.sig'}\n")
    return folder


def test_a_folder_in_place_of_the_signature_is_an_error_and_nothing_is_written(
    original: Path, keys: Path, tmp_path: Path
) -> None:
    shutil.copy(original / "certificate.json", tmp_path)
    (tmp_path / "certificate.json.sig").mkdir()
    before = sorted(tmp_path.iterdir())
    result = opcert("sign", tmp_path, "--key", keys / "key.pem", exits=2)
    assert (
        "certificate.json.sig is a folder; expected a file or nothing; nothing was" in result.stderr
    )
    assert sorted(tmp_path.iterdir()) == before


def test_a_certificate_of_another_name_has_a_signature_of_that_name(
    original: Path, keys: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    shutil.copy(original / "certificate.json", other)
    opcert("sign", other, "--key", keys / "key.pem", exits=0)
    opcert("verify", other, "--key", keys / "key.pub.pem", exits=0)
    assert {each.name for each in tmp_path.iterdir()} == {"other.json", "other.json.sig"}


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "out"))


def test_a_signed_certificate_is_sound(folder: Path, keys: Path) -> None:
    for path in (folder, folder / "certificate.json"):
        result = opcert("verify", path, "--key", keys / "key.pub.pem", exits=0)
        assert result.stdout.startswith("sound: CONFORMANT")
        # A certificate that is named alone is checked without its report.
        assert "the signature" not in result.stdout
        assert ("not checked" in result.stdout) is (path != folder)
    assert "not checked: the signature (no --key)" in opcert("verify", folder).stdout


def test_any_changed_byte_is_found(folder: Path, keys: Path) -> None:
    data = (folder / "certificate.json").read_bytes()
    text = (folder / "certificate.json.sig").read_bytes()
    key, random_source = load_key(keys / "key.pub.pem", "public"), random.Random(0)
    assert signature_error(text, data, key) is None
    for place in random_source.sample(range(len(data)), 300):
        one, flipped = data[:place], bytes([data[place] ^ 1 << random_source.randrange(8)])
        for rest in (flipped + data[place + 1 :], data[place + 1 :], b" " + data[place:]):
            assert signature_error(text, one + rest, key)
    for place in range(len(text)):
        for bit in range(8):
            changed = text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :]
            assert signature_error(changed, data, key)
        assert signature_error(text[:place] + text[place + 1 :], data, key)
        assert signature_error(text[:place] + b"\n" + text[place:], data, key)


def test_a_signature_finds_what_no_recomputation_finds(folder: Path, keys: Path) -> None:
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace('"python": "3', '"python": "9'))
    opcert("verify", path, exits=0)
    result = opcert("verify", path, "--key", keys / "key.pub.pem", exits=1)
    assert "certificate.json.sig: does not match this certificate and this key" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("of another key", "does not match this certificate and this key"),
        (None, "found none; expected a signature for"),
        ("", "is not a signature|expected base64 in one line|does not match"),
        ("not base64\n", "expected base64 in one line"),
        ("AAAA\n", "does not match this certificate and this key"),
        (f"{'A' * 86}==\n", "does not match this certificate and this key"),
    ],
)
def test_a_replaced_or_removed_signature_is_found(
    folder: Path, keys: Path, text: str | None, message: str
) -> None:
    signature = folder / "certificate.json.sig"
    if text is None:
        signature.unlink()
    elif text == "of another key":
        opcert("sign", folder, "--key", keys / "other.pem")
    else:
        signature.write_text(text)
    result = opcert("verify", folder, "--key", keys / "key.pub.pem", exits=1)
    assert any(each in result.stdout for each in message.split("|"))


def test_a_signature_that_is_a_link_is_refused(folder: Path, keys: Path) -> None:
    signature = folder / "certificate.json.sig"
    signature.rename(folder.parent / "elsewhere.sig")
    signature.symlink_to(folder.parent / "elsewhere.sig")
    result = opcert("verify", folder, "--key", keys / "key.pub.pem", exits=2)
    assert "a link, which is not followed" in result.stderr


def test_an_unsigned_run_removes_an_earlier_signature(folder: Path) -> None:
    opcert("certify", *CASES, "--out", folder, exits=0)
    assert "certificate.json.sig" not in {each.name for each in folder.iterdir()}


@pytest.mark.parametrize(
    ("command", "name", "message"),
    [
        ("sign", "missing.pem", "No such file or directory; expected the PEM file of an"),
        ("sign", ".", "a folder, not a file"),
        ("sign", "text.pem", "is not a key; expected the PEM file of an Ed25519 private key"),
        ("sign", "broken.pem", "is not a key; expected"),
        ("sign", "key.pub.pem", "is a public key; expected"),
        ("sign", "curve.pem", "is a key of another algorithm; expected"),
        ("sign", "locked.pem", "is encrypted; decrypt it into a pipe: <(openssl pkey -in "),
        ("verify", "key.pem", "is a private key, which only its owner should have; expected"),
        ("verify", "curve.pub.pem", "is a key of another algorithm; expected"),
        ("verify", "text.pem", "is not a key; expected the PEM file of an Ed25519 public key"),
        ("verify", "missing.pem", "No such file or directory; expected the PEM file of an"),
    ],
)
def test_a_wrong_key_does_not_sign_or_verify(
    keys: Path, folder: Path, command: str, name: str, message: str
) -> None:
    (folder / "certificate.json.sig").unlink()
    result = opcert(command, folder, "--key", keys / name, exits=2)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (folder / "certificate.json.sig").exists()


def test_a_signature_replaces_an_earlier_one(keys: Path, folder: Path) -> None:
    signature = folder / "certificate.json.sig"
    before = signature.read_bytes()
    opcert("sign", folder / "certificate.json", "--key", keys / "other.pem")
    opcert("verify", folder, "--key", keys / "other.pub.pem", exits=0)
    opcert("sign", folder, "--key", keys / "key.pem")
    # Ed25519 signatures of the same bytes are equal.
    assert signature.read_bytes() == before


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_an_encrypted_key_is_decrypted_into_a_pipe(keys: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "opcert", "sign", str(folder), "--key"]
    decrypted = f"<(openssl pkey -in {keys / 'locked.pem'} -passin 'pass:open sesame')"
    shell = ["bash", "-c", f'"$@" {decrypted}', "bash", *command]
    subprocess.run(shell, check=True)
    opcert("verify", folder, "--key", keys / "other.pub.pem", exits=0)


def test_what_is_no_certificate_is_not_signed(keys: Path, folder: Path) -> None:
    (folder / "certificate.json").write_text("{}")
    (folder / "certificate.json.sig").unlink()
    done = opcert("sign", folder, "--key", keys / "key.pem", exits=2)
    assert done.stderr.count("\n") == 1
    assert not (folder / "certificate.json.sig").exists()


def test_a_key_that_other_users_can_read_causes_a_warning(
    keys: Path, folder: Path, tmp_path: Path
) -> None:
    exposed = Path(shutil.copy(keys / "key.pem", tmp_path / "key.pem"))
    exposed.chmod(0o644)
    warning = f"opcert: warning: other users can read {exposed}; restrict it with chmod 600"
    assert warning in opcert("sign", folder, "--key", exposed).stderr
    assert "other users" not in opcert("sign", folder, "--key", keys / "key.pem").stderr


@pytest.mark.slow
def test_without_the_package_the_extra_is_named(folder: Path, keys: Path) -> None:
    program = (
        "import sys; sys.modules['cryptography'] = None; sys.argv[0] = 'opcert'; "
        "from opcert.cli import main; main()"
    )
    text = "signatures need the package cryptography; pip install 'opcert[sign]'"
    for command, name in (("sign", "key.pem"), ("verify", "key.pub.pem")):
        done = python("-c", program, command, folder, "--key", keys / name)
        assert (done.returncode, done.stderr) == (2, f"opcert: error: {text}\n")
    assert python("-c", program, "verify", folder).returncode == 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_openssl_verifies_it_too(folder: Path, keys: Path) -> None:
    signature = base64.b64decode((folder / "certificate.json.sig").read_bytes())
    (folder / "raw.sig").write_bytes(signature)
    command = "openssl pkeyutl -verify -rawin -pubin -in certificate.json -sigfile raw.sig -inkey"
    subprocess.run([*command.split(), keys / "key.pub.pem"], check=True, cwd=folder)
