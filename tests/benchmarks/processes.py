"""What processes cost: a call in one of its own, ONNX's runner, pytest, the command line."""

import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from opcert.backends.reference import Reference
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.outcome import Outcome
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from tests import misbehaving
from tests.benchmarks.measuring import Row, measured

OPCERT = [sys.executable, "-m", "opcert"]


def isolation() -> Row:
    """Time of a small call in a process of its own, against the call itself."""
    alone, here = SupervisedBackend("reference", {}), Reference()
    inputs = {
        "data": np.arange(24, dtype=np.float32).reshape(4, 6),
        "axis": np.array(1),
        "split_lengths": np.array([2, 4]),
    }
    name, calls = "openvino/VariadicSplit-1", 1000

    def work() -> None:
        for _ in range(calls):
            alone.call(name, inputs, {})

    def floor() -> None:
        for _ in range(calls):
            here.run(name, inputs, {})

    seconds, least = measured(work, floor)
    alone.close()
    return Row("a call in a process of its own", seconds / calls, "the call", least / calls)


def worker_start() -> Row:
    """Time until a process of its own has a light backend, against Python that imports NumPy."""
    backend = SupervisedBackend(f"{Path(misbehaving.__file__)}:Behaves")
    floor = [sys.executable, "-c", "import numpy"]
    seconds, least = measured(backend.restart, lambda: _quiet(floor))
    backend.close()
    return Row("start of a process of its own", seconds, "python -c 'import numpy'", least)


def two_jobs() -> Row:
    """Time of a certification of the profile `full` with two processes, against that with one."""
    with tempfile.TemporaryDirectory() as folder:
        suite = str(Path(folder) / "full")
        _quiet([*OPCERT, "generate", "--profile", "full", "--jobs", "2", "--out", suite])
        certify = [*OPCERT, "certify", "--suite", suite]
        # Once, for each of them takes half a minute.
        seconds, least = measured(
            lambda: _quiet([*certify, "--jobs", "2"]), lambda: _quiet(certify), repeats=1
        )
    return Row("certify --jobs 2, profile full", seconds, "certify", least, 0.56)


class _Counted(SupervisedBackend):
    calls = 0

    def call(self, *call: Any, **how: Any) -> Outcome:
        self.calls += 1
        return super().call(*call, **how)


def onnx_runner() -> Row:
    """Time of a judged call of ONNX Runtime, against one of ONNX's cases in ONNX's own runner."""
    suite, backend = Suite(), _Counted("onnxruntime")

    def run() -> None:
        backend.calls = 0
        certified = Certification(backend, suite)
        for _, case in suite:
            certified.verdict(case.id)
        certified.finish()

    tests = list(_onnx_cases())

    def floor() -> None:
        for test in tests:
            test.run()

    seconds, least = measured(run, floor)
    backend.close()
    floor_is = "ONNX's runner on onnxruntime, a case of one call"
    each = seconds / backend.calls
    return Row("a judged call of onnxruntime, isolated", each, floor_is, least / len(tests))


def _onnx_cases() -> Iterator[unittest.TestCase]:
    """Yield ONNX's node cases of the operators that opcert knows, as its runner has them."""
    with warnings.catch_warnings():
        # Cases of other operators overflow as they are made.
        warnings.simplefilter("ignore")
        import onnxruntime.backend
        from onnx.backend.test import BackendTest

        runner = BackendTest(onnxruntime.backend, __name__)
    for pattern in ("test_split_", "test_slice", "test_gather_", "test_expand"):
        runner.include(pattern)
    for of_a_kind in runner.test_cases.values():
        for name in unittest.defaultTestLoader.getTestCaseNames(of_a_kind):
            if not hasattr(getattr(of_a_kind, name), "__unittest_skip__"):
                yield of_a_kind(name)


def pytest_run() -> Row:
    """Time of a whole pytest run over the core suite, per case, in a process of its own."""
    suite = Suite()
    cases = sum(len(operator.cases) for operator in suite.operators.values())
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "test_empty.py"
        empty.write_text(
            "import pytest\n\n\n"
            f"@pytest.mark.parametrize('case', [f'case-{{i}}' for i in range({cases})])\n"
            "def test_empty(case):\n    pass\n"
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-r", "N"]
        seconds, least = measured(
            lambda: _quiet([*command, str(suite.folder)]), lambda: _quiet([*command, str(empty)])
        )
    return Row("pytest, a case", seconds / cases, "an empty parametrised test", least / cases, 1.5)


def start_up() -> Row:
    """Time of `opcert --help`."""
    seconds, floor = measured(
        lambda: _quiet([*OPCERT, "--help"]),
        lambda: _quiet([sys.executable, "-c", "import typer.main"]),
    )
    return Row("opcert --help", seconds, "python -c 'import typer.main'", floor)


def _quiet(command: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
