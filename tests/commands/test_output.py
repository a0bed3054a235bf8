"""A stdout that is closed or full ends no run, and is told by an exit code of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from opcert.suite import write_suite
from tests.small_suite import files

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "suite"
    write_suite(folder, files())
    return folder


def opcert(*arguments: str | Path, out: str = "", code: str = "utf-8") -> Done:
    """Run a command in a shell that leads its output elsewhere."""
    command = [sys.executable, "-m", "opcert.cli", *map(str, arguments)]
    shell = ["bash", "-c", f'"$@" {out}', "bash", *command]
    environment = {**os.environ, "PYTHONIOENCODING": code}
    return subprocess.run(shell, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("out", [">/dev/full", ">&-"], ids=["full", "closed"])
def test_a_certificate_is_written_though_nobody_reads_the_answer(
    suite: Path, tmp_path: Path, out: str
) -> None:
    done = opcert("certify", "--suite", suite, "--out", tmp_path / "out", out=out)
    assert done.returncode == 3
    assert (tmp_path / "out" / "certificate.json").is_file()
    last = done.stderr.splitlines()[-1]
    assert last.startswith("opcert: what was found cannot be printed: ")


def test_progress_that_nobody_reads_ends_no_run(suite: Path, tmp_path: Path) -> None:
    done = opcert("certify", "--suite", suite, "--out", tmp_path / "out", out="2>/dev/full")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("CONFORMANT")


@pytest.mark.parametrize("argument", ["--version", "--help", "schema"])
def test_a_full_disk_is_told_in_one_line(argument: str) -> None:
    done = opcert(argument, out=">/dev/full")
    assert done.returncode == 3
    assert done.stderr == "opcert: what was found cannot be printed: No space left on device\n"


def test_a_wrong_call_keeps_its_exit_code(suite: Path) -> None:
    assert opcert("certify", "--suite", suite / "none", out=">/dev/full").returncode == 2


def test_a_reader_that_has_left_ends_no_run(suite: Path, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "opcert.cli", "certify", "--suite", str(suite)]
    out = ["--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *out], stdout=write, stderr=write, check=False)
    os.close(write)
    assert done.returncode == 3
    assert (tmp_path / "out" / "certificate.json").is_file()


def test_what_an_encoding_lacks_is_written_otherwise(suite: Path) -> None:
    done = opcert("certify", "--suite", suite, "--case", "\u00e9", code="ascii")
    assert done.returncode == 1
    assert "case \\xe9: nothing was verified" in done.stdout
