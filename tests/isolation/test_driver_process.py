"""Drivers: whatever a program does, every case gets its own verdict, or it is told at once.

Behind each test no process may be left.
"""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert import certify
from opcert.backends import load
from opcert.certificate import Certificate
from opcert.errors import BackendError
from opcert.isolation import SupervisedBackend, process, start_backend
from opcert.isolation.driver_process import Driver
from opcert.isolation.process import WorkerFailure
from opcert.verdicts import Verdict
from tests.faults.finding import core_suite

MISBEHAVING = Path(__file__).parents[1] / "driver" / "misbehaving.py"
# A few valid calls, of ranks 2 to 4.
CASES = "dml-split/valid-f32-[234]-*"
SUITE = core_suite()


def driver(how: str) -> str:
    return f"driver:{shlex.join([sys.executable, str(MISBEHAVING), how])}"


def certified(how: str, **more: Any) -> Certificate:
    """The certificate of a driver that does what is said on calls of rank 3."""
    return certify(driver(how), SUITE, **{"case": CASES, "timeout": 20, **more})


def of_rank_3(certificate: Certificate) -> list[Verdict]:
    """The verdicts of rank 3, once it is clear that the others pass."""
    found = [each for each in certificate.verdicts if each.case.startswith("dml-split/valid-f32-3")]
    others = [each for each in certificate.verdicts if each not in found]
    assert len(others) > 3
    assert {each.status for each in others} == {"pass"}
    assert found
    return found


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("abort", "ended by SIGABRT"),
        ("kill", "ended by SIGKILL"),
        ("exit", "exited with 0"),
        ("dies-in-the-middle", "of outputs had come"),
    ],
)
def test_a_crash_is_the_verdict_of_the_very_case(how: str, reason: str) -> None:
    for verdict in of_rank_3(certified(how)):
        assert (verdict.status, verdict.kind, verdict.observed) == ("crash", None, "crash")
        assert reason in verdict.detail


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("sleep", "no answer within 0.5 s"),
        ("gives-less", "no answer within 0.5 s; 15 of 16 bytes of outputs had come"),
    ],
)
def test_a_call_that_does_not_end_hangs(how: str, reason: str) -> None:
    found = of_rank_3(certified(how, timeout=0.5))
    assert {each.status for each in found} == {"hang"}
    assert any(reason.partition("; ")[0] in each.detail for each in found)
    assert all(reason.partition(" of ")[2][2:] in each.detail for each in found)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("garbage", "PNG.* is no line of JSON"),
        ("no-json", "b'done' is no line of JSON"),
        ("no-object", r"b'\[1, 2\]' is no JSON object"),
        ("no-utf-8", "is no line of JSON"),
        ("deep", "is no line of JSON"),
        ("endless-line", "without a newline"),
        ("in-front", r"b'\[info\] rank 3' is no line of JSON"),
        (
            "behind",
            r"more than the answer and its outputs: b'done\\n'; stdout is for answers",
        ),
        ("too-many-bytes", "more than the answer and its outputs"),
        ("wrong-id", r"it is of call \d+; expected \d+"),
        ("text-id", "id: Input should be a valid integer, found '"),
        ("no-outputs", "observed 'outputs' needs 'outputs'"),
        ("rejected-with-outputs", "observed 'rejected' has no 'outputs'"),
        ("unknown-observed", "observed: .*'outputs', 'rejected' or 'unsupported', found 'ok'"),
        ("unknown-key", "time: Extra inputs are not permitted"),
        ("missing-key", "observed: Field required"),
        ("null-reason", "reason: Input should be a valid string, found None"),
        ("unknown-type", "output 0: type 'float32'"),
        ("negative-shape", r"output 0: shape \[-1, 2\]; expected"),
        ("huge-shape", "at most 4294967296 are read"),
        ("long-shape", "output 0: "),
        ("deep-shape", "expected at most 64 extents"),
        ("fraction", "outputs.0.shape.0: "),
        ("no-list", "outputs.0.shape: Input should be a valid list, found 3"),
        ("wrong-bytes", r"output 0: 3 bytes; f32\[.*\] takes \d+"),
        ("much", r"\d+ bytes of outputs; at most"),
        ("closes-stdout", "it closed its end of the conversation"),
    ],
)
def test_what_cannot_be_understood_is_of_the_kind_protocol(how: str, told: str) -> None:
    found = of_rank_3(certified(how))
    assert {(each.status, each.kind) for each in found} == {("fail", "protocol")}
    for each in found:
        assert re.search(told, each.detail), each.detail


@pytest.mark.parametrize("how", ["child", "says-much", "stays"])
def test_what_is_no_matter_of_the_call_changes_no_verdict(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PRINTED", 1 << 20)  # of the 3 MB that "says-much" prints
    assert {each.status for each in of_rank_3(certified(how))} == {"pass"}


def test_a_bool_is_a_zero_or_a_one() -> None:
    found = certified("no-bool", case="dml-split/valid-u8-3-*").verdicts
    assert {each.kind for each in found} == {"protocol"}
    assert all("a byte 0x02; boolean has at most 1" in each.detail for each in found)


def test_a_driver_that_never_reads_hangs_also_where_a_call_is_large() -> None:
    backend = SupervisedBackend(driver("never-reads"), timeout=0.5)
    outcome = backend.outcome("vendor/Any-1", {"data": np.zeros(1 << 22)}, {})
    backend.close()
    assert (outcome.observed, outcome.reason) == ("hang", "no answer within 0.5 s")


def test_what_it_writes_between_calls_is_told() -> None:
    found = Driver(driver("right").removeprefix("driver:"), {}, 0, 60.0)
    found.process._rest += b"late\n"
    told = r"it wrote between calls: b'late\\n'; stdout is for answers alone"
    with pytest.raises(WorkerFailure, match=told):
        found.call("vendor/Any-1", {}, {}, 2)
    found.end()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("exits-at-once", "the process exited with 3"),
        ("says-and-exits", "the process exited with 4; it printed: no licence"),
        ("greets", "b'Welcome!' is no line of JSON"),
        ("version-2", "protocol: found 2; expected 1"),
        ("no-version", "protocol: found None; expected 1"),
        ("no-name", "name: found 7; expected printable text"),
        ("odd-name", r"name: found 'a\\nb'; expected printable text"),
        ("list-of-support", r"support: found \[\]; expected an object by operator"),
        ("support-without-how", r"support: vendor/Any-1\.how: found {}; Field required"),
        ("support-of-a-type", "support: unknown type of vendor/Any-1 'float'"),
        ("more-to-say", "author: is no part of an introduction"),
        ("refuses", "refuses: no device 7"),
        ("writes-behind-its-introduction", r"more than its introduction: b'ready\\n'"),
    ],
)
def test_an_introduction_that_is_wrong_is_told(how: str, told: str) -> None:
    with pytest.raises(BackendError, match=told):
        SupervisedBackend(driver(how))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "has no command"),
        ("'one", "cannot be split into words: No closing quotation"),
        ("/no/such/program", "'/no/such/program' cannot be started: No such file"),
        (str(MISBEHAVING), "cannot be started: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_started_is_told(command: str, told: str) -> None:
    opened = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(BackendError, match=told):
        start_backend(f"driver:{command}", {})
    assert len([*Path("/dev/fd").iterdir()]) == opened


def test_a_driver_runs_in_no_process_but_its_own() -> None:
    with pytest.raises(BackendError, match="a driver is a process"):
        start_backend("driver:cat", {}, False)
    with pytest.raises(BackendError, match="a driver is a process"):
        load("driver:cat")


def test_the_certificate_says_how_arrays_were_delivered() -> None:
    assert certified("right").backend.delivery == "packed"
    assert certify("reference", SUITE, case=CASES).backend.delivery == "strided"


def test_arrays_arrive_packed_whatever_their_layout() -> None:
    backend = SupervisedBackend(driver("right"))
    data = np.arange(24, dtype=np.int16).reshape(4, 6)[::-2, ::3]
    assert data.tolist() == [[18, 21], [6, 9]]
    outputs = [{"Sizes": [2, 1], "DataType": "INT16"}] * 2
    found = backend.run(
        "directml/DML_OPERATOR_SPLIT",
        {"InputTensor": data},
        {"OutputCount": 2, "OutputTensors": outputs, "Axis": 1},
    )
    backend.close()
    assert [each.tolist() for each in found] == [[[18], [6]], [[21], [9]]]
    assert all(each.flags.writeable and each.flags.aligned for each in found)
