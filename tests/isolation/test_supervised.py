"""Isolation: whatever a backend does to its process, every case gets its own verdict.

Behind each test no process may be left.
"""

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from opcert import certify
from opcert.certificate import Certificate
from opcert.errors import BackendError, OpcertError
from opcert.isolation import SupervisedBackend, process, supervised, worker_process
from opcert.isolation.messages import Area
from opcert.run.freed_memory import FILL
from opcert.verdicts import Verdict
from tests import wrong_backends
from tests.command_line import MISBEHAVING, WRONG, started
from tests.faults.finding import core_suite

HERE = Path(__file__).parents[1]
# A few valid calls, of ranks 2 to 4.
CASES = "dml-split/valid-f32-[234]-*"
SUITE = core_suite()
DML = "directml/*"


def isolated(how: str, **more: Any) -> Certificate:
    """The certificate of what does `how` on calls of rank 3."""
    given: dict[str, Any] = {"case": CASES, "timeout": 20, "memory": 1 << 28, **more}
    return certify(f"{MISBEHAVING}:Misbehaves", SUITE, options={"how": how}, **given)


def of_rank_3(certificate: Certificate) -> list[Verdict]:
    return [each for each in certificate.verdicts if each.case.startswith("dml-split/valid-f32-3")]


def assert_others_pass(certificate: Certificate) -> None:
    others = [each for each in certificate.verdicts if each not in of_rank_3(certificate)]
    assert len(others) > 3
    assert {each.status for each in others} == {"pass"}


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("segfault", "ended by SIGSEGV"),
        ("abort", "ended by SIGABRT"),
        ("exit", "exited with 0"),
        ("kill", "ended by SIGKILL"),
        ("close-all", "exited with 1"),
        ("grow", "MiB of memory; the limit is 256"),
    ],
)
def test_a_crash_is_the_verdict_of_the_very_case(how: str, reason: str) -> None:
    found = isolated(how)
    assert_others_pass(found)
    for verdict in of_rank_3(found):
        assert (verdict.status, verdict.kind, verdict.observed) == ("crash", None, "crash")
        assert reason in verdict.detail


@pytest.mark.parametrize("how", ["loop", "sleep"])
def test_a_call_that_does_not_end_hangs(how: str) -> None:
    found = isolated(how, timeout=0.5)
    assert_others_pass(found)
    assert {each.status for each in of_rank_3(found)} == {"hang"}
    assert all("no answer within 0.5 s" in each.detail for each in of_rank_3(found))


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("odd-error", "rejected"),
        ("interrupt", "rejected"),
        ("leave", "rejected"),
        ("array", "type"),
        ("none", "type"),
        ("generator", "type"),
        ("lists", "type"),
        ("scalars", "type"),
        ("objects", "dtype"),
        ("records", "dtype"),
        ("text", "dtype"),
        ("huge", "dtype"),
    ],
)
def test_what_is_no_answer_to_a_call_fails(how: str, kind: str) -> None:
    found = isolated(how)
    assert_others_pass(found)
    assert {(each.status, each.kind) for each in of_rank_3(found)} == {("fail", kind)}


@pytest.mark.parametrize("how", ["close-stdout", "print", "thread", "process", "fork"])
def test_what_is_no_matter_of_the_call_changes_no_verdict(how: str) -> None:
    found = isolated(how)
    assert_others_pass(found)
    assert {each.status for each in of_rank_3(found)} == {"pass"}


def test_one_failure_of_each_sort_is_confirmed_alone() -> None:
    certificate = isolated("abort")
    failed = {each.case: each for each in of_rank_3(certificate)}
    ((case, reproduction),) = certificate.reproductions.items()
    assert len(failed) > 1
    assert (reproduction.reproduced, reproduction.kind) == ("alone", None)
    assert [call.case for call in reproduction.calls] == [case]
    assert "confirmed: it fails alone in a fresh process" in failed[case].detail


def test_what_passes_alone_is_of_the_kind_state() -> None:
    found = certify(f"{MISBEHAVING}:CrashesOnce", SUITE, case=CASES)
    (crashed,) = [each for each in found.verdicts if each.status == "crash"]
    assert crashed.kind == "state"
    assert "crash in the run, but its case passes alone" in crashed.detail
    assert found.reproductions[crashed.case].reproduced != "alone"


def test_what_a_failing_case_printed_is_kept_with_it() -> None:
    found = certify(f"{MISBEHAVING}:Prints", SUITE, case=CASES)
    assert all("printed: rank 3 is hard" in each.detail for each in of_rank_3(found))
    assert_others_pass(found)


def test_what_cannot_be_made_again_crashes_in_every_case_that_is_left(tmp_path: Path) -> None:
    options = {"trace": str(tmp_path / "lost")}
    found = certify(f"{MISBEHAVING}:IsLost", SUITE, options=options, case=CASES)
    statuses = [each.status for each in found.verdicts]
    assert statuses == sorted(statuses, key=["pass", "crash"].index)
    assert {"pass", "crash"} == set(statuses)
    last = found.verdicts[-1].detail
    assert "the device is lost" in last or "it was refused 3 times" in last
    assert not found.reproductions


def test_a_process_that_the_system_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> Area:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(worker_process, "Area", refused)
    with pytest.raises(BackendError, match="a worker cannot be started: Too many open files"):
        SupervisedBackend(f"{WRONG}:Right")


def test_what_is_printed_takes_little_room_and_shows_with_its_own_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "_PRINTED", 10)
    found = certify(f"{MISBEHAVING}:Prints", SUITE, case=CASES)
    for verdict in of_rank_3(found):
        printed = {each for each in verdict.detail.splitlines() if "printed: " in each}
        assert printed == {"    printed: rank 3 is hard"}


def test_a_backend_that_cannot_be_made_is_told_with_what_it_printed() -> None:
    with pytest.raises(BackendError, match=r"cannot be made: .*SIGABRT; it printed: no device"):
        certify(f"{MISBEHAVING}:CannotBeMade", SUITE, case=CASES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "Right",
        "AcceptsEverything",
        "WrongByteOrder",
        "LosesNaNPayloads",
        "WritesToItsInput",
        "ReturnsViews",
        "CachesByShape",
        "WrongEveryThirdCall",
        "DeclinesHighRanks",
        "ReturnsOneOutput",
    ],
)
def test_isolation_changes_no_verdict(name: str) -> None:
    # The digits at the end of an id are those of a digest: a third of the cases, of every kind.
    alone = certify(f"{WRONG}:{name}", SUITE, operator=DML, case="*[0-4]")
    here = certify(getattr(wrong_backends, name)(), SUITE, operator=DML, case="*[0-4]")

    # That a failure depends on earlier calls takes fresh processes to show.
    shown = {each.case for each in alone.verdicts if each.kind == "state"}

    def verdicts(certificate: Certificate) -> dict[str, tuple[str, str | None]]:
        return {
            each.case: (each.status, "state" if each.case in shown else each.kind)
            for each in certificate.verdicts
        }

    assert verdicts(alone) == verdicts(here)


def test_what_is_declared_is_asked_for_once_however_often_it_is_made(tmp_path: Path) -> None:
    trace = tmp_path / "asked"
    found = certify(f"{MISBEHAVING}:Declares", SUITE, options={"trace": str(trace)}, case=CASES)
    assert len([each for each in found.verdicts if each.status == "crash"]) > 1
    assert trace.read_text() == "asked\n"
    assert found.backend.support is not None
    assert found.backend.support.keys() == {"directml/DML_OPERATOR_SPLIT"}
    assert found.backend.reuse == "all"


def test_memory_is_dirtied_where_the_backend_runs() -> None:
    backend = SupervisedBackend(f"{MISBEHAVING}:NeverWrites")
    try:
        (dirtied,) = backend.outcome(DML, {}, {}, [100]).outputs
        assert set(dirtied.tolist()) == {FILL}
    finally:
        backend.close()


def test_a_run_that_is_at_fault_leaves_no_process() -> None:
    with pytest.raises(OpcertError, match="no operator has feature level"):
        certify(f"{WRONG}:Right", SUITE, feature_level="5_0")


def test_an_object_cannot_be_isolated() -> None:
    with pytest.raises(OpcertError, match="an object runs in this process"):
        certify(wrong_backends.Right(), isolated=True)


def test_an_option_that_is_no_plain_value_is_told() -> None:
    with pytest.raises(BackendError, match="isolated=False"):
        SupervisedBackend(f"{MISBEHAVING}:Misbehaves", {"how": object()})


def test_an_interrupt_writes_what_was_reached_and_leaves_no_process(tmp_path: Path) -> None:
    backend = "--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=sleep"
    with started("certify", "--out", tmp_path, *backend, "--case", CASES) as run:
        assert run.stderr is not None
        # The first case has its verdict.
        assert run.stderr.readline().startswith("1/")
        children = psutil.Process(run.pid).children()
        os.kill(run.pid, signal.SIGINT)
        _, told = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "interrupted" in told
    assert not any(each.is_running() for each in children)
    text = (tmp_path / "certificate.json").read_text()
    assert Counter(text.split()).get('"not-run",', 0) > 0


@pytest.mark.parametrize(("timeout", "seconds"), [(0.1, 0.5), (0.7, 0.7)])
def test_a_start_has_its_own_time_or_that_of_a_call_where_it_is_more(
    monkeypatch: pytest.MonkeyPatch, timeout: float, seconds: float
) -> None:
    monkeypatch.setattr(supervised, "START_TIMEOUT", 0.5)
    with pytest.raises(BackendError, match=f"cannot be made: no answer within {seconds} s"):
        SupervisedBackend("driver:sleep 600", timeout=timeout)
