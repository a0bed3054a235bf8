"""A cluster gives results as this process does, and its mistakes are one line each."""

import gc
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from distributed import LocalCluster

from opcert.cluster import Cluster, TaskKilledError
from opcert.errors import OpcertError
from tests.clusters import dask, real_cluster, wait_until
from tests.command_line import started

# Where no scheduler can be.
NOWHERE = (
    *("", "nowhere", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:1", "tcp://[::1", "/", "::"),
    *("http://127.0.0.1:1", "tls://127.0.0.1:1", "ucx://a:1", "inproc://x"),
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster whose scheduler and workers are threads of this process."""
    address = {"scheduler_port": 0, "protocol": "tcp", "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **address) as here,
        Cluster(here.scheduler_address) as connected,
    ):
        yield connected


@pytest.fixture(scope="module")
def processes() -> Iterator[Cluster]:
    with Cluster("local:2") as started:
        yield started


def square(number: int) -> int:
    return number * number


def sleep_long_at_first(number: int) -> int:
    time.sleep(0.5 if number == 0 else 0)
    return number


def process(_: int) -> int:
    return os.getpid()


def end_the_process(_: int) -> None:
    os._exit(1)


def test_results_come_in_order(cluster: Cluster) -> None:
    assert [*cluster.map(sleep_long_at_first, range(10))] == [*range(10)]


def test_no_more_is_in_flight_than_keeps_the_workers_busy(cluster: Cluster) -> None:
    numbers = iter(range(100))
    next(cluster.map(square, numbers))
    assert len([*numbers]) >= 99 - cluster.capacity


@pytest.mark.slow
def test_a_task_that_ends_three_workers_is_given_up(processes: Cluster) -> None:
    with pytest.raises(TaskKilledError, match="it ended 3 workers"):
        next(processes.map(end_the_process, [0]))
    wait_until(lambda: len(processes.workers()) == 2)
    assert [*processes.map(square, [3])] == [9]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:0", "expected local:N, with 1 to 1,024 worker processes"),
        ("local:two", "expected local:N"),
        ("missing.json", "No such file or directory; expected the address"),
    ],
)
def test_an_address_of_no_cluster_is_an_error(address: str, message: str) -> None:
    with pytest.raises(OpcertError, match=message):
        Cluster(address)


def test_a_scheduler_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 0.2)
    for address in NOWHERE:
        with pytest.raises(OpcertError, match="expected the address of a dask scheduler"):
            Cluster(address)
    # A client that could not connect complains when it is collected, which takes long.
    gc.collect()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"address": 5}', '{"address": "nonsense"}'])
def test_a_file_without_the_address_of_a_scheduler_is_an_error(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 0.2)
    file = tmp_path / "scheduler"
    file.write_text(content)
    with pytest.raises(OpcertError, match="expected the address of a dask scheduler"):
        Cluster(str(file))


def test_a_server_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(OpcertError, match="no answer; expected the address"),
    ):
        Cluster(f"tcp://127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.slow
def test_what_runs_on_each_worker_does_not_wait_for_a_lost_one(processes: Cluster) -> None:
    workers = [*processes.workers(), "tcp://127.0.0.1:1"]
    assert processes.on_each(square, 3, workers=workers) == [9, 9]
    wait_until(lambda: len(processes.workers()) == 2)
    assert len(processes.on_each(end_the_process, 0, workers=processes.workers())) < 2


@pytest.mark.slow
def test_a_worker_that_does_not_answer_holds_up_nobody(
    processes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 0.5)
    begin = time.monotonic()
    processes.run_everywhere(time.sleep, 30)
    assert time.monotonic() - begin < 20


@pytest.mark.slow
def test_an_interrupt_while_a_cluster_starts_ends_it_without_a_word() -> None:
    with started("generate", "--cluster", "local:1", "--check") as run:
        wait_until(lambda: bool(psutil.Process(run.pid).children()))
        os.kill(run.pid, signal.SIGINT)
        stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == 130
    assert (stdout + stderr).strip() == "opcert: interrupted; nothing was written"


@pytest.mark.slow
def test_only_workers_that_offer_the_resources_get_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--scheduler-file")
    with (
        real_cluster(tmp_path, {}, resources="GPU=1") as (file, (_, with_gpu)),
        dask(*other, file),
        Cluster(str(file)) as everyone,
    ):
        wait_until(lambda: len(everyone.workers()) == 2)
        with Cluster(str(file), {"GPU": 1}) as cluster:
            assert {*cluster.map(process, range(4))} == {with_gpu.pid}
        monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 1.0)
        with pytest.raises(OpcertError, match=r"no worker that offers GPU=2; .*--resources"):
            Cluster(str(file), {"GPU": 2})
