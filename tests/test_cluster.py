"""A cluster gives results as this process does, and its mistakes are one line each."""

import gc
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

import pytest
from distributed import LocalCluster

from opcert import certify, generate
from opcert.certificate.certify_suite import CertificationInterrupted
from opcert.errors import OpcertError
from opcert.workers import Cluster, TaskKilledError
from tests import small_spec
from tests.clusters import dask, real_cluster, wait_until
from tests.command_line import WRONG, opcert, opcert_program
from tests.faults.finding import core_suite

# Where no scheduler can be.
NOWHERE = (
    *("", "nowhere", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:1", "tcp://[::1", "/", "::"),
    *("http://127.0.0.1:1", "tls://127.0.0.1:1", "ucx://a:1", "inproc://x", "missing.json"),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster whose scheduler and workers are threads of this process."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        scheduler_port=0,
        protocol="tcp",
        dashboard_address=":0",
    ) as here:
        yield here.scheduler_address


def process(_: int) -> int:
    return os.getpid()


def end_the_process(_: int) -> None:
    os._exit(1)


def test_a_run_on_the_command_line_can_be_verified_and_reported(
    address: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    opcert("certify", "--cluster", address, "--case", "dml-split/*-f32-*", "--out", out, exits=0)
    opcert("verify", out, exits=0)
    assert "Workers" in (out / "report.html").read_text()


def test_a_suite_made_on_a_cluster_is_that_of_one_process(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "specs").mkdir()
    folder = small_spec.spec(tmp_path / "specs").parent
    # Workers may have another current folder.
    monkeypatch.chdir(tmp_path)
    with Cluster(address) as cluster:
        generate("suite", folder.name, cluster=cluster)
    assert generate("suite", folder.name, check=True) == []


def test_a_scheduler_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcert.workers.CONNECT_SECONDS", 0.2)
    for nowhere in NOWHERE:
        with pytest.raises(OpcertError, match="expected the address of a dask scheduler"):
            Cluster(nowhere)
    # A client that could not connect complains when it is collected, which takes long.
    gc.collect()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"address": 5}', '{"address": "nonsense"}'])
def test_a_file_without_the_address_of_a_scheduler_is_an_error(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opcert.workers.CONNECT_SECONDS", 0.2)
    file = tmp_path / "scheduler"
    file.write_text(content)
    with pytest.raises(OpcertError, match="expected the address of a dask scheduler"):
        Cluster(str(file))


def test_a_server_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcert.workers.CONNECT_SECONDS", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(OpcertError, match="no answer; expected the address"),
    ):
        Cluster(f"tcp://127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.slow
def test_the_core_suite_has_one_result_however_it_is_run(tmp_path: Path) -> None:
    backend = f"{WRONG}:DeclinesHighRanks"
    alone, in_two = (certify(backend, core_suite(), jobs=jobs) for jobs in (1, 2))
    with real_cluster(tmp_path, {}, {}) as (file, (_, worker, _)), Cluster(str(file)) as cluster:
        wait_until(lambda: len(cluster.workers()) == 2)

        def lose_a_worker(_: object, number: int, __: int) -> None:
            if number == 1:
                worker.send_signal(SIGKILL)

        on_cluster = certify(backend, core_suite(), cluster=cluster, progress=lose_a_worker)
    assert len(alone.verdicts) == len(core_suite().cases)
    assert alone.verdicts == in_two.verdicts == on_cluster.verdicts
    assert on_cluster.run.cluster is not None
    assert on_cluster.run.cluster.lost == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "reason"), [(0, "the scheduler is gone"), (1, "all workers are gone")]
)
def test_a_lost_cluster_leaves_a_certificate_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    with real_cluster(tmp_path, {}) as (file, processes):
        # This waits for the worker, which may start slowly.
        Cluster(str(file)).close()
        # For so long, the client also tries to connect again.
        monkeypatch.setattr("opcert.workers.CONNECT_SECONDS", 3.0)
        with Cluster(str(file)) as cluster:

            def lose_one(_: object, verdict: int, __: int) -> None:
                if verdict == 1:
                    monkeypatch.setattr("opcert.workers.WORKERS_SECONDS", 0.1)
                    processes[number].kill()

            with pytest.raises(CertificationInterrupted) as interrupted:
                certify("reference", core_suite(), cluster=cluster, progress=lose_one)
    assert interrupted.value.reason.endswith(reason)
    reached = interrupted.value.certificate
    assert reached.counts["pass"]
    assert reached.counts["not-run"]


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
            ran = {cluster.result(future) for _, future in cluster.each(process, range(4))}
            assert ran == {with_gpu.pid}
        monkeypatch.setattr("opcert.workers.CONNECT_SECONDS", 1.0)
        with pytest.raises(OpcertError, match=r"no worker that offers GPU=2; .*--resources"):
            Cluster(str(file), {"GPU": 2})


@pytest.mark.slow
def test_a_run_of_a_cluster_in_another_folder_is_resumed_here(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "backend.py").write_text("from opcert.backends.reference import Reference as Backend\n")
    backend = "--backend", f"{here / 'backend.py'}:Backend", "--suite", core_suite().folder
    selected = "--operator", "directml/*", "--case", "*-f32-*", "--out", "out"
    with real_cluster(tmp_path, {}) as (file, _):
        for how in (("--cluster", file), ("--resume",)):
            code, _, stderr = opcert_program("certify", *backend, *selected, *how, cwd=here)
            assert code == 0, stderr


@pytest.fixture(scope="module")
def processes() -> Iterator[Cluster]:
    """A cluster with two workers in processes of their own."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as here,
        Cluster(here.scheduler_address) as cluster,
    ):
        yield cluster


@pytest.mark.slow
def test_a_task_that_ends_workers_is_given_up(processes: Cluster) -> None:
    with pytest.raises(TaskKilledError, match="it ended 4 workers"):
        processes.call(end_the_process, 0)
    wait_until(lambda: len(processes.workers()) == 2)
    assert processes.call(process, 0)


@pytest.mark.slow
def test_a_worker_that_does_not_answer_holds_up_nobody(
    processes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opcert.workers.CONNECT_SECONDS", 0.5)
    begin = time.monotonic()
    processes.end(time.sleep, 30)
    assert time.monotonic() - begin < 20
