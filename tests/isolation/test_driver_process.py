"""Drivers: whatever a program does, every case gets its own verdict, or the start fails.

No test may leave a process running.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from opcert import certify
from opcert.backends.lookup import load
from opcert.errors import BackendError
from opcert.isolation import process
from opcert.isolation.driver_process import Driver
from opcert.isolation.process import WorkerFailure
from opcert.isolation.supervised import SupervisedBackend, start_backend
from opcert.settings import RunSettings
from tests.at_length import at_length
from tests.command_line import driver
from tests.isolation.judging import SUITE, judged

MISBEHAVING = Path(__file__).parents[1] / "driver" / "misbehaving.py"
CASES = "dml-split/drawn-f32-[23]-*"


@pytest.mark.parametrize(
    ("how", "status", "reason"),
    at_length(
        [
            ("abort", "crash", "ended by SIGABRT"),
            ("kill", "crash", "ended by SIGKILL"),
            ("exit", "crash", "exited with 0"),
            ("sleep", "hang", "no answer within 1.5 s"),
            ("dies-in-the-middle", "crash", "of outputs had come"),
            ("gives-less", "hang", r"no answer within 1.5 s; \d+ of \d+ bytes of outputs had come"),
            # Side effects beyond the call change no verdict.
            *((how, "pass", "") for how in ("says-much", "child", "stays")),
        ],
        3,
    ),
)
def test_what_a_driver_does_is_the_verdict_of_its_case_alone(
    how: str, status: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Less than the 3 MB that "says-much" prints.
    monkeypatch.setattr(process, "_LOG_FILE_BYTES", 1 << 20)
    verdict = judged(driver(how), timeout=1.5 if status == "hang" else 20.0)
    assert (verdict.status, verdict.kind) == (status, None)
    assert re.search(reason, verdict.detail)
    assert status in (verdict.observed, "pass")


@pytest.mark.parametrize(
    ("how", "message"),
    at_length(
        [
            ("garbage", "PNG.* is not a line of JSON"),
            ("no-json", "b'done' is not a line of JSON"),
            ("no-object", r"b'\[1, 2\]' is not a JSON object"),
            ("no-utf-8", "is not a line of JSON"),
            ("deep", "is not a line of JSON"),
            ("endless-line", "no newline within"),
            ("in-front", r"b'\[info\] rank 3' is not a line of JSON"),
            ("trailing", r"unexpected output after the answer and its outputs: b'done\\n'; stdout"),
            ("too-many-bytes", "unexpected output after the answer and its outputs"),
            ("wrong-id", r"malformed answer: id \d+; expected \d+"),
            ("text-id", "id: Input should be a valid integer, found '"),
            ("no-outputs", "observed 'outputs' needs 'outputs'"),
            ("rejected-with-outputs", "observed 'rejected' has no 'outputs'"),
            ("unknown-observed", "observed: .*'outputs', 'rejected' or 'unsupported', found 'ok'"),
            ("unknown-key", "time: Extra inputs are not permitted"),
            ("missing-key", "observed: Field required"),
            ("null-reason", "reason: Input should be a valid string, found None"),
            ("unknown-type", "output 0: unknown type 'float32'"),
            ("negative-shape", r"output 0: shape \[-1, 2\]; expected"),
            ("huge-shape", "at most 4294967296 are read"),
            ("long-shape", "output 0: "),
            ("deep-shape", "expected at most 64 extents"),
            ("fraction", "outputs.0.shape.0: "),
            ("no-list", "outputs.0.shape: Input should be a valid list, found 3"),
            ("wrong-bytes", r"output 0: 3 bytes; f32\[.*\] has \d+"),
            ("much", r"\d+ bytes of outputs; at most"),
            ("no-bool", "a byte 0x02; boolean has at most 1"),
        ],
        4,
    ),
)
def test_a_malformed_answer_is_of_the_kind_protocol(how: str, message: str) -> None:
    verdict = judged(driver(how), of="u8" if how == "no-bool" else "f32")
    assert (verdict.status, verdict.kind) == ("fail", "protocol")
    assert re.search(message, verdict.detail), verdict.detail


def test_a_driver_that_closes_its_output_and_stays_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    # It never exits, so that every moment is long enough.
    monkeypatch.setattr(process, "_EXIT_SECONDS", 0.3)
    verdict = judged(driver("closes-stdout"))
    assert verdict.status == "hang"
    assert "the process closed its output without exiting" in verdict.detail


def test_a_driver_that_never_reads_hangs_in_a_large_call_too() -> None:
    backend = SupervisedBackend(driver("never-reads"), settings=RunSettings(timeout=0.5))
    outcome = backend.call("vendor/Any-1", {"data": np.zeros(1 << 22)}, {})
    backend.close()
    assert (outcome.observed, outcome.reason) == ("hang", "no answer within 0.5 s")


def test_output_between_calls_is_a_failure() -> None:
    running = Driver(driver("right").removeprefix("driver:"), 0)
    running._unread += b"late\n"
    message = r"unexpected output between calls: b'late\\n'; stdout is for answers alone"
    with pytest.raises(WorkerFailure, match=message):
        running.call("vendor/Any-1", {}, {}, 2)
    running.kill()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("exits-at-once", "the process exited with 3"),
        ("says-and-exits", "the process exited with 4; it printed: no licence"),
        ("greets", "b'Welcome!' is not a line of JSON"),
        ("version-2", "protocol: found 2; expected 1"),
        ("no-version", "protocol: found None; expected 1"),
        ("no-name", "name: found 7; expected printable text"),
        ("odd-name", r"name: found 'a\\nb'; expected printable text"),
        ("list-of-support", r"support: found \[\]; expected an object by operator"),
        ("support-without-how", r"support: vendor/Any-1\.how: found {}; Field required"),
        ("support-of-a-type", "support: unknown type of vendor/Any-1 'float'"),
        ("more-to-say", "author: unknown key; expected"),
        ("refuses", "refuses to run: no device 7"),
        ("writes-after-its-introduction", r"unexpected output after the handshake: b'ready\\n'"),
    ],
)
def test_a_wrong_introduction_is_an_error(how: str, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        SupervisedBackend(driver(how))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "has no command"),
        ("'one", "cannot be split into words: No closing quotation"),
        ("/no/such/program", "'/no/such/program' cannot be started: No such file"),
        (str(MISBEHAVING), "cannot be started: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_started_is_an_error(command: str, message: str) -> None:
    opened = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(BackendError, match=message):
        start_backend(f"driver:{command}", {})
    assert len([*Path("/dev/fd").iterdir()]) == opened


def test_a_driver_runs_only_in_a_process_of_its_own() -> None:
    with pytest.raises(BackendError, match="a driver runs in a process of its own"):
        start_backend("driver:cat", {}, RunSettings(isolated=False))
    with pytest.raises(BackendError, match="a driver runs in a process of its own"):
        load("driver:cat")


def test_the_certificate_records_how_arrays_were_delivered() -> None:
    assert certify(driver("right"), SUITE, case=CASES).backend.delivery == "packed"
    assert certify("reference", SUITE, case=CASES).backend.delivery == "strided"


def test_arrays_arrive_packed_whatever_their_layout() -> None:
    backend = SupervisedBackend(driver("right"))
    data = np.arange(24, dtype=np.int16).reshape(4, 6)[::-2, ::3]
    assert data.tolist() == [[18, 21], [6, 9]]
    descriptions = [{"Sizes": [2, 1], "DataType": "INT16"}] * 2
    outputs = backend.run(
        "directml/DML_OPERATOR_SPLIT",
        {"InputTensor": data},
        {"OutputCount": 2, "OutputTensors": descriptions, "Axis": 1},
    )
    backend.close()
    assert [output.tolist() for output in outputs] == [[[18], [6]], [[21], [9]]]
    assert all(output.flags.writeable and output.flags.aligned for output in outputs)
