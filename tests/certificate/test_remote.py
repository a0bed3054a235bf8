"""A run on workers reaches what a run in one process does, whatever happens to the workers."""

import multiprocessing
import pickle
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.certificate.certify_suite import CertificationInterrupted
from opcert.certificate.remote import Report, Site
from opcert.errors import BackendError, Mistake, OpcertError, SpecError, SuiteError
from opcert.report.side_by_side import command_line
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts import confirmation
from opcert.verdicts.certification import batches
from opcert.verdicts.verdict import FAILURE_STATUSES
from opcert.verification import verify_certificate
from opcert.workers import ClusterLostError, TaskKilledError
from tests.certificate.test_resumption import interrupting
from tests.command_line import MISBEHAVING, WRONG, opcert
from tests.few_cases import few_cases
from tests.workers_here import WorkersHere
from tests.wrong_backends import Right

SPLIT, CASES = "directml/*", "*-f[36]*"
CRASHES, ENDS = f"{MISBEHAVING}:Misbehaves", {"how": "exit"}
# Processes of this machine take seconds to start.
EITHER = pytest.mark.parametrize(
    "how", [pytest.param({"jobs": 2}, marks=pytest.mark.slow), {"cluster": WorkersHere()}]
)


def run(backend: str | Right = "reference", **settings: Any) -> Certificate:
    """Certify a backend on cases of two types, unless `settings` say otherwise."""
    return certify(backend, few_cases(), **{"operator": SPLIT, "case": CASES, **settings})


@cache
def run_alone(backend: str, **options: str) -> Certificate:
    """Certify a backend in one process, once for all that is compared with it."""
    return run(backend, options=options)


def results(certificate: Certificate) -> Mapping[str, tuple[str, str | None]]:
    """Return the status and the kind of each verdict."""
    return {verdict.case: (verdict.status, verdict.kind) for verdict in certificate.verdicts}


@pytest.mark.parametrize("cases", ["*", "*-f32-*"])
def test_batches_have_each_case_once_with_its_baseline_before_it(cases: str) -> None:
    suite = few_cases()
    selected = suite.select("*", cases)
    divided = [*batches(suite, selected, 20)]
    assert sorted(case for batch in divided for case in batch.cases) == sorted(selected)
    for batch in divided:
        for position, case in enumerate(batch.cases):
            baseline = suite.cases[case].baseline
            assert baseline not in selected or baseline in batch.cases[:position]


def test_cases_of_one_signature_are_in_one_batch() -> None:
    suite = few_cases()
    home: dict[object, int] = {}
    for number, batch in enumerate(batches(suite, suite.select("*", "*"), 20)):
        for case in (suite.cases[name] for name in batch.cases):
            if case.baseline is None:
                types = [(a.type, len(a.shape)) for a in case.record.inputs.values()]
                assert home.setdefault((case.operator, str(types)), number) == number


@pytest.mark.parametrize(
    "how",
    [{"jobs": 2}, {"cluster": WorkersHere()}, {"cluster": WorkersHere(count=5, lost_calls=1)}],
)
@pytest.mark.parametrize(
    ("backend", "options"),
    [
        (f"{WRONG}:AcceptsEverything", {}),
        pytest.param("reference", {}, marks=pytest.mark.slow),
        pytest.param(f"{WRONG}:DeclinesHighRanks", {}, marks=pytest.mark.slow),
        pytest.param(f"{WRONG}:CachesByShape", {}, marks=pytest.mark.slow),
        pytest.param(CRASHES, ENDS, marks=pytest.mark.slow),
    ],
)
def test_the_verdicts_are_those_of_one_process(
    backend: str,
    options: Mapping[str, str],
    how: Mapping[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In this process, failing calls stay as large as they are, to save time.
    monkeypatch.setattr(confirmation, "_REDUCTION_SECONDS", 0.0)
    alone = run_alone(backend, **options)
    divided = run(backend, options=options, **how)
    assert results(divided) == results(alone)
    # On a busy machine, processes have no time for fresh calls that crash.
    if backend != CRASHES or "jobs" not in how:
        assert [cause.sentence for cause in divided.causes] == [
            cause.sentence for cause in alone.causes
        ]
    assert (divided.backend, divided.run.isolated) == (alone.backend, alone.run.isolated)
    assert len(divided.run.repeated) == len(alone.run.repeated)
    assert verify_certificate(divided, few_cases()) == []
    if "jobs" in how:
        assert divided.run.cluster is None
        assert command_line(divided).endswith(" --jobs 2")
        assert not multiprocessing.active_children()
        return
    assert divided.run.cluster is not None
    assert sum(worker.cases for worker in divided.run.cluster.platforms) == len(divided.verdicts)


@pytest.mark.parametrize(
    "how", [{"jobs": 2}, pytest.param({"cluster": WorkersHere()}, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_keeps_what_it_reached_and_is_resumed(how: dict[str, Any]) -> None:
    with pytest.raises(CertificationInterrupted) as interrupted:
        run(case="*", progress=interrupting(30), **how)
    reached = interrupted.value.certificate
    assert reached.counts["pass"] >= 25
    assert reached.counts["not-run"]
    assert not multiprocessing.active_children()
    resumed = run(case="*", resume=reached, **how)
    assert resumed.conformant
    if resumed.run.cluster is not None:
        # Each case counts once, where it was run to its verdict.
        ran = sum(worker.cases for worker in resumed.run.cluster.platforms)
        assert ran == len(resumed.verdicts)


@EITHER
def test_a_run_stops_at_its_first_failure(how: dict[str, Any]) -> None:
    certificate = run(f"{WRONG}:AcceptsEverything", case="*", stop_at_failure=True, **how)
    assert certificate.counts["not-run"]
    assert sum(v.status in FAILURE_STATUSES for v in certificate.verdicts) == 1


@pytest.mark.slow
def test_crashes_and_hangs_of_all_processes_count_together() -> None:
    # Hangs, for causes of crashes would be tried on fresh calls.
    hangs: dict[str, Any] = {"options": {"how": "sleep"}, "timeout": 0.5}
    certificate = run(CRASHES, **hangs, jobs=2, max_crashes=1)
    # Each process may be in a call when the first one hangs.
    assert 1 <= certificate.counts["hang"] <= 2
    assert certificate.counts["not-run"]
    assert certificate.is_finished


def test_batches_that_end_several_workers_are_crashes_and_the_others_run() -> None:
    def end_workers(result: Any) -> Any:
        if isinstance(result, Report) and result.verdicts[0].operator.startswith("directml/"):
            raise TaskKilledError("it ended 3 workers of the cluster")
        return result

    certificate = run(operator="*[Ss][Pp][Ll][Ii][Tt]*", cluster=WorkersHere(change=end_workers))
    crashes = [verdict for verdict in certificate.verdicts if verdict.status == "crash"]
    assert {verdict.operator for verdict in crashes} == {"directml/DML_OPERATOR_SPLIT"}
    assert "it ended 3 workers of the cluster, with the " in crashes[0].detail
    assert certificate.counts["pass"]


def test_a_lost_cluster_leaves_a_certificate_to_resume() -> None:
    def later_is_lost(result: Any) -> Any:
        if isinstance(result, Report) and next(reports) > 0:
            raise ClusterLostError("cluster x: all workers are gone")
        return result

    reports = iter(range(9))
    with pytest.raises(CertificationInterrupted) as interrupted:
        run(case="*", cluster=WorkersHere(change=later_is_lost))
    assert interrupted.value.reason.endswith("all workers are gone")
    reached = interrupted.value.certificate
    assert reached.counts["not-run"]
    assert reached.counts["pass"]
    assert run(case="*", resume=reached).conformant


def of_version_2(result: Any) -> Any:
    """Return what a worker with another version of the backend would have sent."""
    if isinstance(result, Report):
        return replace(result, site=of_version_2(result.site))
    return replace(result, backend=result.backend.model_copy(update={"version": "2"}))


@pytest.mark.parametrize("kind", [Site, Report])
def test_two_versions_of_a_backend_are_an_error(kind: type) -> None:
    numbers = iter(range(9))

    def second_differs(result: Any) -> Any:
        is_second = isinstance(result, kind) and next(numbers) == 1
        return of_version_2(result) if is_second else result

    with pytest.raises(BackendError, match=r"two workers differ: backend\.version is .* and .2"):
        run(case="*", cluster=WorkersHere(change=second_differs))


def test_a_backend_that_ends_workers_as_it_starts_is_an_error() -> None:
    def end_workers(_: Any) -> Any:
        raise TaskKilledError("it ended 3 workers")

    with pytest.raises(BackendError, match="cannot be started: it ended 3 workers"):
        run(cluster=WorkersHere(change=end_workers))


@pytest.mark.slow
def test_a_backend_that_cannot_be_started_is_an_error_with_its_place() -> None:
    with pytest.raises(OpcertError, match=r"^worker on .* cannot be started"):
        run(f"{MISBEHAVING}:CannotBeMade", cluster=WorkersHere())
    with pytest.raises(BackendError, match=r"^backend .* cannot be started"):
        run(f"{MISBEHAVING}:CannotBeMade", jobs=2)


def test_a_backend_that_ends_the_process_in_which_it_runs_is_an_error() -> None:
    with pytest.raises(OpcertError, match="leave out --in-process"):
        run(CRASHES, isolated=False, options=ENDS, jobs=2)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("how", [{"jobs": 2}, {"cluster": WorkersHere()}])
def test_an_object_cannot_be_shared(how: dict[str, Any]) -> None:
    with pytest.raises(OpcertError, match="need a backend by name"):
        run(Right(), **how)


@pytest.mark.slow
def test_a_suite_that_is_damaged_meanwhile_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    shutil.copytree(few_cases().folder, folder)
    *_, last = few_cases().manifest.operators.values()

    def damage(_: object, number: int, __: int) -> None:
        # Two processes have four batches, one for each of the other operators.
        if number == 1:
            (folder / last.pack).write_bytes(b"")

    with pytest.raises(SuiteError, match=rf"{last.pack}: the digest of its 0 bytes"):
        certify("reference", folder, case="*/*example*", jobs=2, progress=damage)


def test_tasks_are_made_shortly_before_a_worker_is_free() -> None:
    numbers = iter(range(100))
    next(WorkersHere(2).each(str, numbers))
    assert len([*numbers]) >= 96


def test_mistakes_in_a_spec_come_from_another_process_as_they_are() -> None:
    error = SpecError([Mistake("a.yaml", 1, 2, "wrong"), Mistake("b.yaml", 3, 4, "wrong")])
    assert pickle.loads(pickle.dumps(error)).mistakes == error.mistakes  # noqa: S301


def test_a_worker_keeps_one_operator_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, str]] = []
    read_operator = Suite.read_operator

    def noted(suite: Suite, name: str) -> OperatorSuite:
        read.append((id(suite), name))
        return read_operator(suite, name)

    monkeypatch.setattr(Suite, "read_operator", noted)
    run(operator="*", case="*/*example-*", cluster=WorkersHere())
    # This process has read the suite before; the worker has one of its own.
    assert [name for _, name in read] == [*few_cases().operators]


@EITHER
def test_a_generated_suite_reaches_the_workers(how: dict[str, Any]) -> None:
    assert certify("reference", operator="openvino/Tile-1", case="*-i8-*", **how).conformant


@pytest.mark.slow
def test_a_worker_that_lacks_the_folder_generates_the_suite(tmp_path: Path) -> None:
    opcert("generate", "--operator", "openvino/Tile-1", "--out", tmp_path, exits=0)
    suite = Suite(tmp_path)
    suite.validate()
    suite.folder = Path("/nowhere")
    assert certify("reference", suite, case="*-i8-*", cluster=WorkersHere()).conformant
    suite.digest = "0" * 64
    with pytest.raises(OpcertError, match="put the suite into a folder that all machines share"):
        certify("reference", suite, case="*-i8-*", cluster=WorkersHere())
