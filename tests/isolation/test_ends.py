"""However a run ends, no process of a backend is left."""

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from opcert import certify
from tests.command_line import MISBEHAVING, started
from tests.faults.finding import core_suite
from tests.misbehaving import SLEEPS

# A few valid calls, of ranks 2 to 4.
CASES = "dml-split/drawn-f32-[234]-*"


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_writes_the_certificate_so_far_and_leaves_no_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    backend = "--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=sleep"
    with started("certify", "--out", tmp_path, *backend, "--case", CASES) as run:
        assert run.stderr is not None
        # Wait for the verdict of the first case.
        assert run.stderr.readline().startswith("1/")
        children = psutil.Process(run.pid).children()
        os.kill(run.pid, number)
        _, stderr = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "interrupted" in stderr
    assert not any(child.is_running() for child in children)
    text = (tmp_path / "certificate.json").read_text()
    assert Counter(text.split()).get('"not-run",', 0) > 0


def daemons(run: int) -> list[psutil.Process]:
    """Return the processes that backends of a run have left."""
    parents = [run, *(child.pid for child in psutil.Process(run).children(recursive=True))]
    lines = [[SLEEPS, str(parent)] for parent in parents]
    found = psutil.process_iter(["cmdline"])
    return [process for process in found if (process.info["cmdline"] or [])[2:] in lines]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no sessions")
@pytest.mark.parametrize(
    "how", ["daemon", "session", pytest.param("daemon-abort", marks=pytest.mark.slow)]
)
def test_a_daemon_of_a_backend_ends_with_the_run(how: str) -> None:
    certify(f"{MISBEHAVING}:Misbehaves", core_suite(), options={"how": how}, case=CASES)
    assert not psutil.wait_procs(daemons(os.getpid()), timeout=30)[1]


def started_with(token: str) -> list[psutil.Process]:
    """Return the processes that have a variable `TOKEN` of this value."""
    found = psutil.process_iter(["environ"])
    return [p for p in found if (p.info["environ"] or {}).get("TOKEN") == token]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no sessions")
def test_daemons_that_start_others_and_exit_end_with_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = uuid4().hex
    monkeypatch.setenv("TOKEN", token)
    options = {"how": "line-of-daemons"}
    found = certify(f"{MISBEHAVING}:Misbehaves", core_suite(), options=options, case=CASES)
    assert found.counts["pass"] > 3
    assert not started_with(token)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no sessions")
@pytest.mark.parametrize(
    ("number", "jobs"), [(signal.SIGINT, "1"), (signal.SIGTERM, "1"), (signal.SIGTERM, "2")]
)
def test_a_daemon_of_a_backend_ends_with_an_interrupt(number: signal.Signals, jobs: str) -> None:
    backend = "--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=daemon-sleep"
    with started("certify", *backend, "--case", CASES, "--jobs", jobs) as run:
        while not (started_daemons := daemons(run.pid)):
            assert run.poll() is None
            time.sleep(0.05)
        os.kill(run.pid, number)
        run.communicate(timeout=60)
    assert run.returncode == 130
    assert not psutil.wait_procs(started_daemons, timeout=30)[1]


LOOPS = ("--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=loop")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
@pytest.mark.parametrize(
    "command",
    [
        ("certify", *LOOPS, "--case", CASES),
        ("certify", *LOOPS, "--case", CASES, "--jobs", "2"),
        ("generate", "--profile", "full", "--jobs", "2"),
    ],
    ids=["certify", "certify --jobs", "generate --jobs"],
)
def test_busy_processes_end_with_opcert(tmp_path: Path, command: tuple[str, ...]) -> None:
    with started(*command, "--out", tmp_path / "out") as run:
        while True:
            processes = psutil.Process(run.pid).children(recursive=True)
            # One that has only started needs less.
            if any(process.cpu_times().user > 3 for process in processes):
                break
            assert run.poll() is None
            time.sleep(0.1)
        run.kill()
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert not alive
