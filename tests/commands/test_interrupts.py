"""An interrupt that reaches all processes of a command ends it in one line, however early."""

import os
import signal
from pathlib import Path

import pytest

from opcert.workers import Processes
from tests.command_line import opcert_program

# Python runs this as it starts, in each process. The condition is true at one moment.
AT_START = """
import os, signal, sys

def interrupt():
    try:
        os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.killpg(0, signal.SIGINT)

{when}
"""
IMPORTS = "sys.addaudithook(lambda event, args: args[:1] == ({name!r},) and interrupt())"
MOMENTS = {
    "the command line is imported": IMPORTS.format(name="opcert.cli"),
    "NumPy is imported": IMPORTS.format(name="numpy.linalg"),
    "a worker starts": "if 'multiprocessing.spawn' in str(sys.orig_argv): interrupt()",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no sessions")
@pytest.mark.parametrize("when", MOMENTS.values(), ids=MOMENTS)
def test_an_early_interrupt_ends_a_command_in_one_line(tmp_path: Path, when: str) -> None:
    text = AT_START.format(marker=str(tmp_path / "marker"), when=when)
    (tmp_path / "sitecustomize.py").write_text(text)
    found = opcert_program(
        *("certify", "--jobs", "2", "--case", "dml-split/example-1"),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        start_new_session=True,
    )
    assert found == (130, "", "opcert: interrupted; nothing was written\n")


def ends_at_first(task: int) -> int:
    if task == 0:
        os.kill(os.getpid(), signal.SIGTERM)
    return task


class Ends:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def ends_in_a_destructor(_: int) -> None:
    Ends()


def test_an_end_within_a_destructor_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with Processes(1) as workers:
        workers.call(ends_in_a_destructor, 0)
    assert capfd.readouterr().err == ""


def test_a_process_that_is_asked_to_end_does_no_further_task() -> None:
    with Processes(1) as workers:
        ended = [future.exception() for _, future in workers.each(ends_at_first, range(3))]
    assert [type(error) for error in ended] == [SystemExit] * 3
