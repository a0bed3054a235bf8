"""Functions of numbers: each runtime computes exact results, and adapters check what it lacks."""

from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.run.outcome import native_code
from tests.backends.calls import SQUARE, Call, make_call
from tests.backends.function_calls import exact_calls
from tests.backends.test_native import CONFIGURATIONS, described, loaded, results

TYPES = ["f32", "f16", "bf16", "i32"]
STRETCHED = {"a": SQUARE[:1], "b": SQUARE}
ROWS = SQUARE[None]
WINDOWS = {"strides": [1], "pads_begin": [0], "pads_end": [0], "dilations": [1]}
FILTERED: list[tuple[Array, Array, dict[str, Any]]] = [
    (ROWS, ROWS[:, :1], {}),
    (ROWS, ROWS.astype(np.float64), {}),
    (ROWS, ROWS[None], {}),
    (ROWS, SQUARE[None, :, :, None], {name: 2 * numbers for name, numbers in WINDOWS.items()}),
    (ROWS[0], ROWS[0], {}),
    (ROWS, ROWS, {"strides": [-1], "auto_pad": "valid"}),
    (ROWS, ROWS, {"dilations": [-1]}),
    (ROWS, ROWS, {"pads_end": [-1]}),
    (ROWS, ROWS, {"auto_pad": "same"}),
]
INVALID_CALLS: list[Call] = [
    ("openvino/Add-1", STRETCHED, {"auto_broadcast": "none"}),
    ("openvino/Add-1", STRETCHED, {"auto_broadcast": "pdpd"}),
    ("openvino/Add-1", STRETCHED, {"auto_broadcast": "neither"}),
    ("openvino/Add-1", {"a": SQUARE, "b": SQUARE[:, :2]}, {}),
    ("openvino/Add-1", {"a": SQUARE, "b": SQUARE.astype(np.float64)}, {}),
    ("openvino/Less-1", {"a": SQUARE}, {}),
    ("openvino/Select-1", {"cond": SQUARE, "then": SQUARE, "else_": SQUARE}, {}),
    ("openvino/Convert-1", {"data": SQUARE}, {"destination_type": "f33"}),
    ("openvino/ReduceSum-1", {"data": SQUARE, "axes": np.array([2])}, {}),
    ("openvino/MatMul-1", {"a": SQUARE, "b": SQUARE}, {}),
    ("openvino/Softmax-8", {"data": SQUARE}, {"axis": 2}),
    *(
        ("openvino/Convolution-1", {"data": data, "filter": weights}, WINDOWS | changed)
        for data, weights, changed in FILTERED
    ),
]
# OpenVINO compiles for every call.
runtimes = pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(name, options, marks=pytest.mark.slow if "feed" in options else ())
        for name, options in CONFIGURATIONS
    ],
    ids=str,
)


@runtimes
def test_exact_results_are_computed(name: str, options: dict[str, str]) -> None:
    backend, computed = loaded(name, **options), set()
    for element_type in TYPES:
        for call, result, output_type in exact_calls(element_type):
            declared: dict[str, Any] = backend.support.get(call[0], {"types": []})
            types = declared.get("input_types", {}).get("then") or declared["types"]
            expected = np.array(result).astype(ELEMENT_TYPES[output_type])
            if element_type not in types or not np.array_equal(expected, result):
                continue
            raised, outputs = make_call(backend, call)
            assert not raised, call
            assert described(outputs) == described([expected]), call
            computed.add(call[0])
    assert len(computed) >= 17


@runtimes
def test_the_code_of_a_call_computes_the_same(
    name: str, options: dict[str, str], tmp_path: Any
) -> None:
    backend = loaded(name, **options)
    for call, *_ in exact_calls("f32"):
        if call[0] in backend.support:
            raised, outputs = make_call(backend, call)
            code = native_code(backend, *call)
            assert results(code, call[1], tmp_path) == (None if raised else described(outputs))


@pytest.mark.parametrize(
    ("name", "options"),
    # The adapter of OpenVINO checks nothing, and so accepts what OpenVINO does.
    [configuration for configuration in CONFIGURATIONS if configuration[0] != "openvino"],
    ids=str,
)
@pytest.mark.parametrize("call", INVALID_CALLS, ids=range(len(INVALID_CALLS)))
def test_invalid_calls_are_rejected(name: str, options: dict[str, str], call: Call) -> None:
    backend = loaded(name, **options)
    raised, _ = make_call(backend, call)
    assert raised
    # The standard has no convolution.
    assert call[0] not in backend.support or raised != "NotImplementedError"
