"""Adapters on a GPU, where their package finds one."""

from typing import Any

import pytest

from opcert.backends.lookup import load
from tests.backends.calls import calls_of_every_operator, differences
from tests.backends.runtimes import need


@pytest.mark.parametrize(
    ("backend", "option", "module"),
    [
        ("torch", {"device": "cuda"}, "torch"),
        ("jax", {}, "jax"),
        ("array-api", {"namespace": "cupy"}, "cupy"),
        ("onnxruntime", {"provider": "CUDAExecutionProvider"}, "onnxruntime"),
    ],
    ids=["torch", "jax", "cupy", "onnxruntime"],
)
def test_documented_calls_are_computed_on_a_gpu(
    backend: str, option: dict[str, str], module: str
) -> None:
    need(module, gpu=True)
    adapter: Any = load(backend, **option)
    for name in ("f32", "i32"):
        assert not differences(adapter, calls_of_every_operator(name, adapter.support))
