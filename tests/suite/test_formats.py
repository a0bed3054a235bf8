"""Suites in the formats of others: tests that ONNX's runner takes, arrays of safetensors."""

import json
import re
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import Array, type_name
from opcert.arrays.golden import alternatives_of
from opcert.errors import OpcertError
from opcert.settings import PROFILES, Profile
from opcert.suite import formats
from opcert.suite.emit import suite_files
from opcert.suite.format import content_digest
from opcert.suite.formats import files_in_format
from opcert.suite.generation import generate
from opcert.suite.suite import Suite, SuiteCase, core_suite_folder
from opcert.suite.writing import write_suite
from opcert.system import FileContents
from tests import small_spec
from tests.command_line import opcert
from tests.few_cases import few_cases
from tests.small_suite import contents

ONNX, SAFETENSORS = "onnx-backend-test", "safetensors"
SPLIT = "directml/DML_OPERATOR_SPLIT"
PACKAGES = {ONNX: "onnx", SAFETENSORS: "safetensors"}


def needs(format_: str) -> pytest.MarkDecorator:
    package = PACKAGES[format_]
    reason = f"{package} of the extra '{package}' is not installed"
    return pytest.mark.skipif(find_spec(package) is None, reason=reason)


each_format = pytest.mark.parametrize(
    "format_", [pytest.param(name, marks=needs(name)) for name in PACKAGES]
)


@pytest.fixture(scope="module", autouse=True)
def _few_cases() -> Iterator[None]:
    """Make the suites of the profile `smoke` small."""
    few = Profile(calls=60, per_stratum=1, per_requirement=4, per_ambiguity=2, applications=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROFILES, "smoke", few)
        yield


def converted(format_: str, *operators: str, left_out: list[str] | None = None) -> FileContents:
    """Return the files of a part of the core suite in a format."""
    folder = few_cases().folder
    parts = [
        (name, entry, {path: (folder / path).read_bytes() for path in paths})
        for name, entry in few_cases().manifest.operators.items()
        for paths in [(entry.index, entry.pack, entry.tests)]
        if name in operators or not operators
    ]
    lines = [] if left_out is None else left_out
    return dict(files_in_format(format_, suite_files("core", 0, parts), None, lines))


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small spec, whose operator ONNX lacks, with elements of four bits."""
    changes = ("T: [i8, f32]", "T: [i4, f32]"), ("data: i8[3]", "data: i4[3]")
    return small_spec.spec(
        tmp_path_factory.mktemp("specs"), *changes, ("- i8[2]", "- i4[2]")
    ).parent


# -- tests of ONNX


def onnx_arrays(files: Mapping[str, bytes], test: str, kind: str) -> list[Array]:
    """Return the inputs or the outputs of a test, in order."""
    from onnx import load_tensor_from_string, numpy_helper

    beginning = f"{test}/test_data_set_0/{kind}_"
    count = sum(name.startswith(beginning) for name in files)
    tensors = (load_tensor_from_string(files[f"{beginning}{k}.pb"]) for k in range(count))
    return [*map(numpy_helper.to_array, tensors)]


def facts(arrays: Sequence[Array]) -> list[tuple[Any, ...]]:
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


@pytest.fixture(scope="module")
def left_out() -> list[str]:
    """The lines on what the tests of ONNX leave out."""
    return []


@pytest.fixture(scope="module")
def tests(left_out: list[str]) -> FileContents:
    """The files of the tests of ONNX."""
    return converted(ONNX, left_out=left_out)


def cases_of(tests: FileContents) -> dict[str, SuiteCase]:
    """Return the case of each test."""
    cases = {f"test_{case.id.replace('/', '_')}": case for case in few_cases()}
    models = [PurePosixPath(name) for name in tests if name.endswith("/model.onnx")]
    return {str(model.parent): cases[model.parent.name] for model in models}


@needs(ONNX)
def test_a_test_has_the_golden_outputs_of_a_decisive_case(tests: FileContents) -> None:
    assert len(cases_of(tests)) > 100
    for test, case in cases_of(tests).items():
        assert facts(onnx_arrays(tests, test, "output")) == facts(case.outputs)
        assert (case.expects, case.ambiguity) == ("outputs", None)
        assert test.startswith(case.operator.partition("/")[0])


@needs(ONNX)
def test_what_onnx_cannot_express_is_counted_by_reason(
    tests: FileContents, left_out: list[str]
) -> None:
    counts = Counter(case.operator for case in cases_of(tests).values())
    reasons: Counter[str] = Counter()
    for line in left_out:
        match = re.fullmatch(r"(.+): left out ([\d,]+): (.+)", line)
        assert match
        operator, count, reason = match.groups()
        counts[operator] += int(count.replace(",", ""))
        reasons[reason] += int(count.replace(",", ""))
    assert counts == Counter(case.operator for case in few_cases())
    decisive = [case for case in few_cases() if case.ambiguity is None]
    rejections = [case for case in decisive if case.expects == "rejection"]
    assert reasons["the call must be rejected"] == len(rejections)
    assert {
        "the document leaves the outputs open",
        "ONNX lacks gather-8/batches",
        "ONNX lacks gather-8/index-above",
        "ONNX's checker: (op_type:Gather): indices typestr: Tind, has unsupported type",
    } <= reasons.keys()


@needs(ONNX)
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
    from opcert.backends.onnx_nodes import files_of_test

    data = np.arange(*shape, dtype=np.float32)
    inputs = {"data": data, "start": [start], "stop": [-9], "step": [step]}
    arrays = {name: np.array(value) for name, value in inputs.items()}
    outputs = [data[start:-9:step]]
    wanted = nullcontext() if expressed else pytest.raises(NotImplementedError, match="clamps")
    with wanted:
        assert files_of_test("openvino/Slice-8", arrays, {}, outputs, [])


@needs(ONNX)
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
    from opcert.backends.onnx_nodes import files_of_test

    inputs = {"data": np.zeros((2, 1), np.float32), "target_shape": np.array([2, 3])}
    if omits:
        del inputs["target_shape"]
    with pytest.raises(NotImplementedError, match=reason):
        files_of_test("openvino/Broadcast-1", inputs, attributes, [np.zeros((2, 3), "f4")], [])


@needs(ONNX)
def test_an_operator_that_onnx_lacks_is_an_error(take: Path, tmp_path: Path) -> None:
    with pytest.raises(OpcertError, match=r"no case of example/Take-1: .*select others by --op"):
        generate(tmp_path / "out", take, profile="smoke", format=ONNX)
    assert not (tmp_path / "out").exists()


@needs(ONNX)
@pytest.mark.slow
def test_the_runner_of_onnx_takes_the_tests(
    tests: FileContents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert result.testsRun - len(result.skipped) == len(cases_of(tests))


@needs(ONNX)
@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
def test_a_runtime_gives_the_bytes_of_the_tests(tests: FileContents) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    selected = [test for test, case in cases_of(tests).items() if case.operator == SPLIT]
    assert len(selected) > 50
    for test in selected:
        session = onnxruntime.InferenceSession(tests[f"{test}/model.onnx"], options)
        names = [port.name for port in session.get_inputs()]
        inputs = dict(zip(names, onnx_arrays(tests, test, "input"), strict=True))
        assert facts(session.run(None, inputs)) == facts(onnx_arrays(tests, test, "output"))


# -- files of safetensors


def read(path: Path) -> tuple[dict[str, Any], dict[str, tuple[str, list[int], bytes]]]:
    """Return the metadata of a file of safetensors; type, shape and bytes of each array by key."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    facts = json.loads(header.pop("__metadata__")["opcert"])
    arrays = {}
    for key, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[key] = entry["dtype"], entry["shape"], data[start + begin : start + end]
    return facts, arrays


def expected(suite: Suite, operator: str) -> dict[str, tuple[str, list[int], bytes]]:
    """Return what `read` should return of the arrays of an operator."""
    arrays: dict[str, Array] = {}
    operator_suite = suite.operators[operator]
    for case in operator_suite.cases.values():
        elements = operator_suite.elements(case)
        arrays |= {f"{case.id}/inputs/{name}": array for name, array in elements.items()}
        for k, output in enumerate(operator_suite.outputs(case)):
            arrays[f"{case.id}/outputs/{k}"] = output
            for i, other in enumerate(alternatives_of(output)):
                arrays[f"{case.id}/outputs/{k}/alternatives/{i}"] = other
    names = {"boolean": "BOOL", "f8e4m3": "F8_E4M3", "f8e5m2": "F8_E5M2", "i4": "U8", "u4": "U8"}
    return {
        key: (names.get(name, name.upper()), list(array.shape), array.tobytes())
        for key, array in arrays.items()
        for name in [type_name(array.dtype)]
    }


@needs(SAFETENSORS)
@pytest.mark.slow
def test_every_array_of_a_suite_is_stored(tmp_path: Path) -> None:
    lines: list[str] = []
    write_suite(tmp_path, converted(SAFETENSORS, left_out=lines).items())
    suite = Suite(tmp_path)
    large: Counter[str] = Counter()
    types: set[str] = set()
    for name, entry in suite.manifest.operators.items():
        metadata, arrays = read(tmp_path / entry.index.replace(".jsonl.gz", ".safetensors"))
        assert metadata == {"operator": name, "index": entry.index, "as_bits": {}}
        every = expected(suite, name)
        large[name] = sum(len(data) > 1 << 20 for _, _, data in every.values())
        assert arrays == {key: item for key, item in every.items() if len(item[2]) <= 1 << 20}
        types |= {element_type for element_type, _, _ in arrays.values()}
    assert {"BF16", "F8_E4M3", "F8_E5M2", "BOOL"} <= types
    assert lines == [
        f"{name}: left out {count}: arrays of more than 1 MiB" for name, count in (+large).items()
    ]


@needs(SAFETENSORS)
def test_the_suite_stays_as_it_is(take: Path, tmp_path: Path) -> None:
    plain, formatted = tmp_path / "plain", tmp_path / "formatted"
    generate(plain, take, profile="smoke")
    generate(formatted, take, profile="smoke", format=SAFETENSORS)
    added = {"example/take-1.safetensors"}
    files = contents(formatted)
    assert {name: data for name, data in files.items() if name not in added} == contents(plain)
    assert files.keys() - contents(plain).keys() == added
    # And the suite takes the place of what the format has added.
    generate(formatted, take, profile="smoke")
    assert contents(formatted) == contents(plain)


@needs(SAFETENSORS)
def test_elements_of_four_bits_are_stored_as_bytes(take: Path, tmp_path: Path) -> None:
    generate(tmp_path, take, profile="smoke", format=SAFETENSORS)
    metadata, arrays = read(tmp_path / "example" / "take-1.safetensors")
    assert arrays["take-1/example-1/outputs/0"] == ("U8", [2], bytes([1, 2]))
    bits = {key for key, (element_type, _, _) in arrays.items() if element_type == "U8"}
    assert metadata["as_bits"] == dict.fromkeys(sorted(bits, key=[*arrays].index), "i4")
    assert bits < arrays.keys()


@needs(SAFETENSORS)
def test_larger_arrays_are_counted(
    take: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_ARRAY_BYTES", 8)
    lines = generate(tmp_path, take, profile="smoke", format=SAFETENSORS)
    _, arrays = read(tmp_path / "example" / "take-1.safetensors")
    every = expected(Suite(tmp_path, take), "example/Take-1")
    assert arrays == {key: item for key, item in every.items() if len(item[2]) <= 8}
    (line,) = lines
    assert line.startswith(f"example/Take-1: left out {len(every) - len(arrays)}: arrays of more")


@needs(SAFETENSORS)
@pytest.mark.slow
def test_alternatives_of_open_elements_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = "openvino/ScatterElementsUpdate-3"
    monkeypatch.setitem(PROFILES, "smoke", Profile(calls=500))
    generate(tmp_path, profile="smoke", operator=operator, format=SAFETENSORS)
    _, arrays = read(tmp_path / "openvino" / "scatter-elements-update-3.safetensors")
    every = expected(Suite(tmp_path), operator)
    assert any("/alternatives/" in key for key in arrays)
    assert arrays == {key: item for key, item in every.items() if len(item[2]) <= 1 << 20}


# -- both formats


@each_format
def test_the_bytes_are_the_same_each_time(format_: str) -> None:
    assert converted(format_, SPLIT) == converted(format_, SPLIT)


@needs(SAFETENSORS)
def test_a_folder_is_checked_and_replaced(take: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"profile": "smoke", "format": SAFETENSORS}
    assert generate(tmp_path, take, **options) == []
    assert generate(tmp_path, take, **options, check=True) == []
    assert generate(tmp_path, take, **options, seed=1) == []
    name = "example/take-1.safetensors"
    assert f"changed: {name}" in generate(tmp_path, take, **options, check=True)
    (tmp_path / name).rename(tmp_path / "other.safetensors")
    with pytest.raises(OpcertError, match=r"contains other\.safetensors, not part of a suite"):
        generate(tmp_path, take, **options)


@pytest.mark.parametrize("number", range(5))
def test_tests_of_onnx_that_an_interrupted_command_wrote_are_replaced(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"family/operator/test_{k}/model.onnx": bytes([k]) for k in range(4)}
    digests = {name: content_digest(name, data) for name, data in files.items()}
    files["manifest.json"] = json.dumps({"format": ONNX, "files": digests}).encode()
    moves, replace = iter(range(100)), Path.replace

    def replace_or_end(source: Path, target: Path) -> Path:
        if next(moves) == number:
            raise KeyboardInterrupt
        return replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_or_end)
        with pytest.raises(KeyboardInterrupt):
            write_suite(tmp_path, files.items())
    write_suite(tmp_path, files.items())
    assert contents(tmp_path) == files


@pytest.mark.parametrize("format_", PACKAGES)
def test_a_missing_package_is_named_with_its_extra(
    format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    result = opcert("generate", "--format", format_, "--out", tmp_path / "out")
    package = PACKAGES[format_]
    text = f"the format {format_} needs the package {package}; pip install 'opcert[{package}]'"
    assert (result.exit_code, result.stderr) == (2, f"opcert: error: {text}\n")
    assert not (tmp_path / "out").exists()


@each_format
def test_the_core_suite_is_not_replaced(format_: str) -> None:
    result = opcert("generate", "--format", format_, "--out", core_suite_folder())
    assert result.exit_code == 2
    assert "expected a path outside" in result.stderr
