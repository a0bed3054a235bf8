"""Certifies backends with a small series, and verifies the certificates, by the command line."""

from pathlib import Path

from typer.testing import Result

from tests.command_line import opcert
from tests.small_suite import contents

BACKENDS = """
import numpy as np
from pathlib import Path

class Backend:
    name, version = "b", "1"
    configurations = {"device": ("one", "other")}
    def __init__(self, device="one"): pass
    def run(self, operator, inputs, attributes):
        data, count = inputs["data"], attributes["count"]
        if not 0 <= count <= len(data):
            raise ValueError("count")
        return [data[:count].copy()]

class Wrong(Backend):
    def run(self, operator, inputs, attributes):
        (output,) = super().run(operator, inputs, attributes)
        return [output + 1]

class Interrupted(Backend):
    starts = 0
    def __init__(self):
        Interrupted.starts += 1
        self.calls = 0
    def run(self, operator, inputs, attributes):
        self.calls += 1
        if Interrupted.starts == 2 and self.calls == 9:
            raise KeyboardInterrupt
        return super().run(operator, inputs, attributes)
"""


def run(
    home: Path,
    out: Path,
    *arguments: str | Path,
    backend: str = "Backend",
    file: Path | None = None,
) -> Result:
    """Certify a backend of `file`, by default home's, with the series; in this process."""
    options = ("--specs", home / "specs", "--in-process")
    chosen = ("--backend", f"{file or home / 'b.py'}:{backend}")
    return opcert(
        "certify", "--suite", home / "series", "--out", out, *options, *chosen, *arguments
    )


def verify(home: Path, folder: Path) -> Result:
    """Verify the certificates in a folder with the series."""
    return opcert("verify", folder, "--suite", home / "series", "--specs", home / "specs")


def copied(folder: Path, target: Path) -> Path:
    """Copy the files of a folder; return the copy."""
    for name, data in contents(folder).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    return target
