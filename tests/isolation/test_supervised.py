"""Isolation: whatever a backend does to its process, every case gets its own verdict.

No test may leave a process running.
"""

import fcntl
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from opcert import certify
from opcert.arrays.layouts import FILL
from opcert.certificate.certificate import Certificate
from opcert.errors import BackendError, OpcertError
from opcert.isolation import process, supervised, worker_process
from opcert.isolation.messages import SharedArea
from opcert.isolation.supervised import SupervisedBackend
from opcert.settings import RunSettings
from opcert.verdicts.verdict import Verdict
from tests import wrong_backends
from tests.command_line import MISBEHAVING, WRONG
from tests.few_cases import few_cases
from tests.isolation.judging import DML, SUITE, judged
from tests.misbehaving import GUESSED_IDS

# A few valid calls, of ranks 2 to 4.
CASES = "dml-split/drawn-f32-[234]-*[0-4]"


def slow(*values: Any) -> Any:
    """Return the values of a parametrised test that needs a process like that of another."""
    return pytest.param(*values, marks=pytest.mark.slow)


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
        if verdict.case.startswith("dml-split/drawn-f32-3")
    ]


def assert_others_pass(certificate: Certificate) -> None:
    others = [verdict for verdict in certificate.verdicts if verdict not in of_rank_3(certificate)]
    assert len(others) > 3
    assert {verdict.status for verdict in others} == {"pass"}


@pytest.mark.parametrize(
    ("how", "status", "kind", "reason"),
    [
        ("segfault", "crash", None, "ended by SIGSEGV"),
        slow("abort", "crash", None, "ended by SIGABRT"),
        slow("exit", "crash", None, "exited with 0"),
        slow("kill", "crash", None, "ended by SIGKILL"),
        ("abort-with-odd-log", "crash", None, "ended by SIGABRT"),
        ("close-all", "crash", None, "exited with 1"),
        slow("close-memory", "crash", None, "exited with 1"),
        slow("grow", "crash", None, "MiB of memory; the limit is 256"),
        ("grow-in-a-child", "crash", None, "MiB of memory; the limit is 256"),
        ("loop", "hang", None, "no answer within 1.5 s"),
        slow("sleep", "hang", None, "no answer within 1.5 s"),
        ("odd-error", "fail", "rejected", ""),
        *(slow(how, "fail", "rejected", "") for how in ("interrupt", "leave")),
        ("none", "fail", "type", ""),
        *(slow(how, "fail", "type", "") for how in ("array", "generator", "lists", "scalars")),
        ("objects", "fail", "dtype", ""),
        ("padded-records", "fail", "dtype", ""),
        *(slow(how, "fail", "dtype", "") for how in ("records", "text", "huge")),
        slow("nameless", "fail", "type", ""),
        # Side effects beyond the call change no verdict.
        ("close-stdout", "pass", None, ""),
        *(slow(how, "pass", None, "") for how in ("print", "thread", "process", "fork")),
    ],
)
def test_what_a_call_does_is_the_verdict_of_its_case_alone(
    how: str, status: str, kind: str | None, reason: str
) -> None:
    timeout = 1.5 if status == "hang" else 20.0
    verdict = judged(f"{MISBEHAVING}:Misbehaves", {"how": how}, timeout=timeout)
    assert (verdict.status, verdict.kind) == (status, kind)
    assert reason in verdict.detail
    assert verdict.observed == status or status in ("fail", "pass")


@pytest.mark.parametrize(
    "how",
    [
        *("noise", "stale", "outside", "deep", *GUESSED_IDS[:1]),
        *map(slow, ("array", "bytes", "grown", "unknown", "nobody", "numbers", "no-input")),
        *map(slow, ("unattributed", "lists", "nameless", "before", "enormous", *GUESSED_IDS[1:])),
    ],
)
def test_a_forged_answer_is_the_fault_of_its_case_alone(how: str) -> None:
    verdict = judged(f"{MISBEHAVING}:Forges", {"how": how})
    assert verdict.status == "fail"
    # A well-formed answer before the real one breaks the protocol.
    others = () if how in GUESSED_IDS else ("count", "dtype", "shape", "type", "value")
    assert verdict.kind in ("protocol", *others)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux seals memory")
def test_a_backend_cannot_cut_off_the_shared_memory() -> None:
    assert judged(f"{MISBEHAVING}:Forges", {"how": "shrink"}).status == "pass"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux seals memory")
def test_a_backend_cannot_keep_the_shared_memory_from_growing() -> None:
    # Else `grow` fails here, which would end the whole run.
    area = SharedArea()
    with pytest.raises(PermissionError):
        fcntl.fcntl(area.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
    area.close()


def test_a_leak_in_quick_calls_meets_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_INTERVAL_OF_QUICK_CALLS", 0.0)
    backend = SupervisedBackend(f"{MISBEHAVING}:Leaks", settings=RunSettings(memory=256))
    outcomes = (backend.call(DML, {"data": np.zeros(1)}, {}) for _ in range(300))
    crash = next(outcome for outcome in outcomes if outcome.observed == "crash")
    backend.close()
    assert "MiB of memory; the limit is 256" in crash.reason


def wait_for_the_end(verdict: Verdict, *_: int) -> None:
    """Wait until the process has ended after the call of a case that it is to end."""
    if verdict.case.startswith("dml-split/drawn-f32-3") and verdict.status == "pass":
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)


@pytest.mark.slow
@pytest.mark.usefixtures("barely_confirmed")
def test_a_crash_after_the_answer_is_the_verdict_of_the_case_before_it() -> None:
    certificate = isolated("abort-later", progress=wait_for_the_end)
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        assert verdict.status == "crash"
        assert "ended by SIGABRT" in verdict.detail


@pytest.mark.slow
@pytest.mark.usefixtures("barely_confirmed")
def test_crashes_after_the_answer_count_towards_the_limit() -> None:
    certificate = isolated("abort-later", progress=wait_for_the_end, max_crashes=1)
    assert certificate.counts["crash"] == 1
    assert certificate.counts["not-run"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("barely_confirmed")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is not known")
def test_the_end_of_the_main_thread_alone_is_the_verdict_of_the_case_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wait_for_the_end(verdict: Verdict, *_: int) -> None:
        if verdict.case.startswith("dml-split/drawn-f32-3"):
            # Processes of other tests may be children of this one, too.
            worker = max(psutil.Process().children(), key=psutil.Process.create_time)
            while worker.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)

    monkeypatch.setattr(process, "_EXIT_SECONDS", 0.1)
    certificate = isolated("end-main-thread", progress=wait_for_the_end)
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        assert verdict.status == "hang"
        assert "ended its main thread without exiting" in verdict.detail


@pytest.mark.usefixtures("barely_confirmed")
@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="the system has no copy that refuses memory")
@pytest.mark.parametrize("held", [slow(1), slow(3), 40])
def test_outputs_whose_memory_is_gone_have_changed(held: int) -> None:
    options = {"held": held}
    certificate = certified("Unmaps", options=options)
    assert_others_pass(certificate)
    changed = [verdict for verdict in of_rank_3(certificate) if verdict.kind == "aliased-output"]
    # The last outputs are not unmapped.
    assert len(changed) >= len(of_rank_3(certificate)) - held
    assert {verdict.status for verdict in of_rank_3(certificate)} <= {"pass", "fail"}


def test_a_crash_is_confirmed_alone_and_leaves_earlier_outputs_unknown() -> None:
    certificate = isolated("abort")
    assert_others_pass(certificate)
    text = "with it; whether they had changed since"
    has_passed = False
    for verdict in certificate.verdicts:
        if verdict.status == "crash":
            # Whether a case has passed in the process of this one.
            assert (text in verdict.detail) == has_passed
        has_passed = verdict.status == "pass"
    ((case, reproduction),) = certificate.reproductions.items()
    assert (reproduction.reproduced, reproduction.kind) == ("alone", None)
    assert [call.case for call in reproduction.calls] == [case]
    (confirmed,) = (verdict for verdict in certificate.verdicts if verdict.case == case)
    assert "confirmed: it fails alone in a fresh process" in confirmed.detail


def test_a_failure_that_passes_alone_is_of_the_kind_state() -> None:
    certificate = certified("CrashesOnce")
    (crashed,) = [verdict for verdict in certificate.verdicts if verdict.status == "crash"]
    assert crashed.kind == "state"
    assert "crash in the run, but not alone" in crashed.detail
    assert certificate.reproductions[crashed.case].reproduced != "alone"


@pytest.mark.slow
def test_a_backend_that_cannot_restart_crashes_in_every_later_case(tmp_path: Path) -> None:
    options = {"trace": str(tmp_path / "lost")}
    certificate = certified("IsLost", options=options)
    statuses = [verdict.status for verdict in certificate.verdicts]
    assert statuses == sorted(statuses, key=["pass", "crash"].index)
    assert {"pass", "crash"} == set(statuses)
    last = certificate.verdicts[-1].detail
    assert "the device is lost" in last or re.search(r"\d+ starts have failed", last)
    assert not certificate.reproductions


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
    assert_others_pass(certificate)
    for verdict in of_rank_3(certificate):
        printed = {line for line in verdict.detail.splitlines() if "printed: " in line}
        assert printed == {"    printed: rank 3 is hard"}


def test_the_error_of_a_failed_start_has_the_log() -> None:
    with pytest.raises(BackendError, match=r"cannot be started: .*SIGABRT; it printed: no device"):
        certify(f"{MISBEHAVING}:CannotBeMade", SUITE, case=CASES)


def test_the_log_of_a_worker_that_cannot_answer_has_no_traceback() -> None:
    message = r"exited with 1; it printed: opcert's part of this process failed: OSError: "
    with pytest.raises(BackendError, match=message) as caught:
        SupervisedBackend(f"{MISBEHAVING}:CannotAnswer")
    assert "Traceback" not in str(caught.value)


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
    alone = certify(f"{WRONG}:{name}", few_cases(), operator=DML)
    here = certify(getattr(wrong_backends, name)(), few_cases(), operator=DML)

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


def test_a_list_of_tensors_reaches_the_process() -> None:
    inputs: Any = {"inputs": [np.zeros(1), np.ones(2)]}
    backend = SupervisedBackend("reference")
    (joined,) = backend.run("openvino/Concat-1", inputs, {"axis": 0})
    backend.close()
    assert joined.tolist() == [0, 1, 1]


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
        SupervisedBackend("driver:sleep 600", settings=RunSettings(timeout=timeout))


def test_to_kill_a_process_twice_is_no_error() -> None:
    backend = SupervisedBackend("tests.wrong_backends:Right", {})
    worker = backend._worker
    assert worker is not None
    worker.kill()
    # As an interrupt of the first one would.
    backend.stop()


@pytest.mark.parametrize(
    ("program", "limits"),
    [
        ("import time; time.sleep(600)", {"timeout": 0.5}),
        (
            "held = bytearray(1 << 29); held[::4096] = held[::4096]\nwhile True: pass",
            {"memory": 256},
        ),
    ],
    ids=["time", "memory"],
)
def test_a_program_that_exceeds_a_limit_has_no_status(
    program: str, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(supervised, "_IMPORT_SECONDS", 5 * ("memory" in limits))
    pid = tmp_path / "pid"
    backend = SupervisedBackend("reference", settings=RunSettings(**limits))
    try:
        assert backend.run_program("import sys; sys.exit(3)", {}) == (3, "")
        text = f"import os\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\n{program}"
        status, reason = backend.run_program(text, {})
        assert status is None
        assert "within 0.5 s" in reason or "MiB of memory" in reason
        # It disappears a moment after it was killed.
        with suppress(psutil.NoSuchProcess):
            program_process = psutil.Process(int(pid.read_text()))
            while program_process.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
        # What it prints may be long.
        assert "AssertionError" in backend.run_program("assert False, 'x' * 100_000", {})[1]
    finally:
        backend.close()
