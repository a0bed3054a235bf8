"""Runtimes that compile a model of each call: what they reject, and what they keep."""

from typing import Any

import numpy as np
import pytest

from opcert.backends.probing import DECLARED_SUPPORT
from opcert.errors import BackendError
from tests.backends.calls import (
    COMPLEX,
    SQUARE,
    calls_of_every_operator,
    differences,
    make_call,
    split,
)
from tests.backends.invalid_calls import OF_FOUR
from tests.backends.runtimes import loaded, shared

# The cached function that compiles.
COMPILERS = {"openvino": "_request", "onnxruntime": "_session"}
each_runtime = pytest.mark.parametrize("name", COMPILERS)


def misses(backend: Any) -> int:
    count: int = getattr(backend, COMPILERS[backend.name]).cache_info().misses
    return count


@each_runtime
def test_unknown_operators_and_types_are_unsupported(name: str) -> None:
    for call in (COMPLEX, ("vendor/Unknown-1", {}, {})):
        assert make_call(shared(name), call)[0] == "NotImplementedError"


@pytest.mark.slow
@each_runtime
def test_cached_models_give_the_results_of_new_ones(name: str) -> None:
    cached = loaded(name)
    operators = DECLARED_SUPPORT[name]
    integers = calls_of_every_operator("i8", operators)
    floats = calls_of_every_operator("f32", operators)
    for call in [*integers, *OF_FOUR.values(), *floats, *integers]:
        assert not differences(cached, [call], loaded(name))


@each_runtime
def test_a_valid_and_a_rejected_call_share_compiled_code(name: str) -> None:
    backend = loaded(name)
    for call in (split(SQUARE, 1, 1), split(SQUARE, 1, 2), split(SQUARE, 1, 1)):
        make_call(backend, call)
    assert misses(backend) == 1


@each_runtime
def test_code_compiled_long_ago_is_compiled_again(name: str) -> None:
    backend = loaded(name)
    size = getattr(backend, COMPILERS[name]).cache_info().maxsize
    others = [split(np.zeros((2,) * rank), 1, 1) for rank in range(1, size + 1)]
    for call in (split(SQUARE, 3), *others, split(SQUARE, 3)):
        assert make_call(backend, call)[0] == ""
    assert misses(backend) == size + 2


@each_runtime
def test_outputs_share_no_memory_with_the_runtime(name: str) -> None:
    backend = loaded(name)
    operator, inputs, attributes = split(SQUARE.copy(), 3)
    (first,) = backend.run(operator, inputs, attributes)
    inputs["data"][...] = 9
    backend.run(operator, inputs, attributes)
    assert np.array_equal(first, SQUARE)
    first[...] = 7


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("openvino", "device", "TPU"),
        ("openvino", "feed", "both"),
        ("onnxruntime", "provider", "None"),
        ("onnxruntime", "indices", "i8"),
    ],
)
def test_an_unknown_option_is_an_error(name: str, key: str, value: str) -> None:
    with pytest.raises(BackendError, match=f"{key}={value}"):
        loaded(name, **{key: value})
