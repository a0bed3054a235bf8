"""Functions of numbers: each runtime computes exact results."""

from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES
from tests.backends.calls import described, make_call
from tests.backends.function_calls import exact_calls
from tests.backends.runtimes import CONFIGURATIONS, shared

TYPES = ["f32", "f16", "bf16", "i32"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        # OpenVINO compiles for every call.
        pytest.param(name, options, marks=pytest.mark.slow if "feed" in options else ())
        for name, options in CONFIGURATIONS
    ],
    ids=str,
)
def test_exact_results_are_computed(name: str, options: dict[str, str]) -> None:
    backend, computed = shared(name, **options), set()
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
