"""A run on a cluster reaches what a run on one machine does."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from signal import SIGKILL

import pytest

from opcert import Certificate, certify
from opcert.certificate.certify_suite import CertificationInterrupted
from opcert.cluster import Cluster
from opcert.errors import BackendError, OpcertError
from opcert.verification import verify_certificate
from tests.certificate.divided_runs import CASES, CRASHES, ENDS, SPLIT, results, with_backends
from tests.clusters import real_cluster, wait_until
from tests.command_line import MISBEHAVING, WRONG, opcert, opcert_program
from tests.faults.finding import core_suite
from tests.wrong_backends import Right


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster("local:2") as started:
        yield started


@pytest.mark.slow
@with_backends
def test_the_verdicts_are_those_of_one_machine(
    cluster: Cluster, backend: str, options: Mapping[str, str]
) -> None:
    one, many = (
        certify(backend, core_suite(), options=options, operator=SPLIT, case=CASES, cluster=where)
        for where in (None, cluster)
    )
    assert results(one) == results(many)
    assert [cause.sentence for cause in one.causes] == [cause.sentence for cause in many.causes]
    assert (many.backend, many.run.isolated) == (one.backend, one.run.isolated)
    assert many.run.cluster is not None
    assert sum(worker.cases for worker in many.run.cluster.platforms) == len(many.verdicts)
    assert [*verify_certificate(many, core_suite())] == []


@pytest.mark.slow
def test_a_hang_is_a_verdict(cluster: Cluster) -> None:
    certificate = certify(
        CRASHES,
        core_suite(),
        options={"how": "sleep"},
        operator=SPLIT,
        case="dml-split/drawn-f32-3-*",
        timeout=0.2,
        max_crashes=2,
        cluster=cluster,
    )
    assert certificate.counts["hang"] >= 1
    assert certificate.is_finished


@pytest.mark.slow
def test_cases_that_end_three_workers_are_crashes_and_the_others_run(cluster: Cluster) -> None:
    split = "directml/DML_OPERATOR_SPLIT"
    certificate = certify(
        CRASHES,
        core_suite(),
        isolated=False,
        options={**ENDS, "only": split},
        operator="*[Ss][Pp][Ll][Ii][Tt]*",
        case=CASES,
        cluster=cluster,
    )
    crashes = [verdict for verdict in certificate.verdicts if verdict.status == "crash"]
    assert {verdict.operator for verdict in crashes} == {split}
    assert "it ended 3 workers of the cluster, with the " in crashes[0].detail
    assert certificate.counts["pass"]
    assert certificate.run.cluster is not None
    assert certificate.run.cluster.lost >= 1


def certify_while_a_worker_is_lost(folder: Path, backend: str, operator: str) -> Certificate:
    with real_cluster(folder, {}, {}) as (file, (_, worker, _)), Cluster(str(file)) as cluster:
        wait_until(lambda: len(cluster.workers()) == 2)

        def lose_a_worker(_: object, number: int, __: int) -> None:
            if number == 1:
                worker.send_signal(SIGKILL)

        certificate = certify(
            backend, core_suite(), operator=operator, cluster=cluster, progress=lose_a_worker
        )
    assert certificate.run.cluster is not None
    assert certificate.run.cluster.lost == 1
    return certificate


@pytest.mark.slow
def test_what_ran_on_a_lost_worker_runs_elsewhere(tmp_path: Path) -> None:
    assert certify_while_a_worker_is_lost(tmp_path, "reference", SPLIT).conformant


@pytest.mark.slow
def test_the_core_suite_has_one_result_however_it_is_run(tmp_path: Path) -> None:
    backend = f"{WRONG}:DeclinesHighRanks"
    alone, in_two = (certify(backend, core_suite(), jobs=jobs) for jobs in (1, 2))
    on_a_cluster = certify_while_a_worker_is_lost(tmp_path, backend, "*")
    assert len(alone.verdicts) == len(core_suite().cases)
    assert results(alone) == results(in_two) == results(on_a_cluster)


ENDS_AS_IT_STARTS = """
import os


class Backend:
    def __init__(self):
        os.abort()
"""
RIGHT = """
from opcert.backends.reference import Reference as Backend
"""


@pytest.mark.slow
def test_a_backend_that_ends_workers_as_it_starts_is_an_error(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "backend.py").write_text(ENDS_AS_IT_STARTS)
    with pytest.raises(BackendError, match="cannot be started: it ended 3 workers"):
        certify(f"{tmp_path / 'backend.py'}:Backend", core_suite(), isolated=False, cluster=cluster)


@pytest.mark.slow
def test_a_run_of_a_cluster_in_another_folder_is_resumed_here(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "backend.py").write_text(RIGHT)
    backend = "--backend", f"{here / 'backend.py'}:Backend", "--suite", core_suite().folder
    selected = "--operator", SPLIT, "--case", CASES, "--out", "out"
    with real_cluster(tmp_path, {}) as (file, _):
        for how in (("--cluster", file), ("--resume",)):
            code, _, stderr = opcert_program("certify", *backend, *selected, *how, cwd=here)
            assert code == 0, stderr


@pytest.mark.slow
def test_an_interrupted_run_is_resumed(cluster: Cluster) -> None:
    def interrupt(_: object, number: int, __: int) -> None:
        if number == 30:
            raise KeyboardInterrupt

    with pytest.raises(CertificationInterrupted) as interrupted:
        certify("reference", core_suite(), operator=SPLIT, cluster=cluster, progress=interrupt)
    reached = interrupted.value.certificate
    assert reached.counts["pass"] >= 25
    assert reached.counts["not-run"]
    resumed = certify("reference", core_suite(), operator=SPLIT, cluster=cluster, resume=reached)
    assert resumed.conformant
    assert resumed.run.cluster is not None
    assert sum(worker.cases for worker in resumed.run.cluster.platforms) == len(resumed.verdicts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "reason"), [(0, "the scheduler is gone"), (1, "all workers are gone")]
)
def test_a_lost_cluster_leaves_a_certificate_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    run = partial(certify, "reference", core_suite(), operator=SPLIT)
    with real_cluster(tmp_path, {}) as (file, processes):
        # This waits for the worker, which may start slowly.
        Cluster(str(file)).close()
        # For so long, the client also tries to connect again.
        monkeypatch.setattr("opcert.cluster.CONNECT_SECONDS", 3.0)
        with Cluster(str(file)) as cluster:

            def lose_one(_: object, verdict: int, __: int) -> None:
                if verdict == 1:
                    monkeypatch.setattr("opcert.cluster.WORKERS_SECONDS", 0.1)
                    processes[number].kill()

            with pytest.raises(CertificationInterrupted) as interrupted:
                run(cluster=cluster, progress=lose_one)
    assert interrupted.value.reason.endswith(reason)
    reached = interrupted.value.certificate
    assert reached.counts["not-run"]
    assert run(resume=reached).conformant


VERSIONED = """
import os

class Backend:
    name, version = "b", os.environ["RUNTIME"]

    def run(self, operator, inputs, attributes):
        raise NotImplementedError
"""


@pytest.mark.slow
def test_two_versions_of_a_backend_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "backend.py").write_text(VERSIONED)
    workers = ({"RUNTIME": "1"}, {"RUNTIME": "2"})
    with real_cluster(tmp_path, *workers) as (file, _), Cluster(str(file)) as cluster:
        wait_until(lambda: len(cluster.workers()) == 2)
        with pytest.raises(BackendError, match="two workers differ: backend"):
            certify(f"{tmp_path / 'backend.py'}:Backend", core_suite(), cluster=cluster)


@pytest.mark.slow
def test_a_backend_that_cannot_be_started_is_an_error(cluster: Cluster) -> None:
    with pytest.raises(OpcertError, match="cannot be started"):
        certify(f"{MISBEHAVING}:CannotBeMade", core_suite(), cluster=cluster)


@pytest.mark.slow
def test_an_object_cannot_be_sent(cluster: Cluster) -> None:
    with pytest.raises(OpcertError, match="need a backend by name"):
        certify(Right(), core_suite(), cluster=cluster)


@pytest.mark.slow
def test_a_generated_suite_reaches_the_workers(cluster: Cluster) -> None:
    case = "*-f32-*"
    assert certify("reference", operator="openvino/Tile-1", case=case, cluster=cluster).conformant


def test_a_run_on_the_command_line_can_be_verified_and_reported(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = opcert("certify", "--cluster", "local:1", "--case", "dml-split/*-f32-*", "--out", out)
    assert done.exit_code == 0, done.output
    assert opcert("verify", out).exit_code == 0
    assert "Workers" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cluster", "nowhere"), "expected the address of a dask scheduler"),
        (("--cluster", "local:1", "--jobs", "2"), "--jobs and --cluster contradict each other"),
        (("--cluster-resources", "GPU=1"), "--cluster-resources needs --cluster"),
        (("--cluster", "x", "--cluster-resources", "GPU"), "a number above 0 for GPU"),
        (("--cluster", "x", "--cluster-resources", "=1"), "expected NAME=AMOUNT"),
    ],
)
def test_mistakes_are_one_line(options: tuple[str, ...], message: str) -> None:
    done = opcert("certify", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
