"""The command line as a user calls it: within this process, or as a program of its own."""

import resource
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from opcert.cli import app

# Files of backends, to be named on the command line.
WRONG = Path(__file__).with_name("wrong_backends.py")
MISBEHAVING = Path(__file__).with_name("misbehaving.py")


# In the background a shell has its commands ignore an interrupt.
_INTERRUPTIBLE = """import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("opcert.cli", run_name="__main__", alter_sys=True)
"""


def opcert(*arguments: str | Path | int) -> Result:
    """Call opcert within this process."""
    return CliRunner().invoke(app, [str(each) for each in arguments])


def limited(answers: Connection, *arguments: str | Path) -> None:
    """Send how opcert ended in 4 GiB of memory: its exit code, stderr, and what it raised."""
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
    return "--backend", f"{MISBEHAVING}:Interrupts", *options, "--case", "dml-split/valid-f32-*"
