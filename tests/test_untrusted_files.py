"""Files that others wrote are read at once and up to a limit, whatever is in their place."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from opcert.system import read_limited
from tests.command_line import limited
from tests.small_suite import GLOB, INDEX, MANIFEST, PACK, edit_index, write


def _extend(descriptor: int) -> int:
    os.truncate(descriptor, 1 << 40)
    return descriptor


Put = Callable[[Path], object]
STRANGE: dict[str, Put] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "huge": lambda path: os.close(_extend(os.open(path, os.O_WRONLY | os.O_CREAT))),
}


class Result(NamedTuple):
    """The exit code of a command, and what it wrote to stderr."""

    returncode: int
    stderr: str


# Each command runs in a process with limited memory, which starts with opcert imported.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        "typer.testing",
        "opcert",
        "opcert.certificate.certify_suite",
        "opcert.certificate.file",
        "opcert.report.files",
        "opcert.suite.generation",
    ]
)


def opcert(*arguments: str | Path) -> Result:
    """Run a command in little memory; it ends by itself and without a traceback."""
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
    return Result(code, stderr)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write(tmp_path / "suite")


def assert_reports(result: Result, path: Path) -> None:
    """Check that one line of stderr says what is wrong with `path`."""
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert str(path) in result.stderr
    # Where pipes are read, one without a writer reads as an empty file.
    reasons = (
        "not a file",
        "more than",
        "found nothing; expected",
        "No such file",
        "expected the PEM",
    )
    assert any(reason in result.stderr for reason in reasons), result.stderr


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_an_option_that_names_no_regular_file(suite: Path, tmp_path: Path, put: Put) -> None:
    put(tmp_path / "given")
    call = ("--suite", suite, "--claim", tmp_path / "given", "--out", tmp_path / "out")
    assert_reports(opcert("certify", *call), tmp_path / "given")
    assert_reports(opcert("sign", tmp_path, "--key", tmp_path / "given"), tmp_path / "given")


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_a_manifest_that_is_no_regular_file(suite: Path, put: Put) -> None:
    (suite / MANIFEST).unlink()
    put(suite / MANIFEST)
    assert_reports(opcert("certify", "--suite", suite), suite / MANIFEST)


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_a_spec_that_is_no_regular_file(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "a.yaml")
    assert_reports(opcert("check", tmp_path / "a.yaml"), tmp_path / "a.yaml:1:1: ")


@pytest.mark.parametrize("put", STRANGE.values(), ids=STRANGE)
def test_a_certificate_that_is_no_regular_file(suite: Path, tmp_path: Path, put: Put) -> None:
    out = tmp_path / "out"
    out.mkdir()
    put(out / "certificate.json")
    assert_reports(opcert("report", out / "certificate.json"), out)
    assert_reports(opcert("certify", "--suite", suite, "--resume", "--out", out), out)


@pytest.mark.slow
def test_a_pack_that_is_a_pipe(suite: Path) -> None:
    (suite / PACK).unlink()
    os.mkfifo(suite / PACK)
    assert_reports(opcert("certify", "--suite", suite), suite / PACK)
    result = opcert("generate", "--check", "--out", suite, "--operator", GLOB)
    assert result.returncode == 2
    assert f"{suite / PACK}: cannot be read: not a file" in result.stderr


def test_a_file_of_a_submission_that_is_a_pipe(suite: Path, tmp_path: Path) -> None:
    assert opcert("certify", "--suite", suite, "--out", tmp_path / "out").returncode == 0
    (tmp_path / "out" / "report.html").unlink()
    os.mkfifo(tmp_path / "out" / "report.html")
    result = opcert("certify", "--suite", suite, "--out", tmp_path / "out")
    assert result.returncode == 2
    assert "contains report.html, not part of results that opcert wrote" in result.stderr


@pytest.mark.parametrize(
    ("shape", "seed"),
    [([1 << 40], 1), ([0, 1 << 80], 1), ([1] * 99, 1), ([1 << 20, 1 << 20], 1), ([3], 1 << 64)],
)
def test_seeded_data_that_cannot_be_generated(suite: Path, shape: list[int], seed: int) -> None:
    made = {"type": "f32", "shape": shape, "seed": seed, "sha256": "0" * 64}
    edit_index(suite, lambda index: index["cases"][0]["inputs"].update(InputTensor=made))
    result = opcert("certify", "--suite", suite)
    assert result.returncode == 2
    assert f"{INDEX}: dml-split/example-1, inputs.InputTensor" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_pipe_of_a_process_substitution_is_read(tmp_path: Path) -> None:
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
