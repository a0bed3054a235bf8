"""Isolation: whatever a backend does to its process, every case gets its own verdict.

No test may leave a process running.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from opcert import certify
from opcert.certificate.certificate import Certificate
from opcert.errors import BackendError, OpcertError
from opcert.isolation import process, supervised, worker_process
from opcert.isolation.messages import SharedArea
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.freed_memory import FILL
from opcert.verdicts.verdict import Verdict
from tests import wrong_backends
from tests.command_line import MISBEHAVING, WRONG
from tests.faults.finding import core_suite
from tests.misbehaving import GUESSED_IDS

HERE = Path(__file__).parents[1]
# A few valid calls, of ranks 2 to 4.
CASES = "dml-split/valid-f32-[234]-*"
SUITE = core_suite()
DML = "directml/*"


def certified(name: str, **more: Any) -> Certificate:
    """Return a misbehaving backend's certificate."""
    arguments: dict[str, Any] = {"case": CASES, "timeout": 20, "memory": 1 << 28, **more}
    return certify(f"{MISBEHAVING}:{name}", SUITE, **arguments)


def isolated(how: str, **more: Any) -> Certificate:
    """Certify a backend that does `how` on calls of rank 3."""
    return certified("Misbehaves", options={"how": how}, **more)


def of_rank_3(certificate: Certificate) -> list[Verdict]:
    return [
        verdict
        for verdict in certificate.verdicts
        if verdict.case.startswith("dml-split/valid-f32-3")
    ]


def assert_others_pass(certificate: Certificate) -> None:
    others = [verdict for verdict in certificate.verdicts if verdict not in of_rank_3(certificate)]
    assert len(others) > 3
    assert {verdict.status for verdict in others} == {"pass"}


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("segfault", "ended by SIGSEGV"),
        ("abort", "ended by SIGABRT"),
        ("exit", "exited with 0"),
        ("kill", "ended by SIGKILL"),
        ("close-all", "exited with 1"),
        ("close-memory", "exited with 1"),
        ("grow", "MiB of memory; the limit is 256"),
        ("grow-in-a-child", "MiB of memory; the limit is 256"),
    ],
)
def test_a_crash_is_the_verdict_of_the_very_case(how: str, reason: str) -> None:
    certificate = isolated(how)
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        assert (verdict.status, verdict.kind, verdict.observed) == ("crash", None, "crash")
        assert reason in verdict.detail


@pytest.mark.parametrize(
    "how",
    [
        *("noise", "array", "bytes", "stale", "grown", "unknown", "nobody", "numbers"),
        "unattributed",
        *("lists", "nameless", "outside", "before", "enormous", "deep"),
    ],
)
def test_a_forged_answer_is_the_fault_of_its_case_alone(how: str) -> None:
    certificate = certified("Forges", options={"how": how})
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        assert verdict.status == "fail"
        assert verdict.kind in ("protocol", "count", "dtype", "shape", "type", "value")


def test_an_output_whose_class_has_no_name_is_of_a_wrong_type() -> None:
    certificate = certified("ReturnsNameless")
    assert_others_pass(certificate)
    assert {verdict.kind for verdict in of_rank_3(certificate)} == {"type"}


@pytest.mark.parametrize("how", GUESSED_IDS)
def test_a_well_formed_answer_before_the_real_one_breaks_the_protocol(how: str) -> None:
    certificate = certified("Forges", options={"how": how})
    assert_others_pass(certificate)
    assert {verdict.kind for verdict in of_rank_3(certificate)} == {"protocol"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux seals memory")
def test_a_backend_cannot_cut_off_the_shared_memory() -> None:
    assert certified("Forges", options={"how": "shrink"}).conformant


def test_a_leak_in_quick_calls_meets_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_INTERVAL_OF_QUICK_CALLS", 0.0)
    crashed = [v.detail for v in certified("Leaks").verdicts if v.status == "crash"]
    assert crashed
    assert all("MiB of memory; the limit is 256" in detail for detail in crashed)


def test_a_crash_after_the_answer_is_the_verdict_of_the_case_before_it() -> None:
    def wait_for_the_end(verdict: Verdict, *_: int) -> None:
        if verdict.case.startswith("dml-split/valid-f32-3"):
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)

    certificate = isolated("abort-later", progress=wait_for_the_end)
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        assert verdict.status == "crash"
        assert "ended by SIGABRT" in verdict.detail


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is not known")
def test_the_end_of_the_main_thread_alone_is_the_verdict_of_the_case_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wait_for_the_end(verdict: Verdict, *_: int) -> None:
        if verdict.case.startswith("dml-split/valid-f32-3"):
            # Processes of other tests may be children of this one, too.
            worker = max(psutil.Process().children(), key=psutil.Process.create_time)
            while worker.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)

    monkeypatch.setattr(process, "_EXIT_SECONDS", 0.1)
    certificate = isolated("end-main-thread", progress=wait_for_the_end)
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        assert verdict.status == "fail"
        assert "ended its main thread without exiting" in verdict.detail


def test_a_crash_says_that_earlier_outputs_cannot_be_compared_any_more() -> None:
    first, second, *_ = of_rank_3(isolated("abort"))
    text = "earlier cases ended with the process; whether they had changed"
    assert text in first.detail
    # No case has passed in the process of the second one.
    assert text not in second.detail


@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="the system has no copy that refuses memory")
@pytest.mark.parametrize("held", [1, 3, 40])
def test_outputs_whose_memory_is_gone_have_changed(held: int) -> None:
    options = {"held": held}
    certificate = certified("Unmaps", options=options)
    assert_others_pass(certificate)
    changed = [verdict for verdict in of_rank_3(certificate) if verdict.kind == "aliased-output"]
    # The last outputs are not unmapped.
    assert len(changed) >= len(of_rank_3(certificate)) - held
    assert {verdict.status for verdict in of_rank_3(certificate)} <= {"pass", "fail"}


@pytest.mark.parametrize("how", ["loop", "sleep"])
def test_a_call_that_does_not_end_hangs(how: str) -> None:
    certificate = isolated(how, timeout=0.5)
    assert_others_pass(certificate)
    assert {verdict.status for verdict in of_rank_3(certificate)} == {"hang"}
    assert all("no answer within 0.5 s" in verdict.detail for verdict in of_rank_3(certificate))


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
def test_an_invalid_return_value_fails(how: str, kind: str) -> None:
    certificate = isolated(how)
    assert_others_pass(certificate)
    assert {(verdict.status, verdict.kind) for verdict in of_rank_3(certificate)} == {
        ("fail", kind)
    }


@pytest.mark.parametrize("how", ["close-stdout", "print", "thread", "process", "fork"])
def test_side_effects_beyond_the_call_change_no_verdict(how: str) -> None:
    certificate = isolated(how)
    assert_others_pass(certificate)
    assert {verdict.status for verdict in of_rank_3(certificate)} == {"pass"}


def test_one_failure_of_each_cause_is_confirmed_alone() -> None:
    certificate = isolated("abort")
    failed = {verdict.case: verdict for verdict in of_rank_3(certificate)}
    ((case, reproduction),) = certificate.reproductions.items()
    assert len(failed) > 1
    assert (reproduction.reproduced, reproduction.kind) == ("alone", None)
    assert [call.case for call in reproduction.calls] == [case]
    assert "confirmed: it fails alone in a fresh process" in failed[case].detail


def test_a_failure_that_passes_alone_is_of_the_kind_state() -> None:
    certificate = certified("CrashesOnce")
    (crashed,) = [verdict for verdict in certificate.verdicts if verdict.status == "crash"]
    assert crashed.kind == "state"
    assert "crash in the run, but its case passes alone" in crashed.detail
    assert certificate.reproductions[crashed.case].reproduced != "alone"


def test_the_log_of_a_failing_case_is_in_its_detail() -> None:
    certificate = certified("Prints")
    assert all("printed: rank 3 is hard" in verdict.detail for verdict in of_rank_3(certificate))
    assert_others_pass(certificate)


def test_a_backend_that_cannot_restart_crashes_in_every_later_case(tmp_path: Path) -> None:
    options = {"trace": str(tmp_path / "lost")}
    certificate = certified("IsLost", options=options)
    statuses = [verdict.status for verdict in certificate.verdicts]
    assert statuses == sorted(statuses, key=["pass", "crash"].index)
    assert {"pass", "crash"} == set(statuses)
    last = certificate.verdicts[-1].detail
    assert "the device is lost" in last or "3 starts have failed" in last
    assert not certificate.reproductions


@pytest.mark.slow
@pytest.mark.parametrize("calls", [310, 700, 1200])
def test_the_certificate_of_a_lost_device_is_sound(tmp_path: Path, calls: int) -> None:
    options = {"trace": str(tmp_path / "lost"), "calls": calls}
    certificate = certified("IsLost", options=options, case="*", operator=DML)
    assert min(certificate.counts["crash"], certificate.counts["pass"]) > 1


def test_a_process_that_the_system_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> SharedArea:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(worker_process, "SharedArea", refused)
    with pytest.raises(BackendError, match="a worker cannot be started: Too many open files"):
        SupervisedBackend(f"{WRONG}:Right")


def test_the_log_file_stays_small_and_each_case_has_its_own_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "_LOG_FILE_BYTES", 10)
    certificate = certified("Prints")
    for verdict in of_rank_3(certificate):
        printed = {line for line in verdict.detail.splitlines() if "printed: " in line}
        assert printed == {"    printed: rank 3 is hard"}


def test_the_error_of_a_failed_start_has_the_log() -> None:
    with pytest.raises(BackendError, match=r"cannot be started: .*SIGABRT; it printed: no device"):
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

    # Only fresh processes show that a failure depends on earlier calls.
    state_cases = {verdict.case for verdict in alone.verdicts if verdict.kind == "state"}

    def verdicts(certificate: Certificate) -> dict[str, tuple[str, str | None]]:
        return {
            verdict.case: (verdict.status, "state" if verdict.case in state_cases else verdict.kind)
            for verdict in certificate.verdicts
        }

    assert verdicts(alone) == verdicts(here)


def test_support_is_read_once_however_often_the_backend_restarts(tmp_path: Path) -> None:
    trace = tmp_path / "asked"
    certificate = certified("Declares", options={"trace": str(trace)})
    assert len([verdict for verdict in certificate.verdicts if verdict.status == "crash"]) > 1
    assert trace.read_text() == "asked\n"
    assert certificate.backend.support is not None
    assert certificate.backend.support.keys() == {"directml/DML_OPERATOR_SPLIT"}
    assert certificate.backend.reuse == "all"


def test_memory_is_dirtied_where_the_backend_runs() -> None:
    backend = SupervisedBackend(f"{MISBEHAVING}:NeverWrites")
    try:
        (dirtied,) = backend.call(DML, {}, {}, [100]).outputs
        assert set(dirtied.tolist()) == {FILL}
    finally:
        backend.close()


def test_a_faulty_run_leaves_no_process() -> None:
    with pytest.raises(OpcertError, match="no operator has feature level"):
        certify(f"{WRONG}:Right", SUITE, feature_level="5_0")


def test_an_object_cannot_be_isolated() -> None:
    with pytest.raises(OpcertError, match="a backend object runs in this process"):
        certify(wrong_backends.Right(), isolated=True)


def test_an_option_that_json_cannot_express_is_an_error() -> None:
    with pytest.raises(BackendError, match="isolated=False"):
        SupervisedBackend(f"{MISBEHAVING}:Misbehaves", {"how": object()})


@pytest.mark.parametrize(("timeout", "seconds"), [(0.1, 0.5), (0.7, 0.7)])
def test_a_start_may_take_its_own_timeout_or_that_of_a_call_if_longer(
    monkeypatch: pytest.MonkeyPatch, timeout: float, seconds: float
) -> None:
    monkeypatch.setattr(supervised, "START_TIMEOUT", 0.5)
    with pytest.raises(BackendError, match=f"cannot be started: no answer within {seconds} s"):
        SupervisedBackend("driver:sleep 600", timeout=timeout)
