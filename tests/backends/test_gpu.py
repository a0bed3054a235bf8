"""Adapters on a GPU, where their package finds one."""

import pytest

from opcert.backends.lookup import load
from tests.backends.calls import calls_of_every_operator, describe_difference
from tests.backends.gpus import FINDS_GPU

REFERENCE = load("reference")


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
    reason = f"the package {module} is not installed"
    runtime = pytest.importorskip(module, reason=reason, exc_type=ImportError)
    if not FINDS_GPU[module](runtime):
        pytest.skip(f"{module} {runtime.__version__} finds no GPU")
    adapter = load(backend, **option)
    operators = adapter.support  # type: ignore[attr-defined]
    calls = [call for name in ("f32", "i32") for call in calls_of_every_operator(name, operators)]
    assert [describe_difference(adapter, REFERENCE, call) for call in calls] == [""] * len(calls)
