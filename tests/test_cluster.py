"""A cluster gives results as this process does, and its mistakes are one line each."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from opcert.cluster import Cluster, TaskKilledError
from opcert.errors import OpcertError
from tests.clusters import dask, real_cluster, wait_until


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
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


def test_a_task_that_ends_three_workers_is_given_up(cluster: Cluster) -> None:
    with pytest.raises(TaskKilledError, match="it ended 3 workers"):
        next(cluster.map(end_the_process, [0]))
    wait_until(lambda: len(cluster.workers()) == 2)
    assert [*cluster.map(square, [3])] == [9]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:0", "expected local:N, with 1 to 1,024 worker processes"),
        ("local:two", "expected local:N"),
        ("nowhere", "expected the address of a dask scheduler"),
        ("missing.json", "No such file or directory; expected the address"),
        ("tcp://127.0.0.1:1", "expected the address of a dask scheduler"),
    ],
)
def test_a_cluster_that_is_not_there_is_an_error(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 1.0)
    with pytest.raises(OpcertError, match=message):
        Cluster(address)


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
