"""Files that others wrote are read at once and up to a limit, whatever stands in their place."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from opcert.untrusted_files import read_limited
from tests.command_line import limited
from tests.small_suite import GLOB, INDEX, MANIFEST, PACK, edit_index, write


def _grown(descriptor: int) -> int:
    os.truncate(descriptor, 1 << 40)
    return descriptor


Put = Callable[[Path], object]
STRANGE: dict[str, Put] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "huge": lambda path: os.close(_grown(os.open(path, os.O_WRONLY | os.O_CREAT))),
}


class Done(NamedTuple):
    """How a command ended, and what it wrote to stderr."""

    returncode: int
    stderr: str


# Each command is a process, for its memory is limited, that begins with opcert imported.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        "typer.testing",
        "opcert.cli",
        "opcert.certificate.certify_suite",
        "opcert.certificate.submission",
        "opcert.report.files",
        "opcert.suite.generation",
    ]
)


def opcert(*arguments: str | Path) -> Done:
    """Run a command, which ends on its own, in little memory and without a traceback."""
    ours, theirs = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=limited, args=(theirs, *arguments))
    process.start()
    theirs.close()
    try:
        assert ours.poll(60)
        code, stderr, raised = ours.recv()
    finally:
        process.kill()
        process.join()
        ours.close()
    assert raised in ("NoneType", "SystemExit")
    return Done(code, stderr)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write(tmp_path / "suite")


def told(done: Done, path: Path) -> None:
    """Check that it is told in one line what is wrong with `path`."""
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert str(path) in done.stderr
    # A pipe that nobody writes to is as an empty file where pipes are read.
    reasons = (
        "not a file",
        "more than",
        "found null; expected",
        "No such file",
        "expected the PEM",
    )
    assert any(each in done.stderr for each in reasons), done.stderr


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("option", ["--claim", "--sign"])
def test_what_is_no_file_in_the_place_of_one_that_is_given(
    suite: Path, tmp_path: Path, put: Put, option: str
) -> None:
    put(tmp_path / "given")
    call = ("--suite", suite, option, tmp_path / "given", "--out", tmp_path / "out")
    told(opcert("certify", *call), tmp_path / "given")


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_what_is_no_file_in_a_suite(suite: Path, put: Put) -> None:
    (suite / MANIFEST).unlink()
    put(suite / MANIFEST)
    told(opcert("certify", "--suite", suite), suite / MANIFEST)


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_what_is_no_file_among_specs(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "a.yaml")
    told(opcert("check", tmp_path / "a.yaml"), tmp_path / "a.yaml:1:1: ")


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_what_is_no_certificate(suite: Path, tmp_path: Path, put: Put) -> None:
    out = tmp_path / "out"
    out.mkdir()
    put(out / "certificate.json")
    told(opcert("report", out / "certificate.json"), out)
    told(opcert("certify", "--suite", suite, "--resume", "--out", out), out)


def test_a_pipe_in_the_place_of_a_pack(suite: Path) -> None:
    (suite / PACK).unlink()
    os.mkfifo(suite / PACK)
    told(opcert("certify", "--suite", suite), suite / PACK)
    done = opcert("generate", "--check", "--out", suite, "--operator", GLOB)
    assert done.returncode == 2
    assert f"{suite / PACK}: cannot be read: not a file" in done.stderr


def test_a_pipe_in_the_place_of_a_part_of_a_submission(suite: Path, tmp_path: Path) -> None:
    assert opcert("certify", "--suite", suite, "--out", tmp_path / "out").returncode == 0
    (tmp_path / "out" / "report.html").unlink()
    os.mkfifo(tmp_path / "out" / "report.html")
    done = opcert("certify", "--suite", suite, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "contains report.html, not part of a submission that opcert wrote" in done.stderr


@pytest.mark.parametrize(
    ("shape", "seed"),
    [([1 << 40], 1), ([0, 1 << 80], 1), ([1] * 99, 1), ([1 << 20, 1 << 20], 1), ([3], 1 << 64)],
)
def test_seeded_data_that_nobody_can_make(suite: Path, shape: list[int], seed: int) -> None:
    made = {"type": "f32", "shape": shape, "seed": seed, "sha256": "0" * 64}
    edit_index(suite, lambda index: index["cases"][0]["inputs"].update(InputTensor=made))
    done = opcert("certify", "--suite", suite)
    assert done.returncode == 2
    assert f"{INDEX}: cases.0.inputs.InputTensor" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_a_shell_puts_for_a_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"x" * 100_000,))
    held = os.open(tmp_path / "pipe", os.O_RDWR)
    writer.start()
    read: list[bytes] = []
    reader = threading.Thread(
        target=lambda: read.append(read_limited(tmp_path / "pipe", 100_000, pipes=True))
    )
    reader.start()
    writer.join()
    os.close(held)
    reader.join()
    assert read == [b"x" * 100_000]
