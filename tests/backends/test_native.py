"""Code in the API of a runtime: it makes the call of the adapter, without opcert."""

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert import certify, load
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.backends.native import array_code
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.outcome import native_code
from opcert.verdicts.failure_program import failure_program
from tests.backends.calls import (
    SQUARE,
    calls_of_every_operator,
    described,
    joined,
    make_call,
    split,
)
from tests.backends.function_calls import exact_calls
from tests.backends.invalid_calls import OF_FOUR
from tests.backends.runtimes import CONFIGURATIONS, need, shared
from tests.command_line import certified, opcert, python

CALLS = [*calls_of_every_operator("f32"), *calls_of_every_operator("bf16")[:4]]
CALLS += [*OF_FOUR.values(), joined(SQUARE, SQUARE[:, ::-1], axis=1)]
CALLS += [call for call, *_ in exact_calls("f32")]


def results(code: str, inputs: dict[str, Any], folder: Path) -> list[Any] | None:
    """Return what the code gives for the inputs, or None if it raises."""
    file = folder / "code.py"
    file.write_text(f"import ml_dtypes\nimport numpy as np\n{code}\n")
    # Code for JAX turns on types of 64 bits for its whole process, which is the tests' process.
    jax = sys.modules.get("jax")
    wide = jax is not None and jax.config.jax_enable_x64
    try:
        return described(runpy.run_path(str(file))["run"](inputs))
    except Exception:
        return None
    finally:
        if jax is not None:
            jax.config.update("jax_enable_x64", wide)


@pytest.mark.parametrize(("name", "options"), CONFIGURATIONS, ids=str)
def test_code_gives_what_the_adapter_gives_and_needs_no_opcert(
    name: str, options: dict[str, str], tmp_path: Path
) -> None:
    backend = shared(name, **options)
    written = 0
    for call in CALLS:
        raised, outputs = make_call(backend, call)
        if not (code := native_code(backend, *call)):
            # The API of a runtime may list elements of types that NumPy has only.
            assert raised or call[1]["data"].dtype.name == "bfloat16", call
            continue
        written += 1
        assert results(code, call[1], tmp_path) == (None if raised else described(outputs)), code
        assert "opcert" not in code
    assert written >= 25


def test_an_input_is_named_and_another_array_has_its_elements() -> None:
    parts = [np.arange(2), np.arange(3)]
    inputs = {"data": SQUARE, "parts": parts}
    assert array_code(SQUARE, inputs) == "inputs['data']"
    assert array_code(parts[1], inputs) == "inputs['parts'][1]"
    assert array_code(SQUARE.copy(), inputs) == "inputs['data'].copy()"
    assert array_code(SQUARE.reshape(6), inputs) == "inputs['data'].copy().reshape((6,))"
    assert array_code(np.array([7]), inputs) == "np.array([7], np.int64)"


class Native:
    name, version = "native", "1"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def run(self, *_: Any) -> list[Any]:
        return []

    def native(self, *_: Any) -> Any:
        return self.answer() if callable(self.answer) else self.answer


@pytest.mark.parametrize("answer", [None, 7, "\x1b[2J", "x" * 30_000, lambda: 1 / 0, exit])
def test_what_is_no_code_is_left_out(answer: Any) -> None:
    operator, inputs, attributes = split(SQUARE, 1, 2)
    assert native_code(Native(answer), operator, inputs, attributes) == ""
    assert native_code(Native("def run"), operator, inputs, attributes) == "def run"


ENDING = """
import os


class Backend:
    name, version = "ending", "1"

    def run(self, operator, inputs, attributes):
        raise NotImplementedError

    def native(self, operator, inputs, attributes):
        os._exit(1) if attributes else None
        return "def run(inputs): ..."
"""


def test_a_process_that_ends_while_it_writes_gives_no_code(tmp_path: Path) -> None:
    (tmp_path / "ending.py").write_text(ENDING)
    backend = SupervisedBackend(f"{tmp_path}/ending.py:Backend")
    try:
        operator, inputs, _ = split(SQUARE, 1, 2)
        codes = [native_code(backend, operator, inputs, a) for a in ({}, {"end": 1}, {})]
        assert codes == ["def run(inputs): ...", "", "def run(inputs): ..."]
    finally:
        backend.close()


SHORT = """
import os


class Backend:
    name, version = "short", "1"

    def __init__(self, result):
        self.result = result

    def run(self, operator, inputs, attributes):
        return [inputs["data"][:1].copy()]

    def native(self, operator, inputs, attributes):
        return f"import os\\n\\ndef run(inputs): return [{self.result}]"
"""
RIGHT, WRONG = 'inputs["data"][1:8].copy()', 'inputs["data"][:1].copy()'


@pytest.mark.parametrize(
    ("result", "ends", "text"),
    [
        (WRONG, "fails", "It failed when it was run."),
        (RIGHT, "ends-otherwise", "the same call did not fail so when it was run."),
        (
            f"{WRONG} if 'MALLOC_PERTURB_' in os.environ else {RIGHT}",
            "fails-in-dirty-memory",
            "but failed with MALLOC_PERTURB_=165",
        ),
        ("no_such_runtime()", "ends-otherwise", "the same call did not fail so when it was run."),
    ],
    ids=["as-the-adapter", "right", "by-dirty-memory", "another-error"],
)
def test_a_report_says_how_the_program_in_the_api_of_the_runtime_ended(
    result: str, ends: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "short.py").write_text(SHORT)
    backend = ("--backend", f"{tmp_path}/short.py:Backend", "--backend-option", f"result={result}")
    certificate = certified(tmp_path / "out", *backend, "--case", "slice-8/example-1", exits=1)
    assert certificate.reproductions["slice-8/example-1"].native_result == ends
    report = (tmp_path / "out/report.html").read_text()
    assert text in report
    assert ("Native program of" in report) == (ends != "ends-otherwise")


@pytest.mark.slow
def test_a_report_has_the_program_of_a_failure_in_the_api_of_its_runtime() -> None:
    need("onnxruntime")
    suite = load()
    certificate = certify("onnxruntime", suite, case="slice-8/*", operator="*Slice-8", jobs=1)
    verdicts = {verdict.case: verdict for verdict in certificate.verdicts}
    programs = 0
    for cause in certificate.causes:
        operator, _ = suite.cases[cause.representative]
        verdict = verdicts[cause.representative]
        reproduction = certificate.reproductions.get(verdict.case)
        program = failure_program(operator, verdict, reproduction)
        types = {stored.type for stored in operator.cases[cause.representative].inputs.values()}
        if any(ELEMENT_TYPES[name].isbuiltin != 1 for name in types):
            # The API lists elements of types that NumPy has.
            assert not program
            continue
        programs += 1
        assert "import onnxruntime" in program
        assert not re.search(r"^\s*(from|import) opcert", program, re.MULTILINE)
        finished = python("-I", "-c", program, timeout=60)
        assert finished.returncode == 1, program
        assert "Error" in finished.stderr
    assert programs


@pytest.mark.slow
def test_explain_prints_the_program_of_a_case() -> None:
    need("onnxruntime")
    arguments = ["explain", "slice-8/example-5", "--program", "--native"]
    printed = opcert(*arguments, "--backend", "onnxruntime")
    assert python("-I", "-c", printed.stdout, timeout=60).returncode == 0
    refused = opcert(*arguments, "--backend", "reference")
    assert refused.exit_code == 2
    assert "does not write the call of slice-8/example-5" in refused.stderr
    assert "--native needs --backend" in opcert(*arguments).stderr
