"""A stdout that is closed or full ends no run, and has an exit code of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.at_length import at_length

Done = subprocess.CompletedProcess[str]


def run_of(suite: Path) -> tuple[str | Path, ...]:
    return "--suite", suite, "--case", "*example*"


def opcert(*arguments: str | Path, out: str = "", code: str = "utf-8") -> Done:
    """Run a command in a shell that redirects its output."""
    command = [sys.executable, "-m", "opcert", *map(str, arguments)]
    shell = ["bash", "-c", f'"$@" {out}', "bash", *command]
    environment = {**os.environ, "PYTHONIOENCODING": code}
    return subprocess.run(shell, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    "out", [">/dev/full", pytest.param(">&-", marks=pytest.mark.slow)], ids=["full", "closed"]
)
def test_a_certificate_is_written_even_if_the_summary_cannot_be_printed(
    suite: Path, tmp_path: Path, out: str
) -> None:
    done = opcert("certify", *run_of(suite), "--out", tmp_path / "out", out=out)
    assert done.returncode == 3
    assert (tmp_path / "out" / "certificate.json").is_file()
    last = done.stderr.splitlines()[-1]
    assert last.startswith("opcert: error: output could not be printed: ")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_a_summary_is_printed_even_if_the_certificate_cannot_be_written(suite: Path) -> None:
    done = opcert("certify", *run_of(suite), "--out", "/proc/none")
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith("CONFORMANT")
    assert "/proc/none: cannot be written" in done.stderr


@pytest.mark.slow
def test_a_full_stderr_ends_no_run(suite: Path, tmp_path: Path) -> None:
    done = opcert("certify", *run_of(suite), "--out", tmp_path / "out", out="2>/dev/full")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("CONFORMANT")


@pytest.mark.parametrize("argument", at_length(["--version", "--help", "schema"], 3))
def test_a_full_disk_is_reported_in_one_line(argument: str) -> None:
    done = opcert(argument, out=">/dev/full")
    assert done.returncode == 3
    assert done.stderr == "opcert: error: output could not be printed: No space left on device\n"


def test_invalid_input_keeps_its_exit_code(suite: Path) -> None:
    assert opcert("certify", "--suite", suite / "none", out=">/dev/full").returncode == 2


@pytest.mark.slow
def test_a_closed_pipe_ends_no_run(suite: Path, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "opcert", "certify", *map(str, run_of(suite))]
    out = ["--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *out], stdout=write, stderr=write, check=False)
    os.close(write)
    assert done.returncode == 3
    assert (tmp_path / "out" / "certificate.json").is_file()


def test_characters_that_the_encoding_lacks_are_escaped(suite: Path) -> None:
    done = opcert("certify", "--suite", suite, "--case", "\u00e9", code="ascii")
    assert done.returncode == 2
    assert "no case matches '\\xe9'" in done.stderr
