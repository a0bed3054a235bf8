"""A run on several processes reaches what a run on one process does."""

import multiprocessing
import shutil
from collections.abc import Mapping
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from opcert import certify
from opcert.certificate.certify_suite import CertificationInterrupted
from opcert.certificate.setup import Task, TaskRun, Tasks
from opcert.errors import BackendError, OpcertError, SuiteError
from opcert.report.side_by_side import command_line
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Batch, Certification, batches
from opcert.verdicts.verdict import FAILURE_STATUSES
from tests.certificate.divided_runs import CASES, CRASHES, ENDS, SPLIT, results, with_backends
from tests.command_line import WRONG
from tests.faults.finding import core_suite
from tests.wrong_backends import Right


@pytest.mark.parametrize("cases", ["*", "*-f32-*"])
def test_batches_have_each_case_once_with_its_baseline_before_it(cases: str) -> None:
    suite = Suite()
    selected = suite.select("*", cases)
    divided = [*batches(suite, selected, 20)]
    assert sorted(case for batch in divided for case in batch.cases) == sorted(selected)
    for batch in divided:
        for position, case in enumerate(batch.cases):
            baseline = suite.cases[case].baseline
            assert baseline not in selected or baseline in batch.cases[:position]


def test_cases_of_one_signature_are_in_one_batch() -> None:
    suite = Suite()
    home: dict[object, int] = {}
    for number, batch in enumerate(batches(suite, suite.select("*", "*"), 20)):
        for case in (suite.cases[name] for name in batch.cases):
            if case.baseline is None:
                types = [(a.type, len(a.shape)) for a in case.record.inputs.values()]
                assert home.setdefault((case.operator, str(types)), number) == number


def test_two_processes_read_as_few_operators_as_they_can() -> None:
    suite = core_suite()
    divided = [*batches(suite, suite.select("*", "*"))]
    tasks = Tasks(Certification(Right(), suite), divided)
    handed_out: list[list[Task]] = [[], []]
    for turn in cycle((0, 1)):
        mine, others = handed_out[turn], handed_out[1 - turn]
        task = tasks.next(others[-1:], mine[-1] if mine else None)
        if task is None:
            break
        mine.append(task)
    reached = [task.batch.cases for process in handed_out for task in process]
    assert sorted(reached) == sorted(batch.cases for batch in divided)
    one, two = ({task.batch.operator for task in process} for process in handed_out)
    # Only the last one is left to both.
    assert len(one & two) <= 1


@with_backends
def test_the_verdicts_are_those_of_one_process(backend: str, options: Mapping[str, str]) -> None:
    one, two = (
        certify(backend, core_suite(), options=options, operator=SPLIT, case=CASES, jobs=jobs)
        for jobs in (1, 2)
    )
    assert results(one) == results(two)
    assert [cause.sentence for cause in one.causes] == [cause.sentence for cause in two.causes]
    assert len(two.run.repeated) == len(one.run.repeated)
    assert command_line(two).endswith(" --jobs 2")


@pytest.mark.slow
def test_crashes_and_hangs_of_all_processes_count_together() -> None:
    certificate = certify(
        CRASHES, core_suite(), options=ENDS, operator=SPLIT, jobs=2, max_crashes=1
    )
    # Each process may be in a call when the first one crashes.
    assert 1 <= certificate.counts["crash"] <= 2
    assert certificate.counts["not-run"]
    assert certificate.is_finished


def test_an_interrupted_run_keeps_what_was_reached_and_ends_its_processes() -> None:
    def interrupt(_: object, number: int, __: int) -> None:
        if number == 30:
            raise KeyboardInterrupt

    with pytest.raises(CertificationInterrupted) as interrupted:
        certify("reference", core_suite(), operator=SPLIT, jobs=2, progress=interrupt)
    reached = interrupted.value.certificate
    assert reached.counts["pass"] >= 25
    assert not multiprocessing.active_children()
    resumed = certify("reference", core_suite(), operator=SPLIT, jobs=2, resume=reached)
    assert resumed.conformant


@pytest.mark.slow
def test_a_run_stops_at_its_first_failure() -> None:
    certificate = certify(
        f"{WRONG}:AcceptsEverything", core_suite(), operator=SPLIT, jobs=2, stop_at_failure=True
    )
    assert certificate.counts["not-run"]
    assert sum(v.status in FAILURE_STATUSES for v in certificate.verdicts) == 1


def test_a_backend_that_ends_the_process_in_which_it_runs_is_an_error() -> None:
    with pytest.raises(BackendError, match="without --in-process"):
        certify(CRASHES, core_suite(), isolated=False, options=ENDS, operator=SPLIT, jobs=2)


@pytest.mark.slow
def test_a_suite_that_is_damaged_meanwhile_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    shutil.copytree(core_suite().folder, folder)
    pack = folder / core_suite().manifest.operators["directml/DML_OPERATOR_SPLIT"].pack

    def damage(_: object, number: int, __: int) -> None:
        # Each process has read one operator so far, and this one is not the first.
        if number == 1:
            pack.write_bytes(b"")

    with pytest.raises(SuiteError, match=rf"{pack.name}: the digest of its 0 bytes"):
        certify("reference", folder, jobs=2, progress=damage)


def test_a_task_leaves_one_operator_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    of_each = [Batch(name, (next(iter(op.cases)),)) for name, op in core_suite().operators.items()]
    suite, read = Suite(), []
    read_operator = Suite.read_operator

    def noted(suite: Suite, name: str, entry: Any) -> OperatorSuite:
        read.append(name)
        return read_operator(suite, name, entry)

    monkeypatch.setattr(Suite, "read_operator", noted)
    for batch in of_each * 2:
        run = TaskRun(Task(batch, (), False, {}), Right(), partial(Certification, suite=suite))
        assert [verdict.status for verdict in run] == ["pass"]
    assert read == [*suite.operators] * 2


def test_an_object_cannot_be_shared() -> None:
    with pytest.raises(OpcertError, match="need a backend by name"):
        certify(Right(), core_suite(), jobs=2)


@pytest.mark.slow
def test_a_generated_suite_reaches_the_processes() -> None:
    certificate = certify("reference", operator="openvino/Tile-1", case="*-f32-*", jobs=2)
    assert certificate.conformant
