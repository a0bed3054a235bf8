"""Suites as tests that ONNX's own runner takes."""

import re
import unittest
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="onnx of the extra 'onnx' is not installed")

import onnx

from opcert.arrays.element_types import Array
from opcert.backends.onnx_nodes import files_of_test
from opcert.errors import OpcertError
from opcert.suite.formats import files_in_format
from opcert.suite.generation import generate
from opcert.suite.suite import SuiteCase
from opcert.suite.writing import write_suite
from opcert.system import FileContents
from tests import small_spec
from tests.few_cases import few_cases
from tests.small_suite import OPERATOR as SPLIT
from tests.small_suite import files, files_of

FORMAT = "onnx-backend-test"

pytestmark = pytest.mark.usefixtures("few_calls")


def arrays(tests: FileContents, test: str, kind: str) -> list[Array]:
    """Return the inputs or the outputs of a test, in order."""
    beginning = f"{test}/test_data_set_0/{kind}_"
    count = sum(name.startswith(beginning) for name in tests)
    tensors = (onnx.load_tensor_from_string(tests[f"{beginning}{k}.pb"]) for k in range(count))
    return [*map(onnx.numpy_helper.to_array, tensors)]


def facts(arrays: Sequence[Array]) -> list[tuple[Any, ...]]:
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


@pytest.fixture(scope="module")
def left_out() -> list[str]:
    """The lines on what the tests leave out."""
    return []


@pytest.fixture(scope="module")
def tests(left_out: list[str]) -> FileContents:
    """The files of the tests."""
    suite = files_of(*few_cases().manifest.operators)
    return dict(files_in_format(FORMAT, suite.items(), None, left_out))


@pytest.fixture(scope="module")
def cases(tests: FileContents) -> dict[str, SuiteCase]:
    """The case of each test."""
    by_name = {f"test_{case.id.replace('/', '_')}": case for case in few_cases()}
    models = [PurePosixPath(name) for name in tests if name.endswith("/model.onnx")]
    return {str(model.parent): by_name[model.parent.name] for model in models}


def test_a_test_has_the_golden_outputs_of_a_decisive_case(
    tests: FileContents, cases: dict[str, SuiteCase]
) -> None:
    assert len(cases) > 100
    for test, case in cases.items():
        assert facts(arrays(tests, test, "output")) == facts(case.outputs)
        assert (case.expects, case.ambiguity) == ("outputs", None)
        assert test.startswith(case.operator.partition("/")[0])


def test_what_onnx_cannot_express_is_counted_by_reason(
    cases: dict[str, SuiteCase], left_out: list[str]
) -> None:
    counts = Counter(case.operator for case in cases.values())
    reasons: Counter[str] = Counter()
    for line in left_out:
        match = re.fullmatch(r"(.+): left out ([\d,]+): (.+)", line)
        assert match
        operator, count, reason = match.groups()
        counts[operator] += int(count.replace(",", ""))
        reasons[reason] += int(count.replace(",", ""))
    assert counts == Counter(case.operator for case in few_cases())
    rejections = [
        case for case in few_cases() if case.ambiguity is None and case.expects == "rejection"
    ]
    assert reasons["the call must be rejected"] == len(rejections)
    assert {
        "the document leaves the outputs open",
        "ONNX lacks gather-8/batches",
        "ONNX lacks gather-8/index-above",
        "ONNX's checker: (op_type:Gather): indices typestr: Tind, has unsupported type",
    } <= reasons.keys()


@pytest.mark.parametrize(
    ("start", "step", "shape", "expressed"),
    [
        (-3, -1, (3,), True),
        (-4, 1, (3,), True),
        # ONNX clamps it to the first element.
        (-4, -1, (3,), False),
        (0, -1, (0,), False),
    ],
)
def test_a_slice_from_below_is_left_out(
    start: int, step: int, shape: tuple[int, ...], expressed: bool
) -> None:
    data = np.arange(*shape, dtype=np.float32)
    inputs = {"data": data, "start": [start], "stop": [-9], "step": [step]}
    arrays = {name: np.array(value) for name, value in inputs.items()}
    outputs = [data[start:-9:step]]
    wanted = nullcontext() if expressed else pytest.raises(NotImplementedError, match="clamps")
    with wanted:
        assert files_of_test("openvino/Slice-8", arrays, {}, outputs, [])


@pytest.mark.parametrize(
    ("attributes", "omits", "reason"),
    [
        ({"mode": "explicit"}, False, "Expand aligns axes at the end only"),
        ({"other": 1}, False, "ONNX's checker: Unrecognized attribute: other"),
        ({}, True, "no node of ONNX expresses the call"),
    ],
)
def test_a_call_that_no_node_can_express_is_left_out(
    attributes: dict[str, Any], omits: bool, reason: str
) -> None:
    inputs = {"data": np.zeros((2, 1), np.float32), "target_shape": np.array([2, 3])}
    if omits:
        del inputs["target_shape"]
    with pytest.raises(NotImplementedError, match=reason):
        files_of_test("openvino/Broadcast-1", inputs, attributes, [np.zeros((2, 3), "f4")], [])


def test_an_operator_that_onnx_lacks_is_an_error(tmp_path: Path) -> None:
    take = small_spec.spec(tmp_path / "specs").parent
    with pytest.raises(OpcertError, match=r"no case of example/Take-1: .*select others by --op"):
        generate(tmp_path / "out", take, format=FORMAT)
    assert not (tmp_path / "out").exists()


def test_the_bytes_are_the_same_each_time() -> None:
    first, again = (dict(files_in_format(FORMAT, files().items(), None, [])) for _ in range(2))
    assert first == again


@pytest.mark.slow
def test_the_runner_of_onnx_takes_the_tests(
    tests: FileContents,
    cases: dict[str, SuiteCase],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from onnx.backend.base import Backend
    from onnx.backend.test import runner
    from onnx.backend.test.loader import load_model_tests
    from onnx.reference import ReferenceEvaluator

    class Prepared:
        def __init__(self, model: Any) -> None:
            self._model = ReferenceEvaluator(model)

        def run(self, inputs: Sequence[Array]) -> Any:
            names = self._model.input_names
            return self._model.run(None, dict(zip(names, inputs, strict=True)))

    class Evaluator(Backend):  # type: ignore[misc]
        @classmethod
        def prepare(cls, model: Any, *_: str) -> Prepared:
            return Prepared(model)

        @classmethod
        def supports_device(cls, device: str) -> bool:
            return device == "CPU"

    write_suite(tmp_path, tests.items())
    folders = [path for path in tmp_path.glob("*/*") if path.is_dir()]
    loaded = [load_model_tests(str(folder.parent), folder.name) for folder in folders]
    # In the place of ONNX's own five kinds of tests.
    assert len(loaded) == 5
    monkeypatch.setattr(runner, "load_model_tests", lambda **_: loaded.pop())
    result = unittest.TestResult()
    with warnings.catch_warnings():
        # The evaluator multiplies NaNs.
        warnings.simplefilter("ignore", RuntimeWarning)
        runner.Runner(Evaluator, __name__).test_suite.run(result)
    assert not [*result.errors, *result.failures]
    assert result.testsRun - len(result.skipped) == len(cases)


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
def test_a_runtime_gives_the_bytes_of_the_tests(
    tests: FileContents, cases: dict[str, SuiteCase]
) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    selected = [test for test, case in cases.items() if case.operator == SPLIT]
    assert len(selected) > 50
    for test in selected:
        session = onnxruntime.InferenceSession(tests[f"{test}/model.onnx"], options)
        names = [port.name for port in session.get_inputs()]
        inputs = dict(zip(names, arrays(tests, test, "input"), strict=True))
        assert facts(session.run(None, inputs)) == facts(arrays(tests, test, "output"))
