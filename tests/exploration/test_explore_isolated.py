"""Exploring a backend in a process of its own: what ends that process is found and printed."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from opcert.backends.lookup import setup_code
from opcert.errors import BackendError
from opcert.exploration.explore import Counterexample, ExplorationResult, explore
from opcert.settings import RunSettings
from tests.command_line import MISBEHAVING, WRONG, driver, python, started

pytestmark = pytest.mark.slow

DML = "directml/DML_OPERATOR_SPLIT"


def alone(
    backend: str, *, options: Any = None, minutes: float = 0.06, **settings: Any
) -> ExplorationResult:
    run = RunSettings(**{"operator": DML, "timeout": 20, **settings})
    return next(explore(backend, run, options=options, minutes=minutes))


def counterexample_of(backend: str, **more: Any) -> Counterexample:
    counterexample = alone(backend, **more).counterexample
    assert counterexample is not None
    assert counterexample.repeatable
    return counterexample


def program(counterexample: Counterexample, backend: str, folder: Path, **options: str) -> Path:
    target = folder / "shows.py"
    target.write_text(counterexample.program(setup_code(backend, options)))
    return target


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.parametrize(
    ("how", "text", "code"),
    [
        ("segfault", "ended by SIGSEGV", -11),
        ("exit", "exited with 0", 0),
    ],
)
def test_a_crash_is_found_reduced_and_printed(
    how: str, text: str, code: int, tmp_path: Path
) -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    counterexample = counterexample_of(backend, options={"how": how}, minutes=0.1)
    assert counterexample.fault.kind == "crash"
    assert text in counterexample.fault.text
    (step,) = counterexample.steps
    assert step.inputs["InputTensor"].ndim == 3
    done = python(program(counterexample, backend, tmp_path, how=how))
    # Its last line is not reached.
    assert (done.returncode, done.stdout) == (code, "")


def test_a_hang_is_found_and_printed(tmp_path: Path) -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    counterexample = counterexample_of(backend, options={"how": "sleep"}, timeout=1, minutes=0.05)
    assert counterexample.fault.kind == "hang"
    assert "no answer within 1 s" in counterexample.fault.text
    assert counterexample.steps[-1].inputs["InputTensor"].ndim == 3
    with pytest.raises(subprocess.TimeoutExpired):
        python(program(counterexample, backend, tmp_path, how="sleep"), timeout=3)


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("abort", "crash", "ended by SIGABRT"),
        ("exit", "crash", "exited with 0"),
        ("garbage", "protocol", "is not a line of JSON"),
        ("trailing", "protocol", "stdout is for answers alone"),
    ],
)
def test_a_driver_that_misbehaves_is_found_and_printed(
    how: str, kind: str, text: str, tmp_path: Path
) -> None:
    counterexample = counterexample_of(driver(how), minutes=0.1)
    assert counterexample.fault.kind == kind
    assert text in counterexample.fault.text
    done = python(program(counterexample, driver(how), tmp_path))
    assert done.returncode == 1
    assert text in done.stderr
    right = python(program(counterexample, driver("right"), tmp_path))
    assert (right.returncode, right.stdout) == (0, "the last call has returned\n")


def test_a_driver_that_hangs_is_found() -> None:
    assert counterexample_of(driver("sleep"), timeout=1, minutes=0.05).fault.kind == "hang"


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        (driver("right"), None),
        (f"{WRONG}:Right", None),
        (f"{WRONG}:ReturnsOneOutput", "count"),
        (f"{WRONG}:WritesToItsInput", "mutated-input"),
        (f"{WRONG}:CachesByShape", "value"),
        (f"{WRONG}:AcceptsEverything", "accepted"),
        (f"{WRONG}:RejectsEverything", "rejected"),
        (f"{WRONG}:ReturnsArray", "type"),
    ],
)
def test_other_failures_are_found_as_in_this_process(backend: str, kind: str | None) -> None:
    counterexample = alone(backend, minutes=0.05).counterexample
    assert (counterexample and counterexample.fault.kind) == kind


def test_a_buffer_that_the_next_call_overwrites_is_found() -> None:
    # Of a split, equal outputs of one call would share the buffer.
    counterexample = counterexample_of(f"{WRONG}:ReturnsViews", operator="openvino/Gather-8")
    assert counterexample.fault.kind == "aliased-output"


def test_the_other_operators_are_explored_after_a_hang() -> None:
    options = {"how": "sleep"}
    run = RunSettings(operator="*[BV]*", timeout=1)
    first, *_, last = explore(f"{MISBEHAVING}:Misbehaves", run, options=options, minutes=0.1)
    assert first.counterexample is not None
    assert first.operator != last.operator
    assert last.tried


def test_a_backend_that_cannot_be_made_again_is_an_error_after_the_result(tmp_path: Path) -> None:
    options = {"trace": str(tmp_path / "lost")}
    explored = explore(f"{MISBEHAVING}:IsLost", RunSettings(operator=DML), options=options)
    counterexample = next(explored).counterexample
    assert counterexample is not None
    assert (counterexample.fault.kind, counterexample.repeatable) == ("crash", False)
    with pytest.raises(BackendError, match="the device is lost"):
        next(explored)


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    options = "--backend-option", f"trace={tmp_path / 'trace'}"
    children: set[psutil.Process] = set()
    with started(
        "explore", "--operator", DML, "--backend", f"{MISBEHAVING}:Interrupts", *options
    ) as run:
        while run.poll() is None:
            with suppress(psutil.NoSuchProcess):
                children.update(psutil.Process(run.pid).children(recursive=True))
            time.sleep(0.02)
        output, _ = run.communicate()
    assert run.returncode == 130
    assert "nothing found" in output
    assert children
    assert not any(each.is_running() for each in children)
