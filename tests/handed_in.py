"""A submission: a wrong backend, certified with claim, waivers and declared support."""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from opcert import Certificate, certify, read_certificate
from opcert.certificate.file import CLAIM_FILE, WAIVERS_FILE, write_submission
from opcert.report.files import report_files
from opcert.system import FileContents
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite

SPLIT = "directml/DML_OPERATOR_SPLIT"
GIVEN = {
    CLAIM_FILE: f"operators:\n  {SPLIT}: {{types: [f32, f16, i8, u8], ranks: [1, 2, 3, 4, 5]}}\n",
    WAIVERS_FILE: "- case: dml-split/drawn-f32-2-*\n  kind: value\n  reason: r\n  owner: o\n"
    "  link: l\n  expires: 9999-12-31\n",
}

Change = Callable[[Any], object]


class Declares(wrong.ThroughFloat16):
    """Gives wrong values of one type, and declares that it supports all ranks but 5."""

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
            operator="directml/DML_OPERATOR_SPLIT",
            claim=Path(folder) / CLAIM_FILE,
            waivers=Path(folder) / WAIVERS_FILE,
        )


@cache
def report() -> FileContents:
    """Return the files of its report."""
    return report_files(certificate(), core_suite())


def write(folder: Path, change: Change = lambda _: None) -> Path:
    """Write the submission with a changed certificate, and return the certificate's file."""
    target = folder / "certificate.json"
    files = {name: text.encode() for name, text in GIVEN.items()}
    written = write_submission(certificate(), target, {**files, **report()})
    target.write_text(changed(written, change).to_json())
    return target


def changed(certificate: Certificate, change: Change) -> Certificate:
    """Return a certificate after a change, with counts and conclusion recomputed.

    Whoever tampers with a certificate makes them fit.
    """
    data = certificate.to_dict()
    change(data)
    computed = {"schema", *Certificate.model_computed_fields}
    fields = {name: data[name] for name in data if name not in computed}
    return Certificate.model_validate_json(json.dumps(fields))


def without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def recorded(change: Change) -> Callable[[Path], object]:
    """Return a change of a folder: that of its certificate."""

    def change_file(folder: Path) -> None:
        path = folder / "certificate.json"
        path.write_text(changed(read_certificate(path), change).to_json())

    return change_file


def named(name: str, digest: str) -> Callable[[Path], object]:
    """Return a change of the certificate: it names a file with a digest."""
    return recorded(lambda data: data["files"].update({name: digest}))
