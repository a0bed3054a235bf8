"""The command line, called in this process or run as a program."""

import resource
import shlex
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from opcert import Certificate, read_certificate
from opcert.cli import app

# Files with backends.
WRONG = Path(__file__).with_name("wrong_backends.py")
MISBEHAVING = Path(__file__).with_name("misbehaving.py")


# A shell starts background commands with interrupts ignored, and nohup with hangups ignored.
_INTERRUPTIBLE = """import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
runpy.run_module("opcert", run_name="__main__", alter_sys=True)
"""


def driver(how: str) -> str:
    """Return the name of a driver that misbehaves."""
    program = Path(__file__).parent / "driver" / "misbehaving.py"
    return f"driver:{shlex.join([sys.executable, str(program), how])}"


def python(*arguments: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run Python as a program; `how` as for `subprocess.run`."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def opcert(*arguments: str | Path | int, exits: int | None = None) -> Result:
    """Call opcert within this process, and check its exit code if `exits` states one."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert exits in (None, result.exit_code), result.output
    return result


def certified(folder: Path, *arguments: str | Path, exits: int = 0) -> Certificate:
    """Certify into a folder, and return the certificate."""
    opcert("certify", *arguments, "--out", folder, exits=exits)
    return read_certificate(folder / "certificate.json")


def limited(answers: Connection, *arguments: str | Path) -> None:
    """Run opcert in 4 GiB of memory; send its exit code, stderr, and the type of its exception."""
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
    done = opcert(*arguments)
    answers.send((done.exit_code, done.stderr, type(done.exception).__name__))


def started(*arguments: str | Path, **how: Any) -> subprocess.Popen[str]:
    """Start opcert as a program that can be interrupted; `how` as for `subprocess.Popen`."""
    return subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTIBLE, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


def opcert_program(*arguments: str | Path, **how: Any) -> tuple[int, str, str]:
    """Run opcert as a program; return its exit code and what it wrote to stdout and stderr."""
    with started(*arguments, **how) as program:
        stdout, stderr = program.communicate(timeout=120)
    return program.returncode, stdout, stderr


def interrupts(tmp_path: Path) -> tuple[str | Path, ...]:
    options = ("--backend-option", f"trace={tmp_path / 'trace'}")
    return "--backend", f"{MISBEHAVING}:Interrupts", *options, "--case", "dml-split/drawn-f32-*"
