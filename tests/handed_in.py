"""A folder that is handed in: a wrong backend, certified with claim, waivers and declaration."""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from opcert import Certificate, certify, read_certificate
from opcert.certificate import CLAIM_FILE, WAIVERS_FILE, write_submission
from opcert.report import report_files
from opcert.suite import FileContents
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite

SPLIT = "directml/DML_OPERATOR_SPLIT"
GIVEN = {
    CLAIM_FILE: f"operators:\n  {SPLIT}:\n    types: [f32, f16, i8, u8]\n    ranks: [1, 2, 3, 4, 5]\n",
    WAIVERS_FILE: "- case: dml-split/valid-f32-2-*\n  kind: value\n  reason: r\n  owner: o\n"
    "  link: l\n  expires: 9999-12-31\n",
}

Change = Callable[[Any], object]


class Declares(wrong.ThroughFloat16):
    """Wrong in values of one type, and without one rank of another, which it says."""

    support: ClassVar = {SPLIT: {"how": "native", "ranks": [1, 2, 3, 4, 6, 7, 8]}}


@cache
def certificate() -> Certificate:
    """Return the certificate of the run, which is not conformant."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in GIVEN.items():
            (Path(folder) / name).write_text(text)
        return certify(
            Declares(),
            core_suite(),
            operator="directml/*",
            claim=Path(folder) / CLAIM_FILE,
            waivers=Path(folder) / WAIVERS_FILE,
        )


@cache
def report() -> FileContents:
    """Return the files that tell of it."""
    return report_files(certificate(), core_suite())


def write(folder: Path, change: Change = lambda _: None) -> Path:
    """Write the folder, its certificate as `change` has changed it, and return that one's file."""
    target = folder / "certificate.json"
    files = {name: text.encode() for name, text in GIVEN.items()}
    stated = write_submission(certificate(), target, {**files, **report()})
    target.write_text(changed(stated, change).to_json())
    return target


def changed(certificate: Certificate, change: Change) -> Certificate:
    """Return a certificate in which `change` has changed something, and all that follows from it.

    Whoever tampers with one makes the counts and the conclusion fit.
    """
    data = certificate.content()
    change(data)
    follows = {"schema", *Certificate.model_computed_fields}
    stated = {name: data[name] for name in data if name not in follows}
    return Certificate.model_validate_json(json.dumps(stated))


def without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def named(name: str, digest: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        write_changed(folder, lambda data: data["files"].update({name: digest}))

    return change


def write_changed(folder: Path, change: Change) -> None:
    path = folder / "certificate.json"
    path.write_text(changed(read_certificate(path), change).to_json())
